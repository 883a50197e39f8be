/**
 * What the guests of a small world wait for: each command has to end with 0 since the request that made it necessary had
 * its effect. The world keeps that by itself, from what the service did and what was run, so that it can be held against
 * what the state says is owed.
 */
import type { Reply } from "../../emulator/decision";
import type { EmulatorOperation } from "../../emulator/operations";
import type { Closed } from "../../reconciler/core/model/desired";
import { type Duty, debtsIn, duties, dutiesOf } from "../../reconciler/core/model/guest";
import type { RecordedResource, State } from "../../reconciler/core/model/recorded";
import type { EmulatedWorld } from "../support/virtual-world";

/** `after_attach ID`, `after_ready ID`: not run since it became necessary. */
export type Unpaid = readonly string[];

export const unpaidOf = (duty: Duty, id: string): string => `${duty} ${id}`;

/** What a request that had its effect makes necessary. */
export function madeNecessary(
  operation: EmulatorOperation,
  body: unknown,
  id: string | undefined,
  decision: Reply,
): Unpaid {
  if (decision.status >= 300) return [];
  switch (operation) {
    case "vm.create":
      return decision.changes.flatMap((change) =>
        "put" in change && change.put === "vm" ? [unpaidOf("after_ready", change.value.id)] : [],
      );
    case "vm.rebuild":
      return id === undefined ? [] : [unpaidOf("after_ready", id)];
    case "volume.attach":
      return [unpaidOf("after_attach", String((body as { volume_id: unknown }).volume_id))];
    case "volume.resize":
      return id === undefined ? [] : [unpaidOf("after_attach", id)];
    default:
      return [];
  }
}

/** Why the command cannot work here and now. */
export function tooEarly(
  duty: Duty,
  values: Readonly<Record<string, string>>,
  { world: { tables }, nowMs }: EmulatedWorld,
): string | undefined {
  const vm = tables.vm.get(values["RECONCILE_VM_ID"] ?? "");
  const isOver = vm?.pending != null && vm.pending.until <= nowMs;
  const status = (isOver ? vm.pending.becomes.status : undefined) ?? vm?.status;
  if (vm === undefined || status !== "ACTIVE")
    return `${duty}: its VM is ${status ?? "not there"}${vm?.pending === null || isOver ? "" : ", and on its way"}`;
  if (duty !== "after_attach") return undefined;
  const host = tables.volume.get(values["RECONCILE_VOLUME_ID"] ?? "")?.attached_to;
  return host === vm.id ? undefined : `${duty}: its volume hangs on ${host ?? "nothing"}`;
}

/** Commands that were not run since they became necessary, and that the state does not owe. */
export function debtsLost(unpaid: Unpaid, state: State): string[] {
  const opened = [...state.intents.values()].flatMap(({ record }) => debtsIn(record));
  return unpaid.flatMap((one) => {
    const declares = declaredIn(one, state.resources.values());
    if (declares === undefined) return [];
    const { duty, record } = declares;
    const isOwed = [...debtsIn(record), ...opened].some(({ command }) => command === duty);
    return isOwed ? [] : [`lost: nobody owes ${duty} of ${record.address}`];
  });
}

/** Commands that a run which says that all is done has left. */
export function debtsLeft(unpaid: Unpaid, state: State, desired: Closed): string[] {
  return unpaid.flatMap((one) => {
    const declares = declaredIn(one, state.resources.values());
    const isWanted = desired.resources.some(
      (resource) =>
        declares !== undefined &&
        resource.address === declares.record.address &&
        dutiesOf(resource).includes(declares.duty),
    );
    return isWanted ? [`${declares?.duty} of ${declares?.record.address} was not run since it became necessary`] : [];
  });
}

function declaredIn(
  one: string,
  records: Iterable<RecordedResource>,
): { duty: Duty; record: RecordedResource } | undefined {
  const duty = duties.find((word) => one.startsWith(`${word} `));
  for (const record of records)
    if (duty !== undefined && one === unpaidOf(duty, record.id ?? "") && dutiesOf(record).includes(duty))
      return { duty, record };
  return undefined;
}
