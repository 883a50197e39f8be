/**
 * Every code a diagnostic can carry: what it means and what to do. `reconcile explain` and docs/errors.md are views of
 * this table. The compiler holds that each code of `DiagnosticCode` has its row and no row is for another.
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

/** What an error carries as its code, which may be anybody's. */
export const isExplained = (code: unknown): code is DiagnosticCode =>
  typeof code === "string" && Object.hasOwn(explanations, code);
