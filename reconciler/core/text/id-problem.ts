/**
 * What keeps a text from being the id of something. An id goes into paths, files and terminals, and two that look the
 * same must be the same: one that cannot be written, or that hides what it is, is refused wherever it comes from.
 */
export const longestId = 512;

const hiddenInId = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]/;
const halfCharacter = /\p{Surrogate}/u;

export function idProblem(id: string): string | undefined {
  if (id.trim() === "") return "is empty";
  if (id.length > longestId) return `is longer than ${longestId} characters`;
  if (halfCharacter.test(id)) return "holds half of a character (a lone surrogate)";
  if (hiddenInId.test(id)) return "holds a control character or a mark that does not show";
  if (id === "." || id === "..") return "would be another path in a request";
  return undefined;
}

/** Texts by which services mean that there is no reference, the UUID of nothing but zeros among them. */
export const saysNone = /^(-|-1|none|null|nil|n\/a|0|0{8}-?(0{4}-?){3}0{12})?$/i;
