/** Names of VMs and groups: the service lower-cases them, so two spellings in different case are one name. */
export const canonicalName = (name: string): string => name.toLowerCase();

/** What is wrong with a name for a VM or a group, in words; `undefined` when nothing is. */
export function nameProblem(name: string): string | undefined {
  const canonical = canonicalName(name);
  if (canonical.length < 3 || canonical.length > 50)
    return `is ${canonical.length} ${canonical.length === 1 ? "character" : "characters"} long; 3 to 50 are allowed`;
  const odd = [...canonical].find((character) => !/[a-z0-9-]/.test(character));
  return odd === undefined ? undefined : `contains ${JSON.stringify(odd)}; only a-z, 0-9 and hyphens are allowed`;
}

/** A service that cuts names leaves at least so much of them. */
const leastLeft = 8;

/** Whether a service that cuts long names may show this one so. */
export const mayBeCut = (shown: string | undefined, name: string): boolean =>
  shown !== undefined &&
  shown.length >= leastLeft &&
  shown.length < name.length &&
  canonicalName(name).startsWith(canonicalName(shown));

/** Whether what the service shows is another name than the one that is known, and not the same in other letters or cut. */
export const isOtherName = (shown: string | undefined, known: string | undefined): shown is string =>
  shown !== undefined &&
  known !== undefined &&
  canonicalName(shown) !== canonicalName(known) &&
  !mayBeCut(shown, known);

/** All that such a service may have left of a name. */
export const cutNames = (name: string): readonly string[] =>
  Array.from({ length: Math.max(0, name.length - leastLeft) }, (_, index) => name.slice(0, leastLeft + index));

/**
 * Owners. The service stores the e-mail whichever was sent, and nothing tells a username's e-mail, so a username
 * against an e-mail is never a difference; two of the same sort differ by their text.
 */
export function sameOwner(a: string, b: string): boolean {
  if (isEmail(a) !== isEmail(b)) return true;
  return a.trim().toLowerCase() === b.trim().toLowerCase();
}

export const isEmail = (owner: string): boolean => owner.includes("@");
