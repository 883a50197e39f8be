/**
 * A run that can die: from the chosen moment on nothing it asks for comes back, as in a process that was killed. What
 * was sent before goes on having its effect. The moment is the n-th request that changes something, or the n-th
 * durable write of the state, before or after it.
 */
import type { Ports } from "../../reconciler/engine/ports";
import type { ServiceClient } from "../../reconciler/service/client";
import type { StateSession, StateStore } from "../../reconciler/store/store";

export interface Moment {
  readonly of: "request" | "write";
  /** 1 for the first. */
  readonly nth: number;
  readonly when: "before" | "after";
}

/** Every moment at which a run with so many requests and writes may die. */
export function momentsOf(counts: Readonly<Record<Moment["of"], number>>): Moment[] {
  const moments: Moment[] = [];
  for (const of of ["request", "write"] as const)
    for (let nth = 1; nth <= counts[of]; nth++)
      for (const when of ["before", "after"] as const) moments.push({ of, nth, when });
  return moments;
}

export interface Mortality {
  /** Each as it is for one that can die. */
  client<C extends object>(client: C): C;
  store(store: StateStore): StateStore;
  clock(clock: Ports["clock"]): Ports["clock"];
  /** Settles when it dies. */
  readonly death: Promise<void>;
  /** When nothing that was asked for is under way any more. */
  idle(): Promise<void>;
  /** How often each came up. */
  readonly counts: { request: number; write: number };
  readonly isDead: () => boolean;
}

export interface Mortal extends Pick<Mortality, "death" | "counts" | "isDead"> {
  readonly client: ServiceClient;
  readonly store: StateStore;
  readonly clock: Ports["clock"];
}

const never = new Promise<never>(() => undefined);
const isRead = (name: string): boolean => /^(list|get|has)/.test(name) || name === "close";
const changes: readonly string[] = ["append", "replace"];

/** `locks`: taking the lock and letting it go are writes as well. */
export function createMortality(moment?: Moment, { locks = false } = {}): Mortality {
  const counts = { request: 0, write: 0 };
  const underWay = new Set<Promise<unknown>>();
  let dead = false;
  let die!: () => void;
  const death = new Promise<void>((resolve) => {
    die = () => {
      dead = true;
      resolve();
    };
  });

  async function pass<T>(of: Moment["of"] | undefined, act: () => Promise<T>): Promise<T> {
    if (dead) return never;
    const isIt = of !== undefined && ++counts[of] === moment?.nth && moment.of === of;
    if (isIt && moment.when === "before") {
      die();
      return never;
    }
    const acting = act().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    underWay.add(acting);
    const result = await acting;
    underWay.delete(acting);
    if (isIt) die();
    if (dead) return never;
    if ("error" in result) throw result.error;
    return result.value;
  }

  /** What has not been sent by then never is: a request first asks the store for the lock, and that answers nobody any more. */
  function unlessDead(argument: unknown): unknown {
    if (typeof argument !== "object" || argument === null || !("mayWrite" in argument)) return argument;
    const { mayWrite } = argument;
    if (typeof mayWrite !== "function") return argument;
    const died = death.then(() => false);
    return { ...argument, mayWrite: () => Promise.race([mayWrite(), died]) };
  }

  const wrap = <T extends object>(target: T, kindOf: (name: string) => Moment["of"] | undefined): T =>
    new Proxy(target, {
      get(object, name) {
        const member = Reflect.get(object, name) as unknown;
        // What is not asked of the service is answered at once.
        if (typeof member !== "function" || name === "has" || name === "subject") return member;
        return (...args: unknown[]) =>
          pass(kindOf(String(name)), async () => {
            const answer = (await Reflect.apply(member, object, args.map(unlessDead))) as unknown;
            return name === "lock" ? wrap(answer as StateSession, writeOf) : answer;
          });
      },
    });
  const writeOf = (name: string): Moment["of"] | undefined =>
    changes.includes(name) || (locks && (name === "lock" || name === "release")) ? "write" : undefined;

  return {
    client: (client) => wrap(client, (name) => (isRead(name) ? undefined : "request")),
    store: (store) => wrap(store, writeOf),
    clock: (clock) => ({
      now: () => clock.now(),
      instant: () => clock.instant(),
      sleep: (ms, signal) => pass(undefined, () => clock.sleep(ms, signal)),
    }),
    death,
    async idle() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
    counts,
    isDead: () => dead,
  };
}

export function createMortal(
  parts: { readonly client: ServiceClient; readonly store: StateStore; readonly clock: Ports["clock"] },
  moment?: Moment,
): Mortal {
  const { client, store, clock, death, counts, isDead } = createMortality(moment);
  return { client: client(parts.client), store: store(parts.store), clock: clock(parts.clock), death, counts, isDead };
}
