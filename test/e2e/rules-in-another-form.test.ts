/**
 * A service that keeps rules in another form than they were sent, or has accepted one and does not have it. What is
 * declared is admitted all the time, and the same traffic in other rules is no difference.
 */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { WorldDump } from "../../emulator";
import type { OtherService } from "../support/other-services/other-service";
import { type AtTheDoor, standAtTheDoor } from "../support/own-place";

type Stored = WorldDump["rules"][number];

const reads = `group.list: { method: GET, path: /api/v1/security-group }, group.get: { method: GET, path: "/api/v1/security-group/{id}" }`;
const deletes = `, group.rule.delete: { method: DELETE, path: "/api/v1/security-group/{id}/rule/{rule_id}" }`;
const file = (ports: readonly (number | string)[], more = deletes): string => `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms, discovery_window: 200ms }, dialect: { rules: { port_range: "{min}-{max}" }, operations: { ${reads}${more} } } }
groups: { app: { rules: [ ${ports.map((port) => `{ protocol: tcp, dst_port: ${port}, remote_ip: 10.0.0.0/8 }`).join(", ")} ] } }
`;

let here: AtTheDoor;
let leastOpen: number;
const ofApp = (): readonly Stored[] => here.emulator.dump().rules.filter(({ direction }) => direction === "ingress");
/** How many of the ports 80 to 89 are open. */
const openPorts = (): number =>
  Array.from({ length: 10 }, (_, index) => 80 + index).filter((port) =>
    ofApp().some((rule) => Number(rule.port_range_min) <= port && port <= Number(rule.port_range_max)),
  ).length;
const deleted = (): number => here.door.heard.filter(({ asked }) => asked.operation === "group.rule.delete").length;

/** Counts what is open after every answer. */
const watched = (service: OtherService): OtherService => ({
  ...service,
  async tell(asked, answer, truth) {
    const said = await service.tell?.(asked, answer, truth);
    leastOpen = Math.min(leastOpen, openPorts());
    return said;
  },
});

/** Keeps what is sent as `kept` has it. */
const keeping = (kept: (rules: readonly Stored[]) => readonly Stored[]): OtherService => ({
  async tell({ operation }, _, truth) {
    if (operation === "group.create" || operation === "group.rule.create")
      await truth.change((world) => ({ ...world, rules: [...kept(world.rules)] }));
    return undefined;
  },
});

/** Ranges that touch are one. */
function joined(rules: readonly Stored[]): readonly Stored[] {
  const kept: Stored[] = [];
  for (const rule of [...rules].sort((a, b) => Number(a.port_range_min) - Number(b.port_range_min))) {
    const at = kept.findIndex(
      (one) => one.port_range_max !== null && one.port_range_max + 1 >= Number(rule.port_range_min ?? 0),
    );
    const one = kept[at];
    if (one === undefined || rule.port_range_min === null) kept.push(rule);
    else kept[at] = { ...one, port_range_max: Math.max(Number(one.port_range_max), Number(rule.port_range_max)) };
  }
  return kept;
}

/** Each port is a rule of its own. */
const divided = (rules: readonly Stored[]): readonly Stored[] =>
  rules.flatMap((rule) =>
    rule.port_range_min === null || rule.port_range_max === null
      ? [rule]
      : Array.from({ length: rule.port_range_max - rule.port_range_min + 1 }, (_, index) => {
          const port = Number(rule.port_range_min) + index;
          return {
            ...rule,
            id: index === 0 ? rule.id : crypto.randomUUID(),
            port_range_min: port,
            port_range_max: port,
          };
        }),
  );

beforeEach(async () => {
  here = await standAtTheDoor({}, { with: ["group.list", "group.get", "group.rule.delete"], portRange: "{min}-{max}" });
  leastOpen = 10;
});
afterEach(() => here.close());

const exits = async (count: number, ...args: readonly string[]): Promise<readonly number[]> => {
  const codes: number[] = [];
  for (let ran = 0; ran < count; ran++) codes.push((await here.reconcile(...args)).exitCode);
  return codes;
};

describe("the same traffic in other rules is no difference", () => {
  it.each([
    ["joined, where a rule can be deleted", joined, [80, 81], deletes, 2],
    ["joined, where none can", joined, [80, 81], ", group.rule.delete: null", 2],
    ["divided, where a rule can be deleted", divided, ["80-83"], deletes, 4],
    ["divided, where none can", divided, ["80-83"], ", group.rule.delete: null", 4],
  ])("%s", async (_, kept, ports, more, open) => {
    here.write("reconcile.yaml", file(ports, more));
    here.door.open(keeping(kept));
    // What was sent is not what shows; it is what is admitted.
    expect(await exits(2, "apply", "-y")).toEqual([0, 0]);
    expect(await exits(1, "plan", "--detailed-exitcode")).toEqual([0]);
    expect([here.writes(), openPorts()]).toEqual([1, open]);
  });
});

