import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { protectStore } from "../../reconciler/store/encrypted";
import { createFileStore } from "../../reconciler/store/file";
import { createHttpStore } from "../../reconciler/store/http";
import { deriveKey, newSalt, readKeys, sealFile, unsealFile } from "../../reconciler/store/seal";
import { StateSealed } from "../../reconciler/store/store";
import { makeFolder } from "../support/folder";
import { startStateServer } from "../support/state-server";
import { cutJournal, describeStore, holder, keysIn, line, snapshot, stateIn } from "./conformance";

const keyA = Buffer.alloc(32, 7).toString("base64");
const keyB = "correct horse battery staple";

describeStore("file, encrypted", () => {
  const folder = makeFolder();
  return {
    open: (times) =>
      protectStore(createFileStore(join(folder, "s.json"), times), {
        RECONCILE_STATE_KEY: keyA,
        RECONCILE_STATE_ENCRYPTION: "required",
      }),
    loseLast: () => cutJournal(join(folder, "s.json.journal")),
  };
});

describeStore("http, encrypted", async () => {
  const server = await startStateServer({ kind: "gitlab" });
  return {
    open: () => protectStore(createHttpStore(`${server.url}/s`, { environment: {} }), { RECONCILE_STATE_KEY: keyA }),
    close: () => server.stop(),
  };
});

