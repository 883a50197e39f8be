/** A setting from the environment. Pipelines pass on variables that nobody set as empty ones, so empty is not set. */
export const setting = (name: `RECONCILE_${string}`): string | undefined => process.env[name] || undefined;
