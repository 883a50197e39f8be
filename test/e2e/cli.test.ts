import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startEmulator } from "../../emulator";
import { jsonLines, type Ran, runCli } from "../support/cli-process";
import { headOf, ownPlace } from "../support/own-place";

const place = ownPlace();
const { write, reconcile, writes } = place;

const summaryOf = (ran: Ran) => jsonLines(ran.stdout).at(-1) as Record<string, never>;

const head = headOf("poll_interval: 5ms, discovery_window: 50ms");
const small = `${head}vms: { app: {name: app-1} }\nvolumes: { data: { size: 5, attach_to: app } }\ngroups: { web: { rules: [ { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 } ] } }\n`;

it("an image's name in a list that was not read is not said to be in no list", async () => {
  write(small);
  expect((await reconcile("plan", "--no-refresh")).stderr).toContain(
    "image_id ubuntu-24.04 is a name, and the list of images was not read",
  );
});

describe("exit codes", () => {
  it("0: applied, and a second apply has nothing to do, sends no write and writes no file", async () => {
    write(small);
    expect((await reconcile("apply", "--auto-approve")).exitCode).toBe(0);
    const state = join(place.folder, "reconcile.state.json");
    const [before, sent] = [readFileSync(state, "utf8"), writes()];
    const again = await reconcile("apply", "--auto-approve");
    expect([again.exitCode, writes(), readFileSync(state, "utf8")]).toEqual([0, sent, before]);
  });

  it("1: a file with problems names all of them with file, line and column, and nothing is sent", async () => {
    write(`${head}vms: { app: { nmae: x, size: 0 } }\nvolumes: { data: { size: 5, attach_to: apq } }\n`);
    const ran = await reconcile("apply", "--auto-approve");
    expect(ran.exitCode).toBe(1);
    for (const said of ["reconcile.yaml:6:", "reconcile.yaml:7:", "fix: write name", "fix: write app"])
      expect(ran.stderr).toContain(said);
    expect(ran.stderr).not.toMatch(/\n\s+at /);
    expect(place.emulator.requests().log).toEqual([]);
  });

  it("2: plan --detailed-exitcode with changes pending, 0 without the flag, 0 when there is nothing to do", async () => {
    write(small);
    expect((await reconcile("plan")).exitCode).toBe(0);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(2);
    await reconcile("apply", "-y");
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("2: drift, when the service is not as the state has it", async () => {
    write(small);
    await reconcile("apply", "-y");
    expect((await reconcile("drift")).exitCode).toBe(0);
    const vm = place.emulator.dump().vms[0]!;
    await fetch(`${place.emulator.url}/_control/vm/${vm.id}`, {
      method: "PATCH",
      body: JSON.stringify({ name: "renamed-by-hand" }),
      headers: { "content-type": "application/json" },
    });
    const ran = await reconcile("drift", "--json");
    expect(ran.exitCode).toBe(2);
    expect(jsonLines(ran.stdout)[0]).toMatchObject({
      type: "change",
      address: "vm.app",
      fields: [{ field: "name", before: "app-1", after: "renamed-by-hand" }],
    });
    expect(jsonLines(ran.stdout).at(-1)).toMatchObject({ changes: { update: 1, delete: 0 } });
  });

  it("0: no drift is claimed of what the service cannot show", async () => {
    write(small);
    await reconcile("apply", "-y");
    write("operations: { vm.list: null }\n", "no-list.dialect.yaml");
    const ran = await reconcile("drift", "--dialect", "no-list.dialect.yaml");
    expect([ran.exitCode, ran.stdout]).toEqual([
      0,
      "No drift: the service is as the state has it (2 resources; 1 more cannot be looked at).\n",
    ]);
  });

  it("1: drift that could not be looked for is not said to be none", async () => {
    write(small);
    const strict = await startEmulator({ timeScale: 0, strict: true });
    try {
      const env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: strict.url };
      expect((await runCli(["apply", "-y"], { cwd: place.folder, env })).exitCode).toBe(0);
      const ran = await runCli(["drift"], {
        cwd: place.folder,
        env: { RECONCILE_TOKEN: "no-such-token", RECONCILE_BASE_URL: strict.url },
      });
      expect([ran.exitCode, ran.stdout]).toEqual([1, "Drift is not known: not everything could be read.\n"]);
      expect(ran.stderr).toContain("error[service/unauthenticated]");
    } finally {
      await strict.close();
    }
  });

  it.each([
    ["nobody approved it", small, [], "--auto-approve"],
    [
      "it loses data",
      `${head}vms: { app: {name: app-1, root_size: 60} }\nvolumes: { data: { size: 5, attach_to: app } }\ngroups: { web: { rules: [] } }\n`,
      ["--auto-approve", "--confirm-flush", "all"],
      "--allow-data-loss",
    ],
    [
      "a volume must be flushed",
      small.replace("size: 5,", "size: 7,"),
      ["--auto-approve"],
      "--confirm-flush volume.data",
    ],
    ["the desired state became empty", head, ["--auto-approve", "--allow-data-loss"], "--allow-empty"],
  ])("3: blocked before anything is sent, because %s; the fix is named", async (_, text, flags, fix) => {
    write(small);
    if (text !== small) await reconcile("apply", "-y");
    const sent = writes();
    write(text);
    const ran = await reconcile("apply", ...flags);
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(3);
    expect(ran.stderr).toContain(fix);
    expect(writes()).toBe(sent);
  });

  it("3: every consent that is missing is named at once, approval too; people read the plan's words once, programs all", async () => {
    write(small);
    await reconcile("apply", "-y");
    write(`${head}vms: { app: {name: app-1} }\ngroups: { web: { rules: [] } }\n`);
    const codes = ["consent/approval", "consent/data-loss", "consent/flush"];
    const ran = await reconcile("apply");
    expect(ran.exitCode).toBe(3);
    for (const code of codes) expect(ran.stderr.split(`error[${code}]`)).toHaveLength(2);
    expect(ran.stdout.replaceAll(/\s+/g, " ")).toContain("of 5 GB is deleted with its data");
    expect(ran.stderr).not.toContain("of 5 GB is deleted with its data");
    const { diagnostics } = summaryOf(await reconcile("apply", "--json")) as unknown as {
      diagnostics: { severity: string; code: string; summary: string; fix: string }[];
    };
    const errors = diagnostics.filter(({ severity }) => severity === "error");
    expect(errors.map(({ code }) => code).sort()).toEqual(codes);
    expect(errors.map(({ summary }) => summary)).toContainEqual(
      expect.stringMatching(/^volume data \(.*\) of 5 GB is deleted with its data$/),
    );
    expect((await reconcile("apply", "-y", "--allow-data-loss", "--confirm-flush", "volume.data")).exitCode).toBe(0);
  });

  it("3: prevent_destroy is kept in the state, so removing the block does not lift it", async () => {
    write(small.replace("{name: app-1}", "{name: app-1, lifecycle: {prevent_destroy: true}}"));
    await reconcile("apply", "-y");
    write(`${head}groups: { web: { rules: [ { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 } ] } }\n`);
    const ran = await reconcile("apply", "-y", "--allow-data-loss", "--confirm-flush", "all");
    expect(ran.exitCode).toBe(3);
    expect(ran.stderr).toContain("prevent_destroy");
    expect(place.emulator.dump().vms).toHaveLength(1);
  });

  it("1: an action on a VM that fails says with --json what failed", async () => {
    write(small);
    await reconcile("apply", "-y");
    await reconcile("vm", "stop", "vm.app");
    const ran = await reconcile("vm", "reboot", "vm.app", "--json");
    expect(ran.exitCode).toBe(1);
    expect(summaryOf(ran)).toMatchObject({
      ok: false,
      steps: { failed: 1 },
      diagnostics: [{ severity: "error", code: "service/invalid_state", address: "vm.app" }],
    });
  });

  it("4: applied, but a manual resize confirmation is awaited; after it the next run is done", async () => {
    const manual = small.replace("{name: app-1}", "{name: app-1, lifecycle: {verify_resize: {confirm: manual}}}");
    write(manual);
    await reconcile("apply", "-y");
    write(manual.replace("{name: app-1,", "{name: app-1, flavor_id: m1.large,"));
    expect((await reconcile("apply", "-y")).exitCode).toBe(4);
    expect((await reconcile("apply", "-y")).exitCode).toBe(4);
    const vm = place.emulator.dump().vms[0]!;
    await fetch(`${place.emulator.url}/api/v1/vm/resize/${vm.id}/confirm`, {
      method: "POST",
      headers: { authorization: "Bearer ops-token" },
    });
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });
});

describe("--json", () => {
  it("writes one object a line: changes, steps, and last a summary with exactly the documented keys", async () => {
    write(small);
    const ran = await reconcile("apply", "--json", "--auto-approve");
    const lines = jsonLines(ran.stdout);
    expect(lines.filter(({ type }) => type === "change").map(({ address, action }) => [address, action])).toEqual([
      ["group.web", "create"],
      ["vm.app", "create"],
      ["volume.data", "create"],
    ]);
    const steps = lines.filter(({ type }) => type === "step");
    expect(steps.length).toBeGreaterThan(7);
    for (const step of steps)
      expect(Object.keys(step)).toEqual(
        expect.arrayContaining(["status", "step", "address", "operation", "attempt", "elapsed_ms"]),
      );
    const summary = summaryOf(ran);
    expect(Object.keys(summary)).toEqual([
      "type",
      "command",
      "ok",
      "exit_code",
      "changes",
      "steps",
      "diagnostics",
      "orphans",
      "duration_ms",
      "service",
      "project",
      "environment",
      "state",
      "commit",
      "outputs",
      "findings",
      "unseen",
      "owed",
      "time",
    ]);
    expect(summary).toMatchObject({
      type: "summary",
      command: "apply",
      ok: true,
      exit_code: 0,
      changes: { create: 3, update: 0, replace: 0, delete: 0, import: 0 },
      steps: { done: 4, failed: 0, skipped: 0, waiting: 0 },
      orphans: [],
    });
  });

  it("reports problems of a file in the summary, with file and line", async () => {
    write(`${head}vms: { app: { size: none } }\n`);
    const ran = await reconcile("validate", "--json");
    expect(ran.exitCode).toBe(1);
    expect(summaryOf(ran)).toMatchObject({
      ok: false,
      exit_code: 1,
      diagnostics: [{ severity: "error", file: "reconcile.yaml", line: 6 }],
    });
  });

  it("lists what a delete left alive as orphans", async () => {
    write(small);
    await reconcile("apply", "-y");
    const ran = await reconcile("destroy", "-y", "--json", "--allow-data-loss");
    expect(ran.exitCode).toBe(0);
    expect(summaryOf(ran)).toMatchObject({ changes: { delete: 3 }, orphans: [{ kind: "volume" }] });
    const left = place.emulator.dump().volumes.filter(({ root }) => root !== true);
    expect(left).toHaveLength(1);
    const [listed] = jsonLines((await reconcile("orphans", "list", "--json")).stdout);
    expect(listed).toMatchObject({ id: left[0]!.id, size_gb: left[0]!.size, sizeGb: left[0]!.size });
    const service = place.emulator.url;
    for (const words of ["orphans list", "state list", "state show", "history", "output", "export pulumi", "pull"])
      expect(summaryOf(await reconcile(...words.split(" "), "--json")), words).toMatchObject({
        ...{ service, project: "acme", environment: null, state: "reconcile.state.json" },
      });
    expect((await reconcile("orphans", "delete", left[0]!.id)).exitCode).toBe(3);
    expect((await reconcile("orphans", "delete", left[0]!.id, left[0]!.id, "--allow-data-loss")).exitCode).toBe(0);
    expect((await reconcile("orphans", "list", "--json")).stdout).not.toContain(left[0]!.id);
  });

  it("says of orphans, when asked, which the service still shows, and forgets none by itself", async () => {
    write(small.replace("vms: {", "vms: { second: {name: app-2}, "));
    await reconcile("apply", "-y");
    await reconcile("destroy", "-y", "--allow-data-loss");
    const [there, gone] = place.emulator.dump().volumes.filter(({ root }) => root !== true);
    await fetch(`${place.emulator.url}/api/v1/volume/${gone!.id}`, {
      method: "DELETE",
      headers: { authorization: "Bearer ops-token" },
    });
    const look = async () =>
      new Map(
        jsonLines((await reconcile("orphans", "list", "--refresh", "--json")).stdout).map(({ id, seen }) => [id, seen]),
      );
    expect(await look()).toEqual(
      new Map([
        [there!.id, "yes"],
        [gone!.id, "gone"],
        [undefined, undefined],
      ]),
    );
    expect((await reconcile("orphans", "list", "--refresh")).stdout).toMatch(
      /not found {2}outlived[\s\S]*no longer shown to this credential/,
    );
    expect((await look()).size).toBe(3);
  });

  it("takes an orphan off the list that was deleted where the service itself cannot, and none that is there", async () => {
    write(small.replace("vms: {", "vms: { second: {name: app-2}, "));
    await reconcile("apply", "-y");
    await reconcile("destroy", "-y", "--allow-data-loss");
    const ids = place.emulator.dump().volumes.flatMap(({ id, root }) => (root === true ? [] : [id]));
    await fetch(`${place.emulator.url}/api/v1/volume/${ids[1]}`, {
      method: "DELETE",
      headers: { authorization: "Bearer ops-token" },
    });
    write("operations: { volume.delete: null }\n", "no-delete.dialect.yaml");
    const ran = await reconcile("orphans", "delete", ...ids, "--dialect", "no-delete.dialect.yaml");
    expect([ran.exitCode, ran.stdout]).toEqual([
      1,
      expect.stringContaining(`(${ids[1]}): the service does not find it`),
    ]);
    expect(ran.stderr).toContain(`reconcile orphans delete --dialect no-delete.dialect.yaml ${ids[0]}`);
    const left = jsonLines((await reconcile("orphans", "list", "--json")).stdout).map(({ id }) => id);
    expect(left).toEqual([ids[0], undefined]);
  });
});

describe("the state", () => {
  it("is a file of mode 0600 beside the YAML, holds no credential, and its lock is gone after the run", async () => {
    write(small);
    await reconcile("apply", "-y");
    const path = join(place.folder, "reconcile.state.json");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readFileSync(path, "utf8")).not.toContain("ops-token");
    expect(existsSync(`${path}.lock`)).toBe(false);
  });

  it("can be listed, shown, moved, pulled and pushed back", async () => {
    write(small);
    await reconcile("apply", "-y");
    expect((await reconcile("state", "list")).stdout).toContain("vm.app");
    expect((await reconcile("state", "show", "vm.app")).stdout).toContain("app-1");
    // Its fix is not to forget what has the address.
    const same = await reconcile("state", "mv", "vm.app", "vm.app");
    expect(same).toMatchObject({ exitCode: 1, stderr: expect.not.stringContaining("state rm") });
    expect((await reconcile("state", "mv", "vm.app", "vm.other")).exitCode).toBe(0);
    expect((await reconcile("state", "show", "vm.app")).exitCode).toBe(1);
    const pulled = await reconcile("state", "pull");
    write(pulled.stdout, "copy.json");
    expect((await reconcile("state", "rm", "vm.other")).exitCode).toBe(0);
    expect((await reconcile("state", "push", "copy.json")).exitCode).toBe(1);
    expect((await reconcile("state", "push", "copy.json", "--force")).exitCode).toBe(0);
    expect((await reconcile("state", "mv", "vm.other", "vm.app")).exitCode).toBe(0);
    // Another program's document is not replaced, with --force neither.
    const foreign = '{"version":4,"terraform_version":"1.9.0","resources":[]}';
    write(foreign, "terraform.tfstate");
    const refused = await reconcile("state", "push", "copy.json", "--force", "--state", "terraform.tfstate");
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("it is another program's")]);
    expect(readFileSync(join(place.folder, "terraform.tfstate"), "utf8")).toBe(foreign);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });
});

