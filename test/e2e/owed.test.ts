/** Commands that are owed to guests: from before the request that makes them necessary until they ended with 0. */
import { chmodSync, existsSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, root, runCli } from "../support/cli-process";
import { eventually, isGone } from "../support/eventually";
import { writeFiles } from "../support/folder";
import { headOf, ownPlace } from "../support/own-place";

const place = ownPlace();
const { declare, read, reconcile } = place;

/** Writes down what it was told; fails where a file says so. */
const script = `echo "$0 $RECONCILE_REASON $RECONCILE_ADDRESS $RECONCILE_VOLUME_SIZE" >> ran
test "$(cat fails 2>/dev/null)" != "$0" || { echo one; echo two ops-''token; exit 3; }`;
const run = (name: string, ...more: string[]) => ({ command: ["sh", "-c", script, name, ...more] });
const flush = { flush: { via: "command", command: ["true"] } };
const mounted = (size: number, more: object = {}) => ({ size, ...flush, after_attach: run("mount"), ...more });
const host = { name: "base" };
const ran = (): string[] => (existsSync(join(place.folder, "ran")) ? read("ran").trimEnd().split("\n") : []);
const vmNamed = (wanted: string) => place.emulator.dump().vms.find(({ name }) => name === wanted);
const fails = (name: string): void => writeFileSync(join(place.folder, "fails"), name);
const done = async (...args: string[]) => {
  const end = await reconcile(...args);
  expect(end.exitCode, end.stdout + end.stderr).toBe(0);
  return end;
};
// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of it
const summaryOf = (stdout: string): any => jsonLines(stdout).at(-1);

