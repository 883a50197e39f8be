/**
 * Shares answers within one process. A program's resources are handled one by one, many at a time, and each would read
 * the same lists; here everything that asks for the same within some milliseconds gets the answer of one request. Each
 * call says how old an answer may be: what changes or deletes something asks anew, a refresh reads each list once, and
 * a create needs no newer list than a plan of the whole file would.
 */
import { isKind } from "../core/model/kinds";
import type { LiveVm } from "../core/model/live";
import { type Operation, operationNames, rowOf } from "../core/model/operation";
import { fieldsIn } from "../core/text/objects";
import { sharedLook } from "../core/text/shared-look";
import type { ServiceClient } from "../service/client";

export interface SharedLooks {
  /** Answers that were asked for after the call. */
  readonly fresh: ServiceClient;
  /** Answers of the last seconds that a call with the same need asked for, if nothing was sent since. */
  readonly recent: ServiceClient;
  /** Answers of the last seconds, if nothing was deleted or renamed since. */
  readonly forCreate: ServiceClient;
  /**
   * Lists as those saw them who delete without a pause, without what something was sent about since: that is read by
   * its id. A step that deletes looks once more by itself.
   */
  readonly forRemoval: ServiceClient;
  /**
   * The VM as the newest list shows it, where that list is of the last second and nothing was sent since about it or
   * about what hangs on it.
   */
  vmShownLately(id: string): LiveVm | undefined;
  /** When something was last being sent: now, while it is. */
  busyAt(): number;
}

interface LookOutcome {
  readonly status: string;
  readonly value?: unknown;
}

interface SharedAnswer {
  readonly startedAt: number;
  readonly writes: number;
  readonly removals: number;
  /** Volumes that were attached before. */
  readonly moves: number;
  readonly outcome: Promise<LookOutcome>;
  /** The answer to the create. */
  made?: true;
  accepted?: boolean;
  /** Once it is there. */
  shown?: unknown;
  /** The answer was asked for by a call that needs the present state, and not by a run under way. */
  readonly forRecent: boolean;
}

const gatherMs = 4;
/** A list that was asked for within the last second is one that many ask for, each at its own pace. */
const gatherManyMs = 40;
const manyMs = 1000;
/** So many reads by id cost less than a list. */
const fewLooks = 10;
/** The keys of their answers. */
const listOfVolumes = "listVolumes ";
const listOfVms = "listVms ";
const recentMs = 15_000;
/** Looks of one refresh follow on one another; however long they take, they are one. */
const refreshMs = 300_000;
const momentMs = 5000;
/** Flavors, images and regions change by the month. */
const catalogueMs = 3_600_000;
/** How long a read of one volume stands. The answer to a create stands as long as nothing was sent about what it made. */
const readMs = 600_000;

type CallKind = "catalogue" | "read" | "write" | "removal";

function kindOf(operation: Operation): CallKind {
  const { kind, removes } = rowOf(operation);
  if (removes === true) return "removal";
  if (kind !== "read") return "write";
  return isKind(operation.split(".")[0]) ? "read" : "catalogue";
}

/** The kind of each call that sends a request. Everything else that a client has passes through as it is. */
const kindOfCall: ReadonlyMap<string, CallKind> = new Map(
  operationNames.map((operation) => [rowOf(operation).call, kindOf(operation)]),
);

const proves = (options: unknown): boolean => fieldsIn(options)["proves"] === true;
const makesSure = (options: unknown): boolean => fieldsIn(options)["makesSure"] === true;
const isAmongOthers = (options: unknown): boolean => makesSure(options) || fieldsIn(options)["amongOthers"] === true;

/** An item of a list of VMs: of all kinds, only a VM has a phase. */
const isVm = (item: unknown): item is LiveVm => typeof fieldsIn(item)["phase"] === "string";

interface LooksClock {
  now(): number;
  sleep(ms: number): Promise<void>;
}

