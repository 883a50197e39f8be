/** A run with another project's credential makes nothing and forgets nothing, also where its lists are merely empty. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type Ran, runCli } from "../support/cli-process";
import { list, lists } from "../support/fixes/scene";
import { type AtTheDoor, standAtTheDoor } from "../support/own-place";

let here: AtTheDoor;
afterEach(() => here.close());

const head = (operations: string): string => `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms, discovery_window: 100ms, vm_create_timeout: 1s }, dialect: { operations: { ${operations} } } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
`;
const everyList = Object.entries(lists)
  .map(([name, route]) => `${name}: ${route}`)
  .join(", ");
const services = {
  "with every list": everyList,
  "with the contract's operations": `vm.list: ${list("/api/v1/vm/list")}`,
};
const listing = {
  SecurityGroups: [{ GroupName: "front", Description: "d", IpPermissions: [], IpPermissionsEgress: [] }],
};

const as = (token: string, ...args: readonly string[]): Promise<Ran> =>
  runCli(args, { cwd: here.folder, env: { RECONCILE_TOKEN: token, RECONCILE_BASE_URL: here.door.url } });

function known(): string {
  const { resources, orphans, intents } = JSON.parse(readFileSync(join(here.folder, "reconcile.state.json"), "utf8"));
  return JSON.stringify([resources, orphans, intents]);
}
const everything = (): string => JSON.stringify([here.emulator.dump(), known()]);

async function applied(operations: string, text: string): Promise<void> {
  here = await standAtTheDoor(
    {},
    { with: ["vm.get", "volume.list", "group.list", "group.get", "volume.delete"], strict: true },
  );
  here.write("reconcile.yaml", head(operations) + text);
  here.write("listing.json", JSON.stringify(listing));
  const ran = await here.reconcile("apply", "-y");
  expect(ran.exitCode, ran.stderr).toBe(0);
}

const worlds = {
  "a VM": ["vms: { web: {} }", "vms: { web: {}, new: {} }", "vm.new"],
  "a volume": ["volumes: { data: { size: 3 } }", "volumes: { data: { size: 3 }, new: { size: 1 } }", "volume.new"],
  "a group": ["groups: { web: {} }", "groups: { web: {}, new: {} }", "group.new"],
} as const;

describe.each(Object.entries(services))("%s", (_, operations) => {
  it.each(Object.entries(worlds))("the state has %s", async (_name, [text, more, added]) => {
    await applied(operations, text);
    here.write("reconcile.yaml", head(operations) + more);
    const before = everything();
    for (const door of [
      ["apply", "-y", "--allow-data-loss", "--recreate", "all"],
      ["apply", "-y", "--target", added],
      ["group", "import", "listing.json"],
      ["destroy", "-y", "--allow-data-loss"],
    ]) {
      const ran = await as("outsider-token", ...door);
      expect([door, ran.exitCode, everything() === before], ran.stdout + ran.stderr).toEqual([door, 3, true]);
    }
    const own = await here.reconcile("apply", "-y", "--target", added);
    expect(own.exitCode, own.stderr).toBe(0);
  });
});

it("a state that has nothing left is recognised by what it was shown beside it", async () => {
  await applied(everyList, "groups: { web: {} }");
  expect((await here.reconcile("destroy", "-y")).exitCode).toBe(0);
  const before = everything();
  const other = await as("outsider-token", "apply", "-y");
  expect([other.exitCode, everything() === before], other.stderr).toEqual([3, true]);
  expect(other.stderr).toMatch(/shows nothing that this state remembers \(group:/);
  expect((await here.reconcile("apply", "-y")).exitCode).toBe(0);
});

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
const jwt = (claims: object, at: string): string =>
  `${encoded({ alg: "none" })}.${encoded({ ...claims, iat: at })}.sign`;

it("where nothing at all can be shown, a credential that says whom it speaks for is recognised by that", async () => {
  here = await standAtTheDoor({});
  here.write("reconcile.yaml", `${head("vm.list: null")}groups: { web: {} }`);
  const ops = { iss: "https://id.example", sub: "ops" };
  for (const command of ["apply", "destroy"]) expect((await as(jwt(ops, command), command, "-y")).exitCode).toBe(0);
  expect(readFileSync(join(here.folder, "reconcile.state.json"), "utf8")).toMatch(/"subject":"[0-9a-f]{16}"/);
  const other = await as(jwt({ ...ops, sub: "somebody" }, "now"), "apply", "-y");
  expect([other.exitCode, here.emulator.dump().groups.some(({ name }) => name === "web")]).toEqual([3, false]);
  expect(other.stderr).toMatch(/speaks for somebody else/);
  const own = await as(jwt(ops, "later"), "apply", "-y");
  expect(own.exitCode, own.stderr).toBe(0);
});
