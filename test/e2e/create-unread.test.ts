/** The answer to a create does not fit the dialect: it is told as that, and nothing else of its kind is created. */
import { afterEach, describe, expect, it } from "vitest";
import { type AtTheDoor, standAtTheDoor } from "../support/own-place";

let here: AtTheDoor;
afterEach(() => here.close());

const world = (rest = ""): string => `version: 1
project: acme
region: in-west-1
service:
  timing: { poll_interval: 5ms, discovery_window: 100ms }
  dialect: { operations: { group.rule.delete: null }${rest} }
groups:
  back: { rules: [{ protocol: tcp, dst_port: 5432, remote_ip: 10.0.0.0/8 }] }
  front: { rules: [{ protocol: tcp, dst_port: 443, remote_ip: 10.0.0.0/8 }] }
  side: {}
`;
const made = (): string[] =>
  here.emulator
    .dump()
    .groups.filter(({ platform }) => !platform)
    .map(({ name }) => name)
    .sort();

const answers = {
  "a record of other names": [
    (id: unknown) => ({ kind: "compute#operation", targetId: id, progress: 100 }),
    "found the keys kind, targetId, progress",
    "in the dialect: records.group.id: [/targetId]",
    ", records: { group: { id: [/id, /targetId], rules: [/rules] } }",
  ],
  "a record that is wrapped": [
    (id: unknown) => ({ sg: { sg_id: id, label: "x" } }),
    "found the keys sg, and within it the keys sg_id, label",
    "in the dialect: records.group.id: [/sg/sg_id]",
    ", records: { group: { id: [/id, /sg/sg_id], rules: [/rules] } }",
  ],
} as const;

describe.each(Object.entries(answers))("%s", (_, [answer, keys, line, records]) => {
  it("is named with the places, the keys and the line; no second one is made, and its fix ends", async () => {
    here = await standAtTheDoor({
      tell({ operation }, { status, body }) {
        if (operation !== "group.create" || status >= 300) return undefined;
        const record = (body as { data?: { id?: unknown } }).data ?? (body as { id?: unknown });
        return { status: 200, body: answer(record.id) };
      },
    });
    here.write("reconcile.yaml", world());
    const ran = await here.reconcile("apply", "-y");
    const said = ran.stdout + ran.stderr;
    expect(ran.exitCode, said).toBe(1);
    expect(made()).toHaveLength(1);
    for (const part of ["outcome unknown", 'tried "/id"', keys, line, "nothing was sent"]) expect(said).toContain(part);

    const [name = ""] = made();
    const { id } = here.emulator.dump().groups.find((one) => one.name === name)!;
    here.write("reconcile.yaml", world(records));
    const imported = await here.reconcile("import", `group.${name}`, id);
    expect(imported.exitCode, imported.stdout + imported.stderr).toBe(0);
    const again = await here.reconcile("apply", "-y");
    expect(again.exitCode, again.stdout + again.stderr).toBe(0);
    expect(made()).toEqual(["back", "front", "side"]);
    expect((await here.reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });
});

it("where a list shows what was made, the others go on", async () => {
  here = await standAtTheDoor(
    {
      tell: ({ operation }, { status }) =>
        operation === "volume.create" && status < 300 ? { status: 200, body: { task: "t-1" } } : undefined,
    },
    { with: ["volume.list"] },
  );
  here.write(
    "reconcile.yaml",
    `version: 1
project: acme
region: in-west-1
service:
  timing: { poll_interval: 5ms, discovery_window: 200ms }
  dialect: { operations: { volume.list: { method: GET, path: /api/v1/volume/list } } }
volumes: { one: { size: 1 }, two: { size: 2 }, three: { size: 3 } }
`,
  );
  const ran = await here.reconcile("apply", "-y");
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
  expect(
    here.emulator
      .dump()
      .volumes.map(({ name }) => name)
      .sort(),
  ).toEqual(["one", "three", "two"]);
});
