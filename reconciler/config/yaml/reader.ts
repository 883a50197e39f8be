/**
 * YAML text to plain values with their places, for desired states, dialects and variables. It decides who reads what:
 * common YAML is read directly (plain.ts), the rest by the library (library.ts). A large file that is not
 * common all over is read in pieces, so that one odd entry does not cost the whole file. What the values mean is for others.
 */
import { heldProblems, type Problems } from "../problems";
import { type ConfigSource, isMap, moveEntries, newMap, setEntry, type YamlFile, type YamlMap } from "./file";
import { readPiece, readWhole } from "./library";
import { cutIntoPieces, type Pieces } from "./pieces";
import { readPlain } from "./plain";

/** `cut`: another way to cut the text. The result is the same for every cut. */
export function readYaml(
  { file, text: raw }: ConfigSource,
  problems: Problems,
  cut?: (text: string) => Pieces | undefined,
): YamlFile {
  const text = raw.charCodeAt(0) === 0xfeff ? raw.slice(1) : raw;
  const source: YamlFile & { root: unknown } = { file, text, root: undefined };
  if (!checkEncoding(source, problems)) return { ...source, isIncomplete: true };
  source.root =
    (cut === undefined ? readPlain(text) : undefined) ??
    readInPieces(source, (cut ?? cutIntoPieces)(text)) ??
    readWhole(source, problems);
  return source;
}

/** A value given on a command line, read as it would be in a file; text when it is nothing else. */
export function parseValue(text: string): unknown {
  const problems = heldProblems();
  const source: YamlFile = { file: "", text, root: undefined };
  const value = readWhole(source, problems);
  const isWhole = problems.reported === 0 && source.oddNumbers?.length === 0;
  return value === undefined || !isWhole ? text : value;
}

function checkEncoding(source: YamlFile, problems: Problems): boolean {
  // U+FDD0 to U+FDD3 mark what only this program says (open-text.ts), and no text may hold them.
  const odd = /[\ufffd\u0000\ufdd0-\ufdd3]/.exec(source.text);
  if (odd !== null)
    problems.add({
      code: "config/encoding",
      summary: "the file is not text in UTF-8",
      detail:
        odd[0] === "\u0000"
          ? "byte sequence shown as NUL"
          : odd[0] === "\ufffd"
            ? "byte sequence shown as \ufffd"
            : "a character that no text has",
      fix: "save the file as UTF-8",
      at: { source, offset: odd.index },
    });
  return odd === null;
}

/** `undefined`: the file has to be read as a whole, be it for its errors. */
function readInPieces(source: YamlFile, cut: Pieces | undefined): YamlMap | undefined {
  if (cut === undefined) return undefined;
  const { sections, pieces } = cut;
  const root = newMap(0);
  for (const { name, offset, body } of sections) {
    if (Object.hasOwn(root, name)) return undefined;
    setEntry(root, name, newMap(body), offset, body);
  }
  for (const { section, start, end } of pieces) {
    const piece = readPlain(source.text.slice(start, end), start) ?? readPiece(source, start, end);
    const target = section === undefined ? root : root[section];
    if (piece === undefined || !isMap(target) || !moveEntries(piece, target)) return undefined;
  }
  return root;
}