describe("a command that is owed", () => {
  it("is run after the create, the attach and the grow, with the reason and what it is about", async () => {
    const vms = { db: { ...host, after_ready: run("provision"), after_attach: run("mount-own") } };
    declare({ vms, volumes: { data: mounted(5, { attach_to: "db" }) } });
    await done("apply", "-y");
    expect(ran()).toEqual(["provision created vm.db 10", "mount-own created vm.db 10", "mount created volume.data 5"]);
    declare({ vms, volumes: { data: mounted(9, { attach_to: "db" }) } });
    await done("apply", "-y");
    expect(ran().slice(3)).toEqual(["mount grown volume.data 9"]);
    declare({ vms: { db: { ...vms.db, image_id: "debian-12" } }, volumes: { data: mounted(9, { attach_to: "db" }) } });
    await done("apply", "-y", "--allow-data-loss");
    expect(ran().slice(4)).toEqual([
      "provision vm_rebuilt vm.db 10",
      "mount-own vm_rebuilt vm.db 10",
      "mount vm_rebuilt volume.data 9",
    ]);
    await done("plan", "--detailed-exitcode");
  });

  it("is owed by a rebuild also where the plan leaves its volume out, and is run by the next one", async () => {
    const volumes = { data: mounted(5, { attach_to: "db" }) };
    declare({ vms: { db: host }, volumes });
    await done("apply", "-y");
    declare({ vms: { db: { ...host, image_id: "debian-12" } }, volumes });
    await done("apply", "-y", "--allow-data-loss", "--target", "vm.db");
    expect((await reconcile("plan", "--detailed-exitcode")).stdout).toContain(
      "owed: after_attach of volume.data, since",
    );
    await done("apply", "-y");
    expect(ran()).toEqual(["mount created volume.data 5", "mount vm_rebuilt volume.data 5"]);
  });

  it("is counted by a test of the file and by a rehearsal, which start nothing, and is told in a comment", async () => {
    declare({
      vms: { db: { ...host, after_ready: run("provision") } },
      volumes: { data: mounted(5, { attach_to: "db" }) },
    });
    const expected = (owed: string) => `tests:\n  - { name: owes, expect: { owed: ${owed} } }\n`;
    writeFileSync(join(place.folder, "owes.test.yaml"), expected("[vm.db, volume.data]"));
    await done("test");
    writeFileSync(join(place.folder, "owes.test.yaml"), expected("volume.data"));
    const other = await reconcile("test");
    expect(other.exitCode).toBe(1);
    expect(other.stdout).toContain("owed: expected volume.data; is vm.db, volume.data");
    // The timing of this place is too short for a VM in the real service's time.
    const rehearsed = await reconcile("rehearse");
    expect(rehearsed.stdout).toContain("owed: after_ready of vm.db (created)");
    const told = jsonLines((await reconcile("rehearse", "--json")).stdout).find(({ type }) => type === "rehearsal");
    expect(told).toMatchObject({ owed: [{ address: "vm.db" }, { address: "volume.data", reason: "created" }] });
    expect(ran()).toEqual([]);
    fails("provision");
    await reconcile("apply", "-y", "--report", "page.html");
    expect(read("page.html")).toContain("owed: after_ready of vm.db");
    expect((await reconcile("plan", "--markdown")).stdout).toMatch(/^- owed: after&#95;ready of vm\.db, since/m);
  });

  it("that fails ends the run with 1, is shown by plan, drift and the state, and is paid by the next run", async () => {
    declare({ vms: { db: host }, volumes: { data: mounted(5, { attach_to: "db" }) } });
    fails("mount");
    const failed = await reconcile("apply", "-y");
    expect(failed.exitCode).toBe(1);
    expect(failed.stdout).toContain("after_attach of volume.data ended with 3 and is still owed");
    expect(failed.stdout).toContain("| one");
    expect(failed.stdout).not.toContain("ops-token");
    expect(failed.stdout).toContain("reconcile explain apply/owed");
    const plan = await reconcile("plan", "--detailed-exitcode");
    expect(plan.exitCode).toBe(2);
    expect(plan.stdout).toMatch(/^owed: after_attach of volume\.data, since \S+ \(created\)$/m);
    const drift = await reconcile("drift", "--json");
    expect(drift.exitCode).toBe(2);
    expect(summaryOf(drift.stdout).owed).toMatchObject([{ address: "volume.data", command: "after_attach" }]);
    expect((await done("state", "show", "volume.data")).stdout).toContain("after_attach (created), since");
    fails("");
    await done("apply", "-y");
    expect(ran()).toEqual(["mount created volume.data 5", "mount created volume.data 5"]);
    await done("plan", "--detailed-exitcode");
  });

  it("is run where its volume was flushed and did not come off, and not where it is off", async () => {
    const guest = (name: string, size: number) => ({
      size,
      // As umount: what is not mounted is an error.
      flush: { via: "command", command: ["rm", name] },
      after_attach: { command: ["touch", name] },
    });
    const isMounted = () => ["own", "disk"].map((name) => existsSync(join(place.folder, name)));
    const grow = async (size: number, refused?: string): Promise<number> => {
      place.emulator.setFaults(refused === undefined ? [] : [{ operation: refused, kind: "status", code: 400 }]);
      declare({
        vms: { db: { ...host, ...guest("own", size) } },
        volumes: { data: { attach_to: "db", ...guest("disk", size) } },
      });
      return (await reconcile("apply", "-y")).exitCode;
    };
    expect([await grow(5), isMounted()]).toEqual([0, [true, true]]);
    expect([await grow(9, "volume.detach"), isMounted()]).toEqual([1, [true, true]]);
    expect([await grow(9), isMounted()]).toEqual([0, [true, true]]);
    expect([await grow(12, "volume.attach"), isMounted()]).toEqual([1, [false, false]]);
    expect((await reconcile("plan")).stdout.match(/^owed: after_attach of \S+/gm)).toEqual([
      "owed: after_attach of vm.db,",
      "owed: after_attach of volume.data,",
    ]);
    expect([await grow(12), isMounted()]).toEqual([0, [true, true]]);
    // A flush that fails may have stopped what it was to flush, or an earlier run has flushed it and was killed.
    for (const name of ["own", "disk"]) unlinkSync(join(place.folder, name));
    expect([await grow(14), isMounted()]).toEqual([1, [true, true]]);
    expect([await grow(14), isMounted()]).toEqual([0, [true, true]]);
    await done("plan", "--detailed-exitcode");
  });

  it("is settled by a person who did it by hand", async () => {
    declare({ vms: { db: host }, volumes: { data: mounted(5, { attach_to: "db" }) } });
    fails("mount");
    expect((await reconcile("apply", "-y")).exitCode).toBe(1);
    await done("state", "resolve", "volume.data", "--paid");
    await done("plan", "--detailed-exitcode");
    const again = await reconcile("state", "resolve", "volume.data", "--paid");
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain("state/nothing-open");
  });

  it("that waits for its VM to run is pending as well", async () => {
    declare({ vms: { db: { ...host, power: "stopped", after_ready: run("provision") } } });
    await done("apply", "-y");
    const plan = await reconcile("plan", "--detailed-exitcode");
    expect([plan.exitCode, plan.stdout]).toEqual([2, expect.stringContaining("it is run later")]);
  });

  it("is left owed by a run that starts no program", async () => {
    declare({ vms: { db: host }, volumes: { data: { size: 5, attach_to: "db", after_attach: run("mount") } } });
    const closed = await reconcile("apply", "-y", "--no-programs");
    expect(closed.exitCode, closed.stdout + closed.stderr).toBe(4);
    expect(closed.stdout).toContain("was not run and is still owed: --no-programs");
    expect(ran()).toEqual([]);
    await done("apply", "-y");
    expect(ran()).toEqual(["mount created volume.data 5"]);
  });

  it("sees the variables of its purpose and of the list, and no other", async () => {
    const command = [
      "sh",
      "-c",
      'env | cut -d= -f1 | sort > told; test -n "$RECONCILE_VM_IP" -a -n "$RECONCILE_VM_ID"',
    ];
    declare({ vms: { db: { ...host, after_ready: { command } } } });
    await done("apply", "-y");
    const told = read("told").split("\n");
    expect(told).toContain("RECONCILE_REASON");
    expect(told).not.toContain("RECONCILE_TOKEN");
  });

  it("is ended with all it started when its time is over", async () => {
    const command = ["sh", "-c", "(sleep 30; echo late > late) & sleep 30"];
    declare({ vms: { db: { ...host, after_ready: { command, timeout: "200ms" } } } });
    const late = await reconcile("apply", "-y");
    expect(late.exitCode).toBe(1);
    expect(late.stdout).toContain("did not end within");
    const deaf = { command: ["sh", "-c", "trap '' TERM; echo $$ > deaf; sleep 3600"], timeout: "200ms" };
    declare({ vms: { db: { ...host, after_ready: deaf } } });
    expect((await reconcile("apply", "-y")).exitCode).toBe(1);
    await eventually("its end", () => isGone(-Number(read("deaf"))));
  });
});

describe("what was not owed", () => {
  it("is owed when somebody asks: reconcile owe, and apply --owe", async () => {
    const web = { ...host, for_each: ["a"], name: "web-${each}" };
    declare({ vms: { db: host, web } });
    await done("apply", "-y");
    const after_ready = run("provision");
    declare({ vms: { db: { ...host, after_ready }, web: { ...web, after_ready } } });
    const plan = await done("plan", "--detailed-exitcode");
    expect(plan.stderr).toContain("reconcile owe vm.db");
    await done("owe", "vm.db");
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(2);
    await done("apply", "-y");
    await done("apply", "-y", "--owe", "vm.db");
    expect(ran()).toEqual(["provision asked vm.db 10", "provision asked vm.db 10"]);
    await done("apply", "-y");
    expect(ran()).toHaveLength(2);
    await done("owe", "vm.web");
    await done("apply", "-y");
    await done("apply", "-y", "--owe", "vm.web");
    expect(ran().slice(2)).toEqual(["provision asked vm.web[a] 10", "provision asked vm.web[a] 10"]);
    for (const asks of [["owe"], ["apply", "-y", "--owe"]]) {
      const none = await reconcile(...asks, "vm.nope");
      expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("no file declares vm.nope")]);
    }
  });

  it("is owed until its VM runs, and by no plan that leaves the VM out", async () => {
    const vms = { db: { ...host, after_ready: run("provision") } };
    declare({ vms });
    await done("apply", "-y");
    await done("vm", "stop", "vm.db");
    const without = await reconcile("apply", "-y", "--owe", "vm.db", "--exclude", "vm.db");
    expect([without.exitCode, without.stderr]).toEqual([1, expect.stringContaining("reconcile owe vm.db")]);
    await reconcile("apply", "-y", "--owe", "vm.db");
    expect((await reconcile("drift")).stdout).toMatch(/^owed: after_ready of vm\.db, since \S+ \(asked\)/m);
    await done("vm", "start", "vm.db");
    await done("apply", "-y");
    expect(ran()).toEqual(["provision created vm.db 10", "provision asked vm.db 10"]);
  });

  it("is not owed for what is taken over, and the import says so", async () => {
    declare({ vms: { db: { ...host, after_ready: run("provision") } } });
    await done("apply", "-y");
    await done("state", "rm", "vm.db");
    expect((await done("import", "vm.db", vmNamed("base")?.id ?? "")).stderr).toContain("reconcile owe vm.db");
  });

  it("is not owed by what declares no command", async () => {
    declare({ vms: { db: host } });
    for (const asks of [["owe"], ["apply", "-y", "--owe"]]) {
      const none = await reconcile(...asks, "vm.db");
      expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("declares no command")]);
    }
  });

  it("is owed by a command that is written anew, where the file says so", async () => {
    const again = (name: string, more: object) => ({
      vms: { db: { ...host, after_ready: { ...run(name), ...more } } },
    });
    declare(again("first", {}));
    await done("apply", "-y");
    declare(again("second", {}));
    await done("apply", "-y");
    expect(ran()).toEqual(["first created vm.db 10"]);
    declare(again("third", { again: "when_changed" }));
    fails("third");
    expect((await reconcile("apply", "-y")).exitCode).toBe(1);
    fails("");
    await done("apply", "-y");
    expect(ran().slice(1)).toEqual(["third changed vm.db 10", "third changed vm.db 10"]);
    await done("plan", "--detailed-exitcode");
  });
});

