/** A credential that may not see one kind any more is shown just what a deletion looks like: nothing is made twice. */
import { afterEach, describe, expect, it } from "vitest";
import type { OtherService } from "../support/other-services/other-service";
import { type AtTheDoor, retold, standAtTheDoor } from "../support/own-place";

let here: AtTheDoor;
afterEach(() => here.close());

const operations = `operations: { vm.get: { method: GET, path: "/api/v1/vm/{id}" }, volume.list: { method: GET, path: /api/v1/volume/list }, group.list: { method: GET, path: /api/v1/security-group }, group.get: { method: GET, path: "/api/v1/security-group/{id}" } }`;
const head = `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms, discovery_window: 300ms, vm_create_timeout: 5s }, dialect: { ${operations} } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
`;
const three = `${head}vms: { one: {}, two: {}, six: {} }
volumes: { spare: { size: 7 }, more: { size: 3 } }
groups: { web: { rules: [ { protocol: tcp, dst_port: 443 } ] }, app: {} }
`;
const single = `${head}vms: { one: {} }
volumes: { spare: { size: 7 } }
groups: { web: {} }
`;

type Record_ = Record<string, unknown>;
type Edits = Parameters<typeof retold>[0];
const bare = ({ attached_to: _, ...rest }: Record_): Record_ => rest;
const plain = (showsHosts: boolean): Edits => (showsHosts ? {} : { volume: bare });
const lost: Readonly<Record<string, Edits>> = {
  "no VM": { vm: () => undefined },
  "one VM less": { vm: (record) => (record["name"] === "one" ? undefined : record) },
  "no group": { group: () => undefined },
  "one group less": { group: (record) => (record["name"] === "web" ? undefined : record) },
  "no volume": { volume: () => undefined },
  "one volume less": { volume: (record) => (record["name"] === "spare" ? undefined : bare(record)) },
};

/** The rules of a group that is not shown are not shown either. */
const hiding = (what: string, showsHosts: boolean): OtherService => ({
  hear: ({ operation, id }, truth) => {
    const group = operation === "group.rule.list" ? truth.dump().groups.find((one) => one.id === id) : undefined;
    const isHidden =
      group !== undefined && lost[what]?.group !== undefined && lost[what].group({ ...group }) === undefined;
    return isHidden ? { status: 404, body: { error: { code: 404, message: "not found in this project" } } } : undefined;
  },
  tell: retold({ ...plain(showsHosts), ...lost[what] }),
});

const variants = Object.keys(lost).flatMap((what) =>
  [three, single].flatMap((world) => [true, false].map((showsHosts) => [what, world, showsHosts] as const)),
);
const namedOf = (kind: "vms" | "volumes" | "groups"): string[] =>
  here.emulator
    .dump()
    [kind].map(({ name }) => name ?? "")
    .sort();
const everything = () => ({ vms: namedOf("vms"), volumes: namedOf("volumes"), groups: namedOf("groups") });

async function applied(text: string, edits: Edits): Promise<void> {
  here = await standAtTheDoor({ tell: retold(edits) }, { with: ["vm.get", "volume.list", "group.list", "group.get"] });
  here.write("reconcile.yaml", text);
  const ran = await here.reconcile("apply", "-y");
  expect(ran.exitCode, ran.stderr).toBe(0);
}

describe("nothing is made anew for a credential that is shown", () => {
  it.each(variants)("%s", async (what, world, showsHosts) => {
    await applied(world, plain(showsHosts));
    const before = everything();
    const sent = here.writes();
    here.door.become(hiding(what, showsHosts));
    const ran = await here.reconcile("apply", "-y");
    const round = await here.watchOnce();
    expect([here.writes(), everything()], ran.stdout + ran.stderr + round).toEqual([sent, before]);
    // A volume that says where it hangs contradicts the absence of its VM; everything else asks.
    if (ran.exitCode !== 0) {
      expect(ran.exitCode, ran.stdout + ran.stderr).toBe(3);
      expect(ran.stderr).toMatch(/--recreate|--accept-service/);
    } else expect(ran.stderr).toMatch(/says that it hangs on it/);
    here.door.become({ tell: retold(plain(showsHosts)) });
    const after = await here.reconcile("plan", "--detailed-exitcode");
    expect(after.exitCode, after.stdout + after.stderr).toBe(0);
  });
});

it("a watch that was started with --recreate and --accept-service makes nothing anew for them later", async () => {
  await applied(three, plain(false));
  const before = everything();
  const watching = here.watch("--interval", "1s", "--recreate", "all", "--accept-service");
  await watching.says("a round that is in sync", ({ stdout }) => /"result":"in_sync"/.exec(stdout));
  here.door.become(hiding("no VM", false));
  const blocked = await watching.says("a round that is blocked", ({ stdout }) => /.*"result":"blocked".*/.exec(stdout));
  watching.child.kill("SIGINT");
  await watching.finished;
  expect(blocked[0]).toContain("by a person who has looked");
  expect(everything()).toEqual(before);
});