describe("a saved plan", () => {
  it("is applied exactly as reviewed, at most once, and refused as stale afterwards with what changed", async () => {
    write(small);
    expect((await reconcile("plan", "--out", "x.plan.json")).exitCode).toBe(0);
    write(`${small}# a later thought\n`);
    const first = await reconcile("apply", "x.plan.json");
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.stderr).toContain("the files here are not the ones this plan was made from: reconcile.yaml");
    const sent = writes();
    const second = await reconcile("apply", "x.plan.json");
    expect(second.exitCode).toBe(1);
    expect(second.stderr).toContain("stale");
    expect(second.stderr).toContain("serial");
    expect(writes()).toBe(sent);
  });

  it("is refused when the live world moved on, and when somebody edited it", async () => {
    write(small);
    await reconcile("apply", "-y");
    write(small.replace("dst_port: 443", "dst_port: 8443"));
    await reconcile("plan", "--out", "x.plan.json");
    const vm = place.emulator.dump().vms[0]!;
    await fetch(`${place.emulator.url}/_control/vm/${vm.id}`, {
      method: "PATCH",
      body: JSON.stringify({ name: "renamed-by-hand" }),
      headers: { "content-type": "application/json" },
    });
    const stale = await reconcile("apply", "x.plan.json");
    expect([stale.exitCode, stale.stderr.includes("vm.app")]).toEqual([1, true]);
    writeFileSync(
      join(place.folder, "x.plan.json"),
      readFileSync(join(place.folder, "x.plan.json"), "utf8").replace("8443", "22"),
    );
    expect((await reconcile("apply", "x.plan.json")).stderr).toContain("changed after it was made");
  });

  it("holds no credential", async () => {
    write(small);
    await reconcile("plan", "--out", "x.plan.json");
    expect(readFileSync(join(place.folder, "x.plan.json"), "utf8")).not.toContain("ops-token");
  });
});

