/**
 * What differs about a resource of a kind that is its rows and its relations alone: every row by the value that the
 * service shows, or else the one that was recorded, and where it hangs.
 */

import { type FieldChange, type FieldValue, fieldChange } from "../../core/diff/changes";
import type { DiffContext } from "../../core/diff/context";
import {
  type Acted,
  creation,
  creationReason,
  type DiffOutcome,
  type Facts,
  forgettingReason,
  forgotten,
  kept,
  madeByIntent,
  removalReason,
  unchanged,
} from "../../core/diff/difference";
import { explain } from "../../core/diff/explain";
import { find, type Known } from "../../core/diff/find";
import { goneNote, letGo } from "../../core/diff/findings";
import type { Pair } from "../../core/diff/pair";
import type { DesiredResource } from "../../core/model/desired";
import { hostNamedBy } from "../../core/model/facts";
import { fieldsOf, type Rows } from "../../core/model/fields";
import type { Kind } from "../../core/model/kinds";
import { type LiveOf, sight } from "../../core/model/live";
import type { RecordedResource, State } from "../../core/model/recorded";
import { hostOf } from "../../core/model/relations";
import { fieldsIn } from "../../core/text/objects";
import { type HostFates, placeOnHost, updateOf, wantedHost } from "../hosts";
import type { Target } from "../placement";

interface UsualFacts extends Facts<Kind> {
  /** The id of the host that it hangs on now. */
  readonly hangsOn?: string;
  /** The host that it must come off, and the one that it must be put on. */
  readonly detachFrom?: string;
  readonly attachTo?: Target;
}

export type UsualDifference = UsualFacts & DiffOutcome<Kind>;

export const rowsOf = (kind: Kind): Rows => fieldsOf[kind];

export function diffUsual(pair: Pair, context: DiffContext, state: State, fates: HostFates): UsualDifference {
  const { address, kind, desired, recorded } = pair;
  const base: UsualFacts = { kind, address, desired, recorded, diagnostics: [] };
  const found = find(pair, kind, context);
  if (found.how === "error") return { ...base, ...unchanged, diagnostics: [found.diagnostic] };
  if (desired === undefined) {
    const made = found.how === "known" && found.adopted === "interrupted" ? found : undefined;
    const own = made === undefined ? recorded : madeByIntent<Kind>(pair, made, {});
    if (own === undefined) return { ...base, ...unchanged };
    if (found.how === "known") return { ...base, adopts: made !== undefined, ...removed(pair, own, found, context) };
    const change = forgotten(own, forgettingReason(pair, found.gone));
    return { ...base, action: "forget", recorded: own, change };
  }
  const target = wantedHost(hostNamedBy(desired), state, fates);
  if (found.how === "known") {
    const own = found.adopted === "interrupted" ? undefined : recorded;
    return { kind, address, desired, recorded: own, ...updated(pair, desired, own, found, target, context, fates) };
  }
  return {
    ...base,
    recorded: undefined,
    attachTo: target,
    action: "create",
    desired,
    change: creation(
      desired,
      valuesOf(desired).map(([row, value]) => fieldChange({ ...row, effect: "in_place" }, undefined, value)),
      creationReason(desired, found.gone),
    ),
    diagnostics: found.gone === undefined ? [] : [goneNote(pair, found.gone, "a new one will be created")],
  };
}

const isValue = (value: unknown): value is NonNullable<FieldValue> =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

const plainRows = (kind: Kind) => Object.entries(rowsOf(kind)).filter(([, { compare }]) => compare === "plain");

const valuesOf = (desired: DesiredResource) =>
  plainRows(desired.kind).flatMap(([key, row]) => {
    const value = fieldsIn(desired)[key];
    return isValue(value) ? [[row, value] as const] : [];
  });

