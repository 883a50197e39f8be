/** What writes to the service or the state beside `apply` goes by the same evidence, and refuses what `apply` refuses. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startCli } from "../support/cli-process";
import { json, ownMeddledPlace, said } from "../support/own-place";

const place = ownMeddledPlace();
const { reconcile, declare, ask } = place;

const apply = () => reconcile("apply", "-y", "--allow-data-loss", "--allow-empty", "--confirm-flush", "all");
const volumes = () => place.emulator.dump().volumes;
const volume = (name: string): string => volumes().find((one) => one.name === name)?.id ?? "";
const make = (name: string) =>
  ask("POST", "/api/v1/volume/create", { name, size: "7", project: "acme", region: "in-west-1" });

/** As a credential of another project is answered, or whoever asks for what is gone. */
async function notFound() {
  const answer = await fetch(`${place.emulator.url}/api/v1/volume/00000000-0000-4000-8000-000000000000`, {
    headers: { authorization: "Bearer ops-token" },
  });
  return json(await answer.json(), answer.status);
}

describe("orphans delete", () => {
  async function leave(vms: object): Promise<readonly string[]> {
    declare({ vms });
    expect((await apply()).exitCode).toBe(0);
    declare({});
    expect((await apply()).exitCode).toBe(0);
    return Object.keys(place.state().orphans).map((key) => key.replace("volume:", ""));
  }
  const end = (...ids: readonly string[]) => reconcile("orphans", "delete", ...ids, "--allow-data-loss");

  it("remembers a delete that was accepted and whose end did not show in time", async () => {
    const [id = ""] = await leave({ web: {} });
    let [record, isDeleted] = ["", false];
    place.proxy.meddle(async ({ method, path }, forward) => {
      if (!path.endsWith(id)) return forward();
      if (method === "GET" && isDeleted) return { status: 200, body: record };
      const answer = await forward();
      if (method === "GET") record = answer.body;
      else isDeleted = true;
      return answer;
    });
    expect((await end(id)).exitCode).toBe(1);
    place.proxy.meddle((_, forward) => forward());
    declare({ volumes: { fresh: { size: 1 } } });
    const next = await apply();
    expect(next.exitCode, said(next)).toBe(0);
    const again = await end(id);
    expect([again.exitCode, place.state().orphans], said(again)).toEqual([0, {}]);
  });

  it("forgets none that a VM's record names, and deletes none", async () => {
    const [id = "", other = ""] = await leave({ one: {}, two: {} });
    declare({ vms: { host: {} } });
    expect((await apply()).exitCode).toBe(0);
    await hideOn("host", id);
    const ended = await end(id, other);
    expect(said(ended)).toContain("the record of VM host names it");
    expect([ended.exitCode, Object.keys(place.state().orphans)]).toEqual([1, [`volume:${id}`]]);
    expect(place.proxy.writes).not.toContain(`DELETE /api/v1/volume/${id}`);
  });

  it("says what the service answered to a delete, where it shows the volume all the same", async () => {
    const [id = ""] = await leave({ web: {} });
    place.proxy.meddle(async ({ method }, forward) =>
      method === "DELETE" ? json({ error: { code: 404, message: "not found" } }, 404) : forward(),
    );
    const ended = await end(id);
    expect(said(ended)).toContain('the service answered its delete with "not found", and yet shows it');
    expect([ended.exitCode, Object.keys(place.state().orphans)]).toEqual([1, [`volume:${id}`]]);
  });

  it("forgets none that no look shows where the answers to its delete are lost", async () => {
    const [id = ""] = await leave({ web: {} });
    const gone = await notFound();
    const later = json({ message: "later" }, 503);
    place.proxy.meddle(async ({ method, path }, forward) =>
      path.endsWith(id) ? (method === "DELETE" ? later : gone) : forward(),
    );
    const ended = await end(id);
    expect([ended.exitCode, Object.keys(place.state().orphans)], said(ended)).toEqual([1, [`volume:${id}`]]);
    expect(volumes().map((one) => one.id)).toEqual([id]);
  });

  it("forgets what was deleted in the console by the proof of what it is about to delete", async () => {
    const [kept = "", ...ids] = await leave({ one: {}, two: {}, three: {} });
    for (const id of ids) await ask("DELETE", `/api/v1/volume/${id}`);
    const ended = await end(...ids, kept);
    expect([ended.exitCode, place.state().orphans, volumes()], said(ended)).toEqual([0, {}, []]);
  });
});

