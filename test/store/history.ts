/**
 * Many writers of one state, with pauses, deaths and clocks apart. Everything they ask and are answered is written down,
 * and the history is judged afterwards: one writer at a time, and nothing lost that anybody was told is durable.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { writeSnapshot } from "../../reconciler/core/state/text";
import {
  LeaseLost,
  type LeaseTimes,
  StateLocked,
  type StateSession,
  type StateStore,
} from "../../reconciler/store/store";
import { pick, type Random, randomFrom } from "../support/hostile-inputs";
import { holder, line, stateIn } from "./conformance";

export interface Happened {
  readonly writer: number;
  readonly what: "lock" | "hold" | "append" | "replace" | "read" | "release" | "break";
  /** In the order of one clock that nobody sets. */
  readonly from: number;
  readonly to: number;
  readonly answer: "ok" | "refused" | "lost";
  /** Which hold of the lock it belongs to, and its epoch. */
  readonly hold?: Hold;
  /** What it wrote, or what it saw. */
  readonly keys: readonly string[];
}

export interface Hold {
  readonly number: number;
  readonly epoch: number;
}

export interface HistoryOptions {
  readonly seed: number;
  readonly writers: number;
  /** What each of them does. */
  readonly steps: number;
  /** A lease that nothing but a write renews, and a pause that outlasts it. */
  readonly times: LeaseTimes;
  readonly pauseMs: number;
  open(times: LeaseTimes): StateStore;
}

const skew = new AsyncLocalStorage<number>();

/** Until it is called back, each writer's clock is wrong by its own measure. */
export function setClocksApart(): () => void {
  const Right = Date;
  const now = (): number => Right.now() + (skew.getStore() ?? 0);
  class Wrong extends Right {
    constructor(...given: readonly unknown[]) {
      super(...((given.length === 0 ? [now()] : given) as [number]));
    }
    static override now = now;
  }
  globalThis.Date = Wrong as DateConstructor;
  return () => {
    globalThis.Date = Right;
  };
}

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

export async function makeHistory(options: HistoryOptions): Promise<Happened[]> {
  const history: Happened[] = [];
  const wrong = [0, 3_600_000, -3_600_000, 90_000, -90_000];
  await Promise.all(
    Array.from({ length: options.writers }, (_, writer) =>
      skew.run(wrong[writer % wrong.length]!, () => actAs(writer, options, history)),
    ),
  );
  const store = options.open(options.times);
  const from = performance.now();
  const keys = [...(await stateIn(store)).resources.keys()];
  history.push({ writer: -1, what: "read", from, to: performance.now(), answer: "ok", keys });
  return history;
}

async function actAs(writer: number, options: HistoryOptions, history: Happened[]): Promise<void> {
  const random = randomFrom(options.seed * 1000 + writer);
  let written = 0;
  const note = async <T>(what: Happened["what"], keys: readonly string[], ask: () => Promise<T>, hold?: Hold) => {
    const from = performance.now();
    const told = (answer: Happened["answer"], more: Partial<Happened> = {}): void =>
      void history.push({
        writer,
        what,
        from,
        to: performance.now(),
        answer,
        keys,
        ...(hold === undefined ? {} : { hold }),
        ...more,
      });
    try {
      const answer = await ask();
      told("ok", what === "read" ? { keys: answer as string[] } : {});
      return answer;
    } catch (error) {
      if (!(error instanceof LeaseLost) && !(error instanceof StateLocked)) throw error;
      told(error instanceof LeaseLost ? "lost" : "refused");
      return undefined;
    }
  };
  /** Noted with the hold that it begins. */
  const take = async (store: StateStore) => {
    const from = performance.now();
    const session = await note("lock", [], () => store.lock(holder(`writer-${writer}`)));
    if (session === undefined) return undefined;
    const hold = { number: history.length, epoch: session.epoch };
    history.push({ writer, what: "hold", from, to: performance.now(), answer: "ok", keys: [], hold });
    return { session, hold };
  };
  const look = async (store: Pick<StateStore, "read">): Promise<string[]> => [
    ...(await stateIn(store)).resources.keys(),
  ];

  for (let step = 0; step < options.steps; step++) {
    const store = options.open(options.times);
    if (random() < 0.2) await note("read", [], () => look(store));
    const taken = await take(store);
    if (taken === undefined) {
      // Where there are no leases, somebody has to take the lock of a holder that may be dead.
      if (!store.leases && random() < 0.3) await note("break", [], () => store.breakLock());
      else await pause(random() * options.pauseMs);
      continue;
    }
    const { session, hold } = taken;
    await note("read", [], () => look(session), hold);
    if (await goOn(session, hold, random)) await note("release", [], () => session.release(), hold);
  }

  /** False when it dies with the lock. */
  async function goOn(session: StateSession, hold: Hold, chance: Random): Promise<boolean> {
    let { serial } = await stateIn(session);
    for (let left = 1 + Math.floor(chance() * 4); left > 0; left--) {
      const key = `w${writer}-${written++}`;
      const act = pick(chance, ["append", "append", "append", "replace", "pause", "die", "die in flight"] as const);
      if (act === "pause") {
        await pause(options.pauseMs * (0.5 + chance()));
        continue;
      }
      if (act === "die") return false;
      if (act === "replace") {
        const state = await stateIn(session);
        serial = state.serial;
        const text = writeSnapshot({ ...state, epoch: session.epoch });
        if ((await note("replace", [], () => session.replace(text).then(() => true), hold)) === undefined) return true;
        continue;
      }
      serial++;
      const append = (): Promise<true> => session.append([line(serial, session.epoch, key)]).then((): true => true);
      const appended = note("append", [`volume.${key}`], append, hold);
      if (act === "die in flight") {
        await Promise.race([appended, pause(1)]);
        await appended.catch(() => undefined);
        return false;
      }
      if ((await appended) === undefined) return true;
    }
    return true;
  }
}

/** What is wrong with a history, in words; nothing when it is as it must be. */
export function judge(history: readonly Happened[]): string[] {
  const wrong: string[] = [];
  const holds = history.filter(({ what }) => what === "hold");
  const writes = history.filter(({ what, answer }) => (what === "append" || what === "replace") && answer === "ok");
  const holdOf = ({ hold }: Happened) => holds.find((one) => one.hold?.number === hold?.number)!;
  const writers = new Map<number, Happened>();
  for (const write of writes) {
    const own = holdOf(write);
    const later = holds.find((other) => other.from > own.to && other.to < write.from);
    if (later !== undefined) wrong.push(`writer ${write.writer} wrote after writer ${later.writer} had taken the lock`);
    // Who writes nothing leaves no epoch behind, and the next one may have the same.
    const other = writers.get(own.hold!.epoch);
    if (other !== undefined && other !== own)
      wrong.push(`writers ${other.writer} and ${own.writer} both wrote under epoch ${own.hold!.epoch}`);
    writers.set(own.hold!.epoch, own);
  }
  for (const one of writers.values())
    for (const other of writers.values())
      if (one.to < other.from && one.hold!.epoch >= other.hold!.epoch)
        wrong.push(`epoch ${other.hold!.epoch} came after ${one.hold!.epoch}`);
  const appended = writes.filter(({ what }) => what === "append");
  for (const read of history.filter(({ what, answer }) => what === "read" && answer === "ok")) {
    const seen = new Set(read.keys);
    for (const { keys, to, writer } of appended)
      for (const key of keys)
        if (to < read.from && !seen.has(key)) wrong.push(`${key} of writer ${writer} was acknowledged and is not read`);
  }
  return wrong;
}
