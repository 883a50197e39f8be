/**
 * Looks at the service once: the fewest requests that show everything the records and the file speak of. One list of
 * VMs, one read a volume and a group where there is no list, the catalogue only when something has to be looked up in it.
 */

import { judgeMade, type Made, type NameIndexes } from "../core/diff/evidence";
import { bearsName } from "../core/diff/find";
import { type Address, parseAddress } from "../core/model/address";
import type { Desired } from "../core/model/desired";
import { type Diagnostic, errorsAmong } from "../core/model/diagnostic";
import { disksOf } from "../core/model/disks";
import {
  isContradicted,
  isDoubt,
  isOpen,
  judgeScope,
  type Look,
  proofOf,
  type ScopeDoubt,
  type ScopeProof,
  type Sighting,
  weigh,
} from "../core/model/evidence";
import { allOfKind, type IdsOfKinds, type Kind, kindRows, kinds, perKind } from "../core/model/kinds";
import {
  type Catalogue,
  type Live,
  type LiveOf,
  type LiveVm,
  type LiveVolume,
  type SeenOfKind,
  seenBy,
  seenByKind,
  sight,
} from "../core/model/live";
import { isRefusedAs, type Outcome } from "../core/model/outcome";
import {
  type Intent,
  type Orphan,
  orphanKey,
  type RecordedResource,
  type RecordedVm,
  type State,
} from "../core/model/recorded";
import type { Part } from "../core/plan/part";
import { laidOver, type Swept } from "../core/plan/sweep";
import { addAll } from "../core/text/objects";
import type { ServiceReader } from "../service/client";
import { doubtContradicted } from "./contradicted";
import {
  isNobody,
  type Looking,
  type LooksOf,
  laterOver,
  lookAgainAtOdds,
  lookAtKinds,
  looksOf,
  otherIds,
  type SeenByKind,
  unseenNeighbours,
} from "./look";
import { cannotLook, type LookOptions, type Observed, observeEach } from "./observe";
import { askForCatalogueEarly, type CatalogueLists, catalogueLists, readCatalogue } from "./observe-catalogue";
import { forbiddenFix, readFailed } from "./read-failed";
import { scopeOf } from "./scope";
import { alsoBy, isNotShown, type Witnesses, witnessesRead } from "./seen-again";

export interface Refreshed {
  readonly live: Live;
  readonly findings: readonly Diagnostic[];
}

export interface RefreshOptions {
  readonly signal?: AbortSignal;
  /** Whether a list may be without that VM because it was created only now. */
  readonly isYoung?: (vm: RecordedVm) => boolean;
  /** The user says that it is the right service, project and credential. */
  readonly acceptService?: boolean;
  /** The part of the world to look at; nothing is said of everything else. Left out: everything. */
  readonly part?: Part;
  /** What was seen not long ago, whose names are compared as well. */
  readonly before?: Swept;
  /** Resources beside those of the state that are of the same service, and for the same credential. */
  readonly witnesses?: Witnesses;
  /** True: where nothing else is to be looked at, one request finds out whether the service answers this credential. */
  readonly reach?: boolean;
  /** Whether something will be made. Left out: whether the file has what the state does not. */
  readonly creates?: boolean;
}

