/** What the stores behind a network have in common: a second try when the first one broke, and messages without secrets. */
import { firstLine, percentDecoded } from "../core/text/parts";
import { monotonicMs } from "./lease";
import { LeaseLost, StateLocked, StoreFailed } from "./store";

const firstRetryPauseMs = 200;
const longestRetryPauseMs = 3000;
/** The longest Retry-After that is waited for: nobody wants a command that sleeps for longer. */
const longestStoreWaitMs = 30_000;

/** The server of the state refuses for now, and may say until when. */
export class StoreUnavailable extends Error {
  constructor(
    readonly status: number,
    readonly retryAfterMs?: number,
  ) {
    super(`answered ${status}`);
  }
}

export interface Insistence {
  isPassing(error: unknown): boolean;
  asFailure(error: unknown): Error;
  /** For how long the request is tried again. The second try is made however long the first one took. */
  patienceMs(): number;
}

/** For requests that may be sent twice: a passing failure is tried again, never faster than the pauses here. */
export async function repeat<T>(send: () => Promise<T>, { isPassing, asFailure, patienceMs }: Insistence): Promise<T> {
  const began = monotonicMs();
  let pauseMs = firstRetryPauseMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (error instanceof StoreFailed || error instanceof LeaseLost || error instanceof StateLocked) throw error;
      const askedMs = error instanceof StoreUnavailable ? (error.retryAfterMs ?? 0) : 0;
      const waitMs = Math.max(pauseMs, askedMs);
      const isOver = attempt > 1 && monotonicMs() - began + waitMs > Math.max(patienceMs(), askedMs);
      if (isOver || askedMs > longestStoreWaitMs || !isPassing(error)) {
        const failure = asFailure(error);
        failure.cause = error;
        throw failure;
      }
      await new Promise((done) => setTimeout(done, waitMs));
      pauseMs = Math.min(pauseMs * 2.5, longestRetryPauseMs);
    }
  }
}

/** A driver may quote its address in an error. */
export function withoutSecrets(text: string, address: string): string {
  const { username, password } = URL.canParse(address) ? new URL(address) : { username: "", password: "" };
  let shown = firstLine(text).slice(0, 500);
  for (const secret of [password, percentDecoded(password)]) if (secret !== "") shown = shown.replaceAll(secret, "***");
  return username === "" ? shown : shown.replaceAll(`${username}:***@`, "***@");
}

export const packageMissing = (name: string, scheme: string): StoreFailed =>
  new StoreFailed(`a state at ${scheme}… needs the package ${name}, which is not installed: npm install ${name}`);
