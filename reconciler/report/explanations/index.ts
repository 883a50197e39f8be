/**
 * Every code of a diagnostic: what it means and what to do. `reconcile explain` and docs/errors.md are made from this
 * table. The compiler checks that every `DiagnosticCode` has a row and that no other row exists.
 */
import type { DiagnosticCode } from "../../core/model/diagnostic-code";
import { fleet } from "./fleet";
import { input } from "./input";
import { planning } from "./planning";
import type { Explanation } from "./row";
import { running } from "./running";

export const explanations: Readonly<Record<DiagnosticCode, Explanation>> = {
  ...input,
  ...planning,
  ...running,
  ...fleet,
};

/** Whether the `code` of an error is one of the table; an error of Node has codes of its own. */
export const isExplained = (code: unknown): code is DiagnosticCode =>
  typeof code === "string" && Object.hasOwn(explanations, code);
