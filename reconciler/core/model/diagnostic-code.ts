/** Every code that a diagnostic can carry. reconciler/report/codes.yaml has them, each with what it means. */
export type { DiagnosticCode } from "./generated/diagnostic-code";

/** The code of a user's own policy; the part behind the slash is the policy's. */
export type PolicyCode = `policy/${string}`;
