/** No word means gone by itself: the same word is "deleted" on one service and "stopped" on another. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AtTheDoor, retold, standAtTheDoor } from "../support/own-place";

let here: AtTheDoor;
let shown: Record<string, string>;

beforeEach(async () => {
  shown = {};
  const word = (record: Record<string, unknown>): object => {
    const status = shown[String(record["name"])];
    const { attached_to: _, ...rest } = record;
    return status === undefined ? rest : { ...rest, status };
  };
  here = await standAtTheDoor({ tell: retold({ vm: word, volume: word }) }, { with: ["vm.get", "volume.list"] });
});
afterEach(() => here.close());

const world = (dialect = ""): string => `version: 1
project: acme
region: in-west-1
service:
  timing: { poll_interval: 5ms, discovery_window: 300ms, vm_create_timeout: 3s }
  dialect: { operations: { vm.get: { method: GET, path: "/api/v1/vm/{id}" }, volume.list: { method: GET, path: /api/v1/volume/list } }${dialect} }
vms:
  one: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
  two: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
volumes: { spare: { size: 7 } }
`;

async function applied(text = world()): Promise<void> {
  here.write("reconcile.yaml", text);
  const ran = await here.reconcile("apply", "-y");
  expect(ran.exitCode, ran.stderr).toBe(0);
}

const anew = ["apply", "-y", "--recreate", "all"];

describe("a word that is deleted on one service and stopped on another", () => {
  it.each(["TERMINATED", "deleted", "soft_deleted", "Destroyed"])(
    "holds the plan up with the line to write, and makes nothing: a VM that shows %s",
    async (status) => {
      await applied();
      const before = here.writes();
      shown = { one: status };
      for (const args of [["plan"], ["apply", "-y"], anew, ["destroy", "-y", "--allow-data-loss"]]) {
        const ran = await here.reconcile(...args);
        expect(ran.exitCode, ran.stdout + ran.stderr).toBe(1);
        expect(ran.stderr).toContain(`shows ${status}`);
        expect(ran.stderr).toContain(`states: { vm: { gone: [${status}] } }`);
      }
      expect(await here.watchOnce("--recreate", "all")).toContain(
        "the dialect does not say whether that is stopped or gone",
      );
      expect(here.writes()).toBe(before);
      here.write("reconcile.yaml", world(`, states: { vm: { stopped: [${status}] } }`));
      const settled = await here.reconcile("plan", "--detailed-exitcode");
      expect(settled.exitCode, settled.stdout + settled.stderr).toBe(0);
    },
  );

  it("is gone where the dialect says so, and the evidence quotes the word", async () => {
    await applied();
    shown = { one: "TERMINATED" };
    here.write("reconcile.yaml", world(", states: { vm: { gone: [TERMINATED] } }"));
    const plan = await here.reconcile("plan");
    expect(plan.stdout + plan.stderr).toMatch(
      /GET \/api\/v1\/vm\/\S+ shows it as TERMINATED, which the dialect calls gone/,
    );
    expect(plan.stdout + plan.stderr).not.toContain("no such id");
  });

  it("quotes the list where a VM cannot be read by itself", async () => {
    const listed = (dialect: string) => world(dialect).replace(/vm\.get: .*?\}, /, "");
    await applied(listed(""));
    shown = { one: "TERMINATED" };
    here.write("reconcile.yaml", listed(", states: { vm: { gone: [TERMINATED] } }"));
    await new Promise((resolve) => setTimeout(resolve, 400));
    const plan = await here.reconcile("plan");
    expect(plan.stdout + plan.stderr).toContain("the list of VMs shows it as TERMINATED, which the dialect calls gone");
  });

  it("holds a volume up as well", async () => {
    await applied();
    const before = here.writes();
    shown = { spare: "deleted" };
    const ran = await here.reconcile(...anew);
    expect([ran.exitCode, here.writes()], ran.stderr).toEqual([1, before]);
    expect(ran.stderr).toContain("states: { volume: { gone: [deleted] } }");
  });

  it("quotes the request and the status of a not-found", async () => {
    await applied();
    await here.door.truth.change((all) => ({ ...all, volumes: all.volumes.filter(({ name }) => name !== "spare") }));
    const plan = await here.reconcile("plan");
    expect(plan.stdout + plan.stderr).toMatch(/no such id \(GET \/api\/v1\/volume\/\S+: HTTP 404, "[^"]*not [^"]*"\)/);
  });
});

it("a VM that shows such a word as soon as it is made asks for the line, and offers no replacement", async () => {
  shown = { one: "deleted" };
  here.write("reconcile.yaml", world());
  const ran = await here.reconcile("apply", "-y");
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(1);
  expect(ran.stdout).toContain("states: { vm: { gone: [deleted] } }");
  expect(ran.stdout).not.toContain("--replace");
});

describe("a delete that ends in such a word", () => {
  it("waits its window, says the line, and ends with it", async () => {
    await applied();
    const vm = here.emulator.dump().vms.find(({ name }) => name === "one")!;
    const { tell } = { tell: retold({}) };
    here.door.become({
      tell: (asked, answer) => {
        const gone = !here.emulator.dump().vms.some(({ id }) => id === vm.id);
        if (!gone) return tell(asked, answer);
        const record = { id: vm.id, name: "one", status: "terminated" };
        if (asked.operation === "vm.list") {
          const { data } = answer.body as { data: unknown[] };
          return { status: 200, body: { data: [...data, record] } };
        }
        return asked.operation === "vm.get" && asked.id === vm.id ? { status: 200, body: { data: record } } : undefined;
      },
    });
    const less = (dialect: string) => world(dialect).replace(/ {2}one: .*\n/, "");
    here.write("reconcile.yaml", less(""));
    const ran = await here.reconcile("apply", "-y", "--allow-data-loss", "--confirm-flush", "all");
    expect(ran.exitCode, ran.stdout).toBe(1);
    expect(ran.stdout + ran.stderr).toContain("states: { vm: { gone: [terminated] } }");
    here.write("reconcile.yaml", less(", states: { vm: { gone: [terminated] } }"));
    const again = await here.reconcile("apply", "-y", "--allow-data-loss", "--confirm-flush", "all");
    expect(again.exitCode, again.stdout + again.stderr).toBe(0);
    expect((await here.reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });
});
