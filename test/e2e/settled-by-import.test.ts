/** An import that settles an open create takes along what the service had put there by itself. */
import { afterEach, describe, expect, it } from "vitest";
import { type AtTheDoor, standAtTheDoor } from "../support/own-place";

let here: AtTheDoor;
afterEach(() => here.close());

const world = (dialect: string) => `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms, discovery_window: 200ms }, dialect: { operations: { ${dialect} } } }
groups: { back: { rules: [ { protocol: tcp, dst_port: 5432, remote_ip: 10.0.0.0/8 } ] } }
`;

describe("a group whose create had no answer", () => {
  it("is imported also while a group that its rules name differs, and a third names that one as well", async () => {
    here = await standAtTheDoor({});
    here.door.become({
      tell: ({ operation, nthOfItsKind }) =>
        operation === "group.create" && nthOfItsKind === 3 ? "nothing" : undefined,
    });
    const named = "{ rules: [ { protocol: tcp, dst_port: 5432, remote_group: back } ] }";
    const two = `${world("group.rule.delete: null")}`.replace(/(?<=groups: ).*/, `{ back: ${named}, front: ${named} }`);
    here.write("reconcile.yaml", two);
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(0);
    here.write("reconcile.yaml", two.replace("front:", `third: ${named}, front:`));
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(1);
    const group = (wanted: string) => here.emulator.dump().groups.find(({ name }) => name === wanted)!;
    const rule = { direction: "ingress", ethertype: "IPv4", protocol: "tcp", dst_port: "9999" };
    await fetch(`${here.emulator.url}/api/v1/security-group/${group("back").id}/rule`, {
      method: "POST",
      headers: { authorization: "Bearer ops-token", "content-type": "application/json" },
      body: JSON.stringify(rule),
    });
    const imported = await here.reconcile("import", "group.third", group("third").id);
    expect(imported.exitCode, imported.stdout + imported.stderr).toBe(0);
    const ran = await here.reconcile("apply", "-y");
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect((await here.reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("is not imported beside its open create, where a moved entry gives it another address", async () => {
    here = await standAtTheDoor({});
    here.door.become({ tell: ({ operation }) => (operation === "group.create" ? "nothing" : undefined) });
    here.write("reconcile.yaml", world("group.rule.delete: null"));
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(1);
    const { id } = here.emulator.dump().groups.find(({ name }) => name === "back")!;
    here.write(
      "reconcile.yaml",
      `${world("group.rule.delete: null").replace("{ back: {", "{ kept: { name: back,")}moved: [{ from: group.back, to: group.kept }]\n`,
    );
    const refused = await here.reconcile("import", "group.kept", id);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("state mv group.back group.kept")]);
    expect((await here.reconcile("state", "mv", "group.back", "group.kept")).exitCode).toBe(0);
    const imported = await here.reconcile("import", "group.kept", id);
    expect(imported.exitCode, imported.stderr).toBe(0);
    expect((await here.reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it.each([
    [
      "where one rule can be deleted",
      'group.rule.delete: { method: DELETE, path: "/api/v1/security-group/{id}/rule/{rule_id}" }',
    ],
    ["where a group has to be replaced for it", "group.rule.delete: null"],
  ])("keeps the service's own rules after the import, and no further group is made, %s", async (_, dialect) => {
    here = await standAtTheDoor({}, { with: ["group.rule.delete"] });
    here.door.become({
      tell: ({ operation, nthOfItsKind }) =>
        operation === "group.create" && nthOfItsKind === 1 ? "nothing" : undefined,
    });
    here.write("reconcile.yaml", world(dialect));
    const lost = await here.reconcile("apply", "-y");
    expect([lost.exitCode, lost.stdout + lost.stderr]).toEqual([
      1,
      expect.stringContaining("reconcile import group.back"),
    ]);
    const { groups, rules } = here.emulator.dump();
    const { id } = groups.find(({ name }) => name === "back")!;
    const own = rules.filter((rule) => rule.security_group_id === id);
    expect(own.length).toBeGreaterThan(1);
    const imported = await here.reconcile("import", "group.back", id);
    expect(imported.exitCode, imported.stdout + imported.stderr).toBe(0);
    for (let round = 1; round <= 2; round++) {
      const ran = await here.reconcile("apply", "-y");
      expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    }
    const after = here.emulator.dump();
    expect(after.groups).toHaveLength(groups.length);
    expect(after.rules.filter((rule) => rule.security_group_id === id)).toEqual(own);
    expect((await here.reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });
});

const vm = `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms, discovery_window: 200ms }, dialect: { operations: { DIALECT } } }
vms: { one: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
`;

describe("a VM whose id nothing tells", () => {
  it("has the same way on in every run, as text and as JSON, and is not being built for ever", async () => {
    here = await standAtTheDoor({});
    here.write("reconcile.yaml", vm.replace("DIALECT", "vm.list: null"));
    for (let round = 1; round <= 2; round++) {
      const ran = await here.reconcile("apply", "-y", "--json");
      expect(ran.exitCode, ran.stdout).toBe(4);
      const summary = JSON.parse(ran.stdout.trim().split("\n").at(-1)!) as {
        diagnostics: { code: string; fix?: string }[];
      };
      const waits = summary.diagnostics.filter(({ code }) => code === "apply/waiting" || code === "apply/id-unknown");
      expect(JSON.stringify(waits)).toContain("reconcile import vm.one ID");
    }
    const { id } = here.emulator.dump().vms.find(({ name }) => name === "one")!;
    const imported = await here.reconcile("import", "vm.one", id);
    expect([imported.exitCode, imported.stdout]).toEqual([
      0,
      expect.stringMatching(/^It was not seen \(.+\): the record says what its create asked for\.$/m),
    ]);
    expect((await here.reconcile("state", "show", "vm.one")).stdout).not.toContain("being built");
  });
});

describe("a volume whose create had no answer", () => {
  it("is taken over also while the file replaces its VM under another volume", async () => {
    here = await standAtTheDoor({});
    const file = (root: number, more: string) =>
      `${vm.replace("DIALECT", "").replace("size: 10", `size: 10, root_size: ${root}`)}volumes: { data: { size: 3, attach_to: one }${more} }\n`;
    here.write("reconcile.yaml", file(50, ""));
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(0);
    here.door.become({ tell: ({ operation }) => (operation === "volume.create" ? "nothing" : undefined) });
    const more = ", more: { size: 4, attach_to: one }";
    here.write("reconcile.yaml", file(50, more));
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(1);
    here.door.become({});
    here.write("reconcile.yaml", file(80, more));
    const { id } = here.emulator.dump().volumes.find(({ name }) => name === "more")!;
    const imported = await here.reconcile("import", "volume.more", id);
    expect(imported.exitCode, imported.stdout + imported.stderr).toBe(0);
    const all = ["-y", "--allow-data-loss", "--confirm-flush", "all"];
    expect((await here.reconcile("apply", ...all)).exitCode).toBe(0);
    expect((await here.reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
    expect(here.emulator.dump().volumes.filter(({ name }) => name === "more")).toHaveLength(1);
  });
});

describe("a name that our own orphan bears", () => {
  it("is said to be the orphan's, with both ways on", async () => {
    here = await standAtTheDoor({}, { with: ["volume.list"] });
    const operations = "volume.list: { method: GET, path: /api/v1/volume/list }, volume.delete: null";
    const text = `${vm.replace("DIALECT", operations).replace(/vms: .*\n/, "")}volumes: { data: { size: 3 } }\n`;
    here.write("reconcile.yaml", text);
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(0);
    const { id } = here.emulator.dump().volumes.find(({ name }) => name === "data")!;
    expect((await here.reconcile("destroy", "-y", "--allow-data-loss")).exitCode).toBe(0);
    const plan = await here.reconcile("plan");
    expect(plan.stdout + plan.stderr).toContain("it is an orphan of this state");
    expect(plan.stdout + plan.stderr).toContain(
      `reconcile orphans delete ${id}, or reconcile import volume.data ${id}`,
    );
  });
});

describe("a page token that begins with a slash", () => {
  it("is named as one, and nobody is told to give the list up", async () => {
    here = await standAtTheDoor({
      tell({ operation }, answer) {
        if (operation !== "vm.list" || answer.status !== 200) return undefined;
        return { status: 200, body: { ...(answer.body as object), page: { next: "/Abc123==" } } };
      },
    });
    here.write("reconcile.yaml", vm.replace("DIALECT", ""));
    const plan = await here.reconcile("plan");
    expect(plan.stderr).toContain("pagination: { as: token }");
    expect(plan.stderr).not.toContain("does not have it");
  });
});

describe("groups that name each other", () => {
  it("are taken over one by the command and the other by its entry in the file", async () => {
    here = await standAtTheDoor({}, { with: ["group.list"] });
    const naming = (other: string) => `{ rules: [ { protocol: tcp, dst_port: 5432, remote_group: ${other} } ] }`;
    const both = world("group.list: { method: GET, path: /api/v1/security-group }").replace(
      /(?<=groups: ).*/,
      `{ back: ${naming("front")}, front: ${naming("back")} }`,
    );
    here.write("reconcile.yaml", both);
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(0);
    const idOf = (wanted: string) => here.emulator.dump().groups.find(({ name }) => name === wanted)!.id;
    for (const address of ["group.back", "group.front"])
      expect((await here.reconcile("state", "rm", address)).exitCode).toBe(0);
    const alone = await here.reconcile("import", "group.back", idOf("back"));
    expect([alone.exitCode, alone.stderr]).toEqual([1, expect.stringContaining("imports: [ { to: group.front")]);
    here.write("reconcile.yaml", `${both}imports: [ { to: group.front, id: "${idOf("front")}" } ]\n`);
    const imported = await here.reconcile("import", "group.back", idOf("back"));
    expect(imported.exitCode, imported.stderr).toBe(0);
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(0);
    expect((await here.reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });
});
