/**
 * Writes which stacks wait for the budget of their service, for the share of their tenant, or for a worker of their
 * service, so that a person who looks sees why nothing happens.
 */
import { appendTo } from "../core/text/objects";
import type { Tenant } from "./model";
import type { WorkerSetting } from "./shared";
import type { WaitingFor } from "./status";

export interface BudgetWatch {
  /** The rounds of this worker, with their services. */
  look(rounds: ReadonlyMap<string, string | undefined>): Promise<void>;
}

/** `waitsOf`: why requests to the service of a running round wait; absent: they do not wait. */
export function watchBudgets(
  { name, records }: Pick<WorkerSetting, "name" | "records">,
  waitsOf: (service: string) => string | undefined,
): BudgetWatch {
  let told = new Map<string, string>();
  return {
    async look(rounds) {
      const now = new Map<string, string>();
      for (const [stack, service] of rounds) {
        const why = service === undefined ? undefined : waitsOf(service);
        if (why !== undefined) now.set(stack, why);
      }
      for (const [why, stacks] of changes(told, now))
        await records.sayWaiting(name, stacks, why === null ? null : { what: "budget", detail: why });
      told = now;
    },
  };
}

/** Writes of the rounds that are due and wait that their tenant has its share, or that no worker takes them. */
export async function tellWhyRoundsWait(
  { records, queue }: Pick<WorkerSetting, "records" | "queue">,
  tenants: readonly Tenant[],
): Promise<void> {
  const limited = tenants.filter(({ maxRunning }) => maxRunning !== undefined);
  const full = limited.length === 0 ? new Map<string, WaitingFor>() : fullTenants(limited, await queue.load());
  const behind = full.size === 0 ? [] : await queue.behind([...full.keys()]);
  for (const [tenant, waitingFor] of full)
    await records.sayWaitingForPlace(
      behind.flatMap((one) => (one.tenant === tenant ? [one.stack] : [])),
      waitingFor,
    );
  const left = new Map<string, string[]>();
  for (const { stack, service } of await queue.unserved()) appendTo(left, service, stack);
  for (const [service, stacks] of left)
    await records.sayWaitingForPlace(stacks, {
      what: "worker",
      detail: `no worker takes rounds of ${service === "" ? "stacks without a service" : `the service ${service}`}: reconcile fleet work${service === "" ? "" : ` --service ${service}`}`,
    });
}

/** Stacks by what is to be written of them now; null: they no longer wait. */
function changes(
  before: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): ReadonlyMap<string | null, string[]> {
  const found = new Map<string | null, string[]>();
  const add = (why: string | null, stack: string): void => appendTo(found, why, stack);
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
