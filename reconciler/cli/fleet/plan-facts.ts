/** What a round decides by and shows of a plan: its facts and their digest, what a person reads of it, and the way back. */
import { createHash } from "node:crypto";
import type { Address } from "../../core/model/address";
import type { Closed } from "../../core/model/desired";
import { hasErrors } from "../../core/model/diagnostic";
import type { State } from "../../core/model/recorded";
import { downTogether } from "../../core/plan/estimate";
import { desiredBefore } from "../../core/plan/undo";
import { stateBefore } from "../../core/state/history";
import { canonicalJson } from "../../core/text/canonical-json";
import { onlyDefined } from "../../core/text/objects";
import { hasNothingToDo } from "../../engine/apply";
import { openStoredState, type Prepared } from "../../engine/plan";
import { addressList } from "../../fleet/notify";
import { CannotUndo, type Planned } from "../../fleet/project";
import { sentences } from "../../fleet/round";
import { asInRepository, type Checkout } from "../../fleet/sources/checkout";
import { type Exposure, exposureOfPlan, opensToWorld } from "../../kinds/group/exposure/exposure";
import { costForPrograms, costText } from "../../report/cost-text";
import { exposureText } from "../../report/exposure-text";
import { planGraph } from "../../report/graph/graph";
import { shortId } from "../../report/history-text";
import { summaryText } from "../../report/plan-outline";
import { planLines } from "../../report/plan-text";
import type { StateStore } from "../../store/store";

/** The outputs that other stacks may use. A sensitive output is in no table of the fleet. */
export const outputsIn = ({ outputs = {} }: Pick<State, "outputs">): Planned["outputs"] =>
  Object.fromEntries(
    Object.entries(outputs).flatMap(([name, { value, sensitive }]) => (sensitive === true ? [] : [[name, value]])),
  );

const opensOf = (exposure: Exposure | undefined, opensAt: number | undefined): readonly Address[] =>
  exposure === undefined ? [] : opensToWorld(exposure, opensAt);

export function planFactsOf(
  prepared: Prepared,
  digest: string,
  opensAt?: number,
): Omit<Planned["facts"], "leases" | "wish"> {
  const { plan, state } = prepared;
  // An earlier run has sent its delete: nobody else took it away.
  const isDeletedHere = (address: Address): boolean => state.resources.get(address)?.deleting === true;
  return {
    digest,
    empty: hasNothingToDo(plan, prepared),
    steps: plan.steps.length,
    consents: plan.consents,
    opens: opensOf(exposureOfPlan(prepared), opensAt).map(
      (address) =>
        `${address} is opened to ${opensAt === undefined ? "the whole world" : `at least a /${opensAt} of the internet`}`,
    ),
    drifted: plan.changes
      .filter(({ reason, address }) => reason === "drifted" || (reason === "gone" && !isDeletedHere(address)))
      .map(({ address }) => address),
  };
}

export interface PlanLooked {
  readonly prepared: Prepared;
  readonly wish: string;
  readonly laterRuns?: number;
}

/** What the files ask for, wherever in them it stands. */
export function wishDigest({ resources }: Closed, checkout: Checkout): string {
  const wished = resources.map(({ source: _, ...declared }) => declared);
  return createHash("sha256")
    .update(canonicalJson(asInRepository(checkout)(wished)))
    .digest("hex")
    .slice(0, 16);
}

/** What was declared before the run, by what the state remembers of it. */
export async function wayBackFacts(store: StateStore, id: string, wished: Closed) {
  const { state } = openStoredState(await store.read(), store.location, "none");
  const runs = state.runs ?? [];
  const index = runs.findIndex((run) => run.id === id);
  const before = index < 0 ? undefined : stateBefore(state, id);
  if (before === undefined) throw new CannotUndo("what the state held before that run is not remembered any more");
  const { desired, diagnostics } = desiredBefore(before, state.resources, wished);
  if (hasErrors(diagnostics)) throw new CannotUndo(sentences(diagnostics));
  return { desired, before, run: shortId(id), stays: diagnostics, laterRuns: runs.length - 1 - index };
}

/**
 * A digest of the plan, of the service and the state that it was made on, and of what was read from elsewhere: an
 * approval is for all of them. Every worker computes the same.
 */
export function planDigest(
  { plan, desired }: Prepared,
  checkout: Checkout,
  {
    beside,
    at,
  }: { readonly beside: string | undefined; readonly at: { readonly service: string; readonly url: string } },
): string {
  const { serial, lineage, options, changes, steps, consents, bookkeeping } = plan;
  const read = desired.external?.values;
  const essence = {
    serial,
    lineage: serial === 0 ? "" : lineage,
    options,
    changes,
    steps,
    consents,
    bookkeeping,
    at,
    ...onlyDefined({ read, beside }),
  };
  return createHash("sha256")
    .update(canonicalJson(asInRepository(checkout)(essence)))
    .digest("hex")
    .slice(0, 16);
}

/** A picture of more steps than this shows nothing; the text lists them all. */
const mostDrawnOfPlan = 100;

export function planBodyOf(prepared: Prepared, opensAt?: number): Planned["body"] {
  const { plan } = prepared;
  const lines = [...planLines(plan, { colour: false, width: 100, steps: false })];
  const together = downTogether(plan.steps);
  const exposure = exposureOfPlan(prepared);
  const reach = exposure === undefined ? "" : exposureText(exposure, { changesOnly: true, width: 100 });
  return {
    text: lines.join("\n"),
    sum: [
      summaryText(plan),
      ...(together.length === 0 ? [] : [`Down at the same time: ${addressList(together)}.`]),
      ...(plan.cost === undefined ? [] : [`${costText(plan.cost)}.`]),
    ].join(" "),
    ...onlyDefined({ cost: plan.cost === undefined ? undefined : costForPrograms(plan.cost) }),
    consents: plan.consents.map(({ detail, grant }) => ({ detail, grant })),
    opens: opensOf(exposure, opensAt),
    ...onlyDefined({
      graph: plan.steps.length === 0 || plan.steps.length > mostDrawnOfPlan ? undefined : planGraph(plan),
      exposure: reach === "" ? undefined : reach,
    }),
  };
}