export async function refresh(
  client: ServiceReader,
  desired: Desired,
  state: State,
  options: RefreshOptions = {},
): Promise<Refreshed> {
  const findings: Diagnostic[] = [];
  const young = youngVms(state, options);
  const { part, signal } = options;
  const known = knownIds(desired, state);
  const lists = catalogueLists(client, { signal });
  const looking: Looking = {
    client,
    desired,
    state,
    known,
    young,
    findings,
    signal,
    sawVms:
      part === undefined ? (vm) => askForCatalogueEarly(lists, desired, state, { ...vm, byId: vm.looks }) : undefined,
  };
  const wanted = part === undefined ? known : knownIds(desired, state, part);
  let seen = await lookAtKinds(looking, wanted, (kind) => part === undefined || part.named.has(kind));
  seen = await lookAgainAtOdds(seen, looking);
  if (part !== undefined) seen = await lookAtNeighbours(seen, wanted, looking);
  const { before } = options;
  const creates = before === undefined && (options.creates ?? makesNew(desired, state, part));
  const judge = async () => {
    await lookForVolumesLeft(client, state, seen, findings, { signal });
    addAll(findings, doubtContradicted(state, seen));
    const own = await witnessesRead(client, state, looksOf(seen), creates, part, { signal });
    const { witnesses } = options;
    const evidence = witnesses === undefined || own.absent.length === 0 ? own : alsoBy(witnesses, state, own);
    const forbidden = [...new Set(kinds.flatMap((kind) => seen[kind].forbidden))];
    const accepted = options.acceptService === true;
    const remembered = state.scope;
    const strangers = remembered?.sees ?? [];
    const lost = [...evidence.lost, ...strangers.filter((one) => isNotShown(one, seen))];
    const now = scopeOf(client, desired);
    const verdict = judgeScope({ remembered, now, accepted, creates, ...evidence, lost, forbidden });
    const isVouched = [...evidence.recorded, ...strangers].some((one) => evidence.seen.has(one));
    return { verdict, isClear: evidence.absent.length === 0 && (isVouched || !creates), forbidden };
  };
  let { verdict, isClear, forbidden } = await judge();
  // A narrow look sees few resources again, so when something seems gone, or is made while nothing that is known has
  // shown, more is looked at: first a few of each kind, then more of each kind while nothing proves the absence, and at last everything, strangers included.
  const tried = new Set<string>();
  for (let round = 1; part !== undefined && !isClear && (round === 1 || isOpen(verdict)); round++) {
    const more = otherIds(seen, looking, tried, round === 1 ? fewWitnesses : manyWitnesses);
    const isLast = isNobody(more);
    seen = laterOver(seen, await lookAtKinds(looking, more, () => isLast));
    ({ verdict, isClear, forbidden } = await judge());
    if (isLast) break;
  }
  addAll(findings, importsUnseen(desired, state, seen, new Set(forbidden), verdict));
  const live = liveSeen(seen, verdict, state);
  addAll(findings, addressNotes(wanted.vm, live.of.vm.byId));
  const meant = part === undefined || before !== undefined ? desired : withinPart(desired, part);
  const { of: all } = before === undefined ? live : laidOver(live, before);
  const catalogue = await readCatalogue(lists, meant, state, all.vm, findings);
  if (options.reach === true && hasAskedNothing(seen, catalogue, findings))
    findings.push(...(await reach(client, lists, { signal })));
  const told = part === undefined ? findings : eachOnce(findings);
  return { live: { ...live, catalogue }, findings: refusedOnce(told) };
}

/** A list that shows nothing, and a read that finds nothing, leave their marks as well. */
const hasAskedNothing = (seen: SeenByKind, catalogue: Catalogue, findings: readonly Diagnostic[]): boolean =>
  kinds.every((kind) => seen[kind].looks.size === 0 && seen[kind].unlisted.seen !== "absent") &&
  Object.values(catalogue).every((list) => list === undefined) &&
  !findings.some(({ code }) => code.startsWith("service/"));

/**
 * The first plan of volumes and groups may have nothing to look at, and is then as good with a wrong address or
 * credential. One list is asked for, or the next where the service has no such list.
 */
