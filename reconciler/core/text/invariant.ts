/** For bugs only: what a user can cause is a diagnostic. */
class InvariantViolation extends Error {
  override readonly name = "InvariantViolation";
  readonly code = "internal/invariant";
}

export function invariant(condition: unknown, statement: string): asserts condition {
  if (!condition)
    throw new InvariantViolation(
      `This is a bug in reconcile: ${statement}. Please report it with the command you ran.`,
    );
}