it.each([
  ["joined, where a rule can be deleted", joined, [80, 81], 88, deletes],
  ["joined, where none can", joined, [80, 81], 88, ", group.rule.delete: null"],
  ["joined with it", joined, [80, 81], 82, deletes],
  ["divided, where a rule can be deleted", divided, ["80-81"], 88, deletes],
  ["divided, where none can", divided, ["80-81"], 88, ", group.rule.delete: null"],
])("a further rule is added beside them, and they stay: %s", async (_, kept, ports, further, more) => {
  here.write("reconcile.yaml", file(ports, more));
  here.door.open(watched(keeping(kept)));
  expect(await exits(1, "apply", "-y")).toEqual([0]);
  leastOpen = 10;
  here.write("reconcile.yaml", file([...ports, further], more));
  const ran = await here.reconcile("apply", "-y");
  expect([ran.exitCode, openPorts(), leastOpen, here.writes(), deleted()], ran.stdout).toEqual([0, 3, 2, 2, 0]);
  expect(await exits(1, "plan", "--detailed-exitcode")).toEqual([0]);
});

it("what is left over beside them goes, and they stay", async () => {
  here.write("reconcile.yaml", file([80, 81]));
  here.door.open(keeping(joined));
  expect(await exits(1, "apply", "-y")).toEqual([0]);
  const [group] = here.emulator.dump().groups.filter(({ name }) => name === "app");
  await here.door.truth.change((world) => {
    const [one] = world.rules.filter((rule) => rule.security_group_id === group?.id && rule.direction === "ingress");
    const stray = { ...one!, id: crypto.randomUUID(), port_range_min: 88, port_range_max: 88 };
    return { ...world, rules: [...world.rules, stray] };
  });
  expect(openPorts()).toBe(3);
  expect(await exits(2, "apply", "-y")).toEqual([0, 0]);
  expect([openPorts(), deleted()]).toEqual([2, 1]);
});

it("a group whose other rules are left alone keeps its own in another form", async () => {
  const additive = file([80, 81]).replace("app: {", "app: { rules_mode: additive,");
  here.write("reconcile.yaml", additive);
  here.door.open(keeping(joined));
  expect(await exits(2, "apply", "-y")).toEqual([0, 0]);
  expect([here.writes(), openPorts()]).toEqual([1, 2]);
});

describe("a rule goes once others are seen to admit what is declared", () => {
  const narrowed = async (service: OtherService, before: readonly string[] = ["80-89"]) => {
    here.write("reconcile.yaml", file(before));
    here.door.open({});
    expect(await exits(1, "apply", "-y")).toEqual([0]);
    here.write("reconcile.yaml", file(["80-84"]));
    here.door.open(watched(service));
    return here.reconcile("apply", "-y");
  };
  const swallowing: OtherService = {
    hear: ({ operation }) => (operation === "group.rule.create" ? { status: 200, body: { data: "ok" } } : undefined),
  };

  it("an honest service is asked for one look more, and no port was closed", async () => {
    const ran = await narrowed({});
    expect([ran.exitCode, deleted(), leastOpen, openPorts()], ran.stderr).toEqual([0, 1, 5, 5]);
    const looks = here.door.heard.filter(({ asked }) => asked.operation === "group.rule.list").length;
    expect(looks).toBeLessThanOrEqual(3);
  });

  it("what shares nothing with the declared goes without that look", async () => {
    const ran = await narrowed({}, ["80-84", "86-89"]);
    expect([ran.exitCode, deleted(), openPorts()], ran.stderr).toEqual([0, 1, 5]);
    const looks = here.door.heard.filter(({ asked }) => asked.operation === "group.rule.list").length;
    expect(looks).toBeLessThanOrEqual(2);
  });

  it("a new rule that was accepted and is not there keeps the old one, and an honest service ends it", async () => {
    const ran = await narrowed(swallowing);
    expect([ran.exitCode, deleted(), leastOpen]).toEqual([1, 0, 10]);
    expect(ran.stdout.replace(/\s+/g, " ")).toContain(
      "no other rule shows that it admits tcp 80-84 from 10.0.0.0/8, which is declared",
    );
    here.door.open(watched({}));
    expect([await exits(2, "apply", "-y"), leastOpen, openPorts()]).toEqual([[0, 0], 5, 5]);
  });

  it("those that go and admit the same are not taken for each other", async () => {
    here.write("reconcile.yaml", file(["80-81", 80, 81]));
    here.door.open({});
    expect(await exits(1, "apply", "-y")).toEqual([0]);
    here.write("reconcile.yaml", file(["80-89"]));
    here.door.open(watched(swallowing));
    expect([await exits(1, "apply", "-y"), leastOpen]).toEqual([[1], 2]);
    here.door.open(watched({}));
    expect([await exits(2, "apply", "-y"), leastOpen, ofApp().length]).toEqual([[0, 0], 2, 1]);
  });

  it("one that shows after a while is waited for", async () => {
    let hidden = 3;
    const ran = await narrowed({
      tell({ operation }, answer) {
        const body = answer.body as { data: { port_range_max?: number }[] };
        if (operation !== "group.rule.list" || deleted() > 0 || hidden-- <= 0) return undefined;
        return { ...answer, body: { data: body.data.filter(({ port_range_max }) => port_range_max !== 84) } };
      },
    });
    expect([ran.exitCode, deleted(), leastOpen, openPorts()], ran.stderr).toEqual([0, 1, 5, 5]);
  });

  it("what a service has joined with a rule of somebody else stays as it is", async () => {
    const ran = await narrowed(keeping(joined));
    expect([ran.exitCode, deleted(), leastOpen, openPorts()]).toEqual([1, 0, 10, 10]);
  });
});