/** A VM with the volume on it, which the service does not find by its id. */
async function hideOn(host: string, id: string): Promise<void> {
  const vm = place.emulator.dump().vms.find(({ name }) => name === host)?.id;
  await ask("POST", "/api/v1/volume/attach", { vm_id: vm, volume_id: id });
  const gone = await notFound();
  place.proxy.meddle(async ({ path }, forward) => (path.endsWith(id) ? gone : forward()));
}

describe("import", () => {
  it("takes no volume over that is not found, though a VM's record names it", async () => {
    declare({ vms: { host: {} }, volumes: { ours: { size: 5 } } });
    expect((await apply()).exitCode).toBe(0);
    await make("theirs");
    await hideOn("host", volume("theirs"));
    declare({ vms: { host: {} }, volumes: { ours: { size: 5 }, theirs: { size: 7, attach_to: "host" } } });
    const refused = await reconcile("import", "volume.theirs", volume("theirs"));
    expect([refused.exitCode, said(refused)]).toEqual([1, expect.stringContaining("the record of VM host names it")]);
    expect(Object.keys(place.state().resources)).not.toContain("volume.theirs");
  });

  it("takes nothing over with a credential that is shown nothing of what the state has", async () => {
    declare({ volumes: { ours: { size: 5 } } });
    expect((await apply()).exitCode).toBe(0);
    await make("theirs");
    const [ours, gone] = [volume("ours"), await notFound()];
    place.proxy.meddle(async ({ path }, forward) => (path.includes(ours) ? gone : forward()));
    declare({ volumes: { ours: { size: 5 }, theirs: { size: 7 } } });
    const refused = await reconcile("import", "volume.theirs", volume("theirs"));
    expect([refused.exitCode, said(refused)]).toEqual([3, expect.stringContaining("consent/accept-service")]);
    expect(Object.keys(place.state().resources)).toEqual(["volume.ours"]);
  });

  it("settles no open create of a former block with such a credential", async () => {
    declare({ volumes: { ours: { size: 5 } } });
    expect((await apply()).exitCode).toBe(0);
    place.proxy.meddle(async ({ method, path }, forward) => {
      const answer = await forward();
      if (method === "POST" && path.endsWith("/create")) throw new Error("cut off");
      return answer;
    });
    declare({ volumes: { ours: { size: 5 }, lost: { size: 7 } } });
    expect((await apply()).exitCode).toBe(1);
    await make("theirs");
    const [ours, gone] = [volume("ours"), await notFound()];
    place.proxy.meddle(async ({ path }, forward) => (path.includes(ours) ? gone : forward()));
    declare({ volumes: { ours: { size: 5 } } });
    const refused = await reconcile("import", "volume.lost", volume("theirs"));
    expect([refused.exitCode, Object.keys(place.state().resources)], said(refused)).toEqual([3, ["volume.ours"]]);
  });

  it("tells a new state of which service and project it is", async () => {
    await make("first");
    declare({ volumes: { first: { size: 7 } } });
    expect((await reconcile("import", "volume.first", volume("first"))).exitCode).toBe(0);
    expect(place.state().scope).toEqual({ origin: place.proxy.url, project: "acme" });
  });
});

describe("a state of another environment", () => {
  it.each([
    ["vm", "stop", "vm.web"],
    ["vm", "snapshot", "vm.web", "--name", "before"],
    ["drift"],
    ["drift", "--accept"],
    ["undo", "last", "-y"],
    ["import", "vm.web", "web-staging"],
    ["orphans", "delete", "--all"],
  ])("%s %s: nothing is sent", async (...words) => {
    declare({ environments: { staging: {}, prod: {} }, vms: { web: { name: "web-${env}" } } });
    expect((await reconcile("apply", "-y", "--env", "staging", "--state", "s.json")).exitCode).toBe(0);
    const sent = place.writes();
    const refused = await reconcile(...words, "--env", "prod", "--state", "s.json");
    expect([refused.exitCode, said(refused)]).toEqual([3, expect.stringContaining("of the environment staging")]);
    expect(place.writes()).toBe(sent);
  });
});

describe("vm stop", () => {
  it("stops nothing where the VMs cannot be looked at", async () => {
    declare({ vms: { web: {} } });
    expect((await apply()).exitCode).toBe(0);
    place.proxy.meddle(async ({ path }, forward) => {
      const answer = await forward();
      return path.includes("/vm/list") ? json({ data: [], page: { total_size: 1 } }) : answer;
    });
    const sent = place.writes();
    const refused = await reconcile("vm", "stop", "vm.web");
    expect([refused.exitCode, place.writes()], said(refused)).toEqual([1, sent]);
  });
});