it("destroy says of what it is not shown that it may be there, and keeps its record", async () => {
  await applied(three, plain(false));
  const before = namedOf("vms");
  here.door.become({
    ...hiding("no VM", false),
    hear: ({ operation }) =>
      /^vm\.(get|delete|stop)$/.test(operation)
        ? { status: 404, body: { error: { code: 404, message: "not found in this project" } } }
        : undefined,
  });
  const drift = await here.reconcile("drift");
  expect([drift.exitCode, drift.stdout]).toEqual([2, expect.stringMatching(/^- vm\.one .* is not shown any more$/m)]);
  expect(drift.stdout).not.toContain("is gone");
  expect(drift.stderr).toContain("a credential that may not see VMs is shown just that");
  const ran = await here.reconcile("destroy", "-y", "--allow-data-loss", "--confirm-flush", "all");
  expect([ran.exitCode, namedOf("vms")], ran.stdout + ran.stderr).toEqual([1, before]);
  expect(ran.stdout).toContain("a credential that may not see VMs is shown just that");
  expect((await here.reconcile("state", "list")).stdout).toMatch(/vm\.one .*\n.*vm\.six .*\n.*vm\.two/);
});

describe("what a person deleted by hand", () => {
  it.each([
    ["among others of its kind", three],
    ["the only one of its kind", single],
  ])("is shown by the plan, and made anew with a word for it: a VM, %s", async (_, world) => {
    await applied(world, plain(false));
    await here.door.truth.change((all) => ({ ...all, vms: all.vms.filter(({ name }) => name !== "one") }));
    const plan = await here.reconcile("plan", "--json");
    expect(plan.stdout).toContain('"address":"vm.one","action":"create"');
    const drift = await here.reconcile("drift");
    expect(drift.exitCode, drift.stdout + drift.stderr).toBe(2);
    const refused = await here.reconcile("apply", "-y");
    expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining("--recreate vm.one")]);
    const ran = await here.reconcile("apply", "-y", "--recreate", "vm.one");
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect(namedOf("vms").filter((name) => name === "one")).toHaveLength(1);
    expect((await here.reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("is forgotten where its block goes as well, and kept as missing", async () => {
    await applied(three, plain(false));
    await here.door.truth.change((all) => ({ ...all, vms: all.vms.filter(({ name }) => name !== "one") }));
    here.write("reconcile.yaml", three.replace("one: {}, ", ""));
    const ran = await here.reconcile("apply", "-y");
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect((await here.reconcile("orphans", "list")).stdout).toContain("missing since");
  });
});

describe("an open create", () => {
  it("is not sent again where nothing of its kind shows", async () => {
    await applied(three, {});
    here.write("reconcile.yaml", three.replace("one: {},", "one: {}, new: {},"));
    let isLost = false;
    here.door.become({
      hear(asked) {
        isLost ||= asked.operation === "vm.create";
        return isLost ? "nothing" : undefined;
      },
    });
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(1);
    here.door.become({ tell: retold({ vm: () => undefined, volume: bare }) });
    const before = everything();
    const ran = await here.reconcile("apply", "-y", "--recreate", "all");
    expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("state resolve vm.new --not-created")]);
    expect(everything()).toEqual(before);
  });
});

it.each(["volume.get", "group.get"])(
  "%s that answers with another's record says nothing about this one",
  async (operation) => {
    here = await standAtTheDoor({}, { with: ["group.get"] });
    const routes = `operations: { group.get: { method: GET, path: "/api/v1/security-group/{id}" } }`;
    here.write("reconcile.yaml", three.replace(operations, routes));
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(0);
    const before = JSON.stringify(here.emulator.dump());
    here.door.become({
      tell: (asked, answer, truth) => {
        if (asked.operation !== operation || answer.status !== 200) return undefined;
        const { volumes, groups } = truth.dump();
        const all: readonly { id: string }[] = operation === "volume.get" ? volumes : groups;
        return { status: 200, body: { data: all.find(({ id }) => id !== asked.id) } };
      },
    });
    for (const words of [
      ["apply", "-y", "--allow-data-loss", "--recreate", "all"],
      ["destroy", "-y", "--allow-data-loss"],
    ]) {
      const ran = await here.reconcile(...words);
      expect([ran.exitCode, JSON.stringify(here.emulator.dump()) === before], ran.stdout + ran.stderr).toEqual([
        1,
        true,
      ]);
      expect(ran.stderr).toMatch(/answered with the record of/);
    }
  },
);
