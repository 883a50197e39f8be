/** A VM that is deleted takes what the plan named and nothing else, and what outlives it was flushed. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { EmulatorOptions } from "../../emulator";
import { jsonLines, runCli, startCli } from "../support/cli-process";
import { fileOf, json, ownMeddledPlace, said } from "../support/own-place";

const place = ownMeddledPlace();
const { reconcile, state, ask } = place;
const consents = ["--allow-data-loss", "--allow-empty"];
const apply = (...flags: string[]) => reconcile("apply", "-y", ...consents, ...flags);

const declare = (blocks: object, dialect: object = {}): void => place.declare(blocks, { dialect });

const vmNamed = (name: string) => place.emulator.dump().vms.find((vm) => vm.name === name);
const volumeIds = () =>
  place.emulator
    .dump()
    .volumes.filter(({ root }) => !root)
    .map(({ id }) => id);
/** Somebody else makes a volume, and attaches it in the console. */
async function attachByHand(vm = "web"): Promise<string> {
  const { id } = (await ask("POST", "/api/v1/volume/create", { name: "precious", size: "7" })) as { id: string };
  await ask("POST", "/api/v1/volume/attach", { vm_id: vmNamed(vm)?.id, volume_id: id });
  return id;
}
const takesItsVolume = { lifecycle: { preserved_volumes: "delete" } };
const verbs = () => place.proxy.writes.map((write) => /(vm|volume)\/(\w+)/.exec(write)?.[2] ?? write);

describe("preserved_volumes: delete", () => {
  it("takes the VM's own volume, named by id and size, and leaves what hangs there otherwise as an orphan", async () => {
    declare({ vms: { web: takesItsVolume } });
    await apply();
    const [own] = volumeIds();
    const theirs = await attachByHand();
    // Another project's state manages it, and protects it.
    const other = join(place.folder, "other");
    mkdirSync(other);
    const keep = {
      name: "precious",
      size: 7,
      attach_to: { id: vmNamed("web")!.id },
      lifecycle: { prevent_destroy: true },
    };
    writeFileSync(
      join(other, "reconcile.yaml"),
      fileOf({ volumes: { keep }, imports: [{ to: "volume.keep", id: theirs }] }),
    );
    expect(await runCli(["apply", "-y"], { ...place.surroundings(), cwd: other })).toMatchObject({ exitCode: 0 });
    declare({});
    const plan = said(await reconcile("plan"));
    expect(plan.replaceAll(/\s+/g, " ")).toContain(
      `data volume web-data (${own}) of 10 GB of VM web is deleted with its data`,
    );
    expect(plan.replaceAll(/\s+/g, " ")).toContain(`${theirs}`);
    const ran = await apply("--json");
    expect(ran.exitCode).toBe(0);
    expect(jsonLines(ran.stdout).at(-1)!["orphans"]).toMatchObject([{ kind: "volume", id: theirs }]);
    expect(volumeIds()).toEqual([theirs]);
    expect(Object.keys(state().orphans)).toEqual([`volume:${theirs}`]);
  });

  it("a volume attached by hand after a plan was saved makes the plan stale", async () => {
    declare({ vms: { web: takesItsVolume } });
    await apply();
    declare({});
    expect((await reconcile("plan", "--out", "p.plan.json")).exitCode).toBe(0);
    const theirs = await attachByHand();
    place.proxy.writes.length = 0;
    const ran = await reconcile("apply", "p.plan.json");
    expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("plan/stale")]);
    expect(said(ran).replaceAll(/\s+/g, " ")).toContain(`volume ${theirs} hangs on vm.web now`);
    expect([place.proxy.writes, volumeIds().length]).toEqual([[], 2]);
  });

  it("so it is for a plan that only changes the VM", async () => {
    declare({ vms: { web: {} } });
    await apply();
    declare({ vms: { web: { name: "renamed" } } });
    await reconcile("plan", "--out", "p.plan.json");
    const theirs = await attachByHand();
    const ran = await reconcile("apply", "p.plan.json");
    expect([ran.exitCode, said(ran).replaceAll(/\s+/g, " ")]).toEqual([
      1,
      expect.stringContaining(`volume ${theirs} hangs on vm.web now`),
    ]);
    expect(vmNamed("web")).toBeDefined();
  });

  for (const [service, options, dialect] of [
    ["whose VM records show volumes", {}, {}],
    [
      "that shows it in the list of volumes alone",
      { with: ["volume.list"] },
      {
        operations: { "volume.list": { method: "GET", path: "/api/v1/volume/list" } },
        records: { vm: { volumes: [] } },
      },
    ],
  ] as const)
    it(`a volume attached between the plan and the delete keeps the VM, on a service ${service}`, async () => {
      await place.serve(options as EmulatorOptions);
      declare({ vms: { web: { lifecycle: { preserved_volumes: "delete", snapshot_before: ["delete"] } } } }, dialect);
      expect(await apply()).toMatchObject({ exitCode: 0 });
      declare({}, dialect);
      let theirs = "";
      place.proxy.meddle(async ({ path }, forward) => {
        if (theirs === "" && path.includes("/snapshot/")) theirs = await attachByHand();
        return forward();
      });
      const ran = await apply();
      expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining(theirs)]);
      expect([vmNamed("web") !== undefined, volumeIds().length]).toEqual([true, 2]);
      expect(await apply()).toMatchObject({ exitCode: 0 });
      expect(volumeIds()).toContain(theirs);
      expect(Object.keys(state().orphans)).toContain(`volume:${theirs}`);
      expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
    });

  it("says in the plan when nothing shows what hangs there, and deletes no volume that it does not know", async () => {
    const blind = { records: { vm: { volumes: [] } } };
    declare({ vms: { web: takesItsVolume } }, blind);
    await apply();
    const theirs = await attachByHand();
    declare({}, blind);
    const plan = said(await reconcile("plan"));
    expect(plan).toContain("plan/attachments-unseen");
    expect(plan).toContain("fix: describe the VM record's volumes");
    expect(plan).toContain("plan/data-volume-kept");
    expect(said(await reconcile("plan", "--no-refresh"))).toMatch(
      /plan\/attachments-unseen.* fix: plan without --no-refresh/,
    );
    expect(await apply()).toMatchObject({ exitCode: 0 });
    expect(volumeIds()).toHaveLength(2);
    expect(Object.keys(state().orphans).sort()).toEqual(
      volumeIds()
        .map((id) => `volume:${id}`)
        .sort(),
    );
    expect(volumeIds()).toContain(theirs);
  });
});

