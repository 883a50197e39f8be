/**
 * Writes which stacks wait for the budget of their service or for the share of their tenant. Both waits end by
 * themselves; a person who looks sees why nothing happens.
 */
import type { Tenant } from "./model";
import type { WorkerSetting } from "./shared";
import type { WaitingFor } from "./status";

/** One worker looks at the tenants for all workers. */
const lookEveryS = 5;

export interface WaitingWatch {
  /** `waitsOf`: why requests to the service of a running round wait; absent: they do not wait. */
  look(rounds: ReadonlyMap<string, string | undefined>, tenants: readonly Tenant[]): Promise<void>;
}

export function watchWaiting(
  { name, records, queue }: WorkerSetting,
  waitsOf: (service: string) => string | undefined,
): WaitingWatch {
  let told = new Map<string, string>();

  async function tellOfBudgets(rounds: ReadonlyMap<string, string | undefined>): Promise<void> {
    const now = new Map<string, string>();
    for (const [stack, service] of rounds) {
      const why = service === undefined ? undefined : waitsOf(service);
      if (why !== undefined) now.set(stack, why);
    }
    for (const [why, stacks] of changes(told, now))
      await records.sayWaiting(name, stacks, why === null ? null : { what: "budget", detail: why });
    told = now;
  }

  async function tellOfShares(tenants: readonly Tenant[]): Promise<void> {
    const limited = tenants.filter(({ maxRunning }) => maxRunning !== undefined);
    if (limited.length === 0 || !(await records.claimTask("shares", lookEveryS))) return;
    const full = fullTenants(limited, await queue.load());
    if (full.size === 0) return;
    const behind = await queue.behind([...full.keys()]);
    for (const [tenant, waitingFor] of full) {
      const stacks = behind.filter((one) => one.tenant === tenant).map(({ stack }) => stack);
      if (stacks.length > 0) await records.sayWaitingForShare(stacks, waitingFor);
    }
  }

  return {
    async look(rounds, tenants) {
      await tellOfBudgets(rounds);
      await tellOfShares(tenants);
    },
  };
}

/** Stacks by what is to be written of them now; null: they no longer wait. */
function changes(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): ReadonlyMap<string | null, string[]> {
  const found = new Map<string | null, string[]>();
  const add = (why: string | null, stack: string): void => void found.set(why, [...(found.get(why) ?? []), stack]);
  for (const [stack, why] of now) if (before.get(stack) !== why) add(why, stack);
  for (const stack of before.keys()) if (!now.has(stack)) add(null, stack);
  return found;
}

/** Tenants that run as many rounds as they may, and the text for their waiting rounds. */
export function fullTenants(
  tenants: readonly Tenant[],
  load: readonly { readonly tenant: string; readonly running: number }[],
): ReadonlyMap<string, WaitingFor> {
  const running = new Map(load.map((one) => [one.tenant, one.running]));
  return new Map(
    tenants.flatMap(({ name, maxRunning = Number.POSITIVE_INFINITY }) =>
      (running.get(name) ?? 0) < maxRunning
        ? []
        : [[name, { what: "share", detail: `the tenant ${name} has its ${maxRunning} rounds` }] as const],
    ),
  );
}
