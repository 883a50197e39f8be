/**
 * Refuses text that nests too deeply before the parser composes it: composing recurses, and a stack that runs out there
 * can end the whole process (the regular expressions it compiles on the way fail fatally), which nothing can catch.
 */
/** Deeper than any file that means something, and far from the end of the stack. */
const deepestNesting = 64;

/** The offset of the first value that lies too deep; `undefined` when there is none. */
export const findTooDeep = (text: string): number | undefined => (mayNestDeeply(text) ? measureDepth(text) : undefined);

/**
 * Looks at the characters alone: quick, never too low, and too high only for odd texts, which are then measured. One
 * loop without calls, because it looks at every character of every file.
 */
function mayNestDeeply(text: string): boolean {
  const indents: number[] = [];
  let brackets = 0;
  let indent = 0;
  let marks = 0;
  let atStart = true;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === lineFeed) {
      indent = 0;
      marks = 0;
      atStart = true;
      continue;
    }
    if (atStart) {
      if (code === spaceCode) {
        indent++;
        continue;
      }
      atStart = false;
      while ((indents.at(-1) ?? -1) >= indent) indents.pop();
      indents.push(indent);
    }
    if (code === 0x5b || code === 0x7b) brackets++;
    else if ((code === 0x5d || code === 0x7d) && brackets > 0) brackets--;
    // `- - a`, `? ? a` and `a: b: c` open a level for each mark within one line.
    else if ((code === 0x2d || code === 0x3a || code === 0x3f) && !(text.charCodeAt(at + 1) > spaceCode)) marks++;
    if (brackets + marks + indents.length > deepestNesting) return true;
  }
  return false;
}

const lineFeed = 0x0a;
const spaceCode = 0x20;

interface Token {
  readonly offset?: number;
  readonly value?: Token | null;
  readonly items?: readonly { readonly key?: Token | null; readonly value?: Token | null }[];
}

/** The syntax tree says it exactly; it is walked with a list, not with the stack. */
function measureDepth(text: string): number | undefined {
  const { Parser } = require("yaml") as typeof import("yaml");
  const open: { token: Token; depth: number }[] = [];
  try {
    // `Token` names the fields that some kinds of token have, and each of them may be left out.
    for (const token of new Parser().parse(text)) open.push({ token: token as Token, depth: 0 });
  } catch (error) {
    if (error instanceof RangeError) return 0;
    throw error;
  }
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { token, depth } = next;
    if (depth > deepestNesting) return token.offset ?? 0;
    if (token.value != null && typeof token.value === "object") open.push({ token: token.value, depth });
    for (const { key, value } of token.items ?? [])
      for (const inner of [key, value]) if (inner != null) open.push({ token: inner, depth: depth + 1 });
  }
  return undefined;
}
