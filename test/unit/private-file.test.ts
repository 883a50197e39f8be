import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { openJsonFile } from "../../reconciler/cli/json-file";
import { carryOutEdits } from "../../reconciler/cli/move/edits";
import { writeEntry } from "../../reconciler/core/state/text";
import { replaceOwnFile, whyNotWritten, writePrivately } from "../../reconciler/outside/private-file";
import { sha256 } from "../../reconciler/outside/sha256";
import { makeFolder } from "../support/folder";

it.each([
  ["EACCES", "EACCES: you have no right to write there"],
  ["EROFS", "EROFS: the file system can only be read"],
  ["ENOENT", "there is no folder a"],
  ["EWHATEVER", "EWHATEVER"],
])("what the system says of a file that it does not write is told in words: %s", (code, told) => {
  expect(whyNotWritten("a/b", Object.assign(new Error("m"), { code }))).toBe(told);
});

describe("a file that a command writes for its user", () => {
  let folder: string;
  const at = (name: string): string => join(folder, name);
  beforeEach(() => {
    folder = makeFolder();
  });

  it("is for its owner alone, also in place of one that was for everybody, and leaves nothing beside it", () => {
    writeFileSync(at("p.json"), "former", { mode: 0o644 });
    writePrivately(at("p.json"), "new");
    expect(readFileSync(at("p.json"), "utf8")).toBe("new");
    expect(statSync(at("p.json")).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["p.json"]);
  });

  it.each([
    ["", '{\n"format":"reconcile-cloud/state",\n"version":1,'],
    [" that is encrypted", '{\n"format":"reconcile-cloud/sealed",\n"version":1,\n"purpose":"state",'],
    ["'s journal", writeEntry({ serial: 1, epoch: 1, change: { type: "intent", address: "vm.a", intent: null } })],
    ["'s journal that is encrypted", "sealed1 3f9a12c4 7 0 c2VhbGVk\n"],
  ])("is not written over a state%s", (_, head) => {
    writeFileSync(at("reconcile.state.json"), head);
    expect(() => writePrivately(at("reconcile.state.json"), "new")).toThrow(/holds a state/);
    expect(readFileSync(at("reconcile.state.json"), "utf8")).toBe(head);
    expect(readdirSync(folder)).toEqual(["reconcile.state.json"]);
  });

  it.each([
    ["a file", "# what should exist\nversion: 1\nvms: {}\n"],
    ["a component", "component: 1\nvms: {}\n"],
    ["a part without a version", '"groups" : {}\n'],
  ])("is not written over %s of a desired state, unless that was asked for", (_, text) => {
    writeFileSync(at("reconcile.yaml"), text);
    expect(() => writePrivately(at("reconcile.yaml"), "new")).toThrow(/holds a desired state/);
    expect(() => openJsonFile(at("reconcile.yaml"))).toThrow(/holds a desired state/);
    expect(readFileSync(at("reconcile.yaml"), "utf8")).toBe(text);
    writePrivately(at("reconcile.yaml"), "new", { overFiles: true });
    expect(readFileSync(at("reconcile.yaml"), "utf8")).toBe("new");
  });

  it.each([
    ["a desired state", "# what there is to read\noutputs:\n  x: { value: a }\n"],
    ["a dialect", "operations:\n  vm.get: null\n"],
    ["prices", "currency: EUR\nper: month\n"],
    ["a fleet", "version: 1\nstacks: {}\n"],
    ["tests", "tests: []\n"],
    ["a program", "#!/bin/sh\nexec judge\n"],
  ])("is not written over %s that stands beside the files", (what, text) => {
    writeFileSync(at("own"), text);
    expect(() => writePrivately(at("own"), "new")).toThrow(`holds ${what}, and nothing is written over it`);
    expect(() => openJsonFile(at("own"))).toThrow(`holds ${what}`);
    expect(readFileSync(at("own"), "utf8")).toBe(text);
  });

  it("is not written over a plan of a newer version", () => {
    for (const what of [
      { base_url: "u", format: "reconcile-cloud/plan" },
      { format: "reconcile-cloud/sealed", purpose: "plan" },
    ]) {
      const plan = (version: number) => JSON.stringify({ ...what, version });
      writeFileSync(at("p"), plan(2));
      expect(() => writePrivately(at("p"), "new")).toThrow(/written by a newer version/);
      expect(readFileSync(at("p"), "utf8")).toBe(plan(2));
      writeFileSync(at("p"), plan(1));
      expect(() => writePrivately(at("p"), "new")).not.toThrow();
    }
  });

  it("a file of the user's own is replaced whole, and keeps its rights and the link that leads to it", () => {
    writeFileSync(at("own.yaml"), "former", { mode: 0o640 });
    symlinkSync("own.yaml", at("link.yaml"));
    const opened = openSync(at("own.yaml"), "r");
    replaceOwnFile(at("link.yaml"), "new");
    // Who read the former file still has all of it.
    expect(readFileSync(opened, "utf8")).toBe("former");
    closeSync(opened);
    expect(readFileSync(at("own.yaml"), "utf8")).toBe("new");
    expect(statSync(at("own.yaml")).mode & 0o777).toBe(0o640);
    expect(lstatSync(at("link.yaml")).isSymbolicLink()).toBe(true);
    expect(readdirSync(folder)).toEqual(["link.yaml", "own.yaml"]);
  });

  it("a file that a move changes is written where the link to it leads", () => {
    writeFileSync(at("own.yaml"), "former");
    symlinkSync("own.yaml", at("link.yaml"));
    const edits = [{ path: at("link.yaml"), before: sha256("former"), after: "new" }];
    carryOutEdits({ id: "m", at: "", by: "", states: [], folders: [], edits });
    expect(readFileSync(at("own.yaml"), "utf8")).toBe("new");
    expect(lstatSync(at("link.yaml")).isSymbolicLink()).toBe(true);
  });

  it("says why where its folder cannot be gone into", () => {
    writeFileSync(at("f"), "");
    expect(() => writePrivately(join(at("f"), "p.json"), "new")).toThrow(/p\.json cannot be written: ENOTDIR/);
  });

  it.each(['{\n "version": 1\n}', "<pre>\ngroups: 2\n</pre>", "flowchart LR\n  a[version: 1]\n"])(
    "is written over what a command wrote before",
    (text) => {
      writeFileSync(at("p"), text);
      expect(() => writePrivately(at("p"), "new")).not.toThrow();
    },
  );

  it("is not written through a link, and what that leads to stays as it was", () => {
    writeFileSync(at("victim"), "precious");
    symlinkSync(at("victim"), at("p.json"));
    symlinkSync(at("nowhere"), at("dangling"));
    for (const name of ["p.json", "dangling"])
      for (const isNew of [true, false])
        expect(() => writePrivately(at(name), "new", { isNew })).toThrow(/is a symbolic link/);
    expect(readFileSync(at("victim"), "utf8")).toBe("precious");
    expect(existsSync(at("nowhere"))).toBe(false);
  });

  it("that is to be new leaves the one that is there", () => {
    writeFileSync(at("p.json"), "former");
    expect(() => writePrivately(at("p.json"), "new", { isNew: true })).toThrow(/EEXIST/);
    expect(readFileSync(at("p.json"), "utf8")).toBe("former");
    writePrivately(at("q.json"), "new", { isNew: true });
    expect(readdirSync(folder).sort()).toEqual(["p.json", "q.json"]);
  });

  it("that cannot be put in place leaves nothing behind", () => {
    mkdirSync(at("p.json"));
    expect(() => writePrivately(at("p.json"), "new")).toThrow(/p\.json cannot be written: it is a folder$/);
    expect(readdirSync(folder)).toEqual(["p.json"]);
    expect(() => writePrivately(at("no/such/folder"), "new")).toThrow(
      /folder cannot be written: there is no folder .*no.such$/,
    );
  });

  it.runIf(existsSync("/dev/shm"))("is a file in memory as well, where paths begin with /dev", () => {
    const there = mkdtempSync("/dev/shm/private-file-");
    try {
      symlinkSync(at("victim"), join(there, "link"));
      expect(() => writePrivately(join(there, "link"), "new")).toThrow(/is a symbolic link/);
      writePrivately(join(there, "p.json"), "new");
      expect(statSync(join(there, "p.json")).mode & 0o777).toBe(0o600);
    } finally {
      rmSync(there, { recursive: true });
    }
  });

  it("goes to whoever reads a pipe as it is", () => {
    expect(() => writePrivately("/dev/null", "new")).not.toThrow();
    if (existsSync("/dev/full"))
      expect(() => writePrivately("/dev/full", "new")).toThrow(
        "/dev/full cannot be written: ENOSPC: there is no space",
      );
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
    execFileSync("mkfifo", [at("pipe")]);
    const read = execFileSync("sh", [
      "-c",
      `cat "$1" & node -e 'require("fs").writeFileSync(process.argv[1], "through")' "$1"; wait`,
      "sh",
      at("pipe"),
    ]);
    expect(read.toString()).toBe("through");
  });
});