describe("a run that is killed right after the delete of a VM was sent", () => {
  async function killedAtDelete(): Promise<void> {
    const running = startCli(["apply", "-y", ...consents], place.surroundings());
    place.proxy.meddle(async ({ path }, forward) => {
      const answer = await forward();
      if (!path.includes("/vm/delete/")) return answer;
      running.child.kill("SIGKILL");
      throw new Error("nobody waits for it any more");
    });
    expect((await running.finished).exitCode).toBe(-1);
    expect(vmNamed("web")).toBeUndefined();
    place.proxy.meddle((_, forward) => forward());
    expect((await reconcile("state", "unlock", "--force")).exitCode).toBe(0);
  }

  const untold = { records: { vm: { volume_entry: { root: [] } } } };
  for (const [service, dialect] of [
    ["tell which is its root disk", {}],
    ["do not tell which is its root disk", untold],
  ] as const)
    it(`keeps sight of its volumes where VM records ${service}: its own, and what others have attached`, async () => {
      declare({ vms: { web: {} } }, dialect);
      expect(await apply()).toMatchObject({ exitCode: 0 });
      const theirs = await attachByHand();
      declare({}, dialect);
      await killedAtDelete();
      expect(await apply()).toMatchObject({ exitCode: 0 });
      expect(volumeIds()).toContain(theirs);
      expect(Object.keys(state().orphans).sort()).toEqual(
        volumeIds()
          .map((id) => `volume:${id}`)
          .sort(),
      );
      expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
    });

  it("deletes its data volume all the same, where that was to go with it", async () => {
    declare({ vms: { web: takesItsVolume } });
    expect(await apply()).toMatchObject({ exitCode: 0 });
    const [own] = volumeIds();
    const theirs = await attachByHand();
    declare({});
    await killedAtDelete();
    expect(volumeIds()).toContain(own);
    const told = said(await reconcile("plan")).replaceAll(/\s+/g, " ");
    expect(told).toContain(`data volume web-data (${own}) of 10 GB of VM web is deleted with its data`);
    const unasked = await reconcile("apply", "-y", "--allow-empty");
    expect([unasked.exitCode, volumeIds().includes(own!)]).toEqual([3, true]);
    // The promise outlives a second failure.
    place.proxy.meddle(async ({ method, path }, forward) =>
      method === "DELETE" && path.includes("/volume/") ? json({ error: "no" }, 500) : forward(),
    );
    expect((await apply()).exitCode).toBe(1);
    place.proxy.meddle((_, forward) => forward());
    expect(await apply()).toMatchObject({ exitCode: 0 });
    expect(volumeIds()).toEqual([theirs]);
    expect(Object.keys(state().orphans)).toEqual([`volume:${theirs}`]);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("that is replaced makes the new one, and deletes the old data volume as was agreed", async () => {
    declare({ vms: { web: takesItsVolume } });
    expect(await apply()).toMatchObject({ exitCode: 0 });
    const [own] = volumeIds();
    declare({ vms: { web: { ...takesItsVolume, root_size: 80 } } });
    await killedAtDelete();
    expect(await apply()).toMatchObject({ exitCode: 0 });
    expect(vmNamed("web")).toBeDefined();
    expect([volumeIds().length, volumeIds().includes(own!), Object.keys(state().orphans)]).toEqual([1, false, []]);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("says so where no record shows what hung on it", async () => {
    const blind = { records: { vm: { volumes: [] } } };
    declare({ vms: { web: {} } }, blind);
    await apply();
    declare({}, blind);
    await killedAtDelete();
    const ran = await apply();
    expect([ran.exitCode, said(ran)]).toEqual([0, expect.stringContaining("plan/attachments-unseen")]);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("a VM that somebody else deletes leaves its data volume named as well", async () => {
    declare({ vms: { web: {}, other: {} } }, untold);
    await apply();
    await ask("DELETE", `/api/v1/vm/delete/${vmNamed("web")!.id}`);
    declare({ vms: { other: {} } }, untold);
    expect(await apply()).toMatchObject({ exitCode: 0 });
    const left = place.emulator.dump().volumes.filter(({ attached_to }) => attached_to === null);
    expect(left).toHaveLength(1);
    expect(Object.keys(state().orphans)).toContain(`volume:${left[0]?.id}`);
  });
});

it("a VM and a group whose delete is accepted and not carried out keep their records", async () => {
  await place.serve({ with: ["group.list"] });
  const dialect = { operations: { "group.list": { method: "GET", path: "/api/v1/security-group" } } };
  const groups = { front: { rules: [{ protocol: "tcp", dst_port: 443, remote_ip: "0.0.0.0/0" }] } };
  declare({ vms: { web: {} }, groups }, dialect);
  expect((await apply()).exitCode).toBe(0);
  declare({}, dialect);
  place.proxy.meddle(async ({ method }, forward) =>
    method === "DELETE" ? json({ data: { message: "scheduled", preserved_volumes: [] } }) : forward(),
  );
  const ran = await apply();
  expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("still not gone")]);
  // A word that means running elsewhere as well is not offered as one that means gone.
  expect(said(ran)).not.toContain("states: { vm: { gone");
  expect(said(ran).replaceAll(/\s+/g, " ")).toContain("accepted the delete of group front, and still shows it");
  expect(Object.keys(state().resources).sort()).toEqual(["group.front", "vm.web"]);
  place.proxy.meddle((_, forward) => forward());
  expect((await apply()).exitCode).toBe(0);
  expect([vmNamed("web"), Object.keys(state().resources)]).toEqual([undefined, []]);
});

describe("a volume that outlives its VM", () => {
  it("with retain: the VM is stopped before it is deleted", async () => {
    declare({ vms: { web: {} } });
    await apply();
    declare({});
    place.proxy.writes.length = 0;
    expect((await apply()).exitCode).toBe(0);
    expect(verbs()).toEqual(["stop", "delete"]);
  });

  it("one that is replaced, one that is let go, and one that cannot be deleted: stopped first", async () => {
    await place.serve({ without: ["volume.delete"] });
    const dialect = { operations: { "volume.delete": null } };
    const data = { name: "data", size: 5, attach_to: "web", flush: { via: "stop" } };
    declare({ vms: { web: takesItsVolume }, volumes: { data } }, dialect);
    await apply();
    declare(
      { vms: { web: { ...takesItsVolume, root_size: 80 } }, removed: [{ from: "volume.data", destroy: false }] },
      dialect,
    );
    place.proxy.writes.length = 0;
    expect(await apply()).toMatchObject({ exitCode: 0 });
    expect(verbs().slice(0, 2)).toEqual(["stop", "delete"]);
    declare({}, dialect);
    place.proxy.writes.length = 0;
    expect(await apply()).toMatchObject({ exitCode: 0 });
    expect(verbs()).toEqual(["stop", "delete"]);
  });

  it("is flushed by the stop of the VM that goes, and its flush command is not run", async () => {
    const flush = { via: "command", command: ["node", "flush.cjs"] };
    const data = { name: "data", size: 5, attach_to: "web", flush };
    writeFileSync(join(place.folder, "flush.cjs"), `require("node:fs").writeFileSync("flushed", "")`);
    declare({ vms: { web: {} }, volumes: { data } });
    await apply();
    declare({ removed: [{ from: "volume.data", destroy: false }] });
    place.proxy.writes.length = 0;
    expect((await apply()).exitCode).toBe(0);
    expect([existsSync(join(place.folder, "flushed")), verbs()]).toEqual([false, ["stop", "delete"]]);
  });

  it("on a VM that was seen stopped and was started since: nothing is deleted", async () => {
    declare({ vms: { web: { power: "stopped", lifecycle: { snapshot_before: ["delete"] } } } });
    await apply();
    declare({});
    place.proxy.meddle(async ({ path }, forward) => {
      const answer = await forward();
      if (path.includes("/snapshot/")) await ask("POST", `/api/v1/vm/start/${vmNamed("web")!.id}`);
      return answer;
    });
    const ran = await apply();
    expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("only while VM web is stopped")]);
    expect(vmNamed("web")).toBeDefined();
    place.proxy.meddle((_, forward) => forward());
    expect((await apply()).exitCode).toBe(0);
    expect(vmNamed("web")).toBeUndefined();
  });

  it("of a VM that has failed and cannot be stopped: a person says that it is flushed", async () => {
    declare({ vms: { web: {} } });
    await apply();
    const world = place.emulator.dump();
    const failed = world.vms.map((vm) => ({ ...vm, status: "ERROR" }));
    await ask("POST", "/_control/world", { ...world, vms: failed });
    declare({});
    const refused = await apply();
    expect([refused.exitCode, said(refused)]).toEqual([3, expect.stringContaining("--confirm-flush vm.web")]);
    expect(await apply("--confirm-flush", "vm.web")).toMatchObject({ exitCode: 0 });
    expect(vmNamed("web")).toBeUndefined();
  });
});

it("where no record shows the power, a VM that is stopped already goes when the user says that it is flushed", async () => {
  const blind = { records: { vm: { status: [] } } };
  declare({ vms: { web: {} } });
  await apply();
  await ask("POST", `/api/v1/vm/stop/${vmNamed("web")!.id}`);
  declare({}, blind);
  const refused = await apply();
  expect([refused.exitCode, said(refused)]).toEqual([1, expect.stringContaining("--confirm-flush vm.web")]);
  expect(vmNamed("web")).toBeDefined();
  expect(await apply("--confirm-flush", "vm.web")).toMatchObject({ exitCode: 0 });
  expect(vmNamed("web")).toBeUndefined();
});

describe("a detach that relies on a stopped VM", () => {
  const data = (size: number) => ({ name: "data", size, attach_to: "web", flush: { via: "stop" } });

  it("is not sent when somebody has started it again", async () => {
    declare({ vms: { web: {} }, volumes: { data: data(5) } });
    await apply();
    declare({ vms: { web: {} }, volumes: { data: data(6) } });
    place.proxy.meddle(async ({ path }, forward) => {
      const answer = await forward();
      if (path.includes("/stop/")) await ask("POST", `/api/v1/vm/start/${vmNamed("web")!.id}`);
      return answer;
    });
    place.proxy.writes.length = 0;
    const ran = await apply();
    expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("only while VM web is stopped")]);
    expect(verbs()).not.toContain("detach");
    place.proxy.meddle((_, forward) => forward());
    expect((await apply()).exitCode).toBe(0);
    expect(place.emulator.dump().volumes.find(({ name }) => name === "data")?.size).toBe(6);
  });

  it("where no record shows the power, relies on a stop that this run sent, and on no other", async () => {
    const blind = { records: { vm: { status: [] } } };
    declare({ vms: { web: {} }, volumes: { data: data(5) } });
    await apply();
    declare({ vms: { web: {} }, volumes: { data: data(6) } }, blind);
    place.proxy.writes.length = 0;
    await ask("POST", `/api/v1/vm/stop/${vmNamed("web")!.id}`);
    expect((await apply()).exitCode).toBe(1);
    expect(verbs()).not.toContain("detach");
    await ask("POST", `/api/v1/vm/start/${vmNamed("web")!.id}`).catch(() => undefined);
    place.proxy.writes.length = 0;
    await apply();
    expect(verbs().slice(0, 3)).toEqual(["stop", "detach", "resize"]);
  });
});
