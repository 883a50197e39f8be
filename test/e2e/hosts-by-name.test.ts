/** A service whose volumes name their VM by its name, and a dialect that says so. */
import { afterEach, describe, expect, it } from "vitest";
import { type AtTheDoor, retold, standAtTheDoor } from "../support/own-place";

let here: AtTheDoor;
afterEach(() => here.close());

const place = '{ in: "/users/*", cut: "*/instances/{value}", absent: none';
const world = (attachedTo: string, vms = "db: { name: db-main }, web: { name: web-main }", on = "db") => `version: 1
project: acme
region: in-west-1
service:
  timing: { poll_interval: 5ms, discovery_window: 200ms, vm_create_timeout: 1s }
  dialect: { operations: { volume.list: { method: GET, path: /api/v1/volume/list } }, records: { volume: { attached_to: ${attachedTo} } } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { ${vms} }
volumes: { data: { size: 3, attach_to: ${on} } }
`;

/** As `users: [".../instances/db-main"]`. */
const namesHosts = () =>
  retold({
    volume: ({ attached_to, ...record }) => {
      const host = here.emulator.dump().vms.find(({ id }) => id === attached_to);
      return host === undefined ? record : { ...record, users: [`https://api/v1/instances/${host.name}`] };
    },
  });

async function open(): Promise<void> {
  here = await standAtTheDoor({}, { with: ["volume.list"] });
  here.door.open({ tell: (asked, answer) => namesHosts()(asked, answer) });
}
const run = async (...args: string[]) => {
  const ran = await here.reconcile(...args);
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
};
const hostOfData = () => {
  const { vms, volumes } = here.emulator.dump();
  return vms.find(({ id }) => id === volumes.find(({ name }) => name === "data")?.attached_to)?.name;
};

describe("a volume that names its VM by name", () => {
  it("is attached once, moved, kept where it is when the VM is renamed, and detached", async () => {
    await open();
    const byName = `${place}, by: name }`;
    here.write("reconcile.yaml", world(byName));
    await run("apply", "-y");
    await run("plan", "--detailed-exitcode");
    expect(hostOfData()).toBe("db-main");
    const sent = here.writes();
    await run("apply", "-y");
    expect(here.writes()).toBe(sent);
    here.write("reconcile.yaml", world(byName, "db: { name: db-new }, web: { name: web-main }"));
    await run("apply", "-y");
    await run("plan", "--detailed-exitcode");
    expect([hostOfData(), here.writes()]).toEqual(["db-new", sent + 1]);
    here.write("reconcile.yaml", world(byName, "db: { name: db-new }, web: { name: web-main }", "web"));
    await run("apply", "-y", "--confirm-flush", "all");
    await run("plan", "--detailed-exitcode");
    expect(hostOfData()).toBe("web-main");
    await run("destroy", "-y", "--allow-data-loss", "--confirm-flush", "all", "--allow-removal", "all");
    expect(here.emulator.dump().vms).toEqual([]);
  });

  it("and a dialect that takes the name for an id: nothing is sent, and the line is named", async () => {
    await open();
    here.write("reconcile.yaml", world(`${place} }`));
    expect((await here.reconcile("apply", "-y")).exitCode).toBe(1);
    const sent = here.writes();
    for (let round = 1; round <= 2; round++) {
      const ran = await here.reconcile("apply", "-y", "--confirm-flush", "all");
      expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringContaining("by: name")]);
    }
    expect([here.writes(), hostOfData()]).toEqual([sent, "db-main"]);
    here.write("reconcile.yaml", world(`${place}, by: name }`));
    await run("apply", "-y");
    await run("plan", "--detailed-exitcode");
    expect(here.writes()).toBe(sent);
  });
});