describe("the recipe of a new image for a tier behind a rollout, as docs/guest.md has it", () => {
  it("rebuilds, provisions and checks one VM after the other, and a playbook that fails stops it at its VM", async () => {
    const page = readFileSync(join(root, "docs/guest.md"), "utf8");
    const [, recipe = ""] = /## A new image for a tier[^#]*?```yaml\n([^`]*)```/.exec(page) ?? [];
    const check = 'check: { http: "http://{ip}/health" }';
    expect(recipe).toContain(check);
    // No VM of the emulated service answers.
    const blocks = recipe.replace(check, 'check: { command: [sh, -c, "echo checked {ip} >> ran"] }');
    const playbook = `#!/bin/sh\necho "provisioned $2 $RECONCILE_REASON" >> ran\ntest ! -e broken -o "$2" != "$(cat broken)"\n`;
    const bin = join(place.folder, "bin");
    writeFiles(bin, { "ansible-playbook": playbook });
    chmodSync(join(bin, "ansible-playbook"), 0o755);
    const { cwd, env } = place.surroundings();
    const apply = () =>
      runCli(["apply", "-y", "--allow-data-loss"], { cwd, env: { ...env, PATH: `${bin}:${process.env["PATH"]}` } });
    const declareTier = (image: string) => {
      const timing = "poll_interval: 5ms, discovery_window: 100ms, vm_create_timeout: 3s";
      place.write(headOf(timing) + blocks.replace("image_id: ubuntu-24.04", `image_id: ${image}`));
    };
    declareTier("ubuntu-24.04");
    expect((await apply()).exitCode).toBe(0);
    const ips = ["a", "b", "c"].map((each) => vmNamed(`web-${each}`)?.floating_ip ?? "");
    expect(ran().sort()).toEqual(ips.map((ip) => `provisioned ${ip}, created`).sort());

    declareTier("debian-12");
    const [first, second, third] = ips;
    writeFileSync(join(place.folder, "broken"), `${second},`);
    expect((await apply()).exitCode).toBe(1);
    const wave = (ip = "") => [`provisioned ${ip}, vm_rebuilt`, `checked ${ip}`];
    expect(ran().slice(3)).toEqual([...wave(first), `provisioned ${second}, vm_rebuilt`]);
    expect(vmNamed("web-c")).toMatchObject({ root_wipes: 0 });
    writeFileSync(join(place.folder, "broken"), "");
    const again = await apply();
    expect(again.exitCode, again.stdout + again.stderr).toBe(0);
    // A wave that an earlier run was through with is checked once more.
    const since = ran().slice(6);
    expect(since.filter((line) => line !== `checked ${first}`)).toEqual([...wave(second), ...wave(third)]);
    await done("plan", "--detailed-exitcode");
  });
});

