/** What a part of a URL says; one that is not well encoded says what stands there. */
export function percentDecoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";
