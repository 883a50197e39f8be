/** Holds what is counted to test/guard/counts.json. `UPDATE_COUNTS=1 npx vitest run test/guard` writes it anew. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fleet, shapes } from "../../bench/shapes.mjs";
import { startEmulator } from "../../emulator";
import {
  countStory,
  errorsWithStack,
  modulesLoaded,
  nodeModulesAtFirstRequest,
  nodeModulesCompiled,
  partsBeforeFirstWord,
  partsRead,
  type Story,
} from "./counted";

const file = join(__dirname, "counts.json");
const updating = process.env["UPDATE_COUNTS"] === "1";
const kept = (existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {}) as Record<string, unknown>;

/** Fails with the difference, and says what to do when it is meant. */
function hold(story: string, counted: unknown): void {
  if (updating) {
    kept[story] = counted;
    const sorted = Object.fromEntries(Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1)));
    writeFileSync(file, `${JSON.stringify(sorted, undefined, 2)}\n`);
  }
  expect(counted, "if this is meant: UPDATE_COUNTS=1 npx vitest run test/guard, and say why in the commit").toEqual(
    kept[story],
  );
}

const small = fleet(3, 2, "20ms");
const some = fleet(30, 6, "20ms");
const apply = ["apply", "-y"];
const many = fleet(150, 0, "20ms");
const stories: Record<string, Story> = {
  "a first apply of 3 VMs, 3 attached volumes, 2 groups": { text: small, words: apply },
  "a plan of the same with nothing to do": { text: small, words: ["plan"], before: [apply] },
  "an apply of the same with nothing to do": { text: small, words: apply, before: [apply] },
  "a plan without looking": { text: small, words: ["plan", "--no-refresh"], before: [apply] },
  "a first apply of 30 groups in rings": { text: shapes.mutual(30), words: apply },
  "a first apply of a chain of 10 groups": { text: shapes.chained(10), words: apply },
  "a plan of one attached volume of 30": { text: some, words: ["plan", "--target", "volume.disk[7]"], before: [apply] },
  "a plan of one group of 6": { text: some, words: ["plan", "--target", "group.sg-2"], before: [apply] },
  "a plan without one VM of 30": { text: some, words: ["plan", "--exclude", "vm.web[3]"], before: [apply] },
  "a plan of 30 where nothing changed and everything was seen": {
    text: some,
    words: ["plan", "--refresh=changed"],
    before: [apply, [...apply, "--refresh", "changed"]],
  },
  "a plan of 150 VMs with two list pages": { text: many, words: ["plan"], before: [apply] },
  "a plan of 150 VMs where a page shows 20": { text: many, words: ["plan"], before: [apply], pageSize: 20 },
  "a plan of 150 VMs where a page shows as many as are asked for": {
    text: many,
    words: ["plan"],
    before: [apply],
    pageSize: 20,
    dialect: "pagination: { size: 1000, size_param: limit }\n",
  },
  "a plan of one of 150 VMs where a page shows 20": {
    text: many,
    words: ["plan", "--target", "vm.web[7]"],
    before: [apply],
    pageSize: 20,
  },
  "a plan of 150 VMs and volumes where both have a list": {
    text: many,
    words: ["plan"],
    before: [apply],
    dialect: "operations: { volume.list: { method: GET, path: /api/v1/volume/list } }\n",
  },
  "a first apply of 3 where an attach is done when it answers": {
    text: small,
    words: apply,
    dialect: "states: { volume: { changing: [] } }\n",
  },
};

describe("what a run sends and writes", () => {
  for (const [title, story] of Object.entries(stories))
    it(`${title} sends and writes what it always did`, async () => {
      hold(title, await countStory(story));
    });

  it("the look at the end of a first apply of 300 resources is at most 2 % of its requests", async () => {
    const { requests } = await countStory({ text: fleet(135, 30, "20ms"), words: apply });
    const all = Object.values(requests).reduce((sum, count) => sum + count, 0);
    // Nothing else reads the rules of a group that has just been made.
    const { "group.rule.list": looks } = requests;
    expect(looks).toBeGreaterThan(0);
    expect(looks! * 50).toBeLessThanOrEqual(all);
  });
});

const loads: Record<string, string[]> = {
  "reconcile help": ["help"],
  "reconcile validate": ["validate"],
  "reconcile plan --no-refresh": ["plan", "--no-refresh", "--base-url", "http://127.0.0.1:9"],
};

describe("what a command loads", () => {
  for (const [command, words] of Object.entries(loads))
    it(`${command} loads the modules it always did`, async () => {
      hold(command, await modulesLoaded(words, small));
    });

  it("the first word about a large file waits for no more than the commands and what reads files", async () => {
    const words = ["plan", "--no-refresh", "--base-url", "http://127.0.0.1:9"];
    expect(await partsBeforeFirstWord(words, shapes.flat(5000))).toEqual(["bundle", "bundle-rolldown-runtime"]);
  });

  it("a part is read only where much of it is used", async () => {
    const always = ["bundle", "bundle-config", "bundle-desired", "bundle-rolldown-runtime", "bundle-tables"];
    expect(await partsRead(["validate"], small)).toEqual(always);
    const plan = ["plan", "--no-refresh", "--base-url", "http://127.0.0.1:9"];
    expect(await partsRead(plan, small)).toEqual([...always, "bundle-plan", "bundle-reach"].sort());
    const emulator = await startEmulator({ timeScale: 0 });
    try {
      const looks = await partsRead(["plan", "--base-url", emulator.url], small);
      expect(looks).toEqual([...always, "bundle-http", "bundle-plan", "bundle-reach"].sort());
    } finally {
      await emulator.close();
    }
  });

  it("what speaks HTTP to the service loads no HTTP of Node's own", async () => {
    const loaded = await nodeModulesAtFirstRequest(["plan", "--base-url", "http://127.0.0.1:9"], small);
    expect(loaded).toContain("net");
    for (const absent of ["http", "https", "http2", "_http_client", "_http_server", "tls"])
      expect(loaded).not.toContain(absent);
  });

  it("a module of Node's own is loaded as Node has compiled it", async () => {
    expect(await nodeModulesCompiled(["validate"], small)).toEqual([]);
    const emulator = await startEmulator({ timeScale: 0 });
    try {
      expect(await nodeModulesCompiled(["apply", "-y", "--base-url", emulator.url], small)).toEqual([]);
    } finally {
      await emulator.close();
    }
  });

  it("a run that ends well asks for no error's stack", async () => {
    const emulator = await startEmulator({ timeScale: 0 });
    try {
      for (const words of [["plan"], ["apply", "-y"]])
        expect(await errorsWithStack([...words, "--base-url", emulator.url], small)).toEqual([]);
    } finally {
      await emulator.close();
    }
  });

  it("no command loads what it does not use: no YAML for help, no HTTP client without a request, no schema compiler ever", () => {
    const loaded = (command: string) => kept[command] as string[];
    expect(loaded("reconcile help")).not.toContain("yaml");
    for (const command of Object.keys(loads))
      for (const absent of ["undici", "ajv", "pg", "@aws-sdk/client-s3", "@pulumi/pulumi", "emulator/index"])
        expect(loaded(command)).not.toContain(absent);
  });
});
