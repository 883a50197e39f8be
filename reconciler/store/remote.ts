/** What the stores behind a network have in common: a second try when the first one broke, and messages without secrets. */
import { LeaseLost, StateLocked, StoreFailed } from "./store";

const pausesMs = [200, 1000, 3000];

/** For requests that may be sent twice: what breaks in passing is tried again for a few seconds. */
export async function repeat<T>(
  send: () => Promise<T>,
  isPassing: (error: unknown) => boolean,
  asFailure: (error: unknown) => Error,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      if (error instanceof StoreFailed || error instanceof LeaseLost || error instanceof StateLocked) throw error;
      const pauseMs = pausesMs[attempt];
      if (pauseMs === undefined || !isPassing(error)) {
        const failure = asFailure(error);
        failure.cause = error;
        throw failure;
      }
      await new Promise((done) => setTimeout(done, pauseMs));
    }
  }
}

/** A driver may quote its address in an error. */
export function withoutSecrets(text: string, address: string): string {
  const { username, password } = URL.canParse(address) ? new URL(address) : { username: "", password: "" };
  let shown = text.split("\n")[0]!.slice(0, 500);
  for (const secret of [password, decodeURIComponent(password)])
    if (secret !== "") shown = shown.replaceAll(secret, "***");
  return username === "" ? shown : shown.replaceAll(`${username}:***@`, "***@");
}

export const packageMissing = (name: string, scheme: string): StoreFailed =>
  new StoreFailed(`a state at ${scheme}… needs the package ${name}, which is not installed: npm install ${name}`);
