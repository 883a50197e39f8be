/** Groups whose rules name each other, on services that drop such rules with a group and on those that keep the group. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { emptyState } from "../../reconciler/core/state/fold";
import { writeSnapshot } from "../../reconciler/core/state/text";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { jsonLines } from "../support/cli-process";
import { ownPlace } from "../support/own-place";

const place = ownPlace();
const { reconcile, state } = place;
const rule = (port: number, group: string) => ({ protocol: "tcp", dst_port: port, remote_group: group });
const declare = (groups: object, service: object = {}): void => place.declare({ groups }, service);
const groupNames = () =>
  place.emulator
    .dump()
    .groups.filter(({ platform }) => !platform)
    .map(({ name }) => name)
    .sort();
const circle = { aaa: { rules: [rule(1, "bbb")] }, bbb: { rules: [rule(2, "aaa")] } };

describe("a service that drops the rules that name what is deleted", () => {
  it("gives a replaced group the name of a deleted one that is named by what the old group names", async () => {
    declare({
      front: { name: "first-name", rules: [rule(1, "back"), rule(3, "front")] },
      back: { rules: [rule(2, "admin")] },
      admin: { name: "wanted-name" },
    });
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    declare({ front: { name: "wanted-name" } });
    const ran = await reconcile("apply", "-y");
    expect([ran.exitCode, groupNames()], ran.stderr).toEqual([0, ["wanted-name"]]);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });
});

describe("a service that refuses to delete what is named", () => {
  beforeEach(() => place.serve({ keepsNamedGroups: true }));

  it("destroy deletes those that name before those that are named, and nothing is refused", async () => {
    declare({
      aaa: {},
      bbb: { rules: [rule(1, "aaa"), rule(5, "bbb")] },
      ccc: { rules: [rule(2, "bbb"), rule(3, "aaa")] },
      ddd: { rules: [rule(4, "ccc")] },
    });
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const ran = await reconcile("destroy", "-y", "--parallelism", "4");
    expect([ran.exitCode, groupNames()]).toEqual([0, []]);
  });

  it("two that name each other and are replaced leave their old selves as orphans: exit 4 at first, 0 afterwards", async () => {
    await place.serve({ keepsNamedGroups: true, with: ["group.list", "group.get"] });
    const routes = {
      "group.list": { method: "GET", path: "/api/v1/security-group" },
      "group.get": { method: "GET", path: "/api/v1/security-group/{id}" },
    };
    const open = { protocol: "tcp", dst_port: 80 };
    const of = (...more: object[]) => ({
      aaa: { rules: [rule(1, "bbb"), ...more] },
      bbb: { rules: [rule(2, "aaa"), ...more] },
    });
    declare(of(open), { dialect: { operations: routes } });
    const first = await reconcile("apply", "-y");
    expect(first.exitCode, first.stdout + first.stderr).toBe(0);
    declare(of(), { dialect: { operations: routes } });
    const ran = await reconcile("apply", "-y");
    expect([ran.exitCode, groupNames().length], ran.stderr).toEqual([4, 4]);
    expect(ran.stdout).toMatch(/left as an orphan[\s\S]*reconcile orphans delete/);
    const again = await reconcile("apply", "-y");
    expect([again.exitCode, Object.keys(state().orphans).length], again.stdout).toEqual([0, 2]);
    const whole = place.emulator.dump();
    const left = new Set(whole.groups.filter(({ name }) => name.includes("-old-")).map(({ id }) => id));
    await place.emulator.load({
      ...whole,
      rules: whole.rules.filter((one) => !left.has(one.security_group_id) || one.remote_group_id === null),
    });
    expect((await reconcile("orphans", "delete", "--all")).exitCode).toBe(0);
    expect(groupNames()).toEqual(["aaa", "bbb"]);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("leaves a circle, and what hangs on it, as orphans: exit 4 at first, 0 afterwards, and none is forgotten", async () => {
    declare({ ...circle, hung: { rules: [] }, ccc: { rules: [rule(3, "aaa")] }, ddd: { rules: [rule(4, "ddd")] } });
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const plan = await reconcile("plan", "--destroy");
    expect(plan.stdout + plan.stderr).toContain(
      "group.aaa is to be deleted, and rules of other groups name it: group.bbb",
    );
    const ran = await reconcile("destroy", "-y");
    expect([ran.exitCode, groupNames()], ran.stdout + ran.stderr).toEqual([4, ["aaa", "bbb"]]);
    expect(ran.stdout).toContain("does not delete group aaa while rules of other groups name it: group.bbb (");
    expect(ran.stdout).not.toContain("attached to VMs");
    const orphans = jsonLines((await reconcile("orphans", "list", "--json")).stdout).filter(
      ({ type }) => type === "orphan",
    );
    // The two are left in whichever order the service refused them.
    expect(orphans.map(({ kind, name }) => [kind, name]).sort()).toEqual([
      ["group", "aaa"],
      ["group", "bbb"],
    ]);
    expect(state().resources).toEqual({});
    expect((await reconcile("destroy", "-y")).exitCode).toBe(0);
    // Somebody deletes the rules in the console: then the orphans can go.
    const seen = place.emulator.dump();
    await place.emulator.load({ ...seen, rules: seen.rules.filter(({ remote_group_id }) => remote_group_id === null) });
    for (const { id } of orphans) expect((await reconcile("orphans", "delete", id)).exitCode).toBe(0);
    expect(groupNames()).toEqual([]);
  });

  it("one that was left and is taken over again is no orphan any more, and `orphans delete --all` leaves it", async () => {
    declare(circle);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const { id } = place.emulator.dump().groups.find(({ name }) => name === "aaa")!;
    expect((await reconcile("destroy", "-y")).exitCode).toBe(4);
    const seen = place.emulator.dump();
    await place.emulator.load({ ...seen, rules: seen.rules.filter(({ remote_group_id }) => remote_group_id === null) });
    declare({ aaa: {} });
    expect((await reconcile("import", "group.aaa", id)).exitCode).toBe(0);
    expect((await reconcile("orphans", "delete", "--all")).exitCode).toBe(0);
    expect(groupNames()).toEqual(["aaa"]);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("one that a group named which stays is told as that: which group, which rule, and what to do", async () => {
    declare({ front: {}, web: { rules: [rule(5432, "front")] } });
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    declare({ web: {} });
    const plan = await reconcile("plan");
    expect(plan.stdout + plan.stderr).toContain(
      "group.front is to be deleted, and rules of other groups name it: group.web",
    );
    const ran = await reconcile("apply", "-y");
    expect(ran.exitCode).toBe(1);
    const text = ran.stdout.replaceAll(/\s+/g, " ");
    expect(text).toContain("does not delete group front while rules of other groups name it: group.web (ingress");
    expect(text).toContain("take the rule out of group.web first");
    expect(text).not.toContain("attached");
    declare({ front: {}, web: {} });
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    declare({ web: {} });
    expect([(await reconcile("apply", "-y")).exitCode, groupNames()]).toEqual([0, ["web"]]);
  });
});

describe("a replaced group that others name", () => {
  const open = (port: number) => ({ protocol: "tcp", dst_port: port, remote_ip: "10.0.0.0/8" });
  const pair = (ports: readonly number[]) => ({
    back: { rules: ports.map(open) },
    front: { rules: [rule(5, "back")] },
  });
  const kept = (operations = {}) => ({ dialect: { limits: { named_groups: "kept" }, operations } });

  it("is told to stay perhaps, with the line that changes that", async () => {
    await place.serve({ keepsNamedGroups: true });
    declare(pair([1, 2]));
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    declare(pair([1]));
    const plan = await reconcile("plan");
    const said = (plan.stdout + plan.stderr).replaceAll(/\s+/g, " ");
    expect(said).toContain("group.back is replaced, and rules of other groups name the group that goes: group.front (");
    expect(said).toContain("limits: { named_groups: kept }");
    const id = state().resources["group.back"].id.slice(-6);
    expect(said).toContain(`it then stays as back-old-${id}`);
    expect((await reconcile("apply", "-y")).exitCode).toBe(4);
  });

  it("goes in one run where the dialect says that such groups are kept: those that name it go before", async () => {
    await place.serve({ keepsNamedGroups: true });
    const three = (ports: readonly number[]) => ({ ...pair(ports), far: { rules: [rule(7, "front")] } });
    declare(three([1, 2]), kept());
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    declare(three([1]), kept());
    const plan = await reconcile("plan");
    expect(plan.stdout + plan.stderr).not.toContain("group-named");
    const rehearsed = await reconcile("rehearse");
    expect(rehearsed.exitCode, rehearsed.stdout + rehearsed.stderr).toBe(0);
    const ran = await reconcile("apply", "-y");
    expect([ran.exitCode, groupNames()], ran.stdout + ran.stderr).toEqual([0, ["back", "far", "front"]]);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("and where single rules can be deleted, those go before, and their group stays", async () => {
    await place.serve({ keepsNamedGroups: true, with: ["group.rule.delete"] });
    const deletes = { "group.rule.delete": { method: "DELETE", path: "/api/v1/security-group/{id}/rule/{rule_id}" } };
    declare({ ...pair([1]), gone: {}, web: { rules: [rule(9, "gone")] } }, kept(deletes));
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const front = state().resources["group.front"].id;
    declare({ ...pair([1]), web: {} }, kept(deletes));
    const plan = await reconcile("plan");
    expect(plan.stdout + plan.stderr).not.toContain("group-named");
    const ran = await reconcile("apply", "-y", "--replace", "group.back");
    expect([ran.exitCode, groupNames()], ran.stdout + ran.stderr).toEqual([0, ["back", "front", "web"]]);
    expect(state().resources["group.front"].id).toBe(front);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("is kept by a service that is emulated in such a dialect", async () => {
    const { dialect, diagnostics } = readDialectText("limits: { named_groups: refused }", "dialect.yaml");
    expect(diagnostics).toEqual([]);
    await place.serve({ speaks: dialect });
    declare({ front: {}, web: { rules: [rule(5432, "front")] } });
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const headers = { authorization: "Bearer ops-token" };
    const { id } = state().resources["group.front"];
    const answer = await fetch(`${place.emulator.url}/api/v1/security-group/${id}`, { method: "DELETE", headers });
    expect([answer.status, groupNames()]).toEqual([409, ["front", "web"]]);
  });
});

it("a group that cannot be made in its place, because its name was taken meanwhile, is made once that is free", async () => {
  await place.serve({});
  const open = (port: number) => ({ protocol: "tcp", dst_port: port });
  declare({ web: { rules: [open(22), open(80)] }, back: { rules: [rule(1, "web")] } });
  expect((await reconcile("apply", "-y")).exitCode).toBe(0);
  declare({ web: { rules: [open(22)] }, back: { rules: [rule(1, "web")] } });
  await place.emulator.setFaults([{ operation: "group.create", kind: "status", code: 409, when: "after", count: 1 }]);
  const refused = await reconcile("apply", "-y", "--json");
  const told = jsonLines(refused.stdout)
    .at(-1)
    ?.diagnostics.find(({ code }: { code: string }) => code === "service/conflict");
  expect([refused.exitCode, told?.fix]).toEqual([1, "another name, or rename or delete what is named web first"]);
  const { id } = place.emulator.dump().groups.find(({ name }) => name === "web")!;
  const headers = { authorization: "Bearer ops-token" };
  await fetch(`${place.emulator.url}/api/v1/security-group/${id}`, { method: "DELETE", headers });
  const ran = await reconcile("apply", "-y");
  expect([ran.exitCode, groupNames()], ran.stderr).toEqual([0, ["back", "web"]]);
  expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
});

it("a service that drops the rules with a group lets a circle go at once", async () => {
  await place.serve({});
  declare(circle);
  expect((await reconcile("apply", "-y")).exitCode).toBe(0);
  expect([(await reconcile("destroy", "-y")).exitCode, groupNames()]).toEqual([0, []]);
});

it("a group found by its intent, where lists show no rules, keeps the service's own egress rules", async () => {
  await place.serve({ with: ["group.list", "group.rule.delete"] });
  const dialect = {
    operations: {
      "group.list": { method: "GET", path: "/api/v1/security-group" },
      "group.rule.delete": { method: "DELETE", path: "/api/v1/security-group/{id}/rule/{rule_id}" },
    },
    records: { group: { rules: ["/nowhere"] } },
  };
  declare({ web: { rules: [{ protocol: "tcp", dst_port: 443 }] } }, { dialect });
  const headers = { authorization: "Bearer ops-token", "content-type": "application/json" };
  const rules = [{ direction: "ingress", ethertype: "IPv4", protocol: "tcp", dst_port: "443", remote_ip: "0.0.0.0/0" }];
  await fetch(`${place.emulator.url}/api/v1/security-group`, {
    method: "POST",
    headers,
    body: JSON.stringify({ name: "web", rules }),
  });
  const record = {
    ...{ kind: "group" as const, address: "group.web", name: "web", platformRules: [] },
    rules: [
      {
        ...{ direction: "ingress" as const, ethertype: "IPv4" as const, protocol: "tcp" as const },
        ...{ ports: { min: 443, max: 443 }, remote: { kind: "any" as const } },
      },
    ],
    preventDestroy: false,
  };
  const intent = {
    ...{ step: "group.web/create", address: "group.web", operation: "group.create" as const, name: "web", record },
    ...{ sentAt: new Date().toISOString(), idsBefore: [] },
  };
  const left = { ...emptyState("a-lineage"), serial: 1, intents: new Map([["group.web", intent]]) };
  writeFileSync(join(place.folder, "reconcile.state.json"), writeSnapshot(left));
  const directions = () =>
    place.emulator
      .dump()
      .rules.filter(({ security_group_id }) => security_group_id === state().resources["group.web"].id)
      .map(({ direction }) => direction)
      .sort();
  for (let run = 1; run <= 2; run++) {
    const ran = await reconcile("apply", "-y");
    expect([ran.exitCode, directions()], ran.stdout + ran.stderr).toEqual([0, ["egress", "egress", "ingress"]]);
  }
  expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  expect(place.emulator.requests().counts["group.rule.delete"] ?? 0).toBe(0);
});

describe("a group that was deleted by hand, on a service that leaves the rules which name it", () => {
  const abilities = ["vm.get", "group.list", "group.get", "group.rule.delete"] as const;
  const routes = {
    "vm.get": { method: "GET", path: "/api/v1/vm/{id}" },
    "group.list": { method: "GET", path: "/api/v1/security-group" },
    "group.get": { method: "GET", path: "/api/v1/security-group/{id}" },
  };
  const deletesRules = {
    "group.rule.delete": { method: "DELETE", path: "/api/v1/security-group/{id}/rule/{rule_id}" },
  };

  it.each([
    ["single rules can be deleted", deletesRules, 1],
    ["single rules cannot be deleted", {}, 2],
  ])("is made again in one run, where %s", async (_, more, left) => {
    await place.serve({ with: abilities });
    declare(
      { app: {}, other: {}, web: { rules: [rule(80, "app")] } },
      { dialect: { operations: { ...routes, ...more } } },
    );
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    const before = place.emulator.dump();
    const dead = before.groups.find(({ name }) => name === "app")?.id;
    await place.emulator.load({ ...before, groups: before.groups.filter(({ id }) => id !== dead) });
    const ran = await reconcile("apply", "-y", "--recreate", "group.app");
    const rules = place.emulator.dump().rules.filter(({ port_range_min }) => port_range_min === 80);
    expect([ran.exitCode, rules.length], ran.stdout + ran.stderr).toEqual([0, left]);
    expect(rules.some(({ remote_group_id }) => remote_group_id === dead)).toBe(left === 2);
    const plan = await reconcile("plan", "--detailed-exitcode");
    expect(plan.exitCode, plan.stdout + plan.stderr).toBe(0);
  });
});
