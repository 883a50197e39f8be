/** What the rounds of one worker share: its setting, the fleet's settings, the budgets, and which services answer. */
import { type Budget, createBudget, pauseChannel } from "./database/budget";
import type { Database } from "./database/database";
import type { Records } from "./database/records";
import { stopWord } from "./database/stacks";
import type { FleetSettings } from "./model";
import type { OpenProject } from "./project";
import { type Queue, roundChannel } from "./queue";
import type { RoundOutcome } from "./round";
import { createSilences, type Silences } from "./silence";
import { steadyNow } from "./steady";
import { createTroubles, type Others, type Troubles } from "./troubles";

export interface WorkerSetting {
  readonly name: string;
  readonly version: string;
  readonly database: Database;
  readonly records: Records;
  readonly queue: Queue;
  readonly concurrency: number;
  /** Only stacks of these services; empty: all. */
  readonly services: readonly string[];
  readonly cache: string;
  readonly openProject: OpenProject;
  /** Runs a round within a span, for traces. */
  readonly within: (stack: string, round: () => Promise<RoundOutcome>) => Promise<RoundOutcome>;
  readonly say: (text: string) => void;
  /** Called whenever the settings were read anew, before a round uses them. */
  readonly onSettings: (settings: FleetSettings) => void;
  readonly fetch?: typeof fetch;
}

export interface Shared {
  settings(): Promise<FleetSettings>;
  readonly silences: Silences;
  /** The same for the servers that the files come from. */
  readonly sources: Silences;
  readonly troubles: Troubles;
  others: Others;
  budgetOf(settings: FleetSettings, service: string): Budget | undefined;
  /** Why requests to a service wait at present; absent: they do not wait. */
  waitsOf(service: string): string | undefined;
  paused(service: string): Promise<void>;
}

const settingsFreshMs = 2000;

/** Makes what the rounds of one worker share. */
export function createShared({ records, database, say, onSettings }: WorkerSetting): Shared {
  const budgets = new Map<string, { readonly key: string; readonly budget: Budget }>();
  let known: { readonly at: number; readonly settings: Promise<FleetSettings> } | undefined;
  const shared: Shared = {
    silences: createSilences(),
    sources: createSilences(),
    troubles: createTroubles(),
    others: { count: 0, troubled: [] },
    settings() {
      if (known === undefined || steadyNow() - known.at > settingsFreshMs)
        known = {
          at: steadyNow(),
          settings: records.settings().then((settings) => {
            onSettings(settings);
            return settings;
          }),
        };
      return known.settings;
    },
    budgetOf({ services }, name) {
      const budget = services.find((service) => service.name === name)?.budget;
      if (budget === undefined) return undefined;
      const key = JSON.stringify(budget);
      const before = budgets.get(name);
      if (before?.key === key) return before.budget;
      const made = createBudget({ database, service: name, ...budget, workers: () => shared.others.count + 1, say });
      budgets.set(name, { key, budget: made });
      return made;
    },
    waitsOf: (service) => budgets.get(service)?.budget.waits,
    async paused(service) {
      for (const [name, { budget }] of budgets) if (service === "" || service === name) await budget.look();
    },
  };
  return shared;
}

/** When a notification takes longer than this, notifications are not relied on. */
const heardWithinMs = 5000;

/** Rounds that are there, pauses of services, and stacks that are to stop. */
export async function listenForNews(
  { database, queue, name, say }: WorkerSetting,
  shared: Shared,
  stop: () => Promise<void>,
) {
  const probe = `probe ${name}`;
  let heard = (): void => undefined;
  let hears = false;
  const first = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const ear = await database.listen([pauseChannel, roundChannel], (channel, service) => {
    if (channel === roundChannel) queue.wake();
    else if (service === probe) {
      hears = true;
      heard();
    } else if (service.startsWith(stopWord)) void stop().catch(() => undefined);
    else void shared.paused(service);
  });
  await database.query("SELECT pg_notify($1, $2)", [pauseChannel, probe]).catch(() => undefined);
  const timer = setTimeout(() => {
    if (!hears)
      say(
        "Notifications of the database do not come through (a pooler in transaction mode?): rounds are looked for twice a second, and may begin that much later.",
      );
  }, heardWithinMs);
  timer.unref();
  return {
    /** Whether notifications come through; it takes a while to know that they do not. */
    async hears(): Promise<boolean> {
      await Promise.race([first, new Promise((resolve) => setTimeout(resolve, heardWithinMs))]);
      return hears;
    },
    close: () => {
      clearTimeout(timer);
      return ear.close();
    },
  };
}
