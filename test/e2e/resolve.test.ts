/** What nobody can see is not taken for granted: a person answers, and the answer has to fit what is open. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { emptyState } from "../../reconciler/core/state/fold";
import { readState, writeSnapshot } from "../../reconciler/core/state/text";
import type { Ran } from "../support/cli-process";
import { json, ownMeddledPlace, said } from "../support/own-place";

const place = ownMeddledPlace();
const { reconcile, declare } = place;

const apply = (): Promise<Ran> => reconcile("apply", "-y");
const path = () => join(place.folder, "reconcile.state.json");
const resources = () => place.state().resources;

/** Takes fields out of what is shown, as a service does whose records have none. */
const hide = (fields: RegExp, drop: RegExp = /$^/): void =>
  place.proxy.meddle(async (exchange, forward) => {
    const answer = await forward();
    if (drop.test(exchange.path)) throw new Error("the answer is lost");
    if (exchange.method !== "GET" || answer.body === "") return answer;
    return json(
      JSON.parse(answer.body, (key, value: unknown) => (fields.test(key) ? undefined : value)),
      answer.status,
    );
  });

/** Changes a record as a run that was cut off would have left it. */
function leave(address: string, patch: object): void {
  const read = readState({ snapshot: readFileSync(path(), "utf8"), journal: [] }, "none");
  if (!read.ok) throw new Error(read.problem);
  const record = read.state.resources.get(address);
  if (record === undefined) throw new Error(`no ${address}`);
  const resourcesLeft = new Map([...read.state.resources, [address, { ...record, ...patch }]]);
  writeFileSync(path(), writeSnapshot({ ...emptyState("x"), ...read.state, resources: resourcesLeft }));
}

it("a power that no record shows is sent before it counts as done", async () => {
  hide(/^(status|state)$/);
  declare({ vms: { web: {} } });
  expect((await apply()).exitCode).toBe(0);
  declare({ vms: { web: { power: "stopped" } } });
  const planned = await reconcile("plan");
  expect(said(planned)).toContain("whether vm.web runs cannot be seen");
  const ran = await apply();
  expect([ran.exitCode, place.proxy.writes.filter((write) => write.includes("/vm/stop/")).length], ran.stderr).toEqual([
    0, 1,
  ]);
  expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
});

it("an attach whose answer was lost and that no record shows ends with a question, and goes on from its answer", async () => {
  hide(/^(attached_to|vm_id|attachments|volumes)$/, /\/volume\/attach$/);
  declare({ vms: { web: {} }, volumes: { data: { size: 5, attach_to: "web" } } });
  const question =
    "reconcile state resolve volume.data --attached (it hangs there), or reconcile state resolve volume.data --detached (it does not)";
  const ran = await apply();
  expect([ran.exitCode, said(ran).includes(question)], said(ran)).toEqual([1, true]);
  const sent = place.proxy.writes.length;
  const again = await apply();
  expect([again.exitCode, said(again).includes(question), place.proxy.writes.length]).toEqual([1, true, sent]);
  expect((await reconcile("state", "resolve", "volume.data", "--attached")).exitCode).toBe(0);
  expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
});

const shows = /^(attached_to|vm_id|attachments|volumes)$/;
const attachment = () => place.emulator.dump().volumes.find(({ name }) => name === "data")?.attached_to ?? null;

it("a detach whose answer was lost and that no record shows ends with a question, and is not sent again", async () => {
  hide(shows);
  declare({ vms: { web: {} }, volumes: { data: { size: 5, attach_to: "web" } } });
  expect((await apply()).exitCode).toBe(0);
  hide(shows, /\/volume\/detach$/);
  declare({ vms: { web: {} }, volumes: { data: { size: 5 } } });
  const question =
    "reconcile state resolve volume.data --attached (it hangs there), or reconcile state resolve volume.data --detached (it does not)";
  const ran = await reconcile("apply", "-y", "--confirm-flush", "volume.data");
  expect([ran.exitCode, said(ran).includes(question)], said(ran)).toEqual([1, true]);
  expect(attachment()).toBeNull();
  hide(shows);
  const sent = place.proxy.writes.length;
  for (const args of [
    ["apply", "-y", "--confirm-flush", "volume.data"],
    ["plan"],
    ["destroy", "-y", "--allow-data-loss"],
  ]) {
    const again = await reconcile(...args);
    expect([again.exitCode, said(again).includes(question), place.proxy.writes.length], said(again)).toEqual([
      1,
      true,
      sent,
    ]);
  }
  expect(said(await reconcile("state", "show", "volume.data"))).toContain("being taken off");
  expect((await reconcile("state", "resolve", "volume.data", "--detached")).exitCode).toBe(0);
  const after = await reconcile("plan", "--detailed-exitcode");
  expect(after.exitCode, said(after)).toBe(0);
});

