/**
 * One look at the service after the other, each at certain ids of each kind, brought together into what was seen. A whole
 * refresh is one look at everything; a narrow one looks at a part, then at what hangs together with it in another way
 * than the state has it, and at more where something seems to be gone.
 */
import type { Address } from "../core/model/address";
import { type Desired, type DesiredResource, leftToOthers } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import { type Look, valueSeen } from "../core/model/evidence";
import type { Rows } from "../core/model/field-row";
import { fieldsOf } from "../core/model/fields";
import { allOfKind, eachKind, type IdsOfKinds, type Kind, kindRows, kinds, perKind } from "../core/model/kinds";
import type { LiveOf } from "../core/model/live";
import type { RecordedResource, State } from "../core/model/recorded";
import { hostOf } from "../core/model/relations";
import { lazily } from "../core/text/lazily";
import { fieldsIn, keysOf } from "../core/text/objects";
import { observeGroups } from "../kinds/group/observe";
import { observeVms } from "../kinds/vm/observe";
import type { ServiceReader } from "../service/client";
import { type LooksWanted, type Observed, observeUsual } from "./observe";

export type SeenByKind = { readonly [K in Kind]: Observed<LiveOf[K]> };

export type LooksOf = { readonly [K in Kind]: ReadonlyMap<string, Look<LiveOf[K]>> };

export interface Looking {
  readonly client: ServiceReader;
  readonly desired: Desired;
  readonly state: State;
  /** Everything that the state and the file know by an id. */
  readonly known: IdsOfKinds;
  /** New VMs that a list may not show yet. */
  readonly young: ReadonlySet<string>;
  readonly findings: Diagnostic[];
  readonly signal?: AbortSignal;
  /** True: this look makes sure of what one before it showed. */
  readonly isAgain?: boolean;
  /** Told as soon as the VMs are seen. */
  readonly sawVms?: (seen: SeenByKind["vm"]) => void;
}

/** `whole`: kinds of which the service has to show everything. */
export async function lookAtKinds(
  looking: Looking,
  wanted: IdsOfKinds,
  whole: (kind: Kind) => boolean,
): Promise<SeenByKind> {
  const { client, desired, state, known, young, findings } = looking;
  // An open create whose resource does not show is taken for not done.
  const isOpen = (kind: Kind): boolean =>
    [...state.intents.values()].some(({ operation }) => operation === `${kind}.create`);
  const optionsFor = (kind: Kind) => ({
    signal: looking.signal,
    proves: looking.isAgain || isOpen(kind) ? true : undefined,
  });
  const asked = (kind: Kind): LooksWanted => ({ wanted: wanted[kind], known: known[kind], whole: whole(kind) });
  const orphans = (kind: Kind) => allOfKind(state.orphans.values(), kind).map(({ id }) => id);
  const lookAtVms = async () => {
    const seen = await observeVms(client, asked("vm"), desired, state, findings, { ...optionsFor("vm"), young });
    looking.sawVms?.(seen);
    return seen;
  };
  const own: Readonly<Partial<Record<Kind, () => Promise<Observed<LiveOf[Kind]>>>>> = {
    vm: lookAtVms,
    group: () => observeGroups(client, asked("group"), state, findings, optionsFor("group")),
  };
  const seen = await Promise.all(
    keysOf(kindRows).map(
      async (kind): Promise<readonly unknown[]> => [
        kind,
        await (
          own[kind] ?? (() => observeUsual(kind, client, asked(kind), orphans(kind), findings, optionsFor(kind)))
        )(),
      ],
    ),
  );
  // One entry a kind, seen as that kind.
  return Object.fromEntries(seen);
}

export const looksOf = (seen: SeenByKind): LooksOf => eachKind<LooksOf>((kind) => seen[kind].looks);

/** What two looks saw; the later one counts. */
export const laterOver = (first: SeenByKind, then: SeenByKind): SeenByKind =>
  // Both are of the kind.
  eachKind<SeenByKind>((kind) => mergedLooks<LiveOf[Kind]>(first[kind], then[kind]) as never);

const mergedLooks = <T>(first: Observed<T>, then: Observed<T>): Observed<T> => ({
  looks: new Map<string, Look<T>>([...first.looks, ...then.looks]),
  listed: first.listed || then.listed,
  unlisted: then.unlisted.seen === "absent" ? then.unlisted : first.unlisted,
  forbidden: [...first.forbidden, ...then.forbidden],
});

