/** Planning only reads, and the compiler proves it: what looks and plans is handed a client without a single write. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { operations } from "../../reconciler/core/model/operation";
import type { PreparePlan } from "../../reconciler/engine/plan";
import type { refresh } from "../../reconciler/engine/refresh";
import type { ServiceReader, ServiceWriter } from "../../reconciler/service/client";
import { root } from "../support/cli-process";

type Rows = typeof operations;
type Calls<Kind> = { [O in keyof Rows]: Rows[O]["kind"] extends Kind ? Rows[O]["call"] : never }[keyof Rows];
type Functions<T> = {
  [K in keyof T]-?: T[K] extends (id: never, ...more: never[]) => Promise<unknown> ? K : never;
}[keyof T];
type Same<A, B> = [A, B] extends [B, A] ? true : never;

const readsAreReads: Same<Functions<ServiceReader>, Calls<"read">> = true;
const writesAreWrites: Same<Functions<ServiceWriter>, Calls<"write" | "delete">> = true;
const noneIsBoth: Same<keyof ServiceReader & keyof ServiceWriter, never> = true;
type Planner = Parameters<typeof refresh>[0] | PreparePlan["client"];
const planningCannotWrite: Same<keyof Planner & keyof ServiceWriter, never> = true;

it("sorts every operation to the reader or the writer, by what its row says a request is", () => {
  expect([readsAreReads, writesAreWrites, noneIsBoth, planningCannotWrite]).toEqual([true, true, true, true]);
});

it.each([
  "refresh",
  "look",
  "observe",
  "observe-catalogue",
  "pull",
  "plan",
  "drift",
  "externals",
  "sweep",
  "doctor/check",
])("hands engine/%s no client that writes", (file) => {
  expect(readFileSync(join(root, `reconciler/engine/${file}.ts`), "utf8")).not.toMatch(
    /\bService(Client|Writer)\b|\bPorts\b/,
  );
});
