/**
 * Whether a request can be written at all. undici refuses one that cannot, and its pool then waits for ever for a
 * connection that has nothing to send: everything that is asked for after it would run into its time limit.
 */

const ofConnection: ReadonlySet<string> = new Set([
  "content-length",
  "expect",
  "keep-alive",
  "transfer-encoding",
  "upgrade",
]);

/** What belongs to the connection is left out: a request that was copied from elsewhere may have it. */
export const isOfConnection = (name: string): boolean => ofConnection.has(name.toLowerCase());

const headerToken = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Why it cannot be written; `undefined`: it can. A header's value may be a secret, and is never shown. */
export function whyUnsendable(path: string, headers: Readonly<Record<string, string>>): string | undefined {
  if (!/^\/[!-ÿ]*$/.test(path)) return `no request can have the path ${JSON.stringify(path)}`;
  for (const [name, value] of Object.entries(headers)) {
    if (!headerToken.test(name)) return `no request can have a header ${JSON.stringify(name)}`;
    const isWritable = name !== "connection" || value.split(",").every((one) => headerToken.test(one.trim()));
    if (!isWritable || !/^[\t -~\u0080-ÿ]*$/.test(value)) return `no request can have the value of its header ${name}`;
  }
  return undefined;
}
