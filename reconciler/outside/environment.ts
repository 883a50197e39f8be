/** A setting from the environment. Pipelines pass on variables that nobody set as empty ones, so empty is not set. */
export const setting = (name: `RECONCILE_${string}`): string | undefined => process.env[name] || undefined;

/** Ours, and nobody's whom we start or tell something. */
export const secretVariables = [
  "RECONCILE_TOKEN",
  "RECONCILE_AUTHORIZATION",
  "RECONCILE_STATE_PASSWORD",
  "RECONCILE_STATE_KEY",
  "RECONCILE_STATE_KEY_PREVIOUS",
] as const;

const withheld = new Set<string>(secretVariables);

/** No program that this process starts for a file sees them. */
export function withhold(names: Iterable<string>): void {
  for (const name of names) withheld.add(name);
}

export const withheldVariables = (): Iterable<string> => withheld;
