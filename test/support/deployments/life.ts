/** A whole life of a project before a deployment: made, changed, moved and gone, each twice. */
import { expect } from "vitest";
import { type BenchWorld, projectOf } from "../bench-world";

const tcp = (port: number, remote: object = { remote_ip: "0.0.0.0/0" }) => ({
  protocol: "tcp",
  dst_port: port,
  ...remote,
});
const ask = { flush: { via: "ask" } };

/** From nothing to nothing, through what a file can say. */
const chapters: readonly (readonly [title: string, blocks: object, destroy?: true])[] = [
  [
    "made",
    {
      vms: { web: {}, base: { name: "db-1" }, cache: {} },
      volumes: {
        data: { size: 20, attach_to: "base", ...ask },
        spare: { size: 5, ...ask },
        third: { size: 7, ...ask },
      },
      groups: {
        front: { description: "first", rules: [tcp(443), tcp(80)] },
        back: { rules: [tcp(5432, { remote_group: "front" }), tcp(22, { remote_group: "back" })] },
        lone: {},
      },
    },
  ],
  [
    "changed",
    {
      vms: { web: { flavor_id: "m1.medium" }, base: { name: "base" } },
      volumes: { data: { size: 30, attach_to: "base", ...ask }, spare: { size: 8, attach_to: "web", ...ask } },
      groups: {
        front: { name: "edge", description: "second", rules: [tcp(443)] },
        back: { rules: [tcp(5432, { remote_group: "front" })] },
      },
    },
  ],
  [
    "moved and rebuilt",
    {
      vms: { web: { flavor_id: "m1.medium", image_id: "debian-12" }, base: { name: "base", power: "stopped" } },
      volumes: { data: { size: 30, attach_to: "web", ...ask }, spare: { size: 8, ...ask } },
      groups: { front: { name: "edge", rules: [tcp(443), tcp(8443)] } },
    },
  ],
  ["gone", {}, true],
];

export async function liveThrough(world: BenchWorld): Promise<void> {
  for (const [title, blocks, destroy] of chapters) {
    const desired = projectOf(blocks);
    const options = destroy === true ? { destroy: true, allowEmpty: true } : {};
    const { plan, report } = await world.apply(desired, options);
    const errors = plan.diagnostics.filter(({ severity }) => severity === "error");
    expect([title, errors.map(({ summary, detail, fix }) => [summary, detail, fix])]).toEqual([title, []]);
    const open = report?.steps
      .filter(({ result }) => result.end !== "done")
      .map(({ step, result }) => [step.id, result]);
    expect([title, open]).toEqual([title, []]);
    const again = await world.plan(desired, options);
    expect([title, again.changes.map(({ address, fields }) => [address, fields])]).toEqual([title, []]);
    expect([title, again.diagnostics.filter(({ severity }) => severity === "error")]).toEqual([title, []]);
  }
  const left = world.emulator.dump() as unknown as Readonly<Record<string, readonly { readonly platform?: boolean }[]>>;
  expect(left["vms"] ?? []).toEqual([]);
  expect((left["groups"] ?? []).filter(({ platform }) => platform !== true)).toEqual([]);
}
