/**
 * A setting from the environment. Pipelines pass variables that nobody set on as empty ones, so an empty one is not
 * set.
 */
export const setting = (name: `RECONCILE_${string}`): string | undefined => process.env[name] || undefined;

/** Variables that hold secrets of this program. No program that it starts gets them. */
export const secretVariables = [
  "RECONCILE_TOKEN",
  "RECONCILE_AUTHORIZATION",
  "RECONCILE_STATE_PASSWORD",
  "RECONCILE_STATE_KEY",
  "RECONCILE_STATE_KEY_PREVIOUS",
  "RECONCILE_OTHER_STATE_KEY",
] as const;

const withheld = new Set<string>(secretVariables);

/** Keeps further variables from every program that this process starts for a file. */
export function withhold(names: Iterable<string>): void {
  for (const name of names) withheld.add(name);
}

export const withheldVariables = (): Iterable<string> => withheld;
