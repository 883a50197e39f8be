import type { AddressInfo } from "node:net";

/** The port on which a server listens. */
export function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address();
  if (typeof address === "object" && address !== null) return address.port;
  throw new Error("the server does not listen on a port");
}
