/** Stands where a credential stood. Neither a name nor an id may hold it, so a field with it counts as not shown. */
export const credentialMask = "********";

/** Shorter than this, a sensitive value stands in every other word. */
export const shortestHidden = 3;
