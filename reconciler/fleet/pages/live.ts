/**
 * Keeps pages live: while anybody watches, one look at the database a second for all watchers, and a message to those
 * whose page shows something that changed.
 */
import type { Context } from "hono";
import { streamSSE } from "hono/streaming";
import { hashOf } from "../access";
import type { Records } from "../database/records";
import { steadyNow } from "../steady";

/** One stack by its name, or everything. */
export interface Topic {
  readonly stack?: string;
}

export interface LivePages {
  /** The mark of a page that is being made, taken before its rows are read. */
  mark(topic: Topic): Promise<string>;
  /**
   * Sends a message when the mark of what the page shows has changed, for as long as `mayStay`: a token that was revoked
   * ends the sessions that it opened, and what they watch.
   */
  stream(context: Context, topic: Topic, mark: string, mayStay: () => Promise<boolean>): Response;
}

const lookForChangesMs = 1000;
/** A list of thousands of stacks changes all the time, and nobody reads it that fast. */
const allMs = 3000;
/** Proxies cut connections that are silent for long. */
const pulseMs = 20_000;
/** A message is small, and asking again for each would be a statement for each. */
const askedAgainMs = 15_000;

/** A stack that was removed has a mark as well. */
export const markOf = (moment: string | undefined): string => hashOf(moment ?? "gone").slice(0, 16);

interface Watcher {
  readonly stack: string | undefined;
  seen: string;
  toldAt: number;
  tell(): void;
}

export function createLive(records: Pick<Records, "overview" | "moments">, againMs = askedAgainMs): LivePages {
  const watchers = new Set<Watcher>();
  let timer: NodeJS.Timeout | undefined;
  let looking = false;

  async function look(): Promise<void> {
    if (looking) return;
    looking = true;
    try {
      const names = [...new Set([...watchers].flatMap(({ stack }) => (stack === undefined ? [] : [stack])))];
      const isAllWatched = [...watchers].some(({ stack }) => stack === undefined);
      const all = isAllWatched ? markOf((await records.overview()).moment) : "";
      const one = names.length === 0 ? new Map<string, string>() : await records.moments(names);
      for (const watcher of watchers) {
        // A watcher that came after this look began is in the next one.
        if (watcher.stack === undefined ? !isAllWatched : !names.includes(watcher.stack)) continue;
        const now = watcher.stack === undefined ? all : markOf(one.get(watcher.stack));
        if (watcher.seen === now) continue;
        if (watcher.stack === undefined && steadyNow() - watcher.toldAt < allMs) continue;
        watcher.seen = now;
        watcher.toldAt = steadyNow();
        watcher.tell();
      }
    } catch {
      // The database cannot be asked for a moment: the next look finds what changed meanwhile.
    } finally {
      looking = false;
    }
  }

  function add(watcher: Watcher): void {
    watchers.add(watcher);
    timer ??= setInterval(() => void look(), lookForChangesMs);
    timer.unref();
    void look();
  }

  function remove(watcher: Watcher): void {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  return {
    mark: async ({ stack }) =>
      markOf(stack === undefined ? (await records.overview()).moment : (await records.moments([stack])).get(stack)),
    stream: (context, topic, mark, mayStay) => {
      // nginx keeps what is said back until there is much of it, and obeys this.
      context.header("x-accel-buffering", "no");
      return streamSSE(context, async (stream) => {
        let changed = false;
        let wake = (): void => undefined;
        const watcher: Watcher = {
          stack: topic.stack,
          seen: mark,
          toldAt: 0,
          tell() {
            changed = true;
            wake();
          },
        };
        let askedAt = steadyNow();
        const isLetGo = async (): Promise<boolean> => {
          if (steadyNow() - askedAt < againMs) return false;
          askedAt = steadyNow();
          // Where the database cannot be asked, nothing is new that could be told.
          return !(await mayStay().catch(() => true));
        };
        stream.onAbort(() => wake());
        add(watcher);
        try {
          await stream.writeSSE({ event: "hello", data: "" });
          while (!stream.aborted && !stream.closed) {
            const pulse = setTimeout(() => wake(), pulseMs);
            pulse.unref();
            if (!changed)
              await new Promise<void>((resolve) => {
                wake = resolve;
              });
            clearTimeout(pulse);
            if (stream.aborted || stream.closed || (await isLetGo())) return;
            const isChanged = changed;
            // What changes while a slow reader is told is told next.
            changed = false;
            await (isChanged ? stream.writeSSE({ event: "changed", data: "" }) : stream.write(": still here\n\n"));
          }
        } finally {
          remove(watcher);
        }
      });
    },
  };
}
