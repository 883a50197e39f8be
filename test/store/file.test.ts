import { spawn } from "node:child_process";
import fs, {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createFileStore } from "../../reconciler/store/file";
import { StateLocked, StoreFailed } from "../../reconciler/store/store";
import { eventually } from "../support/eventually";
import { makeFolder } from "../support/folder";
import { cutJournal, describeStore, frozen, holder, keysIn, line, snapshot, stateIn } from "./conformance";

describeStore("file", () => {
  const folder = makeFolder();
  return {
    open: (times) => createFileStore(join(folder, "reconcile.state.json"), times),
    loseLast: () => cutJournal(join(folder, "reconcile.state.json.journal")),
  };
});

describe("the file store", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = makeFolder();
    path = join(folder, "s.json");
  });

  const write = async () => {
    const session = await createFileStore(path).lock(holder());
    await session.replace(snapshot(1, session.epoch, ["a"]));
    await session.append([line(2, session.epoch)]);
    await session.release();
  };

  it("keeps every file for its owner alone, and leaves none but snapshot and journal behind", async () => {
    await write();
    expect(readdirSync(folder).sort()).toEqual(["s.json", "s.json.journal", "s.json.journal.end"]);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    const session = await createFileStore(path).lock(holder());
    expect(statSync(`${path}.lock`).mode & 0o777).toBe(0o600);
    await session.replace(snapshot(3, session.epoch));
    await session.release();
    expect(readdirSync(folder)).toEqual(["s.json"]);
  });

  it.each<[string, (state: object) => string]>([
    ["indented", (state) => JSON.stringify(state, null, 2)],
    ["on one line", (state) => JSON.stringify(state)],
    [
      "with its keys in another order",
      (state) => JSON.stringify(Object.fromEntries(Object.entries(state).reverse()), null, "\t"),
    ],
  ])(
    "a snapshot that somebody formatted anew, %s, does not make the next holder's lines count for nothing",
    async (_, format) => {
      await write();
      const folding = await createFileStore(path).lock(holder());
      await folding.replace(snapshot(3, folding.epoch, ["a"]));
      await folding.release();
      writeFileSync(path, format(JSON.parse(readFileSync(path, "utf8"))));
      const session = await createFileStore(path).lock(holder());
      await session.append([line(4, session.epoch, "late")]);
      await session.release();
      expect(await keysIn(createFileStore(path))).toEqual(["a", "late"]);
    },
  );

  it("does not count a line that a dying process left unfinished, and goes on after it", async () => {
    await write();
    const unfinished = line(3, 1);
    for (const cut of [1, 20, unfinished.length]) {
      appendFileSync(`${path}.journal`, unfinished.slice(0, cut));
      expect(await keysIn(createFileStore(path))).not.toContain("v3");
      const session = await createFileStore(path).lock(holder());
      const { serial } = await stateIn(session);
      await session.append([line(serial + 1, session.epoch, `after${cut}`)]);
      await session.release();
      const state = await stateIn(createFileStore(path));
      expect(state.quarantined).toEqual([]);
      expect([...state.resources.keys()]).toContain(`volume.after${cut}`);
      expect([...state.resources.keys()]).not.toContain("volume.v3");
    }
  });

  it("the next holder removes what killed writers of this state left, and nothing else", async () => {
    await write();
    const id = "0b5d7c4e-1f2a-4b3c-8d9e-0a1b2c3d4e5f";
    const left = [
      `s.json.${id}.tmp`,
      `s.json.journal.${id}.tmp`,
      `s.json.journal.end.${id}.tmp`,
      `s.json.lock.${id}.new`,
    ];
    const old = [`s.json.lock.mark.${id}.new`, `s.json.lock.mark.${id}.stale`];
    const others = [
      `other.s.json.${id}.tmp`,
      `s.json.old.${id}.tmp`,
      `s.json2.${id}.tmp`,
      "s.json.tmp",
      `s.json.${id}.tmp.bak`,
      "s.json.lock.mark.ffffffff-1f2a-4b3c-8d9e-0a1b2c3d4e5f.new",
    ];
    for (const name of [...left, ...old, ...others]) writeFileSync(join(folder, name), "half");
    const longAgo = new Date(Date.now() - 60_000);
    for (const name of old) utimesSync(join(folder, name), longAgo, longAgo);
    expect(await keysIn(createFileStore(path))).toEqual(["a", "v2"]);
    await (await createFileStore(path).lock(holder())).release();
    expect(readdirSync(folder).sort()).toEqual([...others, "s.json", "s.json.journal", "s.json.journal.end"].sort());
    expect(await keysIn(createFileStore(path))).toEqual(["a", "v2"]);
  });

  it("takes over at once from a process of this machine that is gone", async () => {
    const space = lockOf(await createFileStore(path).lock({ ...holder(), host: hostname(), pid: process.pid }), path);
    writeFileSync(`${path}.lock`, JSON.stringify({ ...space, pid: 4_000_000 }));
    const session = await createFileStore(path).lock(holder("bob"));
    await session.release();
  });

  it.skipIf(process.platform !== "linux")(
    "takes over at once from a killed process that nobody has collected",
    async () => {
      const parent = spawn("sh", ["-c", "sleep 36000 & echo $!; exec sleep 36000"]);
      const pid = Number(await new Promise((heard) => parent.stdout.once("data", heard)));
      try {
        const space = lockOf(
          await createFileStore(path).lock({ ...holder(), host: hostname(), pid: process.pid }),
          path,
        );
        writeFileSync(`${path}.lock`, JSON.stringify({ ...space, pid }));
        await expect(createFileStore(path).lock(holder("late"))).rejects.toThrow(StateLocked);
        process.kill(pid, "SIGKILL");
        const next = createFileStore(path, { leaseMs: 3_600_000, heartbeatMs: 1000 });
        const session = await eventually("the lock", () => next.lock(holder("next")).catch(() => undefined));
        await session.release();
      } finally {
        parent.kill("SIGKILL");
      }
    },
  );

  it("waits for the lease of a process it cannot see: another machine, or another container of the same name", async () => {
    const session = await createFileStore(path).lock(holder());
    const [boot = "", namespace = ""] = lockOf(session, path).processes.split(" ");
    await session.release();
    const sameName = [`${boot} pid:[1]`, `another-boot ${namespace}`].map((processes) => ({
      host: hostname(),
      processes,
    }));
    for (const elsewhere of [{ host: "elsewhere" }, ...sameName]) {
      writeFileSync(`${path}.lock`, JSON.stringify({ ...holder(), token: "t", pid: 4_000_000, ...elsewhere }));
      await expect(createFileStore(path).lock(holder("bob"))).rejects.toThrow(StateLocked);
      const longAgo = new Date(Date.now() - 61_000);
      utimesSync(`${path}.lock`, longAgo, longAgo);
      await (await createFileStore(path).lock(holder("bob"))).release();
    }
  });

  it.each(["", "{", "null", "[]", '"x"', '{"who":7}'])(
    "a lock file that holds %j still locks, until its lease is over",
    async (text) => {
      writeFileSync(`${path}.lock`, text);
      await expect(createFileStore(path).lock(holder())).rejects.toThrow(StateLocked);
      const longAgo = new Date(Date.now() - 61_000);
      utimesSync(`${path}.lock`, longAgo, longAgo);
      await (await createFileStore(path).lock(holder())).release();
    },
  );

  it("a mark that a dead process left inside the lock's change does not block the next one", async () => {
    const { processes } = lockOf(
      await createFileStore(path).lock({ ...holder(), host: hostname(), pid: process.pid }),
      path,
    );
    rmSync(`${path}.lock`);
    writeFileSync(`${path}.lock.mark`, JSON.stringify({ host: hostname(), pid: 4_000_000, processes, token: "t" }));
    await (await createFileStore(path).lock(holder())).release();
    expect(existsSync(`${path}.lock.mark`)).toBe(false);
  });

  it("writes through a symbolic link to the file it names", async () => {
    mkdirSync(join(folder, "real"));
    symlinkSync(join("real", "state.json"), path);
    await write();
    const session = await createFileStore(path).lock(holder());
    await session.replace(snapshot(3, session.epoch, ["b"]));
    await session.release();
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, "real", "state.json"), "utf8")).toContain("volume.b");
    expect(await keysIn(createFileStore(path))).toEqual(["b"]);
  });

  it("writes where the last of several links ends, also where nothing is yet, and ends at links in a circle", async () => {
    mkdirSync(join(folder, "real"));
    symlinkSync("between", path);
    symlinkSync(join("real", "state.json"), join(folder, "between"));
    await write();
    expect(lstatSync(join(folder, "between")).isSymbolicLink()).toBe(true);
    expect(existsSync(join(folder, "real", "state.json"))).toBe(true);
    symlinkSync("second", join(folder, "first"));
    symlinkSync("first", join(folder, "second"));
    await expect(createFileStore(join(folder, "first")).read()).rejects.toThrow("ELOOP");
  });

  it("says which file it is about when it cannot be read or written", async () => {
    const missing = createFileStore(join(folder, "no", "such", "s.json"));
    await expect(missing.lock(holder())).rejects.toThrow(StoreFailed);
    await expect(missing.lock(holder())).rejects.toThrow(/no\/such\/s\.json/);
    mkdirSync(path);
    await expect(createFileStore(path).read()).rejects.toThrow(/s\.json cannot be read/);
  });

  it("a failed replace leaves the former state and no debris, and the holder can go on", async () => {
    await write();
    const session = await createFileStore(path).lock(holder());
    const token = (JSON.parse(readFileSync(`${path}.lock`, "utf8")) as { token: string }).token;
    mkdirSync(`${path}.${token}.tmp`);
    await expect(session.replace(snapshot(3, session.epoch, ["b"]))).rejects.toThrow(StoreFailed);
    rmSync(`${path}.${token}.tmp`, { recursive: true, force: true });
    expect(await keysIn(session)).toEqual(["a", "v2"]);
    await session.append([line(3, session.epoch)]);
    await session.release();
    expect(await keysIn(createFileStore(path))).toEqual(["a", "v2", "v3"]);
  });

  it.each(["EIO", "ESTALE", "ENOSPC", "EROFS", "EACCES", "EDQUOT"])(
    "%s from any call to the file system, at any moment, is a failure of the store",
    async (code) => {
      const names = [
        "openSync",
        "readFileSync",
        "writeSync",
        "writeFileSync",
        "fsyncSync",
        "fdatasync",
        "renameSync",
        "linkSync",
        "unlinkSync",
        "statSync",
        "fstatSync",
        "closeSync",
        "readSync",
        "realpathSync",
        "readdirSync",
      ] as const;
      let failed = 0;
      for (const name of names)
        for (let at = 1; at < 40; at++) {
          const here = join(makeFolder(), "s.json");
          const { calls, error } = await withFailing(name, at, code, async () => {
            const session = await createFileStore(here).lock(holder());
            await session.replace(snapshot(1, session.epoch, ["a"]));
            await session.append([line(2, session.epoch)]);
            await createFileStore(here).read();
            await session.release();
          });
          if (error !== undefined) {
            failed++;
            expect(error, `${name}, call ${at}`).toBeInstanceOf(StoreFailed);
          }
          if (calls < at) break;
        }
      expect(failed).toBeGreaterThan(20);
    },
  );

  it("is not locked where it is mounted by itself, without its journal and its lock", async () => {
    const here = join(makeFolder(), "my state.json");
    writeFileSync(here, "");
    const functions = fs as unknown as Record<string, (...given: unknown[]) => unknown>;
    const original = functions["readFileSync"]!;
    let mounted = here;
    functions["readFileSync"] = (...given) =>
      given[0] === "/proc/self/mountinfo"
        ? `1 2 3:4 / / rw - overlay overlay rw\n5 1 6:7 / ${mounted.replace(" ", "\\040")} rw - ext4 /dev/sda1 rw\n`
        : original(...given);
    syncBuiltinESMExports();
    try {
      await expect(createFileStore(here).lock(holder())).rejects.toThrow(/is mounted by itself.*mount its folder/);
      expect(readdirSync(dirname(here))).toEqual(["my state.json"]);
      mounted = dirname(here);
      await (await createFileStore(here).lock(holder())).release();
    } finally {
      functions["readFileSync"] = original;
      syncBuiltinESMExports();
    }
  });

  it("what a paused holder writes after its checks reaches nobody: the next one's journal is another file", async () => {
    const paused = await createFileStore(path, frozen).lock(holder());
    await paused.append([line(1, paused.epoch)]);
    const inode = statSync(`${path}.journal`).ino;
    await new Promise((done) => setTimeout(done, 60));
    const next = await createFileStore(path, frozen).lock(holder("bob"));
    expect(statSync(`${path}.journal`).ino).not.toBe(inode);
    await next.release();
    expect(await keysIn(createFileStore(path))).toEqual(["v1"]);
  });
});

const lockOf = (_session: unknown, path: string): { processes: string } =>
  JSON.parse(readFileSync(`${path}.lock`, "utf8")) as { processes: string };

/** Its n-th call of one function of the file system fails. */
async function withFailing(name: string, at: number, code: string, use: () => Promise<void>) {
  const functions = fs as unknown as Record<string, (...given: unknown[]) => unknown>;
  const original = functions[name]!;
  let calls = 0;
  functions[name] = (...given) => {
    calls++;
    if (calls !== at) return original(...given);
    const error = Object.assign(new Error(`${code}: as if the storage were gone`), { code });
    const callback = given.at(-1);
    if (typeof callback !== "function") throw error;
    return (callback as (error: Error) => void)(error);
  };
  syncBuiltinESMExports();
  let error: unknown;
  try {
    await use();
  } catch (thrown) {
    error = thrown;
  } finally {
    functions[name] = original;
    syncBuiltinESMExports();
  }
  return { calls, error };
}
