/**
 * Looks at one kind of resource: its list where there is one, and each known id that the list does not show. What comes
 * back is what was seen and what was not; whether something is gone is weighed elsewhere.
 */
import type { Kind } from "../core/model/address";
import type { Desired } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import {
  type Absent,
  type Look,
  notInList,
  notLookedAt,
  saidGoneTwice,
  shownAsGone,
  type Unobserved,
} from "../core/model/evidence";
import { kindRows } from "../core/model/kinds";
import { usualListCost } from "../core/model/list-cost";
import type { LiveGroup, LiveOf, LiveVm } from "../core/model/live";
import { rowOf } from "../core/model/operation";
import { type Accepted, type Failure, isGone, type Outcome } from "../core/model/outcome";
import type { State } from "../core/model/recorded";
import type { RequestOptions, ServiceReader } from "../service/client";
import { readFailed } from "./read-failed";

// The reads that every kind has, for whoever asks the same of each.

type ListAll<L> = (options?: RequestOptions) => Promise<Outcome<readonly L[]>>;
type ReadById<L> = (id: string, options?: RequestOptions) => Promise<Outcome<L>>;

/** The list of a kind, by the call of its row. */
export const listOfKind = <K extends Kind>(kind: K, client: ServiceReader, options?: RequestOptions) =>
  // The row names the call, and its answers are read as the kind's own.
  (Reflect.get(client, rowOf(`${kind}.list`).call) as ListAll<LiveOf[K]>).call(client, options);

export const readOfKind = <K extends Kind>(kind: K, client: ServiceReader, id: string, options?: RequestOptions) =>
  // The same for one of them.
  (Reflect.get(client, rowOf(`${kind}.get`).call) as ReadById<LiveOf[K]>).call(client, id, options);

export type LookOptions = { readonly signal?: AbortSignal };

/** What one kind's look at the service found; `unlisted`: what it says of every other id. */
export interface Observed<T> {
  readonly looks: Map<string, Look<T>>;
  /** Whether everything there is was shown. */
  readonly listed: boolean;
  readonly unlisted: Look<never>;
  /** What the credential may not look at, as `vm:ID`. */
  readonly forbidden: readonly string[];
}

/** What is to be looked at of one kind. */
export interface LooksWanted {
  /** Ids that have to be looked at. */
  readonly wanted: ReadonlySet<string>;
  /** All ids that the state and the file know: one that the list does not show is looked at by itself. */
  readonly known: ReadonlySet<string>;
  /** The whole list is needed: a name may be anybody's. */
  readonly whole: boolean;
}

/** Whether a list costs less than reading each by itself, or nothing but a list will do. */
function isListCheaper(client: ServiceReader, kind: Kind, { wanted, known, whole }: LooksWanted): boolean {
  const { pageItems, pageReads } = client.listCost?.(kind) ?? usualListCost;
  return whole || wanted.size > Math.ceil(known.size / pageItems) * pageReads;
}

const wantsNothing = ({ wanted, whole }: LooksWanted): boolean => wanted.size === 0 && !whole;

export const cannotLook = (what: string): Unobserved => ({
  seen: "unobserved",
  reason: `this service has no way to look at ${what}`,
});

/** One part for each ability to look at VMs: the list, one by one, or not at all. */
export async function observeVms(
  client: ServiceReader,
  asked: LooksWanted,
  desired: Desired,
  state: State,
  findings: Diagnostic[],
  options: LookOptions & { readonly young: ReadonlySet<string> },
): Promise<Observed<LiveVm>> {
  const looks = new Map<string, Look<LiveVm>>();
  const read = (wanted: ReadonlySet<string>): Promise<readonly string[]> =>
    observeEach("vm", wanted, (id) => client.getVm(id, options), looks, findings);
  const { known: ids } = asked;
  const concerned =
    ids.size > 0 || desired.resources.some((resource) => resource.kind === "vm") || state.intents.size > 0;
  if (wantsNothing(asked)) return { looks, unlisted: notLookedAt, forbidden: [], listed: false };
  if (client.can.seesVms === "list" && client.can.readsOneVm && !isListCheaper(client, "vm", asked))
    return { looks, unlisted: notLookedAt, forbidden: await read(asked.wanted), listed: false };
  if (client.can.seesVms === "list") {
    if (!concerned) return { listed: true, looks, unlisted: notLookedAt, forbidden: [] };
    const listed = await client.listVms(options);
    if (listed.status !== "accepted") {
      findings.push(readFailed("the list of VMs", listed));
      return { looks, unlisted: unobservedBy(listed), forbidden: [], listed: false };
    }
    for (const vm of listed.value) looks.set(vm.id, { seen: "yes", value: vm });
    const unlisted = new Set([...ids].filter((id) => !looks.has(id)));
    const forbidden = await lookAtUnlisted(client, unlisted, looks, findings, options);
    const found = [...unlisted].flatMap((id) => {
      const look = looks.get(id);
      return look?.seen === "yes" ? [look.value] : [];
    });
    const [lacking] = found;
    if (lacking === undefined) return { listed: true, looks, unlisted: notInList("the list of VMs"), forbidden };
    // The list is behind, or was cut: an open create that it does not show may have been done.
    const lacks: Unobserved = { seen: "unobserved", reason: `the list of VMs lacks ${lacking.id}, which is there` };
    const isOpen = [...state.intents.values()].some(({ operation }) => operation === "vm.create");
    return { listed: !isOpen, looks, unlisted: lacks, forbidden };
  }
  const unlisted = cannotLook("VMs");
  if (client.can.seesVms === "each") {
    return { looks, unlisted, forbidden: await read(asked.wanted), listed: false };
  }
  if (ids.size > 0)
    findings.push({
      severity: "note",
      code: "plan/vms-unobserved",
      summary: `${ids.size} ${ids.size === 1 ? "VM is" : "VMs are"} known from the state alone: this service has no way to look at VMs`,
      detail: "Changes that others make in the service are not seen.",
    });
  return { looks, unlisted, forbidden: [], listed: false };
}

