/**
 * Collects what is wrong with the user's files. One place in a file gives one diagnostic per cause, however many
 * instances of a for_each run into it.
 */

import type { Diagnostic, Severity, SourcePosition } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { type Advice, told } from "../core/model/fix";
import { credentialMask, shortestHidden } from "../core/text/credential-mask";
import { asOneSentence } from "../core/text/list-text";
import { groupedBy } from "../core/text/objects";
import { printable } from "../core/text/printable";
import { holdsOpen, withoutMarks } from "./open-text";
import {
  excerptOf,
  isMap,
  lineOfOffset,
  offsetOfPath,
  type Path,
  type Place,
  positionOf,
  valueAt,
  withPasswordsHidden,
  type YamlFile,
} from "./yaml/file";

export type ConfigCode = Extract<DiagnosticCode, `config/${string}`>;

export interface Problem {
  readonly code: DiagnosticCode;
  readonly severity?: Severity;
  readonly summary: string;
  readonly detail?: string | undefined;
  readonly fix?: Advice | undefined;
  readonly address?: string | undefined;
  readonly at?: Place | undefined;
  /** The detail says where the values of its references were written. */
  readonly namesOrigins?: true;
  /** The line holds a text that must not be shown. */
  readonly withoutExcerpt?: boolean;
}

export interface ConfigProblem extends Problem {
  readonly code: ConfigCode;
}

export interface Problems {
  readonly add: (problem: ConfigProblem) => undefined;
  /** Whether this very place has a problem already. */
  readonly covers: (place: Place) => boolean;
  /** How often `add` was called, repeats included: it tells whether a reading found a problem. */
  readonly reported: number;
  readonly diagnostics: Diagnostic[];
}

export function collectProblems(): Problems {
  const diagnostics: Diagnostic[] = [];
  const seen = new Set<string>();
  const places = new Set<string>();
  let reported = 0;
  return {
    diagnostics,
    get reported() {
      return reported;
    },
    add(problem) {
      reported++;
      const place = problem.at === undefined ? "" : placeKey(problem.at);
      const key = `${place} ${problem.code} ${problem.summary}`;
      if (seen.has(key)) return;
      seen.add(key);
      places.add(place);
      diagnostics.push(problemAsDiagnostic(problem));
    },
    covers: (place) => places.has(placeKey(place)),
  };
}

/** The same, with more said of each problem. */
export const problemsWith = (problems: Problems, more: (problem: ConfigProblem) => ConfigProblem): Problems => ({
  diagnostics: problems.diagnostics,
  get reported() {
    return problems.reported;
  },
  add: (problem) => problems.add(more(problem)),
  covers: problems.covers,
});

/** With a sentence for every problem in a part of the file, such as where a component is used. */
export const problemsIn = (problems: Problems, along: string): Problems =>
  problemsWith(problems, (problem) => ({ ...problem, detail: asOneSentence(problem.detail, along) }));

const spellingsOf = (secrets: readonly string[]): string[] =>
  secrets
    // References are read without the spaces around them, and names without capital letters.
    .flatMap((secret) => [secret, secret.trim()])
    .flatMap((secret) => [secret, secret.toLowerCase(), withPasswordsHidden(secret)])
    .filter((secret) => secret.length >= shortestHidden)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .flatMap((text) => [text, printable(text)])
    .sort((a, b) => b.length - a.length);

/** A text of a sensitive value, where a file gives it. */
export interface WrittenSecret {
  readonly at: Place;
  readonly text: string;
}

const lineKey = ({ file, line }: SourcePosition): string => `${file}:${line}`;
/** As far as its end can be told; no problem stands in the lines of a block (`|`). */
const writtenValue = /"(?:[^"\\]|\\[\s\S])*"|'(?:[^']|'')*'|[*|>]\S*|[^,[\]{}]*/y;

