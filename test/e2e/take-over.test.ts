import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines } from "../support/cli-process";
import { done, headOf, ownPlace } from "../support/own-place";

const place = ownPlace();
const { write, read, reconcile, writes } = place;

const head = headOf("poll_interval: 5ms");
const world = `${head}vms: { app: { name: app-1, root_size: 60 }, db: { name: db-1, size: 20 } }
volumes: { data: { size: 5, attach_to: db }, spare: { size: 7 } }
groups:
  web: { description: Public web, rules: [ { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0, description: HTTPS } ] }
  db: { name: db-tier, rules: [ { protocol: tcp, dst_port: 5432, remote_group: web }, { protocol: udp, dst_port: 53, remote_ip: "2001:db8::/32" } ] }
`;

/** Builds the world under another state, so that this folder knows nothing of it; ids by address. */
async function existing(): Promise<Record<string, string>> {
  write(world, "builder.yaml");
  const ran = await reconcile("apply", "builder.yaml", "-y", "--state", "builder.json");
  expect(ran.exitCode, ran.stderr).toBe(0);
  const pulled = await reconcile("state", "pull", "-f", "builder.yaml", "--state", "builder.json");
  const state = JSON.parse(pulled.stdout) as { resources: Record<string, { id: string }> };
  return Object.fromEntries(Object.entries(state.resources).map(([address, { id }]) => [address, id]));
}

describe("reconcile pull", () => {
  it("writes a file that takes over what exists: applying it sends no write, and then there is nothing to do", async () => {
    const ids = await existing();
    const sent = writes();
    const given = ["--project", "acme", "--region", "in-west-1", "--user-id", "1042"];
    const which = ["--volume", ids["volume.spare"]!, "--group", ids["group.web"]!, "--group", ids["group.db"]!];
    const pulled = await reconcile("pull", ...given, ...which, "--out", "reconcile.yaml");
    expect(pulled.exitCode, pulled.stderr).toBe(0);
    const text = read("reconcile.yaml");
    expect(text).toContain("root_size: 60");
    expect(text).toMatch(/data:\n {4}size: 5\n {4}attach_to: db-1\n/);
    expect(text).toMatch(/spare:\n {4}size: 7\n/);
    expect(text).toContain("the service does not show its name; write it as name:");
    const plan = await reconcile("plan", "--json");
    const lines = jsonLines(plan.stdout) as { type: string; action: string; fields: unknown[]; changes: object }[];
    expect(lines.at(-1)!.changes).toEqual({ create: 0, update: 0, replace: 0, delete: 0, import: 6 });
    for (const { action, fields } of lines.filter(({ type }) => type === "change"))
      expect([action, fields]).toEqual(["import", []]);
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
    expect(writes()).toBe(sent);
  });

  it("leaves out what no record shows and says so, so that validate tells where it is missing", async () => {
    await existing();
    const pulled = await reconcile("pull", "--vm", "APP-1", "--out", "pulled.yaml");
    expect(pulled.exitCode).toBe(0);
    expect(pulled.stderr).toContain("user_id is in no record");
    expect(read("pulled.yaml")).toContain("# fill in: project, region, user_id");
    expect(read("pulled.yaml")).not.toContain("db-1");
    const checked = await reconcile("validate", "pulled.yaml");
    expect(checked.exitCode).toBe(1);
    for (const missing of ["project", "region", "user_id"]) expect(checked.stderr).toContain(missing);
  });

  it("writes over no file without --force, and nothing at all when something asked for does not exist", async () => {
    await existing();
    write("mine", "mine.yaml");
    expect((await reconcile("pull", "--out", "mine.yaml")).stderr).toContain("mine.yaml exists already");
    const ran = await reconcile("pull", "--group", "00000000-0000-4000-8000-00000000dead", "--out", "new.yaml");
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain("the service shows no security group");
    expect([read("mine.yaml"), existsSync(join(place.folder, "new.yaml"))]).toEqual(["mine", false]);
  });
});

