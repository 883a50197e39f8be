/**
 * Diagnostics for people: what is wrong, where, the line with a caret under the place, what was expected, and what to
 * do. A problem that many resources share is shown once, with all their addresses. Colour only when asked for. Text
 * from outside was made printable before it got into a diagnostic.
 */

import { type Diagnostic, type Severity, sortDiagnostics } from "../core/model/diagnostic";
import { itemAt } from "../core/text/invariant";
import { groupedBy } from "../core/text/objects";
import { printable, printableLine } from "../core/text/printable";
import { displayColumns, numberText, wrapText } from "./style";

export interface DiagnosticsStyle {
  readonly color?: boolean;
  /** Columns of the terminal. Left out: no line is broken, so that the text can be searched. */
  readonly width?: number;
}

const hueOfSeverity: Record<Severity, number> = { error: 31, warning: 33, note: 36 };

export function diagnosticsText(
  diagnostics: readonly Diagnostic[],
  { color = false, width }: DiagnosticsStyle = {},
): string {
  const paint = (codes: string, text: string) => (color ? `\u001b[${codes}m${text}\u001b[0m` : text);
  // Problems are merged only where they show no line of a file: two lines are two places to look at.
  const alike = groupedBy(sortDiagnostics(diagnostics), ({ severity, code, summary, detail, fix, excerpt, source }) => {
    const own = excerpt === undefined ? "" : `${source?.file}:${source?.line}:${source?.column}`;
    return JSON.stringify([severity, code, summary, detail, fix, own]);
  });
  const parts = [...alike.values()].map(([first, ...others]) => diagnosticText(first, others, paint, width));
  return parts.length === 0 ? "" : `${parts.join("\n\n")}\n`;
}

type PaintCodes = (codes: string, text: string) => string;

const othersShown = 5;

function diagnosticText(
  diagnostic: Diagnostic,
  others: readonly Diagnostic[],
  paint: PaintCodes,
  width = Number.POSITIVE_INFINITY,
): string {
  const { severity, code, summary, detail, fix, address, source, excerpt } = diagnostic;
  const label = `${severity}[${code}]`;
  const [first, ...more] = wrapBeside(label.length + 2, printable(summary), width);
  const head = [
    `${paint(`1;${hueOfSeverity[severity]}`, label)}${paint("1", `: ${first}`)}`,
    ...more.map((line) => `    ${paint("1", line)}`),
  ];
  const gutter = " ".repeat(source === undefined ? 2 : String(source.line).length);
  const bar = paint("2", "|");
  const lines = [...head];
  if (source !== undefined) {
    const column = source.column === undefined ? "" : `:${source.column}`;
    lines.push(`${gutter}${paint("2", "-->")} ${printable(source.file)}:${source.line}${column}`);
    if (excerpt !== undefined) {
      lines.push(`${gutter} ${bar}`, `${paint("2", String(source.line))} ${bar} ${printableLine(excerpt)}`);
      if (source.column !== undefined && source.column <= excerpt.length + 1) {
        const shown = printableLine(excerpt);
        const indent = displayColumns(shown.slice(0, source.column - 1));
        const width = Math.max(1, displayColumns(markedPart(shown, source.column - 1)));
        lines.push(`${gutter} ${bar} ${" ".repeat(indent)}${paint(`1;${hueOfSeverity[severity]}`, "^".repeat(width))}`);
      }
    }
  }
  const note = (label: string, text: string | undefined) => {
    if (text === undefined) return;
    const [first, ...more] = wrapBeside(gutter.length + label.length + 5, printable(text), width);
    lines.push(`${gutter} ${paint("2", "=")} ${paint("1", `${label}:`)} ${first}`);
    for (const line of more) lines.push(`    ${gutter}${line}`);
  };
  note("address", address);
  const further = others.flatMap((other) => (other.address === undefined ? [] : [other.address]));
  if (further.length > 0)
    note(
      "also",
      further.length <= othersShown
        ? further.join(", ")
        : `${further.slice(0, othersShown - 1).join(", ")} and ${numberText(further.length - othersShown + 1)} more`,
    );
  if (detail?.startsWith("expected ")) note("expected", detail.slice("expected ".length));
  else note("found", detail);
  note("fix", fix);
  return lines.join("\n");
}

/** The first line has less room than those below it, which are indented. */
function wrapBeside(taken: number, text: string, width: number): string[] {
  const first = itemAt(wrapText(text, Math.max(20, width - taken)), 0);
  const rest = text.slice(first.length).trimStart();
  return rest === "" ? [first] : [first, ...wrapText(rest, Math.max(20, width - 8))];
}

/** The caret underlines the word at the column, or the whole quoted text. */
const markedPart = (line: string, from: number): string =>
  /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|(?:\$\{[^}]*\}|[^\s:,[\]{}#])+)/.exec(line.slice(from))?.[0] ?? "";
