import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { worldBlocks } from "../../reconciler/config/world-blocks";
import { writeYaml } from "../../reconciler/config/yaml/write";
import { pullWorld } from "../../reconciler/engine/pull";
import { type BenchWorld, desiredOf, dialectFor, startBenchWorld } from "../support/bench-world";
import { randomWorld, yamlOf } from "../support/random-worlds";
import { createMemoryStore } from "../support/virtual-world";

const runs = Number(process.env["RANDOM_WORLDS"] ?? 15);
const everything = ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"];

const head = { version: 1, project: "acme", region: "in-west-1", defaults: { vm: { user_id: "1042" } } };

async function pulledYaml(world: BenchWorld, lists: boolean): Promise<string> {
  const dump = (await world.control("GET", "/world")) as Record<
    "groups" | "volumes",
    { id: string; project_id: string }[]
  >;
  const own = (item: { project_id: string }): boolean => item.project_id === dump.groups[0]!.project_id;
  const pulled = await pullWorld(world.client, {
    vms: "all",
    volumes: lists ? "all" : dump.volumes.filter(own).map(({ id }) => id),
    groups: lists ? "all" : dump.groups.filter(own).map(({ id }) => id),
  });
  expect(pulled.diagnostics.filter(({ severity }) => severity !== "note")).toEqual([]);
  const { blocks } = worldBlocks(pulled);
  return writeYaml({ head, blocks });
}

describe.each([
  ["the built-in dialect, with every id given", {}],
  ["a service that lists everything", { with: everything }],
])("pull, with %s", (_, capabilities: { with?: string[] }) => {
  it(`what it writes takes everything over and changes nothing, and a second plan is empty (${runs} worlds)`, async () => {
    await fc.assert(
      fc.asyncProperty(randomWorld, fc.array(fc.nat(), { maxLength: 6 }), async (wanted, meddling) => {
        const world = await startBenchWorld({ ...capabilities, dialect: dialectFor(capabilities) });
        try {
          await world.apply(desiredOf(yamlOf(wanted)));
          await meddle(world, meddling);
          const text = await pulledYaml(world, capabilities.with !== undefined);
          world.refusals();
          const sent = world.emulator.requests().log.filter(({ method }) => method !== "GET").length;
          // A state of its own: nothing is known but what the file says.
          Object.assign(world.store.stored, createMemoryStore().stored);
          delete world.store.stored.snapshot;
          const desired = desiredOf(text);
          const { plan, report } = await world.apply(desired);
          expect(plan.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
          expect(plan.changes.filter(({ action, fields }) => action !== "import" || fields.length > 0)).toEqual([]);
          expect(plan.steps.filter(({ action }) => action.operation !== "record")).toEqual([]);
          expect(report?.steps.filter(({ result }) => result.end !== "done") ?? []).toEqual([]);
          const again = await world.apply(desired);
          expect(again.plan.changes).toEqual([]);
          expect(again.plan.bookkeeping).toEqual([]);
          expect(world.emulator.requests().log.filter(({ method }) => method !== "GET")).toHaveLength(sent);
          expect(world.refusals()).toEqual([]);
        } finally {
          await world.close();
        }
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});

it("what it writes shows a character that hides or turns a text as its number, and is read as the same text", () => {
  const description = "web \u202e0.0.0.0/0\u202c # \u200b\u0085\ttail";
  const fields = { description, rules: [{ protocol: "tcp", dst_port: 22, description }] };
  const text = writeYaml({ head, blocks: [{ kind: "group", key: "web", fields }] });
  expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(parse(text).groups.web).toEqual(fields);
});

/** What no file asked for: odd names, rules beyond the vocabulary, port ranges, texts that look like YAML. */
async function meddle(world: BenchWorld, choices: readonly number[]): Promise<void> {
  const dump = (await world.control("GET", "/world")) as Record<
    "groups" | "volumes" | "vms",
    { id: string; name: string }[]
  >;
  const own = dump.groups.filter(({ name }) => name !== "default");
  for (const choice of choices) {
    const group = own[choice % Math.max(1, own.length)];
    const volume = dump.volumes[choice % Math.max(1, dump.volumes.length)];
    const vm = dump.vms[choice % Math.max(1, dump.vms.length)];
    switch (choice % 7) {
      case 0:
        if (group !== undefined)
          await world.control("POST", `/group/${group.id}/rule`, {
            direction: "ingress",
            ethertype: "IPv4",
            protocol: "tcp",
            remote_ip: "10.9.0.0/16",
            port_range_min: 8000 + (choice % 5),
            port_range_max: 8010,
          });
        break;
      case 1:
        if (group !== undefined)
          await world.control("PATCH", `/group/${group.id}`, {
            description: "- ${var.x}: # 'odd' \"text\"\nsecond line",
          });
        break;
      case 2:
        if (volume !== undefined)
          await world.control("PATCH", `/volume/${volume.id}`, { name: `odd: name ${choice % 3} # ${"${x}"}` });
        break;
      case 3:
        if (vm !== undefined) await world.control("PATCH", `/vm/${vm.id}`, { name: "Odd Name" });
        break;
      case 4:
        if (group !== undefined)
          await world.control("POST", `/group/${group.id}/rule`, {
            direction: "ingress",
            ethertype: "IPv4",
            remote_address_group_id: "11111111-2222-4333-8444-555555555555",
          });
        break;
      case 5:
        if (group !== undefined)
          await world.control("POST", `/group/${group.id}/rule`, {
            direction: "ingress",
            ethertype: "IPv6",
            protocol: "udp",
            port_range_min: 0,
            port_range_max: 1023,
          });
        break;
      default:
        if (vm !== undefined) await world.client.stopVm(vm.id);
    }
  }
}