describe("a volume for which nobody declared a command", () => {
  it("is named at the end of the run that attached it again, with what is left to do", async () => {
    declare({ vms: { db: host }, volumes: { data: { size: 5, attach_to: "db", ...flush } } });
    await done("apply", "-y");
    declare({ vms: { db: host }, volumes: { data: { size: 9, attach_to: "db", ...flush } } });
    const grown = await done("apply", "-y");
    expect(grown.stderr).toContain("note[apply/mount-again]: volume.data (");
    expect(grown.stderr).toContain("its filesystem still has its old size");
  });
});

describe("a volume that moves, with a flush command written anew", () => {
  it("is flushed by the command of the VM that it leaves, also where the first run did not get it off", async () => {
    const on = (vm: string, flushes: string) =>
      declare({
        vms: { db: host, web: { name: "next" } },
        volumes: { data: { size: 5, attach_to: vm, flush: { via: "command", command: ["sh", "-c", flushes] } } },
      });
    on("db", "echo db >> ran; test ! -e fails");
    await done("apply", "-y");
    fails("");
    on("web", "echo web >> ran");
    for (const runs of [1, 2]) {
      expect((await reconcile("apply", "-y")).exitCode).toBe(1);
      expect(ran()).toEqual(Array(runs).fill("db"));
    }
    unlinkSync(join(place.folder, "fails"));
    await done("apply", "-y");
    expect(ran()).toEqual(["db", "db", "db"]);
    await done("plan", "--detailed-exitcode");
    expect((await done("plan")).stdout).not.toContain("record to update");
    on("db", "echo db >> ran");
    await done("apply", "-y");
    expect(ran().at(-1)).toBe("web");
  });
});

describe("a VM that goes anyway", () => {
  it("asks nobody for a flush: it is stopped first, and its volumes come off flushed by that stop", async () => {
    declare({ vms: { db: host }, volumes: { data: { size: 5, attach_to: "db" } } });
    await done("apply", "-y");
    declare({ vms: { db: { ...host, root_size: 80 } }, volumes: { data: { size: 5, attach_to: "db" } } });
    await done("apply", "-y", "--allow-data-loss");
    declare({
      vms: { db: { ...host, root_size: 80, power: "stopped", size: 14 } },
      volumes: { data: { size: 9, attach_to: "db" } },
    });
    await done("apply", "-y");
    await done("plan", "--detailed-exitcode");
  });
});