/**
 * A list may be behind, or lose an entry from one page to the next while it is read. What the state knows and the list
 * does not show is asked for by itself, or looked for once more where there is no such read.
 */
async function lookAtUnlisted(
  client: ServiceReader,
  unlisted: ReadonlySet<string>,
  looks: Map<string, Look<LiveVm>>,
  findings: Diagnostic[],
  options: LookOptions & { readonly young: ReadonlySet<string> },
): Promise<readonly string[]> {
  if (unlisted.size === 0) return [];
  if (client.can.readsOneVm) return observeEach("vm", unlisted, (id) => client.getVm(id, options), looks, findings);
  const listed = await client.listVms({ ...options, proves: true });
  if (listed.status !== "accepted") findings.push(readFailed("the list of VMs", listed));
  else for (const vm of listed.value) if (unlisted.has(vm.id)) looks.set(vm.id, { seen: "yes", value: vm });
  for (const id of unlisted) {
    if (looks.has(id)) continue;
    // Two lists in a row may lack a VM that was listed before: within its window that proves nothing.
    if (options.young.has(id)) {
      looks.set(id, { seen: "unobserved", reason: "it is so young that the list of VMs may not show it" });
      findings.push({
        severity: "warning",
        code: "plan/not-listed-yet",
        summary: `VM ${id} was created a moment ago, and the list of VMs does not show it`,
        detail: "A list may be behind for a while (service.timing.discovery_window), so this plan counts it as there.",
        fix: "plan again when that time is over; apply waits for it and looks again by itself",
      });
    } else looks.set(id, listed.status === "accepted" ? lackedBy(listed, "the list of VMs", id) : unobservedBy(listed));
  }
  return [];
}

/** A list that lacks a resource, or shows it in a state that the dialect calls gone. */
function lackedBy({ goneAs }: Accepted<unknown>, list: string, id: string): Absent {
  const word = goneAs?.get(id);
  return word === undefined ? notInList(list) : shownAsGone(list, word);
}

/** By its list where there is one, and each that the list does not show by itself. `also`: ids beside those asked for. */
export async function observeUsual<K extends Kind>(
  kind: K,
  client: ServiceReader,
  asked: LooksWanted,
  also: readonly string[],
  findings: Diagnostic[],
  options: LookOptions,
): Promise<Observed<LiveOf[K]>> {
  const looks = new Map<string, Look<LiveOf[K]>>();
  const noun = kindRows[kind].fullNoun;
  const read = (wanted: ReadonlySet<string>): Promise<readonly string[]> =>
    observeEach(kind, wanted, (id) => readOfKind(kind, client, id, options), looks, findings);
  const isListable = client.can.canFindCreated(kind);
  if (!isListable || !isListCheaper(client, kind, asked)) {
    const unlisted = isListable ? notLookedAt : cannotLook(`a ${noun} by its list`);
    return { looks, unlisted, forbidden: await read(asked.wanted), listed: false };
  }
  const listed = await listOfKind(kind, client, options);
  if (listed.status !== "accepted") {
    findings.push(readFailed(`the list of ${noun}s`, listed));
    return { looks, unlisted: unobservedBy(listed), forbidden: [], listed: false };
  }
  for (const one of listed.value) looks.set(one.id, { seen: "yes", value: one });
  // A list may be behind: a resource that it does not show counts as gone only when a read of its id says so too.
  const forbidden = await read(new Set([...asked.known, ...also].filter((id) => !looks.has(id))));
  return { looks, unlisted: notInList(`the list of ${noun}s`), forbidden, listed: true };
}