type AnyLook = (...args: unknown[]) => Promise<LookOutcome>;

export function shareLooks(client: ServiceClient, { now, sleep }: LooksClock): SharedLooks {
  /** Of each look the newest answer, and the one before it: the newest may still be on its way. */
  const answers = new Map<string, { readonly newest: SharedAnswer; readonly before?: SharedAnswer }>();
  const looks = new Map<string, () => Promise<LookOutcome>>();
  /** Requests that wait a moment for other calls that ask for the same. */
  const gathering = new Map<string, Promise<LookOutcome>>();
  /** The next answer is for a call that needs the present state, and for all that ask meanwhile. */
  const wantedByRecent = new Set<string>();
  /** Of each id, how many writes had been sent when the last one about it was. */
  const lastWrites = new Map<string, number>();
  /** Volumes that were deleted here, and hang on nothing since. */
  const deleted = new Set<string>();
  let writes = 0;
  let sending = 0;
  let sentAt = Number.NEGATIVE_INFINITY;
  let removed = 0;
  let moves = 0;

  const take = (key: string, outcome: SharedAnswer["outcome"]): SharedAnswer => {
    const counts = { writes, removals: removed, moves };
    const answer: SharedAnswer = { startedAt: now(), ...counts, forRecent: wantedByRecent.delete(key), outcome };
    const { newest, before } = answers.get(key) ?? {};
    const last = newest?.accepted === true ? newest : before;
    answers.set(key, { newest: answer, before: last });
    outcome.then(
      ({ status, value }) => {
        answer.accepted = status === "accepted";
        answer.shown = value;
      },
      () => undefined,
    );
    return answer;
  };

  const isTrueOf = (id: string, answer: SharedAnswer): boolean => (lastWrites.get(id) ?? 0) <= answer.writes;

  /** The newest answer that will do, where it was not refused. */
  const newestOf = (key: string, willDo: (answer: SharedAnswer) => boolean): SharedAnswer | undefined => {
    const { newest, before } = answers.get(key) ?? {};
    return [newest, before].find((one) => one !== undefined && one.accepted !== false && willDo(one));
  };

  const look = (key: string, call: () => Promise<LookOutcome>, isList: boolean) => {
    let shared = looks.get(key);
    if (shared === undefined) {
      shared = sharedLook(() => take(key, call()).outcome);
      looks.set(key, shared);
    }
    let gathered = gathering.get(key);
    if (gathered === undefined) {
      const ask = shared;
      const { newest } = answers.get(key) ?? {};
      const waitMs = isList && newest !== undefined && age(newest) < manyMs ? gatherManyMs : gatherMs;
      gathered = sleep(waitMs).then(() => {
        gathering.delete(key);
        return ask();
      });
      gathering.set(key, gathered);
    }
    return gathered;
  };

  const countWrite = (method: string, args: readonly unknown[]): void => {
    writes++;
    if (kindOfCall.get(method) === "removal") removed++;
    if (method === "attachVolume") moves++;
    // The VM of a volume that is moved shows its disks otherwise from then on, which the volume's own record tells.
    const about = method === "attachVolume" || method === "detachVolume" ? args.slice(0, 1) : args;
    for (const arg of about) if (typeof arg === "string") lastWrites.set(arg, writes);
  };

  const send = async (method: string, call: AnyLook, args: readonly unknown[]): Promise<LookOutcome> => {
    countWrite(method, args);
    sending++;
    try {
      const outcome = await call(...args);
      if (method === "deleteVolume" && outcome.status === "accepted") deleted.add(String(args[0]));
      const made = fieldsIn(outcome.value);
      if (method === "createVolume" && typeof made["id"] === "string" && made["changing"] !== true)
        take(`getVolume ${made.id}`, Promise.resolve(outcome)).made = true;
      return outcome;
    } finally {
      countWrite(method, args);
      sending--;
      sentAt = now();
    }
  };

  /** The newest answer about one resource, if nothing was sent about it since. */
  const shownAlone = (kind: "Vm" | "Volume", id: string): SharedAnswer | undefined =>
    newestOf(`get${kind} ${id}`, (one) => one.accepted === true && isTrueOf(id, one));

  /** A list without what it is no longer true of; of that, what was shown since. */
  const corrected = (method: string, list: SharedAnswer): Promise<LookOutcome> =>
    list.outcome.then((outcome) => {
      if (!Array.isArray(outcome.value)) return outcome;
      const kind = method === "listVms" ? "Vm" : "Volume";
      const items = outcome.value.flatMap((item: unknown): unknown[] => {
        const id = String(fieldsIn(item)["id"]);
        if (isTrueOf(id, list)) return [method === "listVms" ? withDisks(item, id, list) : item];
        const since = method === "listGroups" ? undefined : shownAlone(kind, id);
        return since === undefined ? [] : [since.shown];
      });
      return { ...outcome, value: items };
    });

  /** A VM without the volumes that were deleted, or shown to hang elsewhere, since. */
  const withDisks = (vm: unknown, id: string, list: SharedAnswer): unknown => {
    const { volumes } = fieldsIn(vm);
    if (!Array.isArray(volumes)) return vm;
    const isStillOn = (disk: unknown): boolean => {
      const volume = String(fieldsIn(disk)["id"]);
      if (isTrueOf(volume, list)) return true;
      if (deleted.has(volume)) return false;
      const host = fieldsIn(shownAlone("Volume", volume)?.shown)["attachedTo"];
      return host === undefined || host === id;
    };
    return volumes.every(isStillOn) ? vm : { ...fieldsIn(vm), volumes: volumes.filter(isStillOn) };
  };

  /** Many look one after the other, each at another volume: a list shows all of them at once. */
  const manyLook = (): boolean => forSure.ask() > fewLooks;

  /** A volume as a list of the last seconds shows it, where the list shows all that is asked for. */
  const inList = async (target: ServiceClient, id: string, ask: () => Promise<LookOutcome>): Promise<LookOutcome> => {
    if (target.can.seesVolumes !== "list" || (target.listCost?.("volume").pages ?? 1) > fewLooks) return ask();
    const inIt = ({ status, value }: LookOutcome): unknown =>
      status === "accepted" && Array.isArray(value) ? value.find((one) => fieldsIn(one)["id"] === id) : undefined;
    const { newest } = answers.get(listOfVolumes) ?? {};
    const isUsable = newest?.accepted === true && age(newest) <= recentMs && isTrueOf(id, newest);
    const known = isUsable ? inIt(await newest.outcome) : undefined;
    const value = known ?? inIt(await look(listOfVolumes, () => target.listVolumes(), true));
    const { sizeGb, attachedTo, changing } = fieldsIn(value);
    const isWhole = sizeGb !== undefined && attachedTo !== undefined && changing !== true;
    return value !== undefined && isWhole ? { status: "accepted", value } : ask();
  };

  const view = (
    isGood: (answer: SharedAnswer, method: string, id: string) => boolean,
    { burst, isCorrected = false }: { readonly burst?: Burst; readonly isCorrected?: boolean } = {},
  ): ServiceClient =>
    new Proxy(client, {
      get(target, method) {
        const value: unknown = Reflect.get(target, method);
        if (typeof value !== "function" || typeof method !== "string") return value;
        // Every method of the client takes values and ends in an outcome.
        const call = value.bind(target) as AnyLook;
        const kind = kindOfCall.get(method);
        if (kind === undefined) return call;
        if (kind === "write" || kind === "removal") return (...args: unknown[]) => send(method, call, args);
        return (first?: unknown, second?: unknown) => {
          const id = typeof first === "string" ? first : "";
          const options = id === "" ? first : second;
          // A call that proves an absence does not share an answer that was read without that purpose.
          const proving = proves(options) ? [{ proves: true }] : [];
          burst?.ask();
          const key = `${method} ${id}${proving.length > 0 ? " that proves" : ""}`;
          const isEnough = (answer: SharedAnswer): boolean => makesSure(options) && isSureOf(answer, id);
          // An image is asked for that was not there a moment ago.
          const isNew = kind === "catalogue" && proving.length > 0;
          const known = newestOf(key, (answer) => !isNew && (isEnough(answer) || isGood(answer, method, id)));
          if (known !== undefined)
            return (isCorrected || isEnough(known)) && id === "" ? corrected(method, known) : known.outcome;
          if (burst === forRefresh) wantedByRecent.add(key);
          const ask = () => look(key, () => call(...(id === "" ? [] : [id]), ...proving), id === "");
          return isAmongOthers(options) && method === "getVolume" && manyLook() ? inList(target, id, ask) : ask();
        };
      },
    });

  function vmShownLately(id: string): LiveVm | undefined {
    const list = newestOf(listOfVms, ({ accepted }) => accepted === true);
    if (list === undefined || age(list) > manyMs || !isTrueOf(id, list) || !Array.isArray(list.shown)) return undefined;
    const shown = list.shown.find((vm: unknown): vm is LiveVm => isVm(vm) && vm.id === id);
    return shown?.volumes?.every((disk) => isTrueOf(disk.id, list)) === false ? undefined : shown;
  }

  const age = ({ startedAt }: SharedAnswer): number => now() - startedAt;
  /** Of the last seconds. One resource: nothing was sent about it since. A list: nothing was put anywhere. */
  const isSureOf = (answer: SharedAnswer, id: string): boolean =>
    answer.accepted === true && age(answer) <= recentMs && (id === "" ? answer.moves === moves : isTrueOf(id, answer));
  const forRefresh = burstOf(now);
  const forRemoval = burstOf(now);
  const forSure = burstOf(now);
  const isOf = (burst: Burst, answer: SharedAnswer): boolean =>
    age(answer) <= recentMs || (answer.startedAt >= burst.from() && age(answer) <= refreshMs);
  const isCatalogue = (answer: SharedAnswer, method: string): boolean =>
    kindOfCall.get(method) === "catalogue" && age(answer) <= catalogueMs;
  return {
    vmShownLately,
    busyAt: () => (sending > 0 ? now() : sentAt),
    fresh: view(isCatalogue),
    recent: view(
      (answer, method) =>
        isCatalogue(answer, method) || (answer.forRecent && answer.writes === writes && isOf(forRefresh, answer)),
      { burst: forRefresh },
    ),
    forCreate: view((answer, method, id) => {
      if (isCatalogue(answer, method)) return true;
      if (id === "") return answer.accepted === true && answer.removals === removed && age(answer) <= momentMs;
      return method === "getVolume" && isTrueOf(id, answer) && (answer.made === true || age(answer) <= readMs);
    }),
    forRemoval: view(
      (answer, method, id) => {
        if (isCatalogue(answer, method)) return true;
        if (id !== "") return answer.accepted === true && isTrueOf(id, answer) && age(answer) <= recentMs;
        return isOf(forRemoval, answer);
      },
      { burst: forRemoval, isCorrected: true },
    ),
  };
}

/** Those who ask for the same purpose without a pause. */
interface Burst {
  /** Answers with how many have asked. */
  ask(): number;
  /** Since when. */
  from(): number;
}

function burstOf(now: () => number): Burst {
  let from = Number.NEGATIVE_INFINITY;
  let askedAt = Number.NEGATIVE_INFINITY;
  let asked = 0;
  return {
    ask() {
      if (now() - askedAt > recentMs) {
        from = now();
        asked = 0;
      }
      askedAt = now();
      return ++asked;
    },
    from: () => from,
  };
}
