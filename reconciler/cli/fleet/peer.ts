/**
 * Two processes of this program that call each other over the channel between them: with values, with signals that
 * reach the other side, and with errors that are of their class again where a round tells them apart.
 */
import { diagnosticsIn } from "../../core/model/diagnostic";
import { asError } from "../../core/text/errors";
import { fieldsIn } from "../../core/text/objects";
import { CannotUndo, ReadingEnded } from "../../fleet/project";
import { SourceFailed } from "../../fleet/sources/checkout";
import { onAbort } from "../../service/abort-listeners";
import { LeaseLost, StateLocked, StateSealed, StoreFailed } from "../../store/store";
import { CommandFailed } from "../crash";

/** What one side may be asked: a value in, a value out. */
// The types of each function are those of its own declaration; here any function of one value is meant.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type PeerCalls = Readonly<Record<string, (given: any) => any>>;

export type Answers<Mine extends PeerCalls> = {
  readonly [K in keyof Mine]: (
    given: Parameters<Mine[K]>[0],
    signals: readonly AbortSignal[],
  ) => ReturnType<Mine[K]> | Promise<ReturnType<Mine[K]>>;
};

export interface Peer<Theirs extends PeerCalls> {
  call<K extends keyof Theirs & string>(
    name: K,
    given: Parameters<Theirs[K]>[0],
    signals?: readonly AbortSignal[],
  ): Promise<ReturnType<Theirs[K]>>;
  /** No answer comes any more: what waits for one fails with this, and what is called later as well. */
  fail(why: Error): void;
  close(): void;
}

/** A process and its parent, or the other way round. */
export interface PeerChannel {
  send?(message: unknown): unknown;
  on(event: "message", listener: (message: Message) => void): unknown;
  off(event: "message", listener: (message: Message) => void): unknown;
}

interface Called {
  readonly call: string;
  readonly id: number;
  readonly given: unknown;
  readonly signals: number;
}

export type Message =
  | Called
  | { readonly abort: number; readonly signal: number }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly thrown: Thrown };

let lastId = 0;

export function createPeer<Theirs extends PeerCalls, Mine extends PeerCalls>(
  channel: PeerChannel,
  answers: Partial<Answers<Mine>>,
): Peer<Theirs> {
  const mine: Partial<Answers<PeerCalls>> = answers;
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const running = new Map<number, readonly AbortController[]>();
  let failed: Error | undefined;
  const send = (message: Message): void => {
    try {
      channel.send?.(message);
    } catch (error) {
      // The other process ended, which whoever watches it tells; or the value is none that can be sent.
      if ("answer" in message && "value" in message) send({ answer: message.answer, thrown: thrownOf(error) });
    }
  };

  async function answer({ call, id, given, signals }: Called): Promise<void> {
    const stops = Array.from({ length: signals }, () => new AbortController());
    running.set(id, stops);
    try {
      const value: unknown = await mine[call]?.(
        given,
        stops.map(({ signal }) => signal),
      );
      send({ answer: id, value });
    } catch (error) {
      send({ answer: id, thrown: thrownOf(error) });
    } finally {
      running.delete(id);
    }
  }

  const onMessage = (message: Message): void => {
    if ("call" in message) void answer(message);
    else if ("abort" in message) running.get(message.abort)?.[message.signal]?.abort();
    else {
      const one = waiting.get(message.answer);
      waiting.delete(message.answer);
      if ("thrown" in message) one?.reject(errorOf(message.thrown));
      else one?.resolve(message.value);
    }
  };
  channel.on("message", onMessage);

  return {
    call: async (name, given, signals = []) => {
      if (failed !== undefined) throw failed;
      lastId += 1;
      const id = lastId;
      const stop = signals.map((signal, at) => onAbort(signal, () => send({ abort: id, signal: at })));
      try {
        return await new Promise((resolve, reject) => {
          // The other side is this program in this version: it answers with what the call declares.
          waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
          send({ call: name, id, given, signals: signals.length });
          for (const [at, { aborted }] of signals.entries()) if (aborted) send({ abort: id, signal: at });
        });
      } finally {
        for (const end of stop) end();
      }
    },
    fail(why) {
      failed = why;
      for (const { reject } of waiting.values()) reject(why);
      waiting.clear();
    },
    close() {
      channel.off("message", onMessage);
      for (const stops of running.values()) for (const one of stops) one.abort();
    },
  };
}

/** An error as it goes from one process to the other. */
export interface Thrown {
  readonly name: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** What a round looks at in the errors that end it. */
const errorFieldsKept = ["code", "fix", "holder", "isAway", "isSilent"] as const;
const errorClasses = { StateLocked, StateSealed, LeaseLost, StoreFailed, CannotUndo, SourceFailed, ReadingEnded };

export function thrownOf(given: unknown): Thrown {
  const { name, message } = asError(given);
  const fields = fieldsIn(given);
  const found = errorFieldsKept.flatMap((key) => (fields[key] === undefined ? [] : [[key, fields[key]] as const]));
  const diagnostics = diagnosticsIn(given);
  return {
    name,
    message,
    fields: Object.fromEntries([...found, ...(diagnostics ? [["diagnostics", diagnostics]] : [])]),
  };
}

export function errorOf({ name, message, fields }: Thrown): Error {
  const diagnostics = diagnosticsIn(fields);
  if (diagnostics !== undefined) return new CommandFailed(diagnostics);
  const made = Object.entries(errorClasses).find(([own]) => own === name)?.[1];
  const error: Error = made === undefined ? new Error(message) : Object.create(made.prototype);
  return Object.assign(error, { name, message }, fields);
}
