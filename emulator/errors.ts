/** The message and the code of a thrown value of unknown type, where it has them. */

export const messageOfError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const codeOfError = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
