/** What is written oddly or without measure is refused with a message of its own. */
import { get } from "node:http";
import { describe, expect, it } from "vitest";
import { readFault } from "../../emulator/faults";
import { listenAt } from "../../reconciler/cli/listen";
import { readDesired } from "../../reconciler/config/read/desired";

const read = (text: string) => readDesired([{ file: "reconcile.yaml", text: `version: 1\nproject: p\n${text}` }]);
const told = (text: string): string[] => read(text).diagnostics.map(({ summary }) => summary);

describe("a port", () => {
  const rule = (port: string): string => `groups: { web: { rules: [{ protocol: tcp, dst_port: ${port} }] } }\n`;
  it.each(['"080"', "080", '" 80"', '"80 "', '"8000-08010"', '[80, "0443"]', '"8000  -  8010"'])(
    "in the spelling %s is refused",
    (port) => {
      expect(read(rule(port)).desired).toBeUndefined();
      expect(told(rule(port)).length).toBe(1);
    },
  );
  it.each(["80", '"80"', '"8000-8010"', '"8000 - 8010"', '[80, "443"]'])("in the spelling %s is one", (port) => {
    expect(told(rule(port))).toEqual([]);
  });
});

it("texts that double each other end with a message", () => {
  const vars = Array.from({ length: 28 }, (_, at) => `  x${at + 1}: { default: "\${var.x${at}}\${var.x${at}}" }\n`);
  const text = `vars:\n  x0: { default: ab }\n${vars.join("")}groups: { web: { description: "\${var.x28}" } }\n`;
  expect(told(text)).toEqual(["a text grows over 1 MiB"]);
});

it("the emulated service takes no fault that lasts longer than a timer holds", () => {
  for (const ms of [1e308, 2 ** 31, 86_400_001]) expect(() => readFault({ kind: "latency", ms })).toThrow(/ms must be/);
  expect(readFault({ kind: "latency", ms: 5 })).toMatchObject({ ms: 5 });
});

it("what only this machine reaches answers to no other name", async () => {
  const { url, close } = await listenAt("127.0.0.1:0", "", (_, response) => void response.end("ok"));
  const named = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) =>
      get(url, { headers: { host } }, (answer) => resolve(answer.resume().statusCode)).on("error", reject),
    );
  const hosts = ["evil.example", "127.0.0.1.evil.example", "localhost:9464", "127.0.0.1", "[::1]:80"];
  expect(await Promise.all(hosts.map(named))).toEqual([421, 421, 200, 200, 200]);
  await close();
});
