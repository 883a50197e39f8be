/**
 * An engine that lost its lock goes on with the state that it has read. While one is at work, what a program has made
 * stays noted beside it, although another process has seen it in the state.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { areOtherEnginesAtWork } from "../../provider/processes";
import { handlers } from "../../reconciler/one/table";
import { type Neighbours, programNotes } from "../../reconciler/outside/program-notes";
import { startBenchWorld } from "../support/bench-world";
import { eventually } from "../support/eventually";
import { contextFor } from "../support/handler-program";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "reconcile-engines-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a note of a create", () => {
  const by = { name: "former", pid: 0x3fffffff };
  const open = { sentAt: "2026-01-01T00:00:00Z", idsBefore: [] };
  const urn = "urn:pulumi:dev::demo::x:index:Vm::web";
  const find = async (text: string) => {
    await programNotes(folder, { urn, service: "x" }).write(open);
    const creates = join(folder, "creates");
    for (const file of readdirSync(creates)) writeFileSync(join(creates, file), text);
    return programNotes(folder, { urn, service: "x" }, { name: "later", pid: 1 }).find(new AbortController().signal);
  };

  it.each([
    ["this", { ...open, by }],
    ["an earlier", { ...open, pid: by.pid }],
  ])("is read as %s version writes it", async (_, note) =>
    expect(await find(JSON.stringify(note))).toMatchObject(open),
  );

  it.each([
    "",
    "{}",
    JSON.stringify({ ...open, by }).slice(0, -1),
    JSON.stringify(open),
    JSON.stringify({ by }),
    JSON.stringify({ ...open, by: { name: "former" } }),
    JSON.stringify({ ...open, sentAt: 1, by }),
  ])("stops whoever asks for it where it is damaged: %s", async (text) => {
    await expect(find(text)).rejects.toThrow(/it may say that a create or a delete was cut off/);
  });
});

describe("a create of one of several updates at once", () => {
  const inputs = { name: "data", size: 5 };
  const others: Neighbours = { areThere: () => true, wereThere: () => true };
  const none: Neighbours = { areThere: () => false, wereThere: () => false };

  async function inWorld(
    call: (
      updates: (name: string, neighbours: Neighbours, isInState?: boolean) => ReturnType<typeof contextFor>,
    ) => Promise<void>,
  ): Promise<readonly string[]> {
    const world = await startBenchWorld();
    try {
      await call((name, neighbours, isInState = false) => ({
        ...contextFor(world, []),
        isInState,
        notes: programNotes(
          folder,
          { urn: "urn:pulumi:dev::demo::x:index:Volume::data", service: world.baseUrl },
          { name, pid: 0x3fffffff },
          neighbours,
        ),
      }));
      return world.emulator.dump().volumes.map(({ id }) => id);
    } finally {
      await world.close();
    }
  }
  const notes = () => readdirSync(join(folder, "creates")).filter((file) => !file.endsWith(".left.json"));

  it("is found by the one that has read the state before, and forgotten when nobody has", async () => {
    const ids = await inWorld(async (update) => {
      const made = await handlers.Volume.create(update("first", others), inputs);
      await handlers.Volume.diff(update("third", others), made.id, made.outputs, inputs);
      const found = await handlers.Volume.create(update("second", others), inputs);
      expect(found.id).toBe(made.id);
      await handlers.Volume.diff(update("last", none), made.id, made.outputs, inputs);
      expect(notes()).toEqual([]);
    });
    expect(ids).toHaveLength(1);
  });

  it("of a new version is found by the one whose state has the former", async () => {
    const ids = await inWorld(async (update) => {
      const former = await handlers.Volume.create(update("before", none), inputs);
      await handlers.Volume.diff(update("seen", none), former.id, former.outputs, inputs);
      const first = update("first", others, true);
      const made = await handlers.Volume.create(first, inputs);
      await handlers.Volume.delete(first, former.id, former.outputs);
      const found = await handlers.Volume.create(update("second", others, true), inputs);
      expect(found.id).toBe(made.id);
    });
    expect(ids).toHaveLength(1);
  });

  it("is noted no longer once it is deleted", async () => {
    const ids = await inWorld(async (update) => {
      const made = await handlers.Volume.create(update("first", others), inputs);
      await handlers.Volume.delete(update("second", others), made.id, made.outputs);
      expect(notes()).toEqual([]);
    });
    expect(ids).toEqual([]);
  });
});

describe.runIf(process.platform === "linux")("the engines at work on a program", () => {
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const one of started.splice(0)) one.kill("SIGKILL");
  });
  const start = async (argv0: string, cwd: string, args: readonly string[]): Promise<void> => {
    const text = "console.log(1); setInterval(() => undefined, 1000)";
    const child = spawn(process.execPath, ["-e", text, "--", ...args], { argv0, cwd });
    started.push(child);
    let isThere = false;
    child.stdout.once("data", () => {
      isThere = true;
    });
    await eventually("the process to run", () => (isThere ? true : undefined));
  };

  it.each([
    ["/usr/bin/pulumi", "", "up", true],
    ["pulumi", "sub", "up --yes -s dev", true],
    ["pulumi", "", "up --stack=acme/demo/dev", true],
    ["pulumi", "", "up --stack prod", false],
    ["pulumi-language-nodejs", "", "up", false],
    ["pulumi", "../elsewhere", "up", false],
  ])("%s in %j with %s: %s", async (argv0, at, args, isOne) => {
    const program = join(folder, "program");
    mkdirSync(join(program, "sub"), { recursive: true });
    mkdirSync(join(folder, "elsewhere"));
    expect(areOtherEnginesAtWork("dev", program)).toBe(false);
    await start(argv0, join(program, at), args.split(" "));
    expect(areOtherEnginesAtWork("dev", program)).toBe(isOne);
  });

  it("are not those above it", () => {
    const module = join(__dirname, "../../dist/provider/processes.js");
    const provider = `process.stdout.write(String(require(${JSON.stringify(module)}).areOtherEnginesAtWork("dev")))`;
    const engine = `process.stdout.write(require("node:child_process").execFileSync(process.execPath, ["-e", ${JSON.stringify(provider)}]))`;
    const { stdout } = spawnSync(process.execPath, ["-e", engine], { argv0: "pulumi", cwd: folder, encoding: "utf8" });
    expect(stdout).toBe("false");
  });
});
