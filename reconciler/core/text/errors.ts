/** What was thrown, of which nothing is known: its message and its code, where it has them. */

export const errorMessage = (error: unknown): string =>
  typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);

export const errorCode = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

/** The error that caused this one, where it names one. */
export const causeOf = (error: unknown): unknown =>
  typeof error === "object" && error !== null && "cause" in error ? error.cause : undefined;

/** What was thrown, as an Error: other people's code may throw anything. */
export const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(errorMessage(error)));

/** What is made, or nothing where making it throws: for what may fail and needs no reason. */
export function ifPossible<T>(make: () => T): T | undefined {
  try {
    return make();
  } catch {
    return undefined;
  }
}
