/** Ids are text, as the service writes them: no digit is lost, and what no id can be is refused where it is read. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { longestId } from "../../reconciler/core/text/id-problem";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { parseJsonText } from "../../reconciler/dialect/json-text";
import { createRecordReaders } from "../../reconciler/dialect/records";
import { readDeletedVm } from "../../reconciler/dialect/reports";
import { readLiveRule } from "../../reconciler/dialect/rule-record";
import { start } from "../service/make-client";
import { text } from "../service/scripted-server";
import { runCli } from "../support/cli-process";
import { head, readText } from "../support/desired-file";
import { makeFolder } from "../support/folder";

const read = createRecordReaders(builtInDialect);

describe("numbers of the body", () => {
  it.each([
    ["[12345678901234567890,12345678901234567891]", ["12345678901234567890", "12345678901234567891"]],
    ['{"id":-9007199254740993}', { id: "-9007199254740993" }],
    ["9007199254740991", 9007199254740991],
    ["9007199254740992", "9007199254740992"],
    [
      '{"a":1,"b":[0,-1,1.5,2e3],"id":12345678901234567890}',
      { a: 1, b: [0, -1, 1.5, 2000], id: "12345678901234567890" },
    ],
    [
      '{"note":"id 12345678901234567890, \\"12345678901234567891\\" \\\\","n":7}',
      { note: 'id 12345678901234567890, "12345678901234567891" \\', n: 7 },
    ],
    ['{"12345678901234567890":1}', { "12345678901234567890": 1 }],
    ["1234567890123456.25", Number("1234567890123456.25")],
    ["1.2345678901234567e25", Number("1.2345678901234567e25")],
    [" 12345678901234567890 ", "12345678901234567890"],
  ])("%s", (json, value) => expect(parseJsonText(json)).toEqual(value));

  it.each(["012345678901234567890", "[12345678901234567890", "-", '{"a":12345678901234567890x}', '"1234567890123456'])(
    "%s is no JSON still",
    (json) => expect(() => parseJsonText(json)).toThrow(),
  );

  it("whatever JSON has no such number is read as ever", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), fc.stringMatching(/^\d{16,20}$/), (value, digits) => {
        const plain = JSON.stringify([value, digits]);
        const rounded = /(?<![\w."\\-])-?\d{16,}(?![\w."])/.test(JSON.stringify(value));
        if (!rounded) expect(parseJsonText(plain)).toEqual(JSON.parse(plain));
      }),
      { numRuns: 500 },
    );
  });

  it("a body of megabytes is walked once", () => {
    const body = JSON.stringify(
      Array.from({ length: 60_000 }, (_, n) => ({ id: n, name: `"\\${n}`, note: "9".repeat(20) })),
    );
    expect(parseJsonText(body)).toEqual(JSON.parse(body));
  });
});

const half = "vol-\ud83d";
const bad: Record<string, [id: unknown, problem: RegExp]> = {
  "half of a character": [half, /half of a character/],
  "a line break": ["vol\n1", /control character/],
  "an escape": ["vol\u001b[31m", /control character/],
  "a mark that turns the direction": ["vol\u202e1", /does not show/],
  "a space of no width": ["vol\u200b1", /does not show/],
  "an absurd length": ["x".repeat(longestId + 1), /longer than 512/],
  "blanks alone": ["  ", /is empty/],
  "one dot": [".", /another path/],
  "two dots": ["..", /another path/],
  "a fraction": [1.5, /whole/],
  "a number already rounded": [Number("1.2345678901234567e25"), /whole/],
};

describe("ids that can be none", () => {
  for (const [title, [id, problem]] of Object.entries(bad))
    it(`${title}: unreadable wherever a record shows it`, () => {
      const readings = [
        read.vm({ id, name: "a" }),
        read.vm({ id: "a", name: "a", volumes: [{ id }] }),
        read.volume({ id }),
        read.volume({ id: "a", attached_to: id }),
        read.group({ id }),
        read.group({ id: "a", rules: [{ id, direction: "ingress" }] }),
        read.flavor({ id }),
        readLiveRule({ id, direction: "ingress" }),
        readLiveRule({ id: "a", direction: "ingress", remote_group_id: id }),
      ];
      for (const reading of readings)
        expect(reading).toMatchObject({ condition: "unreadable", message: expect.stringMatching(problem) });
      expect(readDeletedVm({ preserved_volumes: ["a", id] })).toEqual({ preservedVolumes: undefined });
      expect(read.snapshotImage({ image_id: id })).toBeUndefined();
    });

  it("an empty one is not shown, and numbers are their digits", () => {
    expect(read.volume({ id: "" })).toMatchObject({
      condition: "unreadable",
      message: expect.stringContaining("shows no id"),
    });
    expect(read.volume({ id: 7, attached_to: 8 })).toMatchObject({ value: { id: "7", attachedTo: "8" } });
    expect(readDeletedVm({ preserved_volumes: [7, "a"] })).toEqual({ preservedVolumes: ["7", "a"] });
  });

  it("are never sent, and nothing is thrown", async () => {
    const { client, server } = await start([text(200, "[]")]);
    for (const id of [half, "..", "", "a\nb", "x".repeat(600)]) {
      expect(await client.getVolume(id)).toMatchObject({ status: "rejected", condition: "invalid_id" });
      expect(await client.deleteVm(id, true)).toMatchObject({ status: "rejected", condition: "invalid_id" });
    }
    expect(server.received).toEqual([]);
  });
});

it("two VMs whose ids differ in the last of 20 digits are two", async () => {
  const vms = '[{"id":12345678901234567890,"name":"a"},{"id":12345678901234567891,"name":"b"}]';
  const { client, server } = await start([text(200, vms, "application/json")]);
  expect(await client.listVms()).toMatchObject({
    value: [
      { id: "12345678901234567890", name: "a" },
      { id: "12345678901234567891", name: "b" },
    ],
  });
  await client.stopVm("12345678901234567891");
  expect(server.received[1]!.url).toBe("/api/v1/vm/stop/12345678901234567891");
});

describe("ids that a user gives", () => {
  it.each([
    ['imports: [ { to: volume.data, id: "a\\u202eb" } ]', "holds a control character or a mark that does not show"],
    ['imports: [ { to: volume.data, id: ".." } ]', "would be another path in a request"],
    [`imports: [ { to: volume.data, id: ${"x".repeat(600)} } ]`, "is longer than 512 characters"],
    ['groups: { front: { rules: [ { remote_group: { id: "." } } ] } }', "would be another path in a request"],
  ])("%s is refused at its place", (line, problem) => {
    const { diagnostics } = readText(`volumes: { data: { size: 1 } }\n${line}`);
    expect(diagnostics).toContainEqual(
      expect.objectContaining({
        severity: "error",
        detail: `expected the id of what exists; this one ${problem}`,
        source: expect.objectContaining({ line: 6 }),
      }),
    );
  });

  it("on the command line too, before anything is sent", async () => {
    const cwd = makeFolder({ "reconcile.yaml": `${head}volumes: { data: { size: 1 } }\n` });
    const { exitCode, stderr } = await runCli(["import", "volume.data", "vol\n1", "--base-url", "http://127.0.0.1:9"], {
      cwd,
      env: { RECONCILE_TOKEN: "t" },
    });
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("holds a control character")]);
  });
});