describe("reconcile import", () => {
  it("--generate on an address that is not declared prints block and imports entry, and records nothing", async () => {
    const ids = await existing();
    const sent = writes();
    const blocks: string[] = [];
    for (const [address, id] of [
      ["vm.primary", "db-1"],
      ["volume.store", ids["volume.data"]!],
      ["group.fe", ids["group.web"]!],
    ] as const) {
      const ran = await reconcile("import", address, id, "--generate");
      expect(ran.exitCode, ran.stderr).toBe(0);
      blocks.push(ran.stdout);
    }
    expect(blocks[0]).toContain(
      "vms:\n  # fill in: user_id (the service does not show it)\n  primary:\n    name: db-1\n",
    );
    expect(blocks[0]).toContain(`imports:\n  - { to: vm.primary, id: ${ids["vm.db"]} }\n`);
    expect(blocks[2]).toContain(
      "groups:\n  # the service does not show its name; write it as name:, and take name out of ignore_changes\n  fe:\n    name: fe-1\n",
    );
    expect(blocks[2]).toContain("- { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0, description: HTTPS }");
    expect([writes(), existsSync(join(place.folder, "reconcile.state.json"))]).toEqual([sent, false]);
    // Each block is a file of its own here; together they are one desired state.
    const files = blocks.map((text, index) => {
      write(index === 0 ? `${head}${text}` : `version: 1\n${text}`, `${index}.yaml`);
      return `${index}.yaml`;
    });
    const plan = await reconcile("plan", ...files, "--json");
    expect(jsonLines(plan.stdout).at(-1)).toMatchObject({ changes: { import: 3, update: 0, create: 0, replace: 0 } });
  });

  it("--generate names the component in the imports entry, and says where the block belongs", async () => {
    const ids = await existing();
    const one = await reconcile("import", "shop/vm.web[a]", "db-1", "--generate");
    expect(one.stderr).toContain("reconcile import shop/vm.web-a db-1 --generate");
    const ran = await reconcile("import", "shop/vm.web-a", "db-1", "--generate");
    const [block, imports] = ran.stdout.split("\nimports:\n");
    expect(block).toContain("# for the file of the component shop/; imports stand in the project's own");
    expect(imports).toBe(`  - { to: shop/vm.web-a, id: ${ids["vm.db"]} }\n`);
    write(`component: 1\n${block}`, "shop.yaml");
    write(`${head}components: { shop: { from: ./shop.yaml } }\nimports:\n${imports}`);
    const plan = await reconcile("plan", "--json");
    expect(jsonLines(plan.stdout).at(-1)).toMatchObject({ changes: { import: 1, update: 0, create: 0, replace: 0 } });
  });

  it("--generate of one instance of a for_each says that the block is no more than that", async () => {
    const ids = await existing();
    write(`${head}vms: { app: { for_each: [a, b], name: "app-\${each}", size: 5 } }\n`);
    const ran = await reconcile("import", "vm.app[a]", ids["vm.db"]!, "--generate");
    expect(ran.stdout).toContain(
      "# vm.app[a] as it is; the for_each of its block, and what holds for all, are not in it\n",
    );
  });

  it("--generate says why the block of what it took over is not printed", async () => {
    const ids = await existing();
    write(world);
    place.emulator.setFaults([{ operation: "vm.list", kind: "status", code: 403, when: "before", skip: 1, count: 9 }]);
    const ran = await reconcile("import", "vm.db", ids["vm.db"]!, "--generate");
    expect(ran).toEqual({
      exitCode: 1,
      stdout: expect.stringContaining(`vm.db is ${ids["vm.db"]} now.`),
      stderr: expect.stringMatching(/error\[service\/.*403/),
    });
    expect((await reconcile("state", "list")).stdout).toContain(ids["vm.db"]);
  });

  it("takes over every kind, a VM by its name as well, and --generate prints the block of a declared one too", async () => {
    const ids = await existing();
    write(world);
    const sent = writes();
    const first = await reconcile("import", "vm.db", "db-1", "--generate");
    expect(first.exitCode, first.stderr).toBe(0);
    expect(first.stdout).toContain(`vm.db is ${ids["vm.db"]} now.`);
    expect(first.stdout).toContain("  db:\n    name: db-1\n");
    // What is pulled next to it names what this project has already.
    expect((await reconcile("pull")).stdout).toContain(
      `# managed by this project already, take it out of here: ${ids["vm.db"]} is vm.db\n`,
    );
    // A state that cannot be read has anything, and not nothing.
    const kept = read("reconcile.state.json");
    write(kept.replace('"version":1', '"version":2'), "reconcile.state.json");
    const unread = await reconcile("pull");
    expect([unread.exitCode, unread.stderr]).toEqual([0, expect.stringContaining("warning[state/newer]")]);
    expect(unread.stdout).toContain("# managed by this project already: nobody knows what, for the state");
    // What the list lacks and this project has is not for a file that would let it go.
    write(kept.replaceAll(ids["vm.db"]!, "vm-away"), "reconcile.state.json");
    expect((await reconcile("pull")).stdout).toContain("# not seen: vm-away, which this project manages as vm.db\n");
    write(kept, "reconcile.state.json");
    for (const address of ["vm.app", "volume.data", "volume.spare", "group.web", "group.db"])
      expect((await reconcile("import", address, ids[address]!)).exitCode).toBe(0);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
    expect(writes()).toBe(sent);
  });

  it("what is forgotten by a command is told with what takes it back, of the same project", async () => {
    write(world);
    await done(reconcile("apply", "-y", "--state", "other.json"));
    const forgotten = await reconcile("state", "rm", "volume.data", "group.db", "volume.data", "--state", "other.json");
    const back = [...forgotten.stderr.replace(/\s+/g, " ").matchAll(/reconcile (import --state other.json \S+ \S+)/g)];
    expect(back, forgotten.stderr).toHaveLength(2);
    for (const [, words] of back) expect((await reconcile(...words!.split(" "))).exitCode).toBe(0);
    expect((await reconcile("plan", "--detailed-exitcode", "--state", "other.json")).exitCode).toBe(0);
  });

  it("does not say that it took over what a plan leaves alone beside a record that cannot be read", async () => {
    write(world);
    await done(reconcile("apply", "-y"));
    const state = JSON.parse((await reconcile("state", "pull")).stdout) as {
      resources: Record<string, { id: string }>;
    };
    await done(reconcile("state", "rm", "volume.data"));
    write(read("reconcile.state.json").replaceAll(/"flavor":"[^"]*"/g, '"flavor":5'), "reconcile.state.json");
    const ran = await reconcile("import", "volume.data", state.resources["volume.data"]!.id);
    expect([ran.exitCode, ran.stdout]).toEqual([1, ""]);
    expect(ran.stderr).toContain("because the record of vm.db cannot be read");
    expect(ran.stderr).toContain("error[plan/left-alone]: volume.data was not taken over");
  });

  it("imports entries in the file: by id for every kind, a VM by name", async () => {
    const ids = await existing();
    const entries = Object.entries(ids).filter(([address]) => address !== "vm.db");
    write(
      `${world}imports:\n  - { to: vm.db, name: db-1 }\n${entries.map(([to, id]) => `  - { to: ${to}, id: "${id}" }\n`).join("")}`,
    );
    const sent = writes();
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
    expect(writes()).toBe(sent);
  });
});
