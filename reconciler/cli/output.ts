/**
 * The output of a command: text on standard output and problems on standard error for people; with `--json`, one object
 * a line on standard output and nothing else there.
 */

import { stripVTControlCharacters } from "node:util";
import { type Diagnostic, errorsAmong } from "../core/model/diagnostic";
import { shortestHidden } from "../core/text/credential-mask";
import { printableLines } from "../core/text/printable";
import { keepOutOfTraces } from "../outside/tracing";
import { diagnosticsText } from "../report/diagnostics-text";
import { jsonLine, type SummaryInput, summaryLine, type Where } from "../report/json-lines";
import { displayColumns, wrapText } from "../report/style";
import { createMasking, type Masking } from "../service/masking";
import type { Flags } from "./flags";
import { openJsonFile } from "./json-file";

export interface Finish
  extends Pick<SummaryInput, "exitCode" | "plan" | "run" | "findings" | "owed" | "extra">,
    Partial<Pick<SummaryInput, "diagnostics" | "orphans">> {
  /**
   * The diagnostics of the summary for programs, where the text has fewer of them or shows them elsewhere. Left out:
   * the same.
   */
  readonly forPrograms?: readonly Diagnostic[];
  /** Standard output holds a document of another form, and no summary below it. */
  readonly onDocument?: true;
}

const chunkLength = 64 * 1024;

export interface Output {
  readonly json: boolean;
  /** Whether a program reads the events: on standard output, or in the file of --json-into. */
  readonly events: boolean;
  readonly colour: boolean;
  readonly width: number;
  /** True when a person watches standard error. */
  readonly live: boolean;
  /** Prints for people only. */
  print(text: string): void;
  /** As `print`, for long texts: each line is written as it is made. */
  printLines(lines: Iterable<string>): void;
  /** A note for people, on standard error. */
  note(text: string): void;
  /** As `note`, but a text that is repeated is shown once. */
  noteOnce(text: string): void;
  /** A live view for a person: takes the place of the former one; no lines remove it. Notes appear above it. */
  frame(lines: readonly string[]): void;
  /** An event for programs: with --json, and in the file of --json-into. */
  event(event: object): void;
  /** Sets the service and state that the summary names. */
  locate(where: Where): void;
  /** What `locate` was given, for whatever shows a plan. */
  readonly where: Where | undefined;
  /** A text that names commands, each with what the command line says of the project that is meant. */
  here(text: string): string;
  /** Masks these texts in all later output; a text of one or two characters is left alone. */
  hide(texts: readonly string[]): void;
  /** A text for a file, with the hidden texts masked. */
  masked(text: string): string;
  /** Prints problems for people. */
  tell(diagnostics: readonly Diagnostic[]): void;
  /** Prints the problems and the summary; answers with the exit code. */
  finish(finish: Finish): number;
  /** The summary is written: nothing comes after it. */
  readonly finished: boolean;
}

interface OfCommandLine {
  /** What is to be said of it, whatever the command does; told at once, for a run may be long. */
  readonly noted?: readonly Diagnostic[];
  /** A text that names commands, each with what this command line says of the project that is meant. */
  readonly here?: (text: string) => string;
}

/** What is said, with each command in its fix as one of this project. */
export const withFixHere = <F extends { readonly fix?: unknown }>(said: readonly F[], here: Output["here"]): F[] =>
  said.map((one) => (typeof one.fix === "string" ? { ...one, fix: here(one.fix) } : one));

