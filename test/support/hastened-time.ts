/**
 * The built command's time within this process: it passes only while the command waits, and then at once. A window of
 * seconds costs nothing, and a loaded machine does not end it before anybody has looked.
 */
import { createRequire } from "node:module";
import { resolve } from "node:path";

const built = createRequire(__filename);
const dist = (path: string): string => resolve(__dirname, "../../dist/reconciler", path);

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

let passed = 0;
let sleepers: Sleeper[] = [];
let scheduled = false;
let day = Date.now();

/** What is asked for in between is answered first: the earliest is woken once the events of this moment are over. */
function schedule(): void {
  if (scheduled || sleepers.length === 0) return;
  scheduled = true;
  setImmediate(() => {
    scheduled = false;
    if (sleepers.length === 0) return;
    const earliest = sleepers.reduce((one, other) => (other.at < one.at ? other : one));
    sleepers = sleepers.filter((sleeper) => sleeper !== earliest);
    passed = Math.max(passed, earliest.at);
    earliest.wake();
    schedule();
  });
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted === true) return done();
    const sleeper: Sleeper = {
      at: passed + ms,
      wake: () => {
        signal?.removeEventListener("abort", end);
        done();
      },
    };
    const end = (): void => {
      sleepers = sleepers.filter((other) => other !== sleeper);
      done();
    };
    signal?.addEventListener("abort", end, { once: true });
    sleepers.push(sleeper);
    schedule();
  });
}

/** From now on, for every command that is run in this process. */
export function hastenTime(): void {
  const { systemClock } = built(
    dist("service/system-clock.js"),
  ) as typeof import("../../reconciler/service/system-clock");
  Object.assign(systemClock, { now: () => passed, instant: () => new Date(day + passed).toISOString(), sleep });
}

/** The time of day never lags behind the machine's, by which files and services are dated. */
export function keepUpWithTheDay(): void {
  day = Math.max(day, Date.now() - passed);
}
