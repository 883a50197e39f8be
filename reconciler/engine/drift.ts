/** What the service shows that is not as the state has it. Looks at no file, sends only reads, writes nothing. */

import { canonicalLiveRule, describeRule } from "../core/canonical/rules";
import type { Change, FieldValue } from "../core/diff/changes";
import type { PlanOptions } from "../core/diff/context";
import { type Address, compareAddresses } from "../core/model/address";
import type { Desired } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import { isNeverSeen } from "../core/model/facts";
import { addressesByIdentity, lookUpIn } from "../core/model/identity";
import { findSeen, type Live, sight } from "../core/model/live";
import type { RecordedResource, State } from "../core/model/recorded";
import type { Rule } from "../core/model/rule";
import { desiredAsLastSeen } from "../core/plan/as-recorded";
import { makePlan, type Plan } from "../core/plan/plan";
import { unseenOf } from "../core/plan/unseen";
import { byAddress } from "../kinds/group/compare-rules";
import { isWorldRange } from "../kinds/group/exposure/world";
import type { ServiceReader } from "../service/client";
import { catalogueLists, readCatalogue } from "./observe-catalogue";
import { type Refreshed, refresh } from "./refresh";
import { assertSameScope, assertShown, scopeOf } from "./scope";

export interface Drift {
  readonly address: string;
  readonly name: string;
  readonly id?: string;
  readonly gone: boolean;
  /** It is not shown any more, and nothing proves that it is gone. */
  readonly unproven?: true;
  /** `before`: as recorded; `after`: as the service shows it now. */
  readonly fields: readonly DriftedField[];
}

interface DriftedField {
  readonly field: string;
  readonly before: FieldValue;
  readonly after: FieldValue;
  /** For rules: the rule that was added. */
  readonly rule?: Rule;
  /** The rule opens the group to the Internet. */
  readonly opens?: true;
}

export interface DriftReport {
  readonly drifts: readonly Drift[];
  /** How many resources the service showed, or proved to be gone. */
  readonly compared: number;
  readonly recorded: number;
  readonly diagnostics: readonly Diagnostic[];
  /** What was looked at, with a plan that changes nothing. */
  readonly seen: { readonly live: Live; readonly plan: Plan };
}

export async function findDrift(
  client: ServiceReader,
  state: State,
  { acceptService = false }: Pick<PlanOptions, "acceptService"> = {},
  /** What the caller has just seen of the same state. Left out: drift looks itself. */
  already?: Live,
): Promise<DriftReport> {
  const desired = desiredAsLastSeen(state);
  if (!acceptService) assertSameScope(state, scopeOf(client, desired));
  const seen =
    already === undefined
      ? await refresh(client, desired, state, { acceptService })
      : await sweepCatalogue(client, desired, state, already);
  // What the caller has seen is judged there.
  if (already === undefined) assertShown(state, seen.live, seen.findings);
  const plan = makePlan({ desired, state, live: seen.live, can: client.can, options: {}, findings: seen.findings });
  const drifts = plan.changes
    .filter((change) => change.reason === "gone" || change.fields.length > 0)
    .map(
      (change): Drift => ({
        address: change.address,
        name: change.name,
        id: state.resources.get(change.address)?.id,
        gone: change.reason === "gone",
        ...(change.reason === "gone" && !isProvenGone(change.address, state, seen.live) ? { unproven: true } : {}),
        fields:
          change.reason === "gone"
            ? []
            : change.fields.map(({ field, before, after }): DriftedField => {
                const rule =
                  field === "rules" && after === null ? ruleShownAs(before, change, seen.live, state) : undefined;
                return {
                  field,
                  before: after,
                  after: before,
                  rule,
                  opens: rule !== undefined && opensToInternet(rule) ? true : undefined,
                };
              }),
      }),
    )
    .sort((a, b) => compareAddresses(a.address, b.address));
  const unproven = new Set(drifts.flatMap((drift) => (drift.unproven === true ? [drift.address] : [])));
  // Diagnostics of planning are no drift; those of reads that failed, and of what nothing proves, are kept.
  const kept = plan.diagnostics.filter(
    (diagnostic) =>
      /^(service|state)\//.test(diagnostic.code) ||
      diagnostic.code.endsWith("unobserved") ||
      diagnostic.code === "plan/forbidden" ||
      diagnostic.code === "plan/not-listed-yet" ||
      (diagnostic.code === "plan/gone" && diagnostic.address !== undefined && unproven.has(diagnostic.address)),
  );
  // No file says it.
  const diagnostics = kept.map((one) => (one.code === "plan/gone" ? { ...one, source: undefined } : one));
  const records = [...state.resources.values()];
  const unseen = records.flatMap((record) => unseenOf(record, findSeen(seen.live, record.kind, record.id)));
  const compared = records.filter((record) => isLookedAt(record, seen.live)).length;
  return {
    drifts,
    compared,
    recorded: records.length,
    diagnostics: [...diagnostics, ...unseen],
    seen: { live: seen.live, plan: { ...plan, changes: [], steps: [] } },
  };
}

/**
 * The state may spell a flavor or image in another way than the service. Comparing them then takes a list that nobody
 * has read yet.
 */
async function sweepCatalogue(client: ServiceReader, desired: Desired, state: State, live: Live): Promise<Refreshed> {
  const findings: Diagnostic[] = [];
  const catalogue = await readCatalogue(catalogueLists(client, {}), desired, state, live.of.vm, findings);
  return { live: { ...live, catalogue }, findings };
}

function isProvenGone(address: Address, state: State, live: Live): boolean {
  const record = state.resources.get(address);
  const sighting = record?.id === undefined ? undefined : sight(live, record.kind, record.id);
  return record !== undefined && sighting?.seen === "gone" && sighting.doubt === undefined && !isNeverSeen(record);
}

/** The live rule that the change shows as this text. */
function ruleShownAs(text: FieldValue, { id }: Change, live: Live, state: State): Rule | undefined {
  const addressOf = lookUpIn(addressesByIdentity(state.resources.values()));
  const { rules = [] } = findSeen(live, "group", id) ?? {};
  return rules.map(canonicalLiveRule).find((rule) => describeRule(rule, byAddress({ addressOf })) === text);
}

const opensToInternet = ({ direction, remote }: Rule): boolean =>
  direction === "ingress" && (remote.kind === "any" || (remote.kind === "cidr" && isWorldRange(remote.cidr)));

const isLookedAt = ({ kind, id }: RecordedResource, live: Live): boolean =>
  id !== undefined && sight(live, kind, id).seen !== "unobserved";
