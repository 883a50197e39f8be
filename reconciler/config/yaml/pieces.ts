/**
 * Cuts a large file into pieces that parse on their own: the entries of `vms:`, `volumes:` and `groups:` in batches, and
 * what stands between those sections. The parser's tokens for a whole 10,000-resource file are ten times its size, and
 * cutting keeps that to one batch.
 *
 * Premise: inside a block map indented by k, a line indented by exactly k that begins a key ends everything nested
 * before it. Whatever could make that untrue (tabs, anchors that reach across entries, document markers, a line
 * that fits no pattern) gives `undefined`, and so should a piece with a syntax error: then the file is parsed whole.
 */
export interface YamlPiece {
  /** The section of these entries; `undefined`: keys of the file itself. */
  readonly section?: string;
  readonly start: number;
  readonly end: number;
}

export interface SectionHeader {
  readonly name: string;
  readonly offset: number;
  /** Where the section's map begins. */
  readonly body: number;
}

export interface Pieces {
  readonly pieces: readonly YamlPiece[];
  readonly sections: readonly SectionHeader[];
}

const worthCutting = 64 * 1024;
const pieceSize = 16 * 1024;

const crossesPieces = /\t|(?:^|[\s,[{:-])[&*][^\s&*,\]}]|^%|^(?:---|\.\.\.)(?:\s|$)/m;
const sectionHeader = /^(vms|volumes|groups):[ ]*(?:#[^\n]*)?\r?$/;
/** A key, an item of a list at its key's indent, or the end of brackets that were opened above. */
const rootLine = /^(?:[A-Za-z0-9_-]+:(?:\s|$)|-(?:\s|$)|[\]}])/;
const entryKey = /^[A-Za-z0-9_-]+:(?:\s|$)/;

/** One pass over the lines; each branch is a kind of line that the premise above names. */
export function cutIntoPieces(text: string, smallest = worthCutting, batch = pieceSize): Pieces | undefined {
  if (text.length < smallest || crossesPieces.test(text)) return undefined;
  const pieces: YamlPiece[] = [];
  const sections: SectionHeader[] = [];
  let section: { readonly name: string; readonly indent: number } | undefined;
  let start = 0;
  let isFirst = true;
  const close = (end: number) => {
    if (end > start) pieces.push({ section: section?.name, start, end });
    start = end;
  };
  for (const line of pieceLines(text)) {
    // A file whose first key is indented ends at a line that is not. Read in pieces, it would go on.
    if (isFirst && line.column > 0) return undefined;
    isFirst = false;
    if (line.column === 0) {
      if (!rootLine.test(firstCharacters(text, line))) return undefined;
      const name = sectionHeader.exec(text.slice(line.at, line.end).replace(/\n$/, ""))?.[1];
      if (section !== undefined || name !== undefined) close(line.at);
      section = undefined;
      const body = name === undefined ? undefined : firstEntry(text, line.end);
      if (name === undefined || body === undefined) continue;
      section = { name, indent: body.indent };
      sections.push({ name, offset: line.at, body: body.offset });
      start = line.end;
    } else if (section !== undefined) {
      if (line.column < section.indent) return undefined;
      if (line.column > section.indent || line.closes) continue;
      if (!entryKey.test(firstCharacters(text, line))) return undefined;
      if (line.at - start >= batch) close(line.at);
    }
  }
  close(text.length);
  return { pieces, sections };
}

/** A line that is neither empty nor a comment. */
interface PieceLine {
  readonly at: number;
  /** After its line break. */
  readonly end: number;
  /** How far it is indented. */
  readonly column: number;
  /** The line begins with a closing bracket. */
  readonly closes: boolean;
}

function* pieceLines(text: string): Generator<PieceLine> {
  for (let at = 0, end = 0; at < text.length; at = end) {
    const newline = text.indexOf("\n", at);
    end = newline === -1 ? text.length : newline + 1;
    let first = at;
    while (text.charCodeAt(first) === 32) first++;
    const character = text[first];
    if (first >= end || character === "\n" || character === "\r" || character === "#") continue;
    yield { at, end, column: first - at, closes: character === "}" || character === "]" };
  }
}

/** As much of a line as is needed to recognise a key. */
const firstCharacters = (text: string, { at, end, column }: PieceLine): string =>
  text.slice(at + column, Math.min(end, at + column + 200));

/** The first line below a header that is neither empty nor a comment, where it is indented as a section's body. */
function firstEntry(text: string, from: number): { indent: number; offset: number } | undefined {
  const line = /[^\n]*\n?/y;
  line.lastIndex = from;
  for (let match = line.exec(text); match !== null && match[0] !== ""; match = line.exec(text)) {
    const said = match[0].trim();
    if (said === "" || said.startsWith("#")) continue;
    const indent = match[0].search(/[^ ]/);
    return indent > 0 ? { indent, offset: match.index + indent } : undefined;
  }
  return undefined;
}