/** The lines behind the first one of a value that goes on there. */
function linesBehind({ source, offset }: Place, text: string): { file: string; first: number; last: number }[] {
  writtenValue.lastIndex = offset;
  const [value = ""] = writtenValue.exec(source.text) ?? [];
  if (value.includes(text) || !value.includes("\n")) return [];
  const { file, line } = positionOf({ source, offset });
  return [{ file, first: line + 1, last: positionOf({ source, offset: offset + value.length }).line }];
}

const wholeReference = /^["']?\$\{[^}]*\}["']?(?=[\s,}\]]|$)/;

/**
 * The problems without the texts of sensitive values, before a report writes them with escapes of its own, in which
 * nobody would find them any more. A fix for such a value may be made of its parts, and is left out. A source line keeps
 * its length, so that its mark points at the same place; `written`: what only such a line may hold. One that is spelled
 * there in another way, with quotes and escapes of the file or up to where the line is cut, is covered up to the problem or the line's end.
 */
export function withMaskedTexts(
  diagnostics: readonly Diagnostic[],
  secrets: readonly string[],
  written: readonly WrittenSecret[],
): Diagnostic[] {
  const spellings = spellingsOf(secrets);
  const inLines = spellingsOf([...secrets, ...written.map(({ text }) => text)]);
  if (inLines.length === 0) return [...diagnostics];
  const byLine = groupedBy(
    written.filter(({ text }) => text.length >= shortestHidden),
    ({ at }) => lineKey(positionOf(at)),
  );
  const runningOn = written.flatMap(({ at, text }) => (text.length >= shortestHidden ? linesBehind(at, text) : []));
  const coverLine = (line: string, source: SourcePosition): string => {
    let covered = inLines.reduce((rest, spelling) => rest.replaceAll(spelling, "*".repeat(spelling.length)), line);
    // The problem stands at the beginning of a key or a value: what began before it is over there.
    const told = (source.column ?? 1) - 1;
    for (const { at, text } of byLine.get(lineKey(source)) ?? []) {
      const start = (positionOf(at).column ?? 1) - 1;
      const isFound = spellingsOf([text]).some((spelling) => line.includes(spelling, start));
      const end = told > start ? told : line.length;
      if (!isFound && !wholeReference.test(line.slice(start)))
        covered = covered.slice(0, start) + "*".repeat(Math.max(0, end - start)) + covered.slice(end);
    }
    if (runningOn.some(({ file, first, last }) => file === source.file && first <= source.line && source.line <= last))
      covered = covered.slice(0, told).replaceAll(/\S/g, "*") + covered.slice(told);
    return covered;
  };
  const clean = (text: string): string =>
    spellings.reduce((rest, spelling) => withoutCut(rest.replaceAll(spelling, credentialMask), spelling), text);
  return diagnostics.map((diagnostic) => {
    const { fix: _, fixParts: __, ...kept } = diagnostic;
    const summary = clean(kept.summary);
    const detail = kept.detail === undefined ? undefined : clean(kept.detail);
    const excerpt =
      kept.excerpt === undefined || kept.source === undefined ? kept.excerpt : coverLine(kept.excerpt, kept.source);
    return summary === kept.summary && detail === kept.detail
      ? { ...diagnostic, excerpt }
      : { ...kept, summary, detail, excerpt };
  });
}

/** A long value is shown up to the sign where it was cut. */
function withoutCut(text: string, secret: string): string {
  const end = text.indexOf(cutSign);
  for (let kept = Math.min(secret.length - 1, end); kept >= shortestHidden; kept--)
    if (text.startsWith(secret.slice(0, kept), end - kept))
      return `${text.slice(0, end - kept)}${credentialMask}${text.slice(end)}`;
  return text;
}

const cutSign = "…";

/** Tells nothing: for a reading of which only success matters, or until it is known whether its problems may be told. */
export function heldProblems(): Problems & { readonly held: readonly ConfigProblem[] } {
  const held: ConfigProblem[] = [];
  return {
    diagnostics: [],
    held,
    get reported() {
      return held.length;
    },
    add: (problem) => void held.push(problem),
    covers: ({ source, offset }) => held.some(({ at }) => at?.source === source && at.offset === offset),
  };
}

/** The numbers in these maps of a file. */
export function placesOfNumbers({ root }: YamlFile, maps: readonly Path[]): ReadonlySet<number> {
  const places = new Set<number>();
  const visit = (value: unknown, path: Path): void => {
    if (typeof value === "number") places.add(offsetOfPath(root, path, "value").offset);
    else if (isMap(value)) for (const key of Object.keys(value)) visit(value[key], [...path, key]);
  };
  for (const path of maps) visit(path.length === 0 ? root : valueAt(root, path), path);
  return places;
}

/**
 * An error, where the place has no problem: what a number that is not written as a number would be read as. `amounts`:
 * the places of amounts, of money or of requests, where `24.90` is as usual as `24.9`.
 */
export function addNumberProblems(
  source: YamlFile,
  problems: Problems,
  amounts: ReadonlySet<number> = new Set(),
): void {
  for (const { offset, written, value } of source.oddNumbers ?? []) {
    if (amounts.has(offset) && /^[0-9]+\.[0-9]+$/.test(written)) continue;
    const at = { source, offset };
    if (problems.covers(at)) continue;
    problems.add({
      code: "config/invalid-value",
      summary: `${written} would be read as the number ${value}`,
      detail: "expected a number as it is usually written, or text in quotes",
      fix: `write ${value}, or "${written}" in quotes`,
      at,
    });
  }
}

export function problemAsDiagnostic(problem: Problem): Diagnostic {
  const { code, severity = "error", summary, detail, fix, address, at, withoutExcerpt } = problem;
  const odd = at === undefined || !confusedBySpaces.has(code) ? undefined : oddSpace(at);
  if (odd !== undefined)
    return problemAsDiagnostic({
      ...problem,
      code: "config/yaml-syntax",
      summary: `this line holds ${odd}, which looks like a space or like nothing`,
      detail: summary,
      fix: "type the line anew, or replace it with an ordinary space",
    });
  return {
    severity,
    code,
    summary: fitToShow(summary),
    detail: detail === undefined ? undefined : fitToShow(detail),
    ...told(typeof fix === "string" ? fitToShow(fix) : fix),
    address: address === undefined ? undefined : printable(address),
    source: at === undefined ? undefined : positionOf(at),
    excerpt: at === undefined || withoutExcerpt === true ? undefined : excerptOf(at),
  };
}

const fitToShow = (text: string): string => printable(withPasswordsHidden(text));

/** What a space that is none leads to: it is read as a part of the word beside it. */
const confusedBySpaces = new Set<string>(["config/unknown-key", "config/wrong-type", "config/invalid-name"]);

/** A character that looks like a space, or like nothing, in a line before its first quote or comment. */
function oddSpace({ source: { text }, offset }: Place): string | undefined {
  const line = lineOfOffset(text, offset);
  const [found] = /[\u00a0\u1680\u2000-\u200f\u202f\u205f\u2060\u3000]/.exec(/^[^"'#]*/.exec(line)?.[0] ?? "") ?? [];
  return found === undefined
    ? undefined
    : `the character U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
}

const placeKey = ({ source, offset }: Place): string => `${source.file}:${offset}`;

/** A value the way a message shows it: short, recognisable in the file, and without the password of an address. */
export function shown(value: unknown): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object") return Object.keys(value).length === 0 ? "an empty map" : "a map";
  if (typeof value === "string" && holdsOpen(value)) return withoutMarks(value);
  const text = typeof value === "string" ? JSON.stringify(withPasswordsHidden(value)) : String(value);
  return text.length > 80 ? `${text.slice(0, 79)}${cutSign}` : text;
}

/** The one item of a list, written without the list. */
export const fixOfLone = (field: string, value: unknown): string | undefined =>
  typeof value === "object" && value !== null
    ? `put it into brackets, or a dash before it: ${field}: [ { … } ]`
    : undefined;
