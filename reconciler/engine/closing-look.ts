/**
 * The look at the end of a run. What the service has accepted and no step has seen is looked for, with as few requests
 * as can tell: one list for each kind, or a read for each resource where that is less, and the rules of each group whose
 * rules were changed. A service may bring things about after it has answered, so what does not show is looked for again,
 * at growing pauses, until the discovery window is over. Nothing here fails a step: what is not seen is told as that.
 *
 * An answer that was itself a record of what was made is nearly a look. Where no list shows such things, a few of them
 * are read, and all of them as soon as one of the few is not there.
 */
import { canonicalLiveRule } from "../core/canonical/rules";
import { showsEffect } from "../core/diff/effect";
import type { WhyUnseen } from "../core/model/effect";
import { type Kind, kindRows, kinds } from "../core/model/kinds";
import { usualListCost } from "../core/model/list-cost";
import { failedState, type LiveGroup, type LiveOf } from "../core/model/live";
import { type Failure, isGone, isShut, type Outcome } from "../core/model/outcome";
import type { OpenWrite } from "../core/plan/closing";
import { cheaperLook } from "../core/schedule/pace";
import { shownAmong } from "../kinds/group/same-traffic";
import { vmsUnseen } from "../kinds/vm/watch";
import { lookWithin } from "./look-again";
import { listOfKind, readOfKind } from "./observe";
import { noSamples, type Ports, type Samples } from "./ports";
import { whyUnread } from "./run";

export type ClosingPorts = Pick<Ports, "client" | "clock" | "timing" | "samples"> & {
  readonly signal: AbortSignal;
  /** True once the run is asked to stop: what does not show at once is not looked for again. */
  readonly isStopping: () => boolean;
};

/** What was not seen. Everything else was. */
export async function closingLook(
  open: readonly OpenWrite[],
  looking: ClosingPorts,
): Promise<ReadonlyMap<OpenWrite, WhyUnseen>> {
  const { timing, signal } = looking;
  const unseen = new Map<OpenWrite, WhyUnseen>();
  let left: readonly OpenWrite[] = open.filter((write) => {
    if (write.blind !== undefined) unseen.set(write, { unseen: "nobody-can-look", because: write.blind });
    return write.blind === undefined;
  });
  let pauseMs = timing.pollIntervalMs / (4 * growth);
  const before = looking.samples ?? noSamples();
  // Where resources come one at a time, as in a program, each list would be read for a few of them.
  const isOneRun = looking.samples === undefined;
  let samples = !before.isDoubtful;
  const look = async (isOver: boolean): Promise<true | undefined> => {
    pauseMs = Math.min(pauseMs * growth, timing.discoveryWindowMs / 6);
    const { read, believed }: Sampled = samples
      ? sampled(left, looking, before, isOneRun)
      : { read: left, believed: [] };
    const shown = await lookForWrites(read, looking);
    const missing: readonly OpenWrite[] = read.filter((write) => shown.get(write)?.unseen === "not-shown");
    noteLooked(unseen, read, shown);
    const isDoubtful: boolean = missing.some(({ answered }) => answered === true);
    noteAnswered(before, read, missing);
    before.isDoubtful ||= isDoubtful;
    samples &&= !isDoubtful;
    left = isDoubtful ? [...missing, ...believed] : missing;
    // What was only now found worth reading is read at least once.
    const ends = left.length === 0 || ((isOver || looking.isStopping()) && believedAreRead(left, unseen));
    return ends ? true : undefined;
  };
  const options = { pauseMs: () => pauseMs };
  if (left.length > 0) await lookWithin({ ports: looking, signal }, timing.discoveryWindowMs, look, options);
  for (const write of left) if (!unseen.has(write)) unseen.set(write, notLooked);
  return unseen;
}

function noteLooked(
  unseen: Map<OpenWrite, WhyUnseen>,
  read: readonly OpenWrite[],
  shown: ReadonlyMap<OpenWrite, WhyUnseen | undefined>,
): void {
  for (const [write, why] of shown)
    if (why !== undefined && !(why === notLooked && unseen.has(write))) unseen.set(write, why);
  for (const write of read) if (shown.get(write) === undefined) unseen.delete(write);
}

/** Writes that the service answered and shows. */
function noteAnswered({ shown }: Samples, read: readonly OpenWrite[], missing: readonly OpenWrite[]): void {
  const missed = new Set(missing.map(({ kind, id }) => `${kind}:${id}`));
  for (const { kind, answered, id } of read)
    if (answered === true && !missed.has(`${kind}:${id}`)) shown.set(kind, (shown.get(kind) ?? new Set()).add(id));
}

const growth = 1.6;

const notLooked: WhyUnseen = { unseen: "not-looked", because: "the run was stopped before it was looked for" };

const believedAreRead = (left: readonly OpenWrite[], unseen: ReadonlyMap<OpenWrite, WhyUnseen>): boolean =>
  left.every((write) => unseen.has(write));

/** So many of each kind are read, where their answers showed them. */
const sampleSize = 5;