/** By what was seen: volumes on these VMs and VMs under these volumes at which nobody has looked yet. */
export function unseenNeighbours(seen: SeenByKind, wanted: IdsOfKinds, { known }: Looking): IdsOfKinds {
  const ids = perKind(() => new Set<string>());
  const add = (kind: Kind, id: string): void => {
    if (known[kind].has(id) && !seen[kind].looks.has(id)) ids[kind].add(id);
  };
  for (const vm of wanted.vm) {
    for (const { id } of valueSeen(seen.vm.looks.get(vm))?.volumes ?? []) add("volume", id);
  }
  for (const volume of wanted.volume) {
    const on = valueSeen(seen.volume.looks.get(volume))?.attachedTo;
    if (typeof on === "string") add("vm", on);
  }
  return ids;
}

/**
 * A look may be of an earlier time, and what it does not show would be forgotten: of what it shows otherwise than the
 * record has it, another look tells.
 */
export async function lookAgainAtOdds(seen: SeenByKind, looking: Looking): Promise<SeenByKind> {
  const { desired, state } = looking;
  const ids = perKind(() => new Set<string>());
  const wishes = lazily(() => new Map(desired.resources.map((one) => [one.address, one])));
  for (const record of state.resources.values())
    if (record.id !== undefined && isAtOdds(record, record.id, seen, wishes)) ids[record.kind].add(record.id);
  for (const id of seemOver(state, seen)) ids.vm.add(id);
  if (isNobody(ids)) return seen;
  const again = await lookAtKinds({ ...looking, sawVms: undefined, isAgain: true }, ids, () => false);
  // What was shown a moment ago is not gone because the second answer lacks it.
  for (const kind of kinds)
    for (const id of ids[kind]) {
      const look = again[kind].looks.get(id);
      if (look?.seen !== "absent") continue;
      again[kind].looks.set(id, { seen: "unobserved", reason: `${look.because}, and a moment before it was shown` });
    }
  return laterOver(seen, again);
}

/** VMs that show as if what a run was cut off at were over: one that it stopped runs, or one has the volume that it took off. */
function seemOver({ resources }: State, { vm: { looks } }: SeenByKind): string[] {
  const shown = (id: string) => valueSeen(looks.get(id));
  const runs = (id: string): boolean => shown(id)?.phase === "running";
  const stopped = allOfKind(resources.values(), "volume").flatMap(({ stoppedVm }) => stoppedVm ?? []);
  const cutOff = allOfKind(resources.values(), "vm").filter((vm) => {
    const { id, stoppedForFlush, dataVolumeId, dataVolumeDetached, dataVolumeMoving } = vm;
    if (id === undefined) return false;
    if (stoppedForFlush === true && runs(id)) return true;
    const isOff = dataVolumeDetached === true || dataVolumeMoving !== undefined;
    return isOff && shown(id)?.volumes?.some((disk) => disk.id === dataVolumeId) === true;
  });
  return [...stopped.filter(runs), ...cutOff.flatMap(({ id }) => id ?? [])];
}

/**
 * Whether a look and the record have a resource on different hosts, and something would follow from that: this tool put
 * it there, or the file says where it is to be. What is off a host that is gone is at odds with nothing.
 */
function isAtOdds(
  record: RecordedResource,
  id: string,
  seen: SeenByKind,
  wishes: () => ReadonlyMap<Address, DesiredResource>,
): boolean {
  const { kind, address } = record;
  const [host, look] = [hostOf[kind], seen[kind].looks.get(id)];
  if (host === undefined || look?.seen !== "yes") return false;
  const { [host.recorded]: settled, attaching, goesBackTo } = fieldsIn(record);
  // What a run was cut off at counts as done: it may show only now, and is remembered until it does.
  const recorded = goesBackTo === undefined ? (attaching ?? settled) : undefined;
  const on = fieldsIn(look.value)[host.recorded];
  if (on === undefined || (on ?? undefined) === recorded) return false;
  if (goesBackTo !== undefined) return true;
  const wish = wishes().get(address);
  const rows: Rows = fieldsOf[kind];
  if (wish !== undefined && leftToOthers(wish).includes(rows[host.field]?.field ?? "")) return false;
  const wished = fieldsIn(wish)[host.field];
  if (typeof recorded !== "string") return wished !== undefined && fieldsIn(wished)["id"] !== on;
  const { looks, unlisted } = seen[host.kind];
  return on !== null || (looks.get(recorded) ?? unlisted).seen !== "absent";
}

/** A few more resources of each kind that nobody has looked at or `tried` to look at yet. */
export function otherIds(seen: SeenByKind, { known }: Looking, tried: Set<string>, most: number): IdsOfKinds {
  const of = (kind: Kind): ReadonlySet<string> => {
    const ids = new Set<string>();
    for (const id of known[kind]) {
      if (ids.size >= most) break;
      const key = `${kind}:${id}`;
      if (seen[kind].looks.has(id) || tried.has(key)) continue;
      ids.add(id);
      tried.add(key);
    }
    return ids;
  };
  return perKind(of);
}

export const isNobody = (ids: IdsOfKinds): boolean => kinds.every((kind) => ids[kind].size === 0);
