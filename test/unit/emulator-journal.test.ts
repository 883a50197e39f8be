import { appendFileSync, cpSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { WorldChange } from "../../emulator/entities";
import { announce, announced, becomeGuest, countGuests, lockFolder } from "../../emulator/folder-lock";
import { startEmulator } from "../../emulator/index";
import { loadFolder, openJournal, readLines } from "../../emulator/journal";
import { applyChanges, createWorld, dumpWorld } from "../../emulator/world";
import { makeFolder } from "../support/folder";

let dir = "";
beforeEach(() => {
  dir = makeFolder();
});

const region = (id: string): WorldChange[] => [{ put: "region", value: { id, name: id } }];
const journals = () => readdirSync(dir).filter((name) => name.startsWith("journal-"));

async function reload() {
  const { dump, changes } = await loadFolder(dir);
  const world = createWorld();
  for (const value of dump?.regions ?? []) applyChanges(world, [{ put: "region", value }]);
  for (const line of changes) applyChanges(world, line);
  return [...world.tables.region.keys()];
}

describe("the journal", () => {
  it("gives back what was appended, in order, after being opened again", async () => {
    const journal = await openJournal(dir, 1, () => dumpWorld(createWorld(), 0));
    await Promise.all(["a", "b", "c"].map((id) => journal.append(region(id))));
    await journal.close();
    expect(await reload()).toEqual(["a", "b", "c"]);
  });

  it("writes requests that arrive together with one sync", async () => {
    const journal = await openJournal(dir, 1, () => dumpWorld(createWorld(), 0));
    const order: string[] = [];
    await Promise.all(["a", "b", "c"].map((id) => journal.append(region(id)).then(() => order.push(id))));
    expect(order).toEqual(["a", "b", "c"]);
    expect(readFileSync(join(dir, "journal-1.jsonl"), "utf8").split("\n")).toHaveLength(4);
    await journal.close();
  });

  it("is whole at every length it can be cut off at: complete lines count, the rest never was", () => {
    const text = ["a", "b", "c"].map((id) => `${JSON.stringify(region(id))}\n`).join("");
    for (let length = 0; length <= text.length; length += 1) {
      const kept = text.slice(0, length);
      expect(readLines(kept, "journal").length).toBe(kept.split("\n").length - 1);
    }
  });

  it("says where it is damaged when a line in the middle is", () => {
    expect(() => readLines('[]\n{"oops\n[]\n', "journal-7.jsonl")).toThrow("journal-7.jsonl, line 2 is damaged");
  });

  it("never goes on behind a line that was cut off", async () => {
    const first = await openJournal(dir, 1, () => dumpWorld(createWorld(), 0));
    await first.append(region("a"));
    await first.close();
    appendFileSync(join(dir, "journal-1.jsonl"), '[{"put":"reg');
    const { next } = await loadFolder(dir);
    const second = await openJournal(dir, next, () => dumpWorld(createWorld(), 0));
    await second.append(region("b"));
    await second.close();
    expect(await reload()).toEqual(["a", "b"]);
  });

  it("compacts by itself, and loses nothing that is appended meanwhile", async () => {
    const world = createWorld();
    const journal = await openJournal(dir, 1, () => dumpWorld(world, 0), 2_000);
    const ids = Array.from({ length: 300 }, (_, n) => `r${n}`);
    await Promise.all(
      ids.map(async (id, n) => {
        for (let turn = 0; turn < n % 7; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        applyChanges(world, region(id));
        await journal.append(region(id));
      }),
    );
    await journal.close();
    expect(journals()).not.toContain("journal-1.jsonl");
    expect((await reload()).sort()).toEqual([...ids].sort());
  });

  it("refuses everything, reads too, once the disk has refused a write", async () => {
    const journal = await openJournal(dir, 1, () => dumpWorld(createWorld(), 0));
    expect(journal.settled()).toBeUndefined();
    await journal.close();
    await expect(journal.append(region("a"))).rejects.toThrow();
    await expect(journal.settled()).rejects.toThrow();
  });

  it("keeps what was written before a world was replaced out of the new one", async () => {
    const world = createWorld();
    const journal = await openJournal(dir, 1, () => dumpWorld(world, 0));
    const before = [journal.append(region("old-1"))];
    await new Promise((resolve) => setImmediate(resolve));
    before.push(journal.append(region("old-2")));
    applyChanges(world, region("new"));
    await Promise.all([...before, journal.compact()]);
    await journal.append(region("later"));
    await journal.close();
    expect(await reload()).toEqual(["new", "later"]);
    expect(journals()).toEqual(["journal-2.jsonl"]);
  });

  it("survives a kill between starting a journal and writing the snapshot that names it", async () => {
    const journal = await openJournal(dir, 1, () => dumpWorld(createWorld(), 0));
    await journal.append(region("a"));
    await journal.close();
    writeFileSync(join(dir, "journal-2.jsonl"), `${JSON.stringify(region("b"))}\n`);
    writeFileSync(join(dir, "world.json.new"), '{"journal":2,"wor');
    expect(await reload()).toEqual(["a", "b"]);
  });

  it("survives a kill between writing the snapshot and removing what came before it", async () => {
    const world = createWorld();
    applyChanges(world, [...region("a"), ...region("b")]);
    writeFileSync(join(dir, "journal-1.jsonl"), `${JSON.stringify(region("gone"))}\n`);
    writeFileSync(join(dir, "journal-2.jsonl"), `${JSON.stringify(region("b"))}\n`);
    writeFileSync(join(dir, "world.json"), JSON.stringify({ journal: 2, world: dumpWorld(world, 0) }));
    expect(await reload()).toEqual(["a", "b"]);
  });
});

describe("the folder", () => {
  it("belongs to one emulator at a time", async () => {
    const running = await startEmulator({ dir });
    await expect(startEmulator({ dir })).rejects.toThrow("is in use by another emulator");
    await running.close();
    await (await startEmulator({ dir })).close();
  });

  it("is taken over from a process that is gone", () => {
    writeFileSync(join(dir, "lock"), "4194999 1");
    lockFolder(dir)();
    expect(readdirSync(dir)).toEqual([]);
  });

  it("is not begun over a file of that name that is somebody's own", () => {
    writeFileSync(join(dir, "lock"), "my notes\n");
    expect(() => lockFolder(dir)).toThrow("is no lock of an emulator, and is left as it is");
    expect(readFileSync(join(dir, "lock"), "utf8")).toBe("my notes\n");
  });

  it("is taken over by one of several processes that find the lock of a killed one: by that with the claim", () => {
    const gone = "4194999 1";
    const unlock = lockFolder(dir);
    const [pid, started] = readFileSync(join(dir, "lock"), "utf8").split(" ");
    unlock();
    writeFileSync(join(dir, "lock"), gone);
    writeFileSync(join(dir, "lock.claim"), `${pid} ${started}`);
    expect(() => lockFolder(dir)).toThrow("is in use by another emulator");
    expect(readFileSync(join(dir, "lock"), "utf8")).toBe(gone);
    writeFileSync(join(dir, "lock.claim"), gone);
    lockFolder(dir)();
    expect(readdirSync(dir)).toEqual([]);
  });

  it("is another one than its copy, whose lock, address and guests say nothing, and the same where it is moved", () => {
    const [original, copy, moved] = [join(dir, "a"), join(dir, "a copy of it"), join(dir, "moved")];
    const unlock = lockFolder(original);
    announce(original, { url: "http://127.0.0.1:8080", timeScale: 20 });
    becomeGuest(original);
    cpSync(original, copy, { recursive: true });
    expect([announced(original)?.url, countGuests(original)]).toEqual(["http://127.0.0.1:8080", 1]);
    expect([announced(copy), countGuests(copy)]).toEqual([undefined, 0]);
    lockFolder(copy)();
    renameSync(original, moved);
    expect(() => lockFolder(moved)).toThrow("is in use by another emulator");
    expect([announced(moved)?.url, countGuests(moved)]).toEqual(["http://127.0.0.1:8080", 1]);
    const again = lockFolder(original);
    unlock();
    expect(readdirSync(original)).toEqual(["lock"]);
    again();
  });

  it("is taken over when the number of the process now belongs to another", () => {
    writeFileSync(join(dir, "lock"), `${process.ppid} 0`);
    expect(() => lockFolder(dir)()).not.toThrow();
  });

  it.each([
    ["http://127.0.0.1:8080", true],
    ["http://[::1]:8080", true],
    ["https://elsewhere.example", false],
    ["https://127.0.0.1:8080", false],
    ["http://elsewhere.example:8080", false],
    ["http://127.0.0.1:8080@elsewhere.example:80", false],
    ["http://169.254.169.254:8080/latest", false],
    ["8080", false],
  ])("says where its service listens, and nothing else is believed: %s %s", (url, isBelieved) => {
    const unlock = lockFolder(dir);
    announce(dir, { url, timeScale: 20 });
    expect(announced(dir)).toEqual(isBelieved ? { url, timeScale: 20 } : undefined);
    unlock();
    expect(announced(dir)).toBeUndefined();
  });

  it.each([
    ["world.json", "{}"],
    ["world.json", "null"],
    ["world.json", '{"level":3,"seed":7}'],
    ["world.json", '{"journal":2,"world":{"version":2}}'],
    ["world.json", '{"journal":2,"world":{"version":1}}'],
    ["journal-1.jsonl", "null\n"],
    ["journal-1.jsonl", '[{"put":"router","value":{"id":"1"}}]\n'],
  ])("of another version or program is refused, and left as it is: %s %s", async (name, text) => {
    writeFileSync(join(dir, name), text);
    await expect(startEmulator({ dir })).rejects.toThrow("version");
    expect(readdirSync(dir)).toEqual([name]);
    expect(readFileSync(join(dir, name), "utf8")).toBe(text);
  });

  it("keeps the world, its clock and its ids from run to run, and does not grow by being started", async () => {
    const first = await startEmulator({ dir });
    await fetch(`${first.url}/_control/time`, { method: "POST", body: '{"advance_ms":5000}' });
    const before = first.dump();
    await first.close();
    for (let run = 0; run < 3; run += 1) {
      const again = await startEmulator({ dir });
      expect(again.dump()).toEqual(before);
      await again.close();
    }
    expect(journals()).toHaveLength(1);
  });
});
