/**
 * Every code a diagnostic can carry: what it means and what to do. `reconcile explain` and docs/errors.md are views of
 * this table; a test holds that no code is missing.
 */
import { input } from "./input";
import { planning } from "./planning";
import type { Explanation } from "./row";
import { running } from "./running";

export const explanations: Readonly<Record<string, Explanation>> = { ...input, ...planning, ...running };
