/** Every code of a diagnostic: what it means and what to do. The table itself is codes.yaml beside this file. */
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { explanations as table } from "./generated/explanations";

interface Explanation {
  readonly means: string;
  readonly todo: string;
}

export const explanations: Readonly<Record<DiagnosticCode, Explanation>> = table;

/** Whether the `code` of an error is one of the table; an error of Node has codes of its own. */
export const isExplained = (code: unknown): code is DiagnosticCode =>
  typeof code === "string" && Object.hasOwn(explanations, code);
