/**
 * What a service says of names when it says little or odd things: none, the same of several, the same but for case or
 * spaces, too short, too long. What was pulled there is taken over as it is: the plan is empty or says what is in its
 * way, nothing is made beside what exists, and nothing is renamed.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { worldBlocks } from "../../reconciler/config/world-blocks";
import { writeYaml } from "../../reconciler/config/yaml/write";
import { canonicalText } from "../../reconciler/core/text/canonical-text";
import { findDrift } from "../../reconciler/engine/drift";
import { pullWorld } from "../../reconciler/engine/pull";
import { desiredOf, projectOf } from "../support/bench-world";
import { type Capabilities, createMemoryStore, virtualWorld } from "../support/virtual-world";

const runs = Number(process.env["RANDOM_WORLDS"] ?? 10);
const head = { version: 1, project: "acme", region: "in-west-1", defaults: { vm: { user_id: "1042" } } };
const standing = projectOf({
  vms: { web: { for_each: 3, name: "web-${each}" } },
  volumes: {
    data: { for_each: 3, name: "data-${each}", size: 5, attach_to: "web[0]" },
    spare: { for_each: 2, name: "spare-${each}", size: 6 },
  },
  groups: {
    front: { for_each: 3, name: "front-${each}", rules: [{ protocol: "tcp", dst_port: 80, remote_ip: "10.0.0.0/8" }] },
    back: { rules: [{ protocol: "tcp", dst_port: 22, remote_group: "front[0]" }] },
  },
});

type Telling = (name: string, id: string) => string | undefined;
const tellings: readonly Telling[] = [
  (name) => name,
  () => undefined,
  () => "same",
  () => "Same",
  () => " same ",
  () => "same-2",
  () => "web-0",
  (name) => ` ${name.toUpperCase()}`,
  () => "ö",
  () => "x".repeat(60),
  // What no file may hold, in the description of a group as well.
  () => "y".repeat(300),
  (name) => `${name}\u001b[31m\nred`,
  // What a label of this very record would be, and of another.
  (_, id) => `volume-${id.replaceAll("-", "").slice(0, 8)}`,
  () => "group-11111111",
  () => "vm-11111111",
];

const services: readonly (readonly [string, Capabilities])[] = [
  ["that lists VMs alone", {}],
  ["that lists everything", { with: ["vm.get", "volume.list", "group.list", "group.get", "group.rule.delete"] }],
  ["that reads groups one by one", { with: ["vm.get", "group.get"] }],
  ["that lists groups and not volumes", { with: ["group.list"] }],
];

describe.each(services)("pull from a service %s", (_, given) => {
  it(`takes over what has no name, or another's (${runs} worlds)`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(tellings.length - 1), { minLength: 16, maxLength: 16 }), async (choices) => {
        const stage = virtualWorld(given, () => true, { secondMs: 0 });
        await stage.apply(await stage.plan(standing));
        const { client } = stage;
        const things = () => {
          const { vms, volumes, groups } = stage.emulated.dump();
          return [...vms, ...volumes, ...groups].map(({ id, name }) => `${id} ${name}`);
        };
        const before = things();
        const order = before.map((one) => one.split(" ")[0]);
        const told = <T extends { readonly id: string; readonly name?: string }>(one: T): T => {
          if (one.name === undefined || one.name === "default") return one;
          const telling = tellings[choices[order.indexOf(one.id) % choices.length] ?? 0] ?? tellings[0]!;
          const name = telling(one.name, one.id);
          const read = name === undefined ? undefined : canonicalText(name);
          const description = "kind" in one && one.kind === "group" ? { description: `of ${read}` } : {};
          return { ...one, ...description, name: read ?? ("kind" in one && one.kind === "vm" ? "" : undefined) };
        };
        retell(client, told);
        const ids = (table: "volumes" | "groups") => stage.emulated.dump()[table].map(({ id }) => id);
        const pulled = await pullWorld(client, {
          vms: "all",
          volumes: client.can.seesVolumes === "list" ? "all" : ids("volumes"),
          groups: client.can.seesGroups === "list" ? "all" : ids("groups"),
        });
        const text = writeYaml({ head, blocks: worldBlocks(pulled).blocks });
        Object.assign(stage.store.stored, createMemoryStore().stored);
        delete stage.store.stored.snapshot;
        stage.takeSent();
        const desired = desiredOf(text);
        const prepared = await stage.plan(desired);
        const errors = prepared.plan.diagnostics.filter(({ severity }) => severity === "error");
        expect(
          errors.map(({ code, summary }) => `${code} ${summary}`),
          text,
        ).toEqual([]);
        expect(
          prepared.plan.changes.filter(({ action, fields }) => action !== "import" || fields.length > 0),
          text,
        ).toEqual([]);
        await stage.apply(prepared);
        const again = await stage.plan(desired);
        expect([again.plan.changes, again.plan.steps], text).toEqual([[], []]);
        expect((await findDrift(client, await stage.state())).drifts, text).toEqual([]);
        expect(stage.takeSent().filter(({ operation }) => !/list|get/.test(operation))).toEqual([]);
        expect(things()).toEqual(before);
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});

function retell(client: object, told: <T extends { readonly id: string; readonly name?: string }>(one: T) => T): void {
  for (const call of ["listVms", "getVm", "listVolumes", "getVolume", "listGroups", "getGroup"]) {
    const ask: (...words: unknown[]) => Promise<{ readonly status: string; readonly value?: unknown }> = Reflect.get(
      client,
      call,
    );
    Reflect.set(client, call, async (...words: unknown[]) => {
      const answer = await ask(...words);
      if (answer.status !== "accepted") return answer;
      const { value } = answer;
      return { ...answer, value: Array.isArray(value) ? value.map(told) : told(value as { id: string }) };
    });
  }
}