describe("an encrypted state", () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = makeFolder();
    path = join(folder, "s.json");
  });

  const open = (environment: Record<string, string>) => protectStore(createFileStore(path), environment);
  const write = async (environment: Record<string, string>, serial: number, from = serial === 1) => {
    const session = await open(environment).lock(holder());
    if (from) await session.replace(snapshot(serial, session.epoch, ["geheim"]));
    await session.append([line(serial + 1, session.epoch), line(serial + 2, session.epoch)]);
    await session.release();
  };
  const allBytes = () =>
    readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), "utf8"))
      .join("\n");
  const codeOf = (attempt: Promise<unknown>) =>
    attempt.then(
      () => "none",
      (error: unknown) => (error instanceof StateSealed ? error.code : String(error)),
    );

  it.each([
    ["32 bytes in base64", keyA],
    ["a passphrase", keyB],
  ])("shows nothing of what is in it, with %s", async (_, key) => {
    await write({ RECONCILE_STATE_KEY: key }, 1);
    expect(allBytes()).not.toMatch(/geheim|volume|lineage-1/);
    expect(allBytes()).not.toContain(key);
    expect(await keysIn(open({ RECONCILE_STATE_KEY: key }))).toEqual(["geheim", "v2", "v3"]);
  });

  // As version 0.1 wrote them: whoever has such a state has no other, so that a key is made the same way for ever.
  it.each([
    [
      "32 bytes in base64",
      keyA,
      { salt: "PIKiBgIqGNJyGBTO2nkmeA==", key: "f8a05e42" },
      "cVGAcudWpP6V5kdAp/bKKdK7cBfuIywruxr0wieUicHiSndtXgV+hvv8QhNAt+s3vjcwVXKbplJ7bsZkcKy/bd09rccSAElb",
      "iLLxMSKuQXS0Cm0BOTSSDakhcuENKqUq3QLdvR5yMST1s2H6",
    ],
    [
      "a passphrase",
      keyB,
      { salt: "g7QOxIjaS02jzUpY5XEMFA==", key: "521bafe3" },
      "atdVqeBX9Kn3lrQoJlFnIIF9oioVOTYmSrWY/fXOL9Vt7pgOQn34355zI7afm4jDLWYzJEd4guaqq0tDqCLSGQ+GD7PlXZwL",
      "n++BCGwbNrjo31qcsv9o7WX+7tX56r592HVppnsb/EUX6PnU",
    ],
  ])("opens what was sealed before with %s", async (_, secret, { salt, key }, body, sealed) => {
    const head = `"format":"reconcile-cloud/sealed",\n"version":1,\n"purpose":"state",\n"epoch":1`;
    writeFileSync(path, `{\n${head},\n"salt":"${salt}",\n"key":"${key}",\n"body":"${body}"\n}\n`);
    writeFileSync(`${path}.journal`, `sealed1 ${key} 1 0 ${sealed}\n`);
    expect(await open({ RECONCILE_STATE_KEY: secret }).read()).toMatchObject({
      snapshot: '{"snapshot":1}',
      journal: ["one line"],
    });
  });

  it("takes the key from a command", async () => {
    await write({ RECONCILE_STATE_KEY_COMMAND: `echo ${keyA}` }, 1);
    expect(await keysIn(open({ RECONCILE_STATE_KEY: keyA }))).toContain("v3");
    expect(() => open({ RECONCILE_STATE_KEY_COMMAND: "exit 3" })).toThrow("RECONCILE_STATE_KEY_COMMAND ended with 3");
    expect(() => open({ RECONCILE_STATE_KEY_COMMAND: "true" })).toThrow("printed nothing");
  });

  it("asks the command again after a minute, and at once after a key that does not open it", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    try {
      const said = join(folder, "said");
      const asked = () => readFileSync(said, "utf8").trim().split("\n").length;
      const environment = { RECONCILE_STATE_KEY_COMMAND: `echo asked >> ${said}; cat ${join(folder, "key")}` };
      writeFileSync(join(folder, "key"), keyA);
      await write(environment, 1);
      await keysIn(open(environment));
      expect(asked()).toBe(1);
      vi.advanceTimersByTime(60_001);
      await keysIn(open(environment));
      expect(asked()).toBe(2);

      // Another worker has the new key already.
      await write({ RECONCILE_STATE_KEY: keyB, RECONCILE_STATE_KEY_PREVIOUS: keyA }, 3);
      writeFileSync(join(folder, "key"), keyB);
      expect(await codeOf(open(environment).read())).toBe("state/key-wrong");
      await keysIn(open(environment));
      expect(asked()).toBe(3);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is refused whole without its key or with a wrong one, for reading and for writing, and is not changed", async () => {
    await write({ RECONCILE_STATE_KEY: keyA }, 1);
    const before = allBytes();
    expect(await codeOf(open({}).read())).toBe("state/key-missing");
    expect(await codeOf(open({}).lock(holder()))).toBe("state/key-missing");
    expect(await codeOf(open({ RECONCILE_STATE_KEY: keyB }).read())).toBe("state/key-wrong");
    expect(await codeOf(open({ RECONCILE_STATE_KEY: keyB }).lock(holder()))).toBe("state/key-wrong");
    expect(allBytes()).toBe(before);
    expect(readdirSync(folder).some((name) => name.endsWith(".lock"))).toBe(false);
  });

  it("changes keys: reads with either, writes with the first, and needs the former no more after one run", async () => {
    await write({ RECONCILE_STATE_KEY: keyA }, 1);
    const both = { RECONCILE_STATE_KEY: keyB, RECONCILE_STATE_KEY_PREVIOUS: keyA };
    expect(await keysIn(open(both))).toEqual(["geheim", "v2", "v3"]);
    await write(both, 3, false);
    expect(await keysIn(open({ RECONCILE_STATE_KEY: keyB }))).toEqual(["geheim", "v2", "v3", "v4", "v5"]);
    expect(await codeOf(open({ RECONCILE_STATE_KEY: keyA }).read())).toBe("state/key-wrong");
  });

  it("seals a state in the clear with the first run that has a key; `required` refuses it instead", async () => {
    await write({}, 1);
    expect(allBytes()).toContain("geheim");
    const required = { RECONCILE_STATE_KEY: keyA, RECONCILE_STATE_ENCRYPTION: "required" };
    expect(await codeOf(open(required).read())).toBe("state/not-encrypted");
    expect(await codeOf(open(required).lock(holder()))).toBe("state/not-encrypted");
    await write({ RECONCILE_STATE_KEY: keyA }, 3, false);
    expect(allBytes()).not.toContain("geheim");
    expect(await keysIn(open(required))).toEqual(["geheim", "v2", "v3", "v4", "v5"]);
  });

  it("does not open a snapshot of which one character was changed, nor one under another epoch", async () => {
    await write({ RECONCILE_STATE_KEY: keyA }, 1);
    const text = readFileSync(path, "utf8");
    const at = text.indexOf('"body":"') + 40;
    writeFileSync(path, text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1));
    expect(await codeOf(open({ RECONCILE_STATE_KEY: keyA }).read())).toBe("state/damaged");
    writeFileSync(path, text.replace(/"epoch":\d+/, '"epoch":99'));
    expect(await codeOf(open({ RECONCILE_STATE_KEY: keyA }).read())).toBe("state/damaged");
    writeFileSync(path, text.slice(0, -20));
    expect(await codeOf(open({ RECONCILE_STATE_KEY: keyA }).read())).toBe("state/damaged");
  });

  it("notices lines that were left out, doubled, exchanged or taken from another state", async () => {
    const session = await open({ RECONCILE_STATE_KEY: keyA }).lock(holder());
    await session.replace(snapshot(1, session.epoch));
    await session.append([2, 3, 4].map((serial) => line(serial, session.epoch)));
    await session.release();
    const journal = `${path}.journal`;
    const lines = readFileSync(journal, "utf8").trim().split("\n");
    const [a, b, c] = lines as [string, string, string];
    for (const changed of [
      [a, c],
      [a, a, b, c],
      [b, a, c],
    ]) {
      writeFileSync(journal, `${changed.join("\n")}\n`);
      expect(await codeOf(open({ RECONCILE_STATE_KEY: keyA }).read())).toBe("state/damaged");
    }
    writeFileSync(journal, `${[a, `${b.slice(0, -8)}AAAAAAA=`, c].join("\n")}\n`);
    const state = await stateIn(open({ RECONCILE_STATE_KEY: keyA }));
    expect([...state.resources.keys()]).toEqual(["volume.v2", "volume.v4"]);
    expect(state.quarantined).toHaveLength(1);
  });

  it("a line costs its own length, whatever the size of the state", async () => {
    const session = await open({ RECONCILE_STATE_KEY: keyA }).lock(holder());
    await session.replace(
      snapshot(
        1,
        session.epoch,
        Array.from({ length: 5000 }, (_, index) => `r${index}`),
      ),
    );
    await session.append([line(2, session.epoch)]);
    await session.release();
    expect(readFileSync(`${path}.journal`).length).toBeLessThan(2 * line(2, 1).length + 120);
  });
});

