import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { whyUnsendable } from "../../reconciler/service/sendable";
import { createConnections, createTransport } from "../../reconciler/service/transport";

const rows: readonly (readonly [path: string, headers: Record<string, string>, why: RegExp | undefined])[] = [
  ["/", {}, undefined],
  ["/vm/a%20b?page=1", { "if-match": '"a, b"\t', "x-version": "é" }, undefined],
  ["", {}, /the path ""/],
  ["vm", {}, /the path "vm"/],
  ["/a b", {}, /the path/],
  ["/a\nb", {}, /the path/],
  ["/€", {}, /the path/],
  ["/", { "if-match": "a\nb" }, /^no request can have the value of its header if-match$/],
  ["/", { "if-match": "€" }, /value of its header/],
  ["/", { "a b": "x" }, /a header "a b"/],
  ["/", { "": "x" }, /a header ""/],
  ["/", { connection: "keep-alive" }, undefined],
  ["/", { connection: "close, x-hop" }, undefined],
  ["/", { connection: "a b" }, /value of its header connection/],
  // As in a request that was copied from a browser: left out.
  ["/", { Expect: "100-continue", "Content-Length": "52", "Keep-Alive": "timeout=5" }, undefined],
  ["/", { "transfer-encoding": "chunked", upgrade: "h2c" }, undefined],
];

describe("what no request can be made of", () => {
  const server = createServer((_, response) => response.end("{}"));
  let url = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => void server.close());

  it.each(rows)("%j with %j", async (path, headers, why) => {
    if (why === undefined) expect(whyUnsendable(path, headers)).toBeUndefined();
    else expect(whyUnsendable(path, headers)).toMatch(why);
    const transport = createTransport({ connections: createConnections(url, 1) });
    const request = { method: "GET", authorization: "x", timeoutMs: 60_000 } as const;
    // One connection, and more requests than it: none that cannot be written stays in the way of the next.
    for (let times = 0; times < 3; times++) {
      const exchange = await transport.send({ ...request, path, headers });
      if (why === undefined) expect(exchange).toMatchObject({ kind: "answer" });
      else expect(exchange).toMatchObject({ kind: "broken", sent: false, reason: expect.stringMatching(why) });
    }
    expect(await transport.send({ ...request, path: "/" })).toMatchObject({ kind: "answer" });
    await transport.close();
  });
});