export function createOutput(
  command: string,
  flags: Flags,
  { noted = [], here = (text) => text }: OfCommandLine = {},
): Output {
  const startedAt = process.uptime();
  const json = flags.json === true;
  const silent = flags["log-level"] === "silent";
  const isDumb = process.env["TERM"] === "dumb";
  const colour =
    !json &&
    !isDumb &&
    flags["no-color"] !== true &&
    (process.env["NO_COLOR"] ?? "") === "" &&
    process.stdout.isTTY === true;
  const secrets = new Set<string>();
  let masking: Masking | undefined;
  const masked = (text: string): string => masking?.text(text) ?? text;
  const into = flags["json-into"] === undefined ? undefined : openJsonFile(flags["json-into"]);
  /** The time is the last key of each line, so that the type comes first. */
  const lineOf = (value: object): string => masked(jsonLine({ ...value, time: new Date().toISOString() }));
  const writeLine = (value: object): void => {
    const line = lineOf(value);
    into?.write(line);
    if (json) process.stdout.write(line);
  };
  const notes = new Set<string>();
  let shown: readonly string[] = [];
  let located: Where | undefined;
  let finished = false;
  const frameText = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");
  /** A terminal that became narrower since the frame was drawn has broken its lines. */
  const rowsShown = (): number => {
    const columns = process.stderr.columns || 80;
    const rowsOf = (line: string): number =>
      Math.max(1, Math.ceil(displayColumns(stripVTControlCharacters(line)) / columns));
    return shown.reduce((rows, line) => rows + rowsOf(line), 0);
  };
  const frameGone = (): string => (shown.length === 0 ? "" : `\u001b[${rowsShown()}A\r\u001b[J`);
  /** A terminal breaks a long line anywhere, also within a word. What is no terminal breaks none. */
  const fitted = (text: string): string => {
    const columns = process.stderr.isTTY === true ? process.stderr.columns || 80 : Infinity;
    const isLong = (line: string): boolean => displayColumns(stripVTControlCharacters(line)) > columns;
    return text
      .split("\n")
      .flatMap((line) => (isLong(line) ? wrapText(line, columns) : [line]))
      .join("\n");
  };
  const note = (text: string): void => {
    const whole = printableLines(text.endsWith("\n") ? text : `${text}\n`);
    if (!silent) process.stderr.write(masked(`${frameGone()}${fitted(masked(whole))}${frameText(shown)}`));
  };
  const tell = (diagnostics: readonly Diagnostic[]): void => {
    if (json || diagnostics.length === 0) return;
    const told = withFixHere(silent ? errorsAmong(diagnostics) : diagnostics, here);
    const text = diagnosticsText(told, {
      color: colour && process.stderr.isTTY === true,
      width: process.stderr.isTTY === true ? process.stderr.columns || 80 : undefined,
    });
    process.stderr.write(masked(text));
  };
  tell(noted);
  return {
    json,
    events: json || into !== undefined,
    colour,
    // A terminal that does not know its size says 0.
    width: process.stdout.columns || 100,
    live: process.stderr.isTTY === true && !json && !isDumb,
    print(text) {
      if (!json) process.stdout.write(masked(text.endsWith("\n") ? text : `${text}\n`));
    },
    printLines(lines) {
      if (json) return;
      let chunk = "";
      for (const line of lines) {
        chunk += `${line}\n`;
        if (chunk.length < chunkLength) continue;
        process.stdout.write(masked(chunk));
        chunk = "";
      }
      process.stdout.write(masked(chunk));
    },
    note,
    noteOnce(text) {
      if (!notes.has(text)) note(text);
      notes.add(text);
    },
    frame(lines) {
      process.stderr.write(masked(`${frameGone()}${frameText(lines)}`));
      shown = lines;
    },
    event(event) {
      if (json || into !== undefined) for (const one of withFixHere([event], here)) writeLine(one);
    },
    locate(where) {
      located = where;
    },
    get where() {
      return located;
    },
    here,
    hide(texts) {
      for (const text of texts) if (text.length >= shortestHidden) secrets.add(text);
      keepOutOfTraces(texts);
      if (secrets.size > 0) masking = createMasking(secrets);
    },
    masked,
    tell,
    finish({
      exitCode,
      diagnostics = [],
      forPrograms = diagnostics,
      plan,
      run,
      orphans = run?.orphans ?? [],
      findings = [],
      owed,
      extra,
      onDocument,
    }) {
      if (json || into !== undefined) {
        const durationMs = Math.round((process.uptime() - startedAt) * 1000);
        const summaryWith = (lost?: Diagnostic): string =>
          lineOf(
            summaryLine({
              command,
              exitCode: lost === undefined ? exitCode : 1,
              diagnostics: withFixHere([...noted, ...forPrograms, ...(lost === undefined ? [] : [lost])], here),
              orphans,
              durationMs,
              findings: withFixHere(findings, here),
              where: located,
              plan,
              run,
              owed,
              extra,
            }),
          );
        into?.write(summaryWith());
        into?.close();
        if (json && onDocument !== true) process.stdout.write(summaryWith(into?.lost));
      }
      finished = true;
      tell(diagnostics);
      return exitCode;
    },
    get finished() {
      return finished;
    },
  };
}
