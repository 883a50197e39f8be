/**
 * Whether a request can be written at all. undici refuses one that cannot, and its pool then waits for ever for a
 * connection that has nothing to send: everything that is asked for after it would run into its time limit.
 */

/** They belong to the connection, and no request may name them. */
const ofConnection: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/** Why it cannot be written; `undefined`: it can. A header's value may be a secret, and is never shown. */
export function whyUnsendable(path: string, headers: Readonly<Record<string, string>>): string | undefined {
  if (!/^\/[!-ÿ]*$/.test(path)) return `no request can have the path ${JSON.stringify(path)}`;
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return `no request can have a header ${JSON.stringify(name)}`;
    if (ofConnection.has(name.toLowerCase())) return `the header ${name} belongs to the connection`;
    if (!/^[\t -~\u0080-ÿ]*$/.test(value)) return `no request can have the value of its header ${name}`;
  }
  return undefined;
}
