/** An identity is a kind and an id: where each kind counts by itself, VM 106 and volume 106 live beside each other. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { jsonLines } from "../support/cli-process";
import { type OtherService, plain } from "../support/other-services/other-service";
import { ownNumbers } from "../support/other-services/world";
import { type AtTheDoor, standAtTheDoor } from "../support/own-place";

let here: AtTheDoor;
let numbers: OtherService;

beforeEach(async () => {
  here = await standAtTheDoor({}, { with: ["vm.get", "volume.list", "group.list", "group.get"] });
  numbers = ownNumbers(() => here.emulator.dump());
  here.door.open(numbers);
});
afterEach(() => here.close());

const operations = `operations: { vm.get: { method: GET, path: "/api/v1/vm/{id}" }, volume.list: { method: GET, path: /api/v1/volume/list }, group.list: { method: GET, path: /api/v1/security-group }, group.get: { method: GET, path: "/api/v1/security-group/{id}" } }`;
const world = (count = 6, size = 3) => `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms, discovery_window: 500ms, vm_create_timeout: 5s }, dialect: { ${operations} } }
vms: { web: { for_each: ${count}, name: "web-\${each}", owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
volumes: { data: { for_each: ${count}, name: "data-\${each}", size: ${size}, attach_to: "web[\${each}]" } }
groups: { app: { for_each: ${count}, name: "app-\${each}", rules: [ { protocol: tcp, dst_port: 443 } ] } }
`;
const run = async (...args: string[]) => {
  const ran = await here.reconcile(...args);
  expect(ran.exitCode, `${args.join(" ")}: ${ran.stdout}${ran.stderr}`).toBe(0);
  return ran;
};
const settled = async () => {
  const ran = await here.reconcile("plan", "--detailed-exitcode");
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
};
const counted = () => {
  const { vms, volumes, groups } = here.emulator.dump();
  const named = (things: readonly { name: string }[], what: string) =>
    things.filter(({ name }) => name.startsWith(what));
  return [named(vms, "web-").length, named(volumes, "data-").length, named(groups, "app-").length];
};
const resources = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    jsonLines((await run("state", "list", "--json")).stdout).flatMap((line) =>
      line["type"] === "resource" ? [[String(line["address"]), String(line["id"])]] : [],
    ),
  );

describe("ids that each kind counts by itself", () => {
  it("are made, changed, moved in the state and deleted without one being taken for another", async () => {
    here.write("reconcile.yaml", world());
    await run("apply", "-y");
    expect(counted()).toEqual([6, 6, 6]);
    await settled();
    const ids = await resources();
    expect(new Set(Object.values(ids)).size).toBeLessThan(Object.keys(ids).length);
    here.write("reconcile.yaml", world(6, 4));
    await run("apply", "-y", "--confirm-flush", "all");
    await settled();
    for (const address of ["vm.web[3]", "volume.data[3]", "group.app[3]"]) {
      await run("state", "rm", address);
      await run("import", address, ids[address]!);
      await settled();
    }
    await run("destroy", "-y", "--allow-data-loss", "--confirm-flush", "all", "--allow-removal", "all");
    expect(counted()).toEqual([0, expect.any(Number), 0]);
  });

  it("are managed here as what they are, and not as what another kind has that number", async () => {
    here.write("reconcile.yaml", world());
    await run("apply", "-y");
    const ids = await resources();
    const asked = { vm: "vm.web[3]", volume: "volume.data[0]", group: "group.app[0]" };
    const named = Object.entries(asked).flatMap(([kind, address]) => [`--${kind}`, ids[address]!]);
    const { stdout } = await run("pull", ...named);
    const told = [...stdout.matchAll(/^# managed by this project already, .* is (\S+)$/gm)].map(([, one]) => one);
    // The volume that hangs on the VM comes along.
    expect(told.sort()).toEqual([...Object.values(asked), "volume.data[3]"].sort());
  });

  it("are found after lost answers, each as what it is", async () => {
    here.write("reconcile.yaml", world(1));
    await run("apply", "-y");
    here.write("reconcile.yaml", world());
    here.door.become({
      ...numbers,
      tell: ({ operation, nthOfItsKind }) =>
        /^(vm|volume|group)\.create$/.test(operation) && nthOfItsKind % 2 === 0 ? "nothing" : undefined,
    });
    await run("apply", "-y");
    expect(counted()).toEqual([6, 6, 6]);
    here.door.become(numbers);
    await settled();
  });

  it("are adopted by name, and found by a run after one that was cut off", async () => {
    here.write("reconcile.yaml", world());
    await run("apply", "-y");
    const ids = await resources();
    for (const address of Object.keys(ids)) if (address.startsWith("vm.")) await run("state", "rm", address);
    await run("apply", "-y", "--adopt");
    expect(counted()).toEqual([6, 6, 6]);
    await settled();
    let isLost = false;
    here.write("reconcile.yaml", world(8));
    here.door.become({
      ...numbers,
      tell(asked) {
        isLost ||= asked.operation === "vm.create";
        return isLost ? "nothing" : undefined;
      },
    });
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(1);
    here.door.become(numbers);
    await run("apply", "-y");
    expect(counted()).toEqual([8, 8, 8]);
    await settled();
  });

  it("are orphans by kind: what has the number of another kind is not touched", async () => {
    here.write("reconcile.yaml", world(2));
    await run("apply", "-y");
    const ids = await resources();
    await run("state", "rm", "vm.web[1]");
    const refused = await here.reconcile("import", "volume.data[0]", ids["vm.web[0]"]!);
    expect(refused.stdout + refused.stderr).not.toContain("is managed as vm.");
  });

  it("are ended one by one where two kinds share an id, and never the other one", async () => {
    const left = (deletes: string) =>
      world(1)
        .replace("vm.get:", `volume.delete: ${deletes}, vm.get:`)
        .replace('attach_to: "web[${each}]"', "lifecycle: { prevent_destroy: false }");
    here.write("reconcile.yaml", left("null"));
    await run("apply", "-y");
    const { "volume.data[0]": id = "" } = await resources();
    await run("destroy", "-y", "--allow-data-loss", "--confirm-flush", "all");
    // The state remembers a group of the same number as well.
    const state = JSON.parse((await run("state", "pull")).stdout) as { orphans: Record<string, object> };
    state.orphans[`group:${id}`] = { kind: "group", id, name: "of-before", reason: "left behind" };
    here.write("copy.json", JSON.stringify(state));
    await run("state", "push", "copy.json", "--force");
    here.write("reconcile.yaml", left('{ method: DELETE, path: "/api/v1/volume/{id}" }'));
    const before = counted();
    const refused = await here.reconcile("orphans", "delete", id, "--allow-data-loss");
    expect([refused.exitCode, refused.stderr, counted()]).toEqual([
      1,
      expect.stringMatching(
        new RegExp(`orphans delete (volume|group):${id} .*, or reconcile orphans delete (volume|group):${id}`),
      ),
      before,
    ]);
    await run("orphans", "delete", `volume:${id}`, "--allow-data-loss");
    const listed = await run("orphans", "list");
    expect(listed.stdout).toContain("of-before");
    expect(listed.stdout).not.toMatch(/data-0\b/);
  });
});

const blocks = {
  vm: 'owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 3',
  volume: "size: 3",
};
it.each(["vm", "volume"] as const)("%s: an id in other letters is no second resource to take over", async (kind) => {
  const made = () => here.emulator.dump()[`${kind}s`][0]?.id ?? "none";
  // Ids are taken in any case.
  const lower = (text: string) => text.replaceAll(made().toUpperCase(), made());
  here.door.open({ spell: { ...plain, in: lower } });
  const file = (...keys: string[]) =>
    `${world(0).replace(/^(vms|volumes|groups):.*$/gm, "")}${kind}s:\n${keys.map((key) => `  ${key}: { ${blocks[kind]} }\n`).join("")}`;
  here.write("reconcile.yaml", file("first"));
  await run("apply", "-y");
  here.write("reconcile.yaml", file("first", "second"));
  const taken = await here.reconcile("import", `${kind}.second`, made().toUpperCase());
  expect(taken.exitCode, taken.stdout).toBe(1);
  expect(taken.stderr).toContain(`write the id as the service does: ${made()}`);
  expect((await here.reconcile("import", `${kind}.second`, made())).stderr).toContain(
    `managed as ${kind}.first already`,
  );
});