async function reach(client: ServiceReader, lists: CatalogueLists, options: LookOptions): Promise<Diagnostic[]> {
  const asks: { readonly [what: string]: (() => Promise<Outcome<unknown>>) | undefined } = {
    VMs: client.can.seesVms === "list" ? () => client.listVms(options) : undefined,
    ...lists,
  };
  let failed: Diagnostic[] = [];
  for (const [what, ask] of Object.entries(asks)) {
    const answer = await ask?.();
    if (answer === undefined) continue;
    // Whoever may not see the list was answered by the service, and is known there.
    if (answer.status === "accepted" || isRefusedAs(answer, "forbidden")) return [];
    if (failed.length === 0 || !isRefusedAs(answer, "unsupported"))
      failed = [readFailed(`the list of ${what}`, answer)];
    if (!isRefusedAs(answer, "unsupported")) break;
  }
  return failed;
}

/** The ids of VMs that may not be in a list yet. */
const youngVms = ({ resources }: State, { isYoung }: RefreshOptions): ReadonlySet<string> =>
  new Set(allOfKind(resources.values(), "vm").flatMap((vm) => (isYoung?.(vm) === true ? (vm.id ?? []) : [])));

function liveSeen(seen: SeenByKind, verdict: ScopeProof | ScopeDoubt, state: State): Live {
  const weighAll = <T extends Made>(found: Observed<T>, kind: Kind): SeenOfKind<T> => {
    const proof = proofOf(verdict, kind);
    return {
      listed: found.listed && !isUnproven(kind, verdict, state, found.looks),
      byId: new Map([...found.looks].map(([id, look]) => [id, weigh(look, proof)])),
      unlisted: weigh(found.unlisted, proof),
    };
  };
  return {
    of: seenBy((kind) => weighAll(seen[kind], kind)),
    catalogue: {},
    doubt: isDoubt(verdict) ? verdict : undefined,
  };
}

/**
 * A list that proves nothing does not show either that an open create was not done, which would then be sent again: it
 * counts as not read. What such a list does show needs no proof.
 */
const isUnproven = (
  kind: Kind,
  verdict: ScopeProof | ScopeDoubt,
  { intents, resources }: State,
  looks: ReadonlyMap<string, Look<Made>>,
): boolean => {
  if (isDoubt(verdict) || verdict.doubts[kind] === undefined) return false;
  const known = new Set(allOfKind(resources.values(), kind).map(({ id }) => id));
  const isShown = (intent: Intent): boolean => {
    const named = [...looks].flatMap(([id, look]) =>
      look.seen === "yes" && bearsName(look.value, intent.name) && !known.has(id) && !intent.idsBefore.includes(id)
        ? [look.value]
        : [],
    );
    return named.length > 0 && judgeMade(intent, named, withoutLists).strangers.length === 0;
  };
  return [...intents.values()].some((intent) => intent.operation === `${kind}.create` && !isShown(intent));
};

const withoutLists: NameIndexes = { flavors: undefined, images: undefined };

/** Two looks may find the same problem: it is told once. */
const eachOnce = (findings: readonly Diagnostic[]): Diagnostic[] => [
  ...new Map(findings.map((finding) => [`${finding.code} ${finding.summary}`, finding])).values(),
];

/** A credential that is refused is said once, however many reads it was refused for. */
function refusedOnce(findings: readonly Diagnostic[]): readonly Diagnostic[] {
  const refused = findings.filter(({ code }) => code === "service/unauthenticated");
  const first = errorsAmong(refused)[0];
  if (first === undefined || refused.length === 1) return findings;
  const others = new Set(refused);
  const detail = `${refused.length - 1} more ${refused.length === 2 ? "read was" : "reads were"} refused alike.`;
  return findings.flatMap((one) => (one === first ? [{ ...first, detail }] : others.has(one) ? [] : [one]));
}

/**
 * How many more resources of each kind are looked at, first when something seems to be gone, and again while nothing
 * proves it.
 */
const fewWitnesses = 10;
const manyWitnesses = 50;

/** Looks at volumes and VMs that are attached in another way than the state says. */
async function lookAtNeighbours(seen: SeenByKind, wanted: IdsOfKinds, looking: Looking): Promise<SeenByKind> {
  const ids = unseenNeighbours(seen, wanted, looking);
  return isNobody(ids) ? seen : laterOver(seen, await lookAtKinds(looking, ids, () => false));
}

