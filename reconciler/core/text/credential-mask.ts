/** Stands where a credential stood. Neither a name nor an id may hold it, so a field with it counts as not shown. */
export const credentialMask = "********";

/** Shorter than this, a sensitive value stands in every other word. */
export const shortestHidden = 3;

/** Stands in a command of a message for a value that may be a secret; `--var` refuses it. */
export const leftOutSign = "…";