export async function observeGroups(
  client: ServiceReader,
  asked: LooksWanted,
  state: State,
  findings: Diagnostic[],
  options: LookOptions,
): Promise<Observed<LiveGroup>> {
  const looks = new Map<string, Look<LiveGroup>>();
  if (wantsNothing(asked)) return { looks, unlisted: notLookedAt, forbidden: [], listed: false };
  const ids = new Set(asked.wanted);
  let listed: ReadonlyMap<string, LiveGroup> | undefined;
  let unlisted: Look<never> = cannotLook("a security group by its list");
  if (client.can.seesGroups === "list" && client.can.readsOneGroup && !isListCheaper(client, "group", asked))
    unlisted = notLookedAt;
  else if (client.can.seesGroups === "list") {
    const answer = await client.listGroups(options);
    if (answer.status === "accepted") {
      listed = new Map(answer.value.map((group) => [group.id, group]));
      unlisted = notInList("the list of security groups");
    } else {
      findings.push(readFailed("the list of security groups", answer));
      unlisted = unobservedBy(answer);
    }
  } else if (ids.size > 0 && client.can.seesGroups === "rules")
    findings.push({
      severity: "note",
      code: "plan/group-names-unobserved",
      summary: "this service shows the rules of security groups, and not their names and descriptions",
    });
  // A list may be behind: a resource that it does not show counts as gone only when a read of its id says so too.
  if (listed !== undefined) for (const id of asked.known) if (!listed.has(id)) ids.add(id);
  for (const group of listed?.values() ?? []) {
    looks.set(group.id, { seen: "yes", value: group });
    // The group of an open create is recognised by its rules.
    if (isNamedInIntent(group, state)) ids.add(group.id);
  }
  const forbidden = await observeEach(
    "group",
    ids,
    async (id): Promise<Outcome<LiveGroup>> => {
      const [head, rules] = await Promise.all([
        listed === undefined && client.can.readsOneGroup ? client.getGroup(id, options) : undefined,
        client.listRules(id, options),
      ]);
      if (head !== undefined && head.status !== "accepted") return head;
      if (rules.status !== "accepted") return rules;
      return {
        status: "accepted",
        value: { kind: "group", id, ...(head?.value ?? listed?.get(id)), rules: rules.value },
      };
    },
    looks,
    findings,
  );
  return { looks, unlisted, forbidden, listed: listed !== undefined };
}

const isNamedInIntent = ({ name }: LiveGroup, { intents }: State): boolean =>
  intents.size > 0 &&
  [...intents.values()].some(
    (intent) => intent.operation === "group.create" && intent.name.toLowerCase() === name?.toLowerCase(),
  );

/** Returns the ids that the credential may not look at. */
export async function observeEach<T>(
  kind: Kind,
  ids: ReadonlySet<string>,
  read: (id: string) => Promise<Outcome<T>>,
  into: Map<string, Look<T>>,
  findings: Diagnostic[],
): Promise<readonly string[]> {
  const what = kindRows[kind].fullNoun;
  // A single wrong answer must not lead to a second create: "not found" is believed when it came twice.
  const readTwice = async (id: string): Promise<Outcome<T>> => {
    const outcome = await read(id);
    return isGone(outcome) ? read(id) : outcome;
  };
  const forbidden: string[] = [];
  const answers = await Promise.all([...ids].map(async (id) => [id, await readTwice(id)] as const));
  for (const [id, outcome] of answers) {
    if (outcome.status === "accepted") into.set(id, { seen: "yes", value: outcome.value });
    else if (isGone(outcome) && into.has(id))
      findings.push(readFailed(`${what} ${id}, which its list shows,`, outcome));
    else if (outcome.status === "rejected" && isGone(outcome)) into.set(id, saidGoneTwice(outcome));
    else if (outcome.status === "rejected" && outcome.condition === "forbidden") {
      forbidden.push(`${kind}:${id}`);
      into.set(id, unobservedBy(outcome));
      findings.push({
        severity: "warning",
        code: "plan/forbidden",
        summary: `${what} ${id} may not be looked at with this credential; the state's record is used instead`,
        detail: outcome.message,
      });
    } else {
      if (!into.has(id)) into.set(id, unobservedBy(outcome));
      findings.push(readFailed(`${what} ${id}`, outcome));
    }
  }
  return forbidden;
}

const unobservedBy = (failure: Failure): Unobserved => ({
  seen: "unobserved",
  reason: failure.status === "rejected" ? failure.message : failure.reason,
  fix: failure.status === "rejected" && failure.hint !== undefined ? failure.hint : undefined,
});