it("a lost detach that was not done is sent again after its answer, with a flush of its own", async () => {
  hide(shows);
  declare({ vms: { web: {} }, volumes: { data: { size: 5, attach_to: "web" } } });
  expect((await apply()).exitCode).toBe(0);
  place.proxy.meddle(async (exchange, forward) => {
    if (exchange.path.endsWith("/volume/detach")) throw new Error("it never arrives");
    const answer = await forward();
    if (exchange.method !== "GET" || answer.body === "") return answer;
    return json(
      JSON.parse(answer.body, (key, value: unknown) => (shows.test(key) ? undefined : value)),
      answer.status,
    );
  });
  declare({ vms: { web: {} }, volumes: { data: { size: 5 } } });
  expect((await reconcile("apply", "-y", "--confirm-flush", "volume.data")).exitCode).toBe(1);
  expect(attachment()).not.toBeNull();
  expect((await reconcile("state", "resolve", "volume.data", "--attached")).exitCode).toBe(0);
  hide(shows);
  expect((await apply()).exitCode).toBe(3);
  expect((await reconcile("apply", "-y", "--confirm-flush", "volume.data")).exitCode).toBe(0);
  expect(attachment()).toBeNull();
});

it.each([
  ["detach", "--detached"],
  ["attach", "--attached"],
])("a lost %s of a VM's own data volume is a question at the VM's address", async (lost, answer) => {
  declare({ vms: { web: {} } });
  expect((await apply()).exitCode).toBe(0);
  const own = place.emulator.dump().volumes.find(({ root }) => !root)?.id;
  const onVm = () => place.emulator.dump().volumes.find(({ id }) => id === own);
  leave("vm.web", { dataVolumeId: own });
  hide(shows, new RegExp(`/volume/${lost}$`));
  declare({ vms: { web: { size: 14 } } });
  const grow = ["apply", "-y", "--confirm-flush", "vm.web"];
  const question =
    "reconcile state resolve vm.web --attached (it hangs there), or reconcile state resolve vm.web --detached";
  const ran = await reconcile(...grow);
  expect([ran.exitCode, said(ran).includes(question)], said(ran)).toEqual([1, true]);
  hide(shows);
  const sent = place.proxy.writes.length;
  const again = await reconcile(...grow);
  expect([again.exitCode, said(again).includes(question), place.proxy.writes.length], said(again)).toEqual([
    1,
    true,
    sent,
  ]);
  expect((await reconcile("state", "resolve", "vm.web", answer)).exitCode).toBe(0);
  const last = await reconcile(...grow);
  expect(last.exitCode, said(last)).toBe(0);
  expect(onVm()).toMatchObject({ size: 14, attached_to: place.emulator.dump().vms[0]?.id });
  expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
});

it.each<[address: string, patch: object, left: { readonly kind: string; readonly reason: string }]>([
  [
    "vm.web",
    { dataVolumeId: "off", dataVolumeDetached: true },
    { kind: "volume", reason: "was taken off VM web to be grown" },
  ],
  [
    "group.front",
    { retired: [{ id: "off", name: "front-old" }] },
    { kind: "group", reason: "was replaced by group front" },
  ],
])("state rm %s leaves as an orphan what its record alone remembers", async (address, patch, left) => {
  declare({ vms: { web: {} }, groups: { front: {} } });
  expect((await apply()).exitCode).toBe(0);
  leave(address, patch);
  const ran = await reconcile("state", "rm", address);
  expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining(`${left.kind} off, which ${left.reason}`)]);
  expect(Object.values(place.state().orphans)).toEqual([expect.objectContaining({ id: "off", ...left })]);
});

it.each([
  ["vm.web", { stoppedForFlush: true }, () => ({})],
  ["volume.data", {}, () => ({ stoppedVm: resources()["vm.web"].id })],
])("a VM that a person stops stays stopped, where %s notes that a run has stopped it", async (address, patch, more) => {
  declare({ vms: { web: {} }, volumes: { data: { size: 5 } } });
  expect((await apply()).exitCode).toBe(0);
  leave(address, { ...patch, ...more() });
  expect((await reconcile("vm", "stop", "vm.web")).exitCode).toBe(0);
  expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
});

