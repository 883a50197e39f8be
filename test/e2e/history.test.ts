/** What the state remembers of its runs, and the way back. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, startCli } from "../support/cli-process";
import { done, headOf, ownPlace, said } from "../support/own-place";

const place = ownPlace();
const { write, reconcile } = place;

const head = headOf("poll_interval: 5ms");
const first = `${head}vms: { db: { name: db-1 } }
volumes: { data: { size: 5, attach_to: db } }
groups: { front: { rules: [ { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 } ] }, back: { rules: [ { protocol: tcp, dst_port: 5432, remote_group: front } ] } }
`;
const second = first
  .replace("name: db-1", "name: db-one")
  .replace("dst_port: 443", "dst_port: 8443")
  .replace("vms: {", "vms: { web: { name: web-1 },");

async function apply(text: string, ...args: string[]): Promise<void> {
  write(text);
  const ran = await reconcile("apply", "-y", ...args);
  expect(ran.exitCode, ran.stderr).toBe(0);
}

const historyNow = async () =>
  jsonLines((await reconcile("history", "--json")).stdout).filter(({ type }) => type === "run");

describe("reconcile history", () => {
  it("marks a commit that the applied files are not of, and says which they are", async () => {
    const git = (...words: string[]) =>
      spawnSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.example", ...words], { cwd: place.folder });
    write(first);
    git("init", "--quiet");
    git("add", "reconcile.yaml");
    git("commit", "--quiet", "--message", "one");
    const clean = await reconcile("plan", "--json");
    expect(jsonLines(clean.stdout).at(-1)?.["commit"]).toMatch(/^[0-9a-f]{40}$/);
    write(`${first}# not committed\n`);
    const applied = await reconcile("apply", "-y");
    expect(applied.stdout.replace(/\s+/g, " ")).toMatch(/commit [0-9a-f]{12}-dirty \(not committed: reconcile\.yaml\)/);
    const summary = jsonLines((await reconcile("plan", "--json")).stdout).at(-1);
    expect(summary).toMatchObject({
      commit: expect.stringMatching(/^[0-9a-f]{40}-dirty$/),
      uncommitted: ["reconcile.yaml"],
    });
    expect((await reconcile("history")).stdout).toMatch(/commit [0-9a-f]{12}-dirty/);
    git("commit", "--quiet", "--all", "--message", "two");
    write("{}\n", "beside.yaml");
    const beside = await reconcile("plan", "--var-file", "beside.yaml", "--dialect", "beside.yaml", "--json");
    expect(jsonLines(beside.stdout).at(-1)).toMatchObject({ uncommitted: ["beside.yaml"] });
  });

  it("says who applied what, when, from which commit, with which consents and outcome", async () => {
    const commit = "0123456789abcdef0123456789abcdef01234567";
    write("ref: refs/heads/main\n", "HEAD");
    const { mkdirSync, renameSync } = await import("node:fs");
    mkdirSync(join(place.folder, ".git/refs/heads"), { recursive: true });
    renameSync(join(place.folder, "HEAD"), join(place.folder, ".git/HEAD"));
    write(`${commit}\n`, ".git/refs/heads/main");
    await apply(first);
    await apply(second);
    const runs = await historyNow();
    expect(runs).toMatchObject([
      { outcome: "done", command: "reconcile apply", commit, changes: { create: 4 }, consents: [], open: [] },
      { outcome: "done", command: "reconcile apply", commit, changes: { create: 1 } },
    ]);
    expect(Date.parse(runs[1]!.ended)).toBeGreaterThanOrEqual(Date.parse(runs[1]!.started));
    const text = (await reconcile("history")).stdout;
    expect(text.indexOf(runs[1]!.run)).toBeLessThan(text.indexOf(runs[0]!.run));
    const destroyed = await reconcile("destroy", "-y", "--allow-data-loss");
    expect(destroyed.exitCode, destroyed.stderr).toBe(0);
    expect((await historyNow()).at(-1)).toMatchObject({
      command: "reconcile destroy",
      consents: expect.arrayContaining(["data_loss vm.db", "data_loss volume.data"]),
    });
  });

  it("remembers no run that did nothing", async () => {
    await apply(first);
    const before = readFileSync(join(place.folder, "reconcile.state.json"), "utf8");
    await apply(first);
    expect(readFileSync(join(place.folder, "reconcile.state.json"), "utf8")).toBe(before);
  });

  it("shows a record as an earlier run left it", async () => {
    await apply(first);
    await apply(second);
    const [one] = await historyNow();
    expect((await reconcile("state", "show", "vm.db", "--at", one!.run)).stdout).toContain("db-1");
    expect((await reconcile("state", "show", "vm.db")).stdout).toContain("db-one");
    const all = jsonLines((await reconcile("state", "show", "--at", one!.run, "--json")).stdout);
    expect(all.flatMap(({ type, address }) => (type === "resource" ? [address] : []))).toEqual([
      "group.back",
      "group.front",
      "vm.db",
      "volume.data",
    ]);
    const wrong = await reconcile("state", "show", "vm.db", "--at", "ffff0000");
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toContain("the state remembers no run ffff0000");
    expect(wrong.stderr).toContain(one!.run);
  });

  it("knows that a killed run has no end, and the next plan says that it stopped before this", async () => {
    await apply(first);
    const grown = first
      .replace("name: db-1", "name: db-1, flavor_id: m1.large")
      .replace("dst_port: 443", "dst_port: 8443");
    write(grown);
    await place.ask("POST", "/_control/faults", { kind: "latency", ms: 600_000, operation: "vm.resize" });
    const run = startCli(["apply", "-y", "--parallelism", "1"], place.surroundings());
    await expect.poll(() => place.emulator.requests().counts["vm.resize"] ?? 0).toBeGreaterThan(0);
    run.child.kill("SIGKILL");
    await run.finished;
    await place.ask("DELETE", "/_control/faults");
    expect((await historyNow()).at(-1)).toMatchObject({
      outcome: null,
      open: expect.arrayContaining(["vm.db", "group.front"]),
    });
    const plan = await reconcile("plan");
    expect(plan.stdout).toContain("the last run stopped before this: rules");
    // A run of another part did not reach it either.
    await apply(grown, "--target", "volume.data");
    expect((await reconcile("plan")).stdout).toContain("the last run did not get this done: rules");
    write(grown.replace("8443", "8444"));
    expect((await reconcile("plan")).stdout).toContain("the file changed: rules");
  });
});

describe("reconcile undo", () => {
  it("plans back to what was declared before the run, and the file must follow", async () => {
    await apply(first);
    const shape = () => {
      const { vms, rules } = place.emulator.dump();
      return {
        vms: vms.map(({ name }) => name).sort(),
        rules: rules.map((rule) => String(rule.port_range_min)).sort(),
      };
    };
    const before = shape();
    await apply(second, "--allow-removal", "all");
    expect(shape()).not.toEqual(before);
    const refused = await reconcile("undo", "last", "-y");
    expect(refused.exitCode).toBe(3);
    expect(refused.stderr).toContain("--allow-loss vm.web");
    const undone = await reconcile("undo", "last", "-y", "--allow-loss", "vm.web");
    expect(undone.exitCode, undone.stderr).toBe(0);
    expect(undone.stderr).toContain("warning[undo/files-ahead]: this changes no file");
    expect(undone.stdout).toMatch(/undoes run [0-9a-f]{8}: /);
    expect(shape()).toEqual(before);
    write(first);
    const plan = await reconcile("plan");
    expect(plan.stdout).toContain("Nothing to do");
  });

  it("asks for nothing in the files where it has nothing to take back", async () => {
    await apply(first);
    await apply(first, "--replace", "vm.db", "--allow-loss", "vm.db");
    const undone = await reconcile("undo", "last", "-y");
    expect(undone.stdout).toContain("Nothing to do");
    expect(undone.stderr).toContain("undo/stays");
    expect(undone.stderr).not.toContain("undo/files-ahead");
  });

  it("says of what goes back to its former address which run it undoes, and names no line of a file", async () => {
    await apply(`${head}volumes: { data: { name: data, size: 5 } }\n`);
    await apply(
      `${head}volumes: { moved: { name: data, size: 5 } }\nmoved: [ { from: volume.data, to: volume.moved } ]\n`,
    );
    const [change] = jsonLines((await reconcile("undo", "last", "--json")).stdout);
    expect(change).toMatchObject({ address: "volume.data", moved_from: "volume.moved", file: null, line: null });
    expect(change?.["because"]).toMatch(/^undoes run [0-9a-f]{8}: address$/);
  });

  it("can be saved, reviewed and applied like any plan", async () => {
    await apply(first);
    await apply(second);
    expect(said(await reconcile("undo", "last"))).toContain(
      "or save it with reconcile undo last --out F and apply that",
    );
    const saved = await reconcile("undo", "last", "--out", "back.plan.json");
    expect(saved.exitCode, saved.stderr).toBe(0);
    const applied = await reconcile("apply", "back.plan.json");
    expect(applied.exitCode, applied.stderr).toBe(0);
    // The file still declares what was undone.
    expect(applied.stdout).toContain("Done: the service matches the plan");
    expect(place.emulator.dump().vms.map(({ name }) => name)).toEqual(["db-1"]);
  });

  it("makes again what the run deleted, from what the state knew of it", async () => {
    await apply(first);
    await apply(
      `${head}vms: { db: { name: db-1 } }\nvolumes: { data: { size: 5, attach_to: db } }\n`,
      "--allow-removal",
      "all",
    );
    const undone = await reconcile("undo", "last", "-y");
    expect(undone.exitCode, undone.stderr).toBe(0);
    write(first);
    expect((await reconcile("plan")).stdout).toContain("Nothing to do");
  });

  it("lets go what the run took over, changed or not, and deletes only what it made", async () => {
    await apply(`${head}groups: { front: {} }\nvolumes: { data: { size: 5 } }\n`);
    const { groups: had, volumes } = place.emulator.dump();
    const [group, volume] = [had.find(({ name }) => name === "front")?.["id"], volumes[0]?.["id"]];
    for (const address of ["group.front", "volume.data"]) await done(reconcile("state", "rm", address));
    await apply(`${head}groups: { front: {}, own: {} }
volumes: { data: { size: 6 } }
imports: [ { to: group.front, id: "${group}" }, { to: volume.data, id: "${volume}" } ]
`);
    const undone = await reconcile("undo", "last", "-y", "--allow-empty");
    expect(undone.exitCode, undone.stderr).toBe(0);
    expect(undone.stdout).toMatch(/volume\.data {2}forget[^\n]*\n\s+it was there before run [0-9a-f]{8} /);
    const left = place.emulator.dump();
    expect([left.groups, left.volumes.map(({ id, size }) => [id, size])]).toEqual([had, [[volume, 6]]]);
    expect((await reconcile("state", "list")).stdout).toContain("The state holds nothing");
  });

  it("takes back what was let go, by the run or by hand, and makes nothing beside it", async () => {
    await apply(`${head}volumes: { data: { size: 5 }, logs: { size: 5 } }\n`);
    const before = place.emulator.dump();
    await apply(`${head}volumes: { data: { size: 5 } }\nremoved: [ { from: volume.logs, destroy: false } ]\n`);
    expect((await reconcile("history")).stdout).toContain("1 to forget; 1 step done");
    await done(reconcile("state", "rm", "volume.data"));
    const undone = await reconcile("undo", "last", "-y", "--recreate", "all");
    expect(undone.exitCode, undone.stderr).toBe(0);
    expect(place.emulator.dump().volumes).toEqual(before.volumes);
    expect((await reconcile("state", "list")).stdout).toMatch(/volume\.data[\s\S]*volume\.logs/);
  });

  it("makes anew what was let go and is gone since, where that is permitted", async () => {
    await apply(`${head}volumes: { data: { size: 5 }, logs: { size: 5 } }\n`);
    await apply(`${head}volumes: { data: { size: 5 } }\nremoved: [ { from: volume.logs, destroy: false } ]\n`);
    const logs = place.emulator.dump().volumes.find(({ name }) => name === "logs")?.["id"];
    await place.ask("DELETE", `/_control/volume/${logs}`);
    const refused = await reconcile("undo", "last", "-y");
    expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining("--recreate volume.logs")]);
    const undone = await reconcile("undo", "last", "-y", "--recreate", "volume.logs");
    expect(undone.exitCode, undone.stderr).toBe(0);
    expect(place.emulator.dump().volumes.map(({ name }) => name)).toEqual(["data", "logs"]);
  });

  it("stops where another resource is under the address by now, but for what is left out", async () => {
    await apply(`${head}volumes: { data: { size: 5 }, logs: { size: 5 } }\n`);
    await apply(`${head}volumes: { data: { size: 5 }, logs: { size: 5 }, more: { size: 1 } }\n`);
    for (const [from, to] of [
      ["volume.data", "volume.x"],
      ["volume.logs", "volume.data"],
      ["volume.x", "volume.logs"],
    ] as const)
      await done(reconcile("state", "mv", from, to));
    const before = place.emulator.dump();
    const refused = await reconcile("undo", "last", "-y", "--allow-data-loss");
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining("error[undo/another]: volume.data"),
    ]);
    expect(place.emulator.dump()).toEqual(before);
    const rest = ["--exclude", "volume.data", "--exclude", "volume.logs"];
    const undone = await reconcile("undo", "last", "-y", "--allow-data-loss", ...rest);
    expect(undone.exitCode, undone.stderr).toBe(0);
    expect(place.emulator.dump().volumes.map(({ name }) => name)).toEqual(["data", "logs"]);
  });

  it("asks before a volume or a VM comes back empty, as where it vanished by itself", async () => {
    await apply(first);
    await apply(`${head}groups: { front: {}, back: {} }\n`, "--allow-data-loss", "--confirm-flush", "all");
    const left = place.emulator.dump().volumes.length;
    for (const args of [["-y"], ["-y", "--recreate", "vm.db"], ["--out", "back.plan.json"]]) {
      const refused = await reconcile("undo", "last", ...args);
      expect([refused.exitCode, refused.stderr], args.join(" ")).toEqual(
        args[0] === "-y" ? [3, expect.stringContaining("--recreate")] : [0, expect.anything()],
      );
      expect(refused.stdout + refused.stderr).toMatch(/volume\.data.* it comes back empty/s);
    }
    expect(place.emulator.dump().volumes.length).toBe(left);
    const undone = await reconcile("undo", "last", "-y", "--recreate", "all");
    expect(undone.exitCode, undone.stderr).toBe(0);
    write(first);
    expect((await reconcile("plan")).stdout).toContain("Nothing to do");
  });
});
