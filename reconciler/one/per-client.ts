/** What this process remembers of a program: apart for each client, and for as long as the client is there. */
import type { HandlerService } from "./handler";

/** Made at its first use. */
export function perClient<T>(make: () => T): (service: Pick<HandlerService, "client">) => T {
  const known = new WeakMap<HandlerService["client"], T>();
  return ({ client }) => {
    const memory = known.get(client) ?? make();
    known.set(client, memory);
    return memory;
  };
}