describe("keys", () => {
  it.each([
    [{ RECONCILE_STATE_ENCRYPTION: "required" }, /needs a key/],
    [{ RECONCILE_STATE_KEY_PREVIOUS: keyA }, /needs a key/],
    [{ RECONCILE_STATE_KEY: "short" }, /too short/],
    [{ RECONCILE_STATE_KEY: keyA, RECONCILE_STATE_ENCRYPTION: "yes" }, /neither required nor optional/],
  ])("%j is refused", (environment, message) => {
    expect(() => readKeys(environment)).toThrow(message);
  });

  it("a key is the same with a line feed behind it, which opens what was sealed when it was a part of the key", () => {
    const [spaced, plain] = [readKeys({ RECONCILE_STATE_KEY: `${keyA}\n` }), readKeys({ RECONCILE_STATE_KEY: keyA })];
    const former = { secrets: spaced.secrets.slice(1), required: false };
    expect(unsealFile(plain, "state", "s.json", sealFile(spaced, "state", "one"))).toBe("one");
    expect(unsealFile(spaced, "state", "s.json", sealFile(former, "state", "two"))).toBe("two");
    expect(() => unsealFile(plain, "state", "s.json", sealFile(former, "state", "two"))).toThrow(/another key/);
    expect(() => readKeys({ RECONCILE_STATE_KEY: "\n" })).toThrow(/too short/);
  });

  it("a key is made of a passphrase once for each salt, however often the passphrase is read", () => {
    const [salt, other] = [newSalt(), newSalt()];
    const keyOf = (passphrase: string, of: string) =>
      deriveKey(readKeys({ RECONCILE_STATE_KEY: passphrase }).secrets[0]!, of);
    const made = keyOf(keyB, salt);
    expect(keyOf(keyB, salt)).toBe(made);
    expect(keyOf(keyB, other).id).not.toBe(made.id);
    expect(keyOf(`${keyB}!`, salt).id).not.toBe(made.id);
    expect(keyOf(keyA, salt).id).not.toBe(made.id);
  });

  it("a saved plan opens with its key alone, and is no state", () => {
    const keys = readKeys({ RECONCILE_STATE_KEY: keyA });
    const sealed = sealFile(keys, "plan", '{"plan":1}');
    expect(sealed).not.toContain('"plan":1');
    expect(unsealFile(keys, "plan", "p.json", sealed)).toBe('{"plan":1}');
    expect(() => unsealFile(readKeys({ RECONCILE_STATE_KEY: keyB }), "plan", "p.json", sealed)).toThrow(/another key/);
    expect(() => unsealFile(readKeys({}), "plan", "p.json", sealed)).toThrow(/RECONCILE_STATE_KEY/);
    expect(() => unsealFile(keys, "state", "p.json", sealed)).toThrow(/encrypted plan, no state/);
    expect(unsealFile(readKeys({}), "plan", "p.json", "{}")).toBe("{}");
    expect(() => unsealFile(keys, "plan", "p.json", "{}")).toThrow(/p\.json is not encrypted, and there is a key/);
    const at = sealed.indexOf('"body":"') + 40;
    const tampered = sealed.slice(0, at) + (sealed[at] === "A" ? "B" : "A") + sealed.slice(at + 1);
    expect(() => unsealFile(keys, "plan", "p.json", tampered)).toThrow(/damaged or changed/);
    expect(() => unsealFile({ ...keys, required: true }, "plan", "p.json", "{}")).toThrow(/not encrypted/);
  });
});
