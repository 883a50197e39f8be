/** What a run writes down of where it was, and when the state has it already (engine/scope.ts). */
import { expect, it } from "vitest";
import { noEnvironment } from "../../reconciler/core/model/evidence";
import { notSeen } from "../../reconciler/core/model/live";
import { emptyState } from "../../reconciler/core/state/fold";
import { scopeToRemember } from "../../reconciler/engine/scope";

const origin = "https://cloud.example";

it.each<
  readonly [
    what: string,
    before: { readonly environment?: string } | undefined,
    chosen: string | undefined,
    remembered: { readonly environment?: string } | undefined,
  ]
>([
  ["the service of a first run", undefined, undefined, {}],
  ["the environment that was chosen", undefined, "prod", { environment: "prod" }],
  ["no environment where a file has none", undefined, noEnvironment, {}],
  ["nothing that it remembers", {}, undefined, undefined],
  ["nothing that it remembers, of an environment", { environment: "prod" }, "prod", undefined],
  ["the environment, once one was chosen", {}, "prod", { environment: "prod" }],
])("a run remembers %s", (_, before, chosen, remembered) => {
  const scope = before === undefined ? undefined : { origin, ...before };
  const now = { origin, ...(chosen === undefined ? {} : { environment: chosen }) };
  const found = scopeToRemember(
    { ...emptyState("here"), ...(scope === undefined ? {} : { scope }) },
    now,
    notSeen,
    false,
  );
  expect(found).toEqual(remembered === undefined ? undefined : { origin, ...remembered });
});
