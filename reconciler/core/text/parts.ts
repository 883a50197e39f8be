import { ifPossible } from "./errors";
/** What a part of a URL says; one that is not well encoded says what stands there. */
export const percentDecoded = (part: string): string => ifPossible(() => decodeURIComponent(part)) ?? part;

export const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";
