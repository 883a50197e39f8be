/**
 * Sends the letters that wait in the database, outside of rounds: a receiver that hangs delays no round and no other
 * receiver, and one that is away gets everything once it is back.
 */

import { errorMessage } from "../core/text/errors";
import { groupedBy } from "../core/text/objects";
import { withoutUsers } from "../core/text/outside-policy";
import type { Records } from "./database/records";
import { deliver, receiverName } from "./notify";

export interface Post {
  /** Sends what is due. Calls while it sends do nothing. */
  send(): void;
  /** Gives up what is on its way: another worker sends it again. */
  close(): Promise<void>;
}

export interface PostSetting {
  readonly records: Pick<Records, "takeLetters" | "sentLetters" | "keepLetters" | "giveUpLetters">;
  readonly say: (text: string) => void;
  readonly fetch?: typeof fetch;
}

export function openPost({ records, say, fetch }: PostSetting): Post {
  const stop = new AbortController();
  let sending: Promise<void> | undefined;
  /** Receivers that are being told now; the next look leaves them out. */
  const busy = new Set<string>();

  async function round(): Promise<void> {
    const letters = await records.takeLetters([...busy]);
    const places = groupedBy(letters, ({ place }) => place);
    for (const [place, mine] of places) {
      busy.add(place);
      void sendTo(place, mine)
        .catch((error: unknown) => say(`letters to a receiver stay where they are: ${errorMessage(error)}`))
        .finally(() => busy.delete(place));
    }
  }

  /** One after the other, in their order; the first that fails keeps the others back. */
  async function sendTo(place: string, letters: Awaited<ReturnType<typeof records.takeLetters>>): Promise<void> {
    const sent: number[] = [];
    let why: string | undefined;
    for (const letter of letters) {
      try {
        await deliver(letter, String(letter.id), { fetch, signal: stop.signal });
        sent.push(letter.id);
      } catch (error) {
        why = withoutUsers(errorMessage(error));
        break;
      }
    }
    if (sent.length > 0) await records.sentLetters(sent);
    if (why === undefined) return;
    if (!stop.signal.aborted) say(`nobody could be told of ${letters.length - sent.length} changes: ${why}`);
    const kept = letters.slice(sent.length).map(({ id }) => id);
    await records.keepLetters(place, kept, stop.signal.aborted ? null : why);
    const given = await records.giveUpLetters(place);
    if (given > 0) say(`${given} letters to ${receiverName(place)} were given up after a day`);
  }

  return {
    send() {
      if (stop.signal.aborted) return;
      sending ??= round()
        .catch(() => undefined)
        .finally(() => {
          sending = undefined;
        });
    },
    async close() {
      stop.abort();
      await sending;
    },
  };
}