interface Sampled {
  readonly read: readonly OpenWrite[];
  readonly believed: readonly OpenWrite[];
}

function sampled(left: readonly OpenWrite[], { client }: ClosingPorts, { shown }: Samples, isOneRun: boolean): Sampled {
  const read: OpenWrite[] = [];
  const believed: OpenWrite[] = [];
  const readIds = new Map<Kind, Set<string>>(kinds.map((kind) => [kind, new Set(shown.get(kind))]));
  const doubted = new Set(left.flatMap(({ answered, kind, id }) => (answered === true ? [] : [`${kind}:${id}`])));
  for (const write of left) {
    const { kind, id, field, answered } = write;
    const ids = readIds.get(kind) ?? new Set();
    const isRead =
      answered !== true ||
      doubted.has(`${kind}:${id}`) ||
      (isOneRun && client.can.canFindCreated(kind) && field !== "rule") ||
      ids.has(id) ||
      ids.size < sampleSize;
    if (isRead && answered === true && !doubted.has(`${kind}:${id}`)) ids.add(id);
    (isRead ? read : believed).push(write);
  }
  return { read, believed };
}

/** `undefined`: it shows. */
async function lookForWrites(
  writes: readonly OpenWrite[],
  looking: ClosingPorts,
): Promise<Map<OpenWrite, WhyUnseen | undefined>> {
  const looks = await Promise.all(
    kinds.map((kind) => {
      const ofKind = writes.filter((write) => write.kind === kind);
      return ofKind.length === 0 ? [] : (ownLooks[kind] ?? lookAtUsual(kind))(ofKind, looking);
    }),
  );
  return new Map(looks.flat());
}

type JudgedWrite = readonly [OpenWrite, WhyUnseen | undefined];

/** One resource as it was read. `live: undefined`: the service has none with that id. */
type SeenWrite<K extends Kind> =
  | { readonly live: LiveOf[K] | undefined; readonly where: string }
  | { readonly failure: Failure; readonly where: string };

/** A look that was cut off by the stop of the run has shown nothing, and what it would have shown nobody knows. */
function whyNotSeen<K extends Kind>(
  write: OpenWrite,
  seen: SeenWrite<K>,
  { signal }: ClosingPorts,
): WhyUnseen | undefined {
  const { where } = seen;
  if (write.ofCreate === true || write.beside === true)
    return showsOtherwise(write, seen) ? { unseen: "not-shown", where } : undefined;
  if ("failure" in seen) {
    const { failure } = seen;
    if (signal.aborted) return notLooked;
    const because = `${where} cannot be read: ${whyUnread(failure)}`;
    return isShut(failure) ? { unseen: "nobody-can-look", because } : { unseen: "not-shown", where: because };
  }
  const status = write.field === "existence" && seen.live !== undefined ? failedState(seen.live) : undefined;
  if (status !== undefined) return { unseen: "failed", status, where };
  switch (showsEffect<K>(write, seen.live)) {
    case "shown":
      return undefined;
    case "hidden":
      return { unseen: "nobody-can-look", because: `${where} does not show it` };
    case "not-shown":
      return { unseen: "not-shown", where };
  }
}

const showsOtherwise = <K extends Kind>(write: OpenWrite, seen: SeenWrite<K>): boolean =>
  "live" in seen && seen.live !== undefined && showsEffect<K>(write, seen.live) === "not-shown";

const writtenIds = (writes: readonly OpenWrite[]): string[] => [...new Set(writes.map(({ id }) => id))];

/** By one list, or one by one where that is fewer requests. */
async function readWritten<K extends Kind>(
  kind: K,
  ids: readonly string[],
  { client, signal }: ClosingPorts,
): Promise<(id: string) => SeenWrite<K>> {
  const cost = { pages: 1, ...(client.listCost?.(kind) ?? usualListCost) };
  const isListed = client.can.canFindCreated(kind);
  const noun = kindRows[kind].fullNoun;
  if (isListed && (!client.can.readsOne(kind) || cheaperLook({ byName: false, ids: ids.length }, cost) === "list")) {
    const listed = await listOfKind(kind, client, { signal });
    const where = `the list of ${noun}s (${kind}.list)`;
    if (listed.status !== "accepted") return () => ({ failure: listed, where });
    const byId = new Map(listed.value.map((one) => [one.id, one]));
    return (id) => ({ live: byId.get(id), where });
  }
  return readEach(
    ids,
    (id) => `${noun} ${id} (${kind}.get)`,
    (id) => readOfKind(kind, client, id, { signal, amongOthers: true }),
  );
}

async function readEach<K extends Kind>(
  ids: readonly string[],
  where: (id: string) => string,
  read: (id: string) => Promise<Outcome<LiveOf[K]>>,
): Promise<(id: string) => SeenWrite<K>> {
  const looks = new Map<string, SeenWrite<K>>(
    await Promise.all(ids.map(async (id) => [id, asSeen<K>(await read(id), where(id))] as const)),
  );
  return (id) => looks.get(id) ?? { live: undefined, where: where(id) };
}