/** The id of the host that it hangs on, as it shows or as it was recorded. */
function hostNow(
  record: RecordedResource | undefined,
  live: LiveOf[Kind] | undefined,
  context: DiffContext,
  kind: Kind,
) {
  const host = hostOf[kind];
  if (host === undefined) return undefined;
  const shown = fieldsIn(live)[host.recorded];
  if (shown !== undefined) return typeof shown === "string" ? shown : undefined;
  const recorded = fieldsIn(record)[host.recorded];
  // A host that is known to be gone carries nothing, whatever the record says.
  return typeof recorded === "string" && sight(context.live, host.kind, recorded).seen !== "gone"
    ? recorded
    : undefined;
}

function removed(
  pair: Pair,
  recorded: RecordedResource,
  { live, id }: Known<LiveOf[Kind]>,
  context: DiffContext,
): Acted<UsualFacts, Kind, "delete" | "forget"> {
  const hangsOn = hostNow(recorded, live, context, pair.kind);
  const seen = { recorded, live, hangsOn, diagnostics: [] };
  if (pair.forget)
    return { ...seen, action: "forget", change: forgotten(recorded, { reason: "let_go", because: letGo }) };
  const { address, kind } = pair;
  const name = live?.name ?? recorded.name ?? id;
  const why = removalReason(context.options.destroy === true);
  return {
    ...seen,
    id,
    action: "delete",
    detachFrom: hangsOn,
    change: { address, kind, action: "delete", name, id, fields: [], losses: [], ...why },
  };
}

function updated(
  pair: Pair,
  desired: DesiredResource,
  recorded: RecordedResource | undefined,
  { live, id, adopted }: Known<LiveOf[Kind]>,
  wished: Target | undefined,
  context: DiffContext,
  fates: HostFates,
): Acted<UsualFacts, Kind, "none" | "update" | "import" | "replace"> {
  const { kind, address } = pair;
  const ignored = new Set(desired.lifecycle.ignoreChanges);
  const fields: FieldChange[] = [];
  let isIntended = false;
  for (const [key, row] of plainRows(kind)) {
    const [shown, known, wanted] = [live, recorded, desired].map((one) => fieldsIn(one)[key]);
    const before = shown ?? known;
    if (!isValue(wanted) || before === wanted || ignored.has(row.field)) continue;
    // Nobody knows what it is now: it is set where that takes nothing away.
    if (!isValue(before) && row.effect !== "in_place") continue;
    fields.push(fieldChange(row, isValue(before) ? before : undefined, wanted));
    if (known !== wanted) isIntended = true;
  }
  const hangsOn = hostNow(recorded, live, context, kind);
  const place = placedByRow(kind, desired, recorded, hangsOn, wished, context, fates);
  if (place?.field !== undefined) fields.push(place.field);
  const isDrift = !isIntended && place?.isIntended !== true;
  const moves = place?.verb !== undefined;
  const { replaces, left, reason, action, changed } = updateOf(pair, desired, fields, { adopted, isDrift }, context);
  return {
    live,
    hangsOn,
    adopts: adopted !== undefined,
    detachFrom: replaces ? hangsOn : moves ? place.whereabouts.host?.id : undefined,
    attachTo: replaces ? wished : moves ? place.target : undefined,
    ...kept<Kind>(action, id, desired, () => ({
      ...{ address, kind, name: live?.name ?? recorded?.name ?? desired.name, reason, losses: [] },
      fields: changed,
      because: explain(reason, fields, left, desired.inherited),
      movedFrom: pair.movedFrom,
      source: desired.source,
    })),
    diagnostics: [],
  };
}

function placedByRow(
  kind: Kind,
  desired: DesiredResource,
  recorded: RecordedResource | undefined,
  on: string | undefined,
  target: Target | undefined,
  context: DiffContext,
  fates: HostFates,
) {
  const relation = hostOf[kind];
  const row = relation === undefined ? undefined : rowsOf(kind)[relation.field];
  if (relation === undefined || row === undefined) return undefined;
  const known = fieldsIn(recorded)[relation.recorded];
  const recordedOn = typeof known === "string" ? known : undefined;
  const isOurs = on !== undefined && recordedOn === on;
  const isIgnored = desired.lifecycle.ignoreChanges.includes(row.field);
  const hanging = { hostKind: relation.kind, on, recordedOn, isOurs, target, isIgnored };
  return placeOnHost(row, hanging, recorded, context, fates);
}