const withinPart = (desired: Desired, { addresses }: Part): Desired => ({
  ...desired,
  resources: desired.resources.filter(({ address }) => addresses.has(address)),
});

/** A volume that hung on a VM which is gone counts as gone only when a read of its id says so. */
async function lookForVolumesLeft(
  client: ServiceReader,
  state: State,
  { vm: vms, volume: volumes }: SeenByKind,
  findings: Diagnostic[],
  options: LookOptions,
): Promise<void> {
  const left = new Set<string>();
  for (const record of allOfKind(state.resources.values(), "vm"))
    if (record.id !== undefined && vms.looks.get(record.id)?.seen === "absent")
      for (const { id } of disksOf(record)) if (!volumes.looks.has(id)) left.add(id);
  await observeEach("volume", left, (id) => client.getVolume(id, options), volumes.looks, findings);
}

/**
 * A recorded resource may be out of sight for a while; a resource to be imported has to be seen. Where the scope is
 * proven, the import's own change reports its absence.
 */
function importsUnseen(
  desired: Desired,
  state: State,
  seen: SeenByKind,
  forbidden: ReadonlySet<string>,
  verdict: ScopeProof | ScopeDoubt,
): Diagnostic[] {
  return desired.imports.flatMap(({ to, id, source }): Diagnostic[] => {
    const kind = parseAddress(to)?.kind;
    if (id === undefined || kind === undefined || state.resources.has(to)) return [];
    const noun = `${kindRows[kind].fullNoun} ${id}`;
    const refused = (code: Diagnostic["code"], why: string, fix: string): Diagnostic[] => [
      { severity: "error", code, summary: `${to} cannot be imported: ${why}`, fix, address: to, source },
    ];
    if (forbidden.has(`${kind}:${id}`))
      return refused("plan/import-unseen", `${noun} may not be looked at with this credential`, forbiddenFix);
    const look = seen[kind].looks.get(id);
    if (look !== undefined && isContradicted(look))
      return refused("plan/import-not-found", look.reason, look.contradicted.hint);
    const isDoubted = isDoubt(verdict) || verdict.doubts[kind] !== undefined;
    if (!isDoubted || look?.seen !== "absent") return [];
    return refused("plan/import-not-found", `the service shows no ${noun}`, "correct the id");
  });
}

const makesNew = ({ resources }: Desired, state: State, part: Part | undefined): boolean =>
  resources.some(({ address }) => !state.resources.has(address) && (part === undefined || part.addresses.has(address)));

/** Data volumes that are deleted with their VM, grown or put back: a plan names them as they are, and where they hang. */
function dataVolumesConcerned(desired: Desired, records: readonly RecordedResource[]): string[] {
  const wished = new Map(allOfKind(desired.resources, "vm").map((one) => [one.address, one]));
  return allOfKind(records, "vm").flatMap((record) => {
    const { dataVolumeId: id, dataVolumeDetached, dataVolumeMoving, sizeGb, onDelete } = record;
    const wish = wished.get(record.address);
    const goes = (wish?.lifecycle.preservedVolumes ?? onDelete.preservedVolumes) === "delete";
    const isOpen = dataVolumeDetached === true || dataVolumeMoving !== undefined;
    const isGrown = wish !== undefined && sizeGb !== undefined && wish.sizeGb > sizeGb;
    return id !== undefined && (goes || isOpen || isGrown) ? [id] : [];
  });
}