describe("undo", () => {
  it("waits for what an interrupted run made, as apply does, and takes it back", async () => {
    const late = { timing: { discovery_window: "2s" } };
    declare({ vms: { web: {} } }, late);
    expect((await apply()).exitCode).toBe(0);
    declare({ vms: { web: {}, new: {} } }, late);
    const run = startCli(["apply", "-y"], place.surroundings());
    let looks = 0;
    place.proxy.meddle(async ({ method, path }, forward) => {
      const answer = await forward();
      if (method === "POST" && path.endsWith("/vm/create")) {
        run.child.kill("SIGKILL");
        await run.finished;
      }
      if (run.child.exitCode === null && run.child.signalCode === null) return answer;
      if (!path.includes("/vm/list") || looks++ > 3) return answer;
      // The list is behind: it shows the new VM only later.
      const { data, ...body } = JSON.parse(answer.body);
      const shown = data.filter(({ name }: { readonly name: string }) => name !== "new");
      return json({ ...body, data: shown, page: { ...body.page, total_size: shown.length } });
    });
    await run.finished;
    const undone = await reconcile("undo", "last", "-y", "--allow-data-loss");
    expect(undone.exitCode, said(undone)).toBe(0);
    expect(place.emulator.dump().vms.map(({ name }) => name)).toEqual(["web"]);
  });
});

describe("group import", () => {
  const listing = { SecurityGroups: [{ GroupName: "web-tier", Description: "d", IpPermissions: [] }] };
  const tiers = () => place.emulator.dump().groups.filter(({ name }) => name === "web-tier");

  it("makes no second group where the service would, after an answer that was lost", async () => {
    await place.serve({ with: ["group.list"], groupNamesTwice: true });
    const operations = { "group.list": { method: "GET", path: "/api/v1/security-group" } };
    declare({}, { dialect: { operations, limits: { unique: [] } } });
    place.write(JSON.stringify(listing), "listing.json");
    place.proxy.meddle(async ({ method, path }, forward) => {
      const answer = await forward();
      if (method === "POST" && path.endsWith("/import")) throw new Error("cut off");
      return answer;
    });
    expect((await reconcile("group", "import", "listing.json")).exitCode).toBe(1);
    place.proxy.meddle((_, forward) => forward());
    const again = await reconcile("group", "import", "listing.json");
    expect([again.exitCode, tiers().length], said(again)).toEqual([1, 1]);
    expect(said(again)).toContain(`reconcile pull --group ${tiers()[0]?.id}`);
  });
});

describe("group import of which the report is not whole", () => {
  it("names each group that was made under no id, or of which nothing is said", async () => {
    const groups = ["first", "second", "third"].map((GroupName) => ({ GroupName, IpPermissions: [] }));
    declare({});
    place.write(JSON.stringify({ SecurityGroups: groups }), "listing.json");
    place.proxy.meddle(async ({ path }, forward) => {
      const answer = await forward();
      if (!path.endsWith("/import")) return answer;
      const report = JSON.parse(answer.body);
      const [first, { id: _, ...second }] = report.groups;
      return json({ ...report, groups: [first, second] });
    });
    const ran = await reconcile("group", "import", "listing.json");
    expect(ran.exitCode, said(ran)).toBe(4);
    expect(ran.stderr).toContain(
      "group second: the service accepted the listing, and its report says that it was created",
    );
    expect(ran.stderr).toContain("group third: the service accepted the listing, and its report does not say what");
    expect(ran.stderr).not.toContain("group first:");
  });
});

describe("a command that is refused on a state that is not there", () => {
  it.each([
    ["state", "rm", "volume.data"],
    ["state", "mv", "volume.data", "volume.other"],
    ["state", "resolve", "volume.data", "--not-created"],
  ])("%s %s makes none, so that a state can be given to that place", async (...args) => {
    declare({ volumes: { data: { size: 5 } } });
    expect((await apply()).exitCode).toBe(0);
    const elsewhere = ["--state", "elsewhere.json"];
    expect((await reconcile(...args, ...elsewhere)).exitCode).toBe(1);
    expect(existsSync(join(place.folder, "elsewhere.json"))).toBe(false);
    const pushed = await reconcile("state", "push", "reconcile.state.json", ...elsewhere);
    expect(pushed.exitCode, said(pushed)).toBe(0);
  });
});

describe("state rm", () => {
  it("says that an open create may have made something", async () => {
    place.proxy.meddle(async ({ method }, forward) => {
      const answer = await forward();
      if (method === "POST") throw new Error("cut off");
      return answer;
    });
    declare({ volumes: { lost: { size: 5 } } });
    expect((await apply()).exitCode).toBe(1);
    const forgot = await reconcile("state", "rm", "volume.lost");
    expect([forgot.exitCode, said(forgot)]).toEqual([0, expect.stringContaining("What became of the create of lost")]);
  });
});