function asSeen<K extends Kind>(outcome: Outcome<LiveOf[K]>, where: string): SeenWrite<K> {
  if (outcome.status === "accepted") return { live: outcome.value, where };
  return isGone(outcome) ? { live: undefined, where } : { failure: outcome, where };
}

type LookAtKind = (writes: readonly OpenWrite[], looking: ClosingPorts) => Promise<readonly JudgedWrite[]>;

const ownLooks: Readonly<Partial<Record<Kind, LookAtKind>>> = {
  vm: lookAtVms,
  volume: lookAtVolumes,
  group: lookAtGroups,
};

const lookAtUsual =
  (kind: Kind): LookAtKind =>
  async (writes, looking) => {
    const seen = await readWritten(kind, writtenIds(writes), looking);
    return writes.map((write) => [write, whyNotSeen(write, seen(write.id), looking)]);
  };

async function lookAtVms(writes: readonly OpenWrite[], looking: ClosingPorts): Promise<readonly JudgedWrite[]> {
  if (looking.client.can.seesVms === "never")
    return writes.map((write) => [write, { unseen: "nobody-can-look", because: vmsUnseen }]);
  return lookAtUsual("vm")(writes, looking);
}

/** Where the record of a volume does not have what it hangs on, that of the VM may name its volumes. */
async function lookAtVolumes(writes: readonly OpenWrite[], looking: ClosingPorts): Promise<readonly JudgedWrite[]> {
  const judged = await lookAtUsual("volume")(writes, looking);
  const ofHosts = judged.flatMap(([write, why]) => (isOfHost(write) && why?.unseen === "nobody-can-look" ? write : []));
  if (ofHosts.length === 0 || looking.client.can.seesVms === "never") return judged;
  const hosts = await readWritten("vm", [...new Set(ofHosts.map(({ value }) => value))], looking);
  const asked = new Set(ofHosts);
  return judged.map(([write, why]) => [write, asked.has(write) ? whyNotOnHost(write, why, hosts(write.value)) : why]);
}

function whyNotOnHost(write: OpenWrite, why: WhyUnseen | undefined, host: SeenWrite<"vm">): WhyUnseen | undefined {
  const isNamed = "live" in host ? host.live?.volumes?.some(({ id }) => id === write.id) : undefined;
  if (isNamed === undefined) return why;
  return isNamed === (write.field === "attach_to") ? undefined : { unseen: "not-shown", where: host.where };
}

const isOfHost = ({ field, blind }: OpenWrite): boolean =>
  blind === undefined && (field === "attach_to" || field === "detached");

/** A service may keep the same traffic in other rules. What is declared of a group stands beside the write. */
function isKeptOtherwise(write: OpenWrite, among: readonly OpenWrite[], seen: SeenWrite<"group">): boolean {
  if (write.field !== "rule" || "failure" in seen || seen.live?.rules === undefined) return false;
  const declared = among.filter(({ id, field }) => id === write.id && field === "rule").map(({ value }) => value);
  return shownAmong(declared, seen.live.rules.map(canonicalLiveRule)).has(write.value);
}

const isOfRules = ({ field }: OpenWrite): boolean => field === "rule" || field === "removed rule";

/** Names and descriptions are in the group's record, rules in a list of their own. */
async function lookAtGroups(writes: readonly OpenWrite[], looking: ClosingPorts): Promise<readonly JudgedWrite[]> {
  const { client, signal } = looking;
  const hasHeads = client.can.seesGroups !== "rules";
  const changed = new Set(writtenIds(writes.filter((write) => isOfRules(write) && write.answered !== true)));
  // The rules of a group show that it exists.
  const isOfHead = (write: OpenWrite): boolean =>
    !isOfRules(write) && (write.field !== "existence" || !changed.has(write.id));
  const headIds = writtenIds(writes.filter(isOfHead));
  const heads = hasHeads && headIds.length > 0 ? await readWritten("group", headIds, looking) : undefined;
  const withHead = new Set(headIds);
  const headShows = (write: OpenWrite): boolean =>
    heads !== undefined && withHead.has(write.id) && whyNotSeen(write, heads(write.id), looking) === undefined;
  const byRules = writes.filter((write) =>
    isOfHead(write) ? !hasHeads : write.answered !== true || !headShows(write),
  );
  const rules = await readEach<"group">(
    writtenIds(byRules),
    (id) => `the rules of security group ${id} (group.rule.list)`,
    async (id): Promise<Outcome<LiveGroup>> => {
      const listed = await client.listRules(id, { signal });
      return listed.status === "accepted" ? { ...listed, value: { kind: "group", id, rules: listed.value } } : listed;
    },
  );
  const read = new Set(byRules);
  return writes.map((write) => {
    if (!read.has(write)) return [write, heads === undefined ? undefined : whyNotSeen(write, heads(write.id), looking)];
    const why = whyNotSeen(write, rules(write.id), looking);
    return [write, why?.unseen === "not-shown" && isKeptOtherwise(write, byRules, rules(write.id)) ? undefined : why];
  });
}