/** What is asked for by its id: what the state and the file name, within the part that is looked at. */
export function knownIds(desired: Desired, state: State, part?: Part): Record<Kind, Set<string>> {
  const ids = perKind(() => new Set<string>());
  const isMeant = (address: Address): boolean => part === undefined || part.addresses.has(address);
  const records = [...state.resources.values()].filter(({ address }) => isMeant(address));
  for (const record of records) if (record.id !== undefined) ids[record.kind].add(record.id);
  for (const id of dataVolumesConcerned(desired, records)) ids.volume.add(id);
  // Somebody may have started what a run that was cut off has stopped.
  for (const { stoppedVm } of allOfKind(records, "volume")) if (stoppedVm !== undefined) ids.vm.add(stoppedVm);
  for (const { to, id } of desired.imports) {
    const kind = parseAddress(to)?.kind;
    if (id !== undefined && kind !== undefined && !state.resources.has(to) && isMeant(to)) ids[kind].add(id);
  }
  // A missing resource may show again, somebody may have deleted an orphan, and one that was replaced is still to go.
  for (const { kind, id, missingSince, record, replacedBy } of state.orphans.values()) {
    const address = replacedBy ?? record?.address;
    const isLooked = missingSince !== undefined || replacedBy !== undefined;
    if (kind !== "image" && isLooked && (address === undefined || isMeant(address))) ids[kind].add(id);
  }
  return ids;
}

const addressNotes = (ids: ReadonlySet<string>, vmById: ReadonlyMap<string, Sighting<LiveVm>>): Diagnostic[] =>
  [...ids].flatMap((id) => {
    const sighting = vmById.get(id);
    if (sighting?.seen !== "yes") return [];
    const { name, notAddresses = [] } = sighting.value;
    return notAddresses.map(({ field, found }) => ({
      severity: "warning" as const,
      code: "plan/address-unread",
      summary: `the ${field} of VM ${name} is no IP address and counts as not shown: ${found.length > 60 ? `${found.slice(0, 60)}…` : found}`,
      fix: `describe where the record has it in the dialect (records.vm.${field})`,
    }));
  });

/** Orphaned volumes are read one by one where there is no list to find them in. */
export async function observeOrphans(
  client: ServiceReader,
  desired: Desired,
  state: State,
  orphans: readonly Orphan[],
) {
  const ids = allOfKind(orphans, "volume").map(({ id }) => id);
  const looks = new Map<string, Look<LiveVolume>>();
  const findings: Diagnostic[] = [];
  const [{ live }] = await Promise.all([
    // VMs and groups among the orphans are looked for by id, like every resource that is missing.
    refresh(
      client,
      desired,
      { ...state, orphans: new Map(orphans.map((orphan) => [orphanKey(orphan), { missingSince: "", ...orphan }])) },
      { creates: false },
    ),
    observeEach("volume", new Set(ids), (id) => client.getVolume(id), looks, findings),
  ]);
  const seen = seenByKind(live);
  const all: LooksOf = { ...seen, volume: new Map([...seen.volume, ...[...looks].filter(isSeen)]) };
  const verdict = judgeScope({
    remembered: state.scope,
    now: scopeOf(client, desired),
    accepted: false,
    creates: false,
    ...(await witnessesRead(client, state, all, false, undefined, {})),
    absent: [...looks].flatMap(([id, { seen }]) => (seen === "absent" ? [`volume:${id}`] : [])),
    forbidden: [],
  });
  const byItself: { readonly [K in Kind]?: ReadonlyMap<string, Look<LiveOf[Kind]>> } = { volume: looks };
  const sightOf = ({ kind, id }: Orphan): Sighting<LiveOf[Kind]> => {
    if (kind === "image") return cannotLook("one image");
    const look = byItself[kind]?.get(id);
    const sighting = sight(live, kind, id);
    // What a list shows is there, whatever its own address says.
    const isThere = sighting.seen === "yes" || isContradicted(sighting);
    return look === undefined || isThere ? sighting : weigh(look, proofOf(verdict, kind));
  };
  return { sight: sightOf, findings };
}

const isSeen = <T>(entry: [string, Look<T> | Sighting<T>]): entry is [string, { seen: "yes"; value: T }] =>
  entry[1].seen === "yes";
