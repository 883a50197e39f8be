/**
 * What one of the workers does for all, so that it costs the same however many there are. It goes round: each tick of
 * the database's clock belongs to one place among the workers that live. When one dies, its ticks are left out until
 * the others know.
 */
import type { Standing } from "./database/workers";
import { followFleet } from "./follow";
import { usualHistory } from "./model";
import type { Post } from "./post";
import { lookForPulls } from "./pulls/look";
import { tellPulls } from "./pulls/tell";
import { lookForPushes } from "./pushes";
import type { Shared, WorkerSetting } from "./shared";
import { steadyNow } from "./steady";
import { tellWhyRoundsWait } from "./waiting";

export interface Duties {
  /** After each sign of life. */
  stand(standing: Standing): void;
  close(): void;
}

interface FleetDuty {
  readonly everyMs: number;
  readonly work: () => Promise<void>;
}

/** When the next tick begins that belongs to this place. */
export function nextTurn({ place, workers, now }: Standing, everyMs: number): number {
  const next = Math.floor(now / everyMs) + 1;
  return (next + ((((place - next) % workers) + workers) % workers)) * everyMs;
}

export function takeDuties(setting: WorkerSetting, shared: Shared, post: Post, draining: AbortSignal): Duties {
  const { records, queue, say } = setting;
  const timers = new Map<FleetDuty, NodeJS.Timeout>();
  const busy = new Set<FleetDuty>();
  const duties: readonly FleetDuty[] = [
    { everyMs: 1000, work: () => queue.tend() },
    { everyMs: 60_000, work: () => queue.maintain() },
    { everyMs: 5000, work: async () => post.send() },
    { everyMs: 5000, work: async () => tellWhyRoundsWait(setting, (await shared.settings()).tenants) },
    // A repository or its host that does not answer keeps nothing else from being done.
    { everyMs: 5000, work: () => lookForPushes(setting, say, draining) },
    { everyMs: 5000, work: async () => followFleet(setting, await shared.settings(), draining) },
    { everyMs: 5000, work: () => lookForPulls(setting, draining) },
    { everyMs: 5000, work: async () => tellPulls(setting, (await shared.settings()).signIn?.url, draining) },
    {
      everyMs: 300_000,
      work: async () => {
        const { history = usualHistory } = await shared.settings();
        while (await records.forget(history));
      },
    },
  ];

  function plan(duty: FleetDuty, standing: Standing, at: number): void {
    const now = standing.now + (steadyNow() - at);
    const timer = setTimeout(
      () => {
        plan(duty, standing, at);
        if (draining.aborted || busy.has(duty)) return;
        busy.add(duty);
        duty
          .work()
          .catch(() => undefined)
          .finally(() => busy.delete(duty));
      },
      nextTurn({ ...standing, now }, duty.everyMs) - now,
    );
    timer.unref();
    timers.set(duty, timer);
  }
  const clear = (): void => {
    for (const timer of timers.values()) clearTimeout(timer);
  };
  return {
    stand(standing) {
      clear();
      for (const duty of duties) plan(duty, standing, steadyNow());
    },
    close: clear,
  };
}