describe("other commands", () => {
  it("init writes a file that validates, and never over another", async () => {
    expect((await reconcile("init")).exitCode).toBe(0);
    expect((await reconcile("validate")).exitCode).toBe(0);
    expect((await reconcile("init")).exitCode).toBe(1);
    // A file where a folder is needed is not the starter file.
    const below = await reconcile("init", "reconcile.yaml/x.yaml");
    expect(below).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("x.yaml cannot be written: EEXIST") });
  });

  it("init makes the place.folder, keeps what must not be committed out of git, and names no path of this machine", async () => {
    mkdirSync(join(place.folder, "prod"), { recursive: true });
    writeFileSync(join(place.folder, "prod/.gitignore"), "node_modules/\n*.plan.json");
    expect((await reconcile("init", "prod/eu")).exitCode).toBe(0);
    expect((await reconcile("init", "prod/reconcile.yaml")).exitCode).toBe(0);
    expect((await reconcile("validate", "prod/eu")).exitCode).toBe(0);
    expect(readFileSync(join(place.folder, "prod/.gitignore"), "utf8")).toBe(
      "node_modules/\n*.plan.json\n.reconcile/\n*.state.json\n*.state.json.*\n",
    );
    const [modeline] = readFileSync(join(place.folder, "prod/eu/reconcile.yaml"), "utf8").split("\n");
    expect(modeline).toMatch(/^# yaml-language-server: \$schema=https:/);
  });

  it("import takes a VM over by id, and the next plan has nothing to do", async () => {
    write(small);
    await reconcile("apply", "-y", "--state", "other.state.json");
    const world = place.emulator.dump();
    const group = world.groups.find(({ name }) => name === "web")!;
    const data = world.volumes.find(({ name }) => name === "data")!;
    expect((await reconcile("plan")).exitCode).toBe(1);
    for (const [address, id] of [
      ["vm.app", world.vms[0]!.id],
      ["volume.data", data.id],
      ["group.web", group.id],
    ]) {
      const ran = await reconcile("import", address!, id!, "--json");
      expect(ran.exitCode, ran.stderr).toBe(0);
      expect(jsonLines(ran.stdout).at(-1)).toMatchObject({ changes: { create: 0, import: 1 } });
    }
    const plan = await reconcile("plan", "--detailed-exitcode");
    expect(plan.exitCode, plan.stdout).toBe(0);
  });

  it("vm stop, start, reboot and snapshot act on one VM and leave the state as it is", async () => {
    write(small);
    await reconcile("apply", "-y");
    const state = place.read("reconcile.state.json");
    for (const verb of ["stop", "start", "reboot"]) {
      const ran = await reconcile("vm", verb, "vm.app");
      expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
      expect(place.read("reconcile.state.json")).toBe(state);
    }
    const taken = await reconcile("vm", "snapshot", "vm.app", "--name", "before-upgrade");
    expect(taken.exitCode, taken.stdout + taken.stderr).toBe(0);
    expect(place.emulator.dump().images.some(({ name }) => name === "before-upgrade")).toBe(true);
    // That it was sent was written down, and is over.
    const { serial: _, epoch: __, ...before } = JSON.parse(state);
    expect(place.state()).toMatchObject(before);
  });

  it.each([
    ["watch", "--listen", "http://ada:canary@127.0.0.1:0"],
    ["watch", "--listen", "ada:canary@127.0.0.1:0"],
    ["doctor", "--openapi", "https://ada:canary@files.example/api.yaml"],
    ["move", "vm.app", "--to", "postgres://ada:can/canary@db.example/infra"],
    ["state", "list", "--state", "s3://ada:can/canary@bucket/key"],
    ["state", "list", "--state", "file://ada:canary@bucket/key"],
  ])("%s %s %s %s: an address that does not fit there is refused, and its password is not shown", async (...words) => {
    write(small);
    const ran = await reconcile(...words);
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toMatch(/^error\[/m);
    expect(ran.stderr + ran.stdout).not.toContain("canary");
  });

  it("an unknown command, flag or address names the nearest right one", async () => {
    expect((await reconcile("aply")).stderr).toContain("apply");
    expect((await reconcile("plan", "--jsno")).stderr).toContain("--json");
    write(small);
    await reconcile("apply", "-y");
    expect((await reconcile("state", "show", "vm.ap")).stderr).toContain("vm.app");
    expect((await reconcile("plan", "--target", "vm.ap")).stderr).toContain("vm.app");
  });

  it("the credential appears in no output, with debug logging too", async () => {
    write(small);
    const ran = await reconcile("apply", "-y", "--log-level", "debug");
    expect(ran.stderr).toContain("/api/v1/vm/create");
    expect(ran.stdout + ran.stderr).not.toContain("ops-token");
  });
});