it.each<[address: string, what: string, patch: object, says: () => string]>([
  ["vm.web", "VM", { stoppedForFlush: true }, () => `VM ${resources()["vm.web"].id} was stopped for a flush`],
  ["volume.data", "VM", { stoppedVm: "theirs" }, () => "VM theirs was stopped for a flush"],
  ["volume.data", "volume", { goesBackTo: "theirs" }, () => "Volume data was taken off VM theirs to be grown"],
  [
    "vm.web",
    "data volume",
    { dataVolumeId: "off", dataVolumeMoving: "detaching" },
    () => "Data volume off of VM web was being taken off to be grown",
  ],
  ["vm.web", "resize", { resizing: { to: "m1.large" } }, () => "The resize of VM web to m1.large is not decided"],
])("state rm %s names the %s that it leaves as a run has left it", async (address, _, patch, says) => {
  declare({ vms: { web: {} }, volumes: { data: { size: 5 } } });
  expect((await apply()).exitCode).toBe(0);
  leave(address, patch);
  const told = says();
  const ran = await reconcile("state", "rm", address);
  expect([ran.exitCode, ran.stderr]).toEqual([0, expect.stringContaining(told)]);
});

describe("state resolve", () => {
  it.each([
    ["--confirmed", "m1.large"],
    ["--reverted", "m1.small"],
  ])("%s ends an open resize with the flavor that it led to", async (flag, flavor) => {
    declare({ vms: { web: {} } });
    await apply();
    leave("vm.web", { resizing: { from: "m1.small", to: "m1.large" } });
    expect((await reconcile("state", "resolve", "vm.web", flag)).exitCode).toBe(0);
    expect(resources()["vm.web"]).toMatchObject({ flavor });
    expect(resources()["vm.web"].resizing).toBeUndefined();
  });

  it("promises nothing that the next plan takes back: what the service shows goes before", async () => {
    declare({ vms: { web: {} } });
    await apply();
    place.proxy.meddle(async (exchange, forward) => {
      if (/confirm/i.test(exchange.path)) throw new Error("the answer is lost");
      return forward();
    });
    declare({ vms: { web: { flavor_id: "m1.large" } } });
    expect((await apply()).exitCode).not.toBe(0);
    const settled = await reconcile("state", "resolve", "vm.web", "--confirmed");
    expect(settled.stdout).toContain("Where the service shows otherwise, the next plan goes by the service.");
    expect(said(await reconcile("plan"))).toContain("its resize waits in VERIFY_RESIZE to be confirmed");
  });

  it.each([["state", "list"], ["state", "show", "vm.web"], ["state", "unlock"], ["history"], ["output"]])(
    "of a state that the command line names, files with errors keep nobody away: %s %s",
    async (...words) => {
      declare({ vms: { web: {} } });
      expect((await apply()).exitCode).toBe(0);
      const whole = await reconcile(...words);
      place.write("version: 1\nproject: ${var.lost}\nvars: { lost: {} }\n");
      const refused = await reconcile(...words);
      expect([refused.exitCode, said(refused)]).toEqual([1, expect.stringContaining("config/variable-without-value")]);
      const ran = await reconcile(...words, "--state", "reconcile.state.json");
      expect([ran.exitCode, ran.stdout]).toEqual([0, whole.stdout]);
      expect(ran.stderr).toContain("The files cannot be read (reconcile validate");
    },
  );

  it("refuses an answer to what is not open, and two answers at once", async () => {
    declare({ vms: { web: {} } });
    await apply();
    for (const flag of ["--not-created", "--confirmed", "--reverted", "--attached", "--detached"])
      expect((await reconcile("state", "resolve", "vm.web", flag)).stderr).toContain("state/nothing-open");
    expect((await reconcile("state", "resolve", "vm.web", "--confirmed", "--reverted")).stderr).toContain(
      "state/resolve-how",
    );
  });
});

it("import says what the service does not show of what it takes over", async () => {
  declare({ vms: { web: {} }, volumes: { data: { size: 5 } } });
  expect((await apply()).exitCode).toBe(0);
  const ids = {
    vm: place.emulator.dump().vms[0]?.id ?? "",
    volume: place.emulator.dump().volumes.find((one) => one.name === "data")?.id ?? "",
  };
  rmSync(path());
  hide(/^(owner|volumes|attached_to)$/);
  expect(said(await reconcile("import", "vm.web", ids.vm, "--new-state"))).toContain(
    "does not show its owner, disks: there the record says what the file says.",
  );
  expect(said(await reconcile("import", "volume.data", ids.volume))).toContain(
    "does not show its attach_to: the record has nothing of it, and the next plan goes by the file.",
  );
});

it("an address that is none is told in the terminal", async () => {
  declare({ vms: { web: {} } });
  expect((await apply()).exitCode).toBe(0);
  place.proxy.meddle(async (exchange, forward) => {
    const answer = await forward();
    if (exchange.method !== "GET" || answer.body === "") return answer;
    return json(
      JSON.parse(answer.body, (key, value: unknown) => (key === "private_ip" ? "-oProxyCommand=x" : value)),
      answer.status,
    );
  });
  expect(said(await reconcile("plan"))).toContain("plan/address-unread");
});
