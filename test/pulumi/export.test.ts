import { transpileModule } from "typescript";
import { afterEach, describe, expect, it } from "vitest";
import { emptyState } from "../../reconciler/core/state/fold";
import { openStoredState } from "../../reconciler/engine/plan";
import { exportedParts, pulumiProgram } from "../../reconciler/one/program-text";
import { type BenchWorld, desiredOf, startBenchWorld } from "../support/bench-world";
import { createHandlerProgram } from "../support/handler-program";

const file = `
version: 1
project: acme
region: in-west-1
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { db: { name: db-1, lifecycle: { preserved_volumes: delete, prevent_destroy: true } }, web: { for_each: [a, b], name: "web-\${each}" } }
volumes: { data: { size: 20, attach_to: db, flush: { via: stop } }, spare: { size: 5 } }
groups:
  front: { name: front, rules: [ { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 }, { protocol: tcp, dst_port: 22, remote_group: back } ] }
  back: { name: back, rules: [ { protocol: tcp, dst_port: 5432, remote_group: front }, { protocol: udp, dst_port: 53, remote_group: self } ] }
`;

describe("reconcile export pulumi", () => {
  let world: BenchWorld;
  afterEach(() => world.close());

  it.each([
    ["with the file it was applied from", true],
    ["from the state alone", false],
  ])(
    "a program made %s takes everything over, changes nothing, and has nothing to do after that",
    async (_, hasFile) => {
      world = await startBenchWorld();
      const desired = desiredOf(file);
      await world.apply(desired);
      const before = world.emulator.dump();
      const { state } = openStoredState(await world.store.read(), "memory", "x");
      const known = hasFile ? desired : { ...desired, resources: [] };
      const parts = exportedParts(known, state).map((part) => {
        const id = state.resources.get(part.address)?.id;
        return part.type === "SecurityGroupRule" || part.type === "VolumeAttachment"
          ? part
          : { ...part, inputs: { ...part.inputs, adopt: id } };
      });
      const program = createHandlerProgram(world);
      world.refusals();
      expect(await program.up(parts)).toEqual(parts.map(({ address }) => `create ${address}`));
      expect(world.emulator.dump()).toEqual(before);
      expect(await program.up(parts)).toEqual([]);
      expect(world.refusals()).toEqual([]);
      // What the CLI would still do is nothing as well.
      expect((await world.plan(desired)).changes).toEqual([]);
    },
  );

  it("is valid TypeScript with every reference by its variable, and a list for pulumi import", async () => {
    world = await startBenchWorld();
    const desired = desiredOf(file);
    await world.apply(desired);
    const { state } = openStoredState(await world.store.read(), "memory", "x");
    const files = pulumiProgram("acme", exportedParts(desired, state), state);
    const compiled = transpileModule(files["index.ts"]!, { reportDiagnostics: true });
    expect(compiled.diagnostics).toEqual([]);
    expect(files["index.ts"]).toContain("vmId: vmDb.id");
    expect(files["index.ts"]).toContain("protect: true");
    expect(files["index.ts"]).toContain(`adopt: "${state.resources.get("vm.db")?.id}"`);
    const list = JSON.parse(files["import.json"]!) as {
      resources: { name: string; id?: string; component?: true }[];
    };
    expect(list.resources.map(({ name }) => name)).toContain("volume.data/attachment");
    // A component has no id: it is made by the import, as what its resources belong to.
    const withoutId = list.resources.filter(({ id }) => id === undefined || id === "");
    expect(withoutId.filter(({ component }) => component !== true)).toEqual([]);
  });
});

it("a component within another one is made below that one, and the outer one below none", () => {
  const volume = { type: "Volume", inputs: { name: "data", size: 5 }, protect: false, ignoreChanges: [] } as const;
  const state = emptyState("here");
  const parts = ["shop/db/volume.data", "volume.plain"].map((address) => ({ ...volume, address }));
  const { "index.ts": program = "" } = pulumiProgram("shop", parts, state);
  const made = program.split(/;\n+/).filter((text) => text.startsWith("const "));
  const parentsOf = made.map((line) => [/"([^":]+)"[,)]/.exec(line)?.[1], /parent: (\w+)/.exec(line)?.[1]]);
  const outer = /^const (\w+)/.exec(made[0] ?? "")?.[1];
  const inner = /^const (\w+)/.exec(made[1] ?? "")?.[1];
  expect(parentsOf).toEqual([
    ["shop", undefined],
    ["shop/db", outer],
    ["shop/db/volume.data", inner],
    ["volume.plain", undefined],
  ]);
});

it("no variable has the name of what the program imports, of what is there without it, or none that a variable may have", () => {
  const volume = { type: "Volume", inputs: { name: "data", size: 5 }, protect: false, ignoreChanges: [] } as const;
  const keys = ["pulumi", "Volume", "shown", "Error", "undefined", "module", "exports", "require", "2nd", "class"];
  const parts = keys.map((key) => ({ ...volume, address: `${key}/volume.data` }));
  const outputs = [{ name: "Volume", value: "one", sensitive: false }];
  const { "index.ts": program = "" } = pulumiProgram("shop", parts, emptyState("here"), outputs);
  expect(transpileModule(program, { reportDiagnostics: true }).diagnostics).toEqual([]);
  const declared = [...program.matchAll(/^(?:export )?const (\S+)/gm)].map(([, name = ""]) => name);
  expect(declared).toHaveLength(2 * keys.length + 1);
  expect(new Set(declared).size).toBe(declared.length);
  expect(declared.filter((name) => keys.includes(name) || !/^[A-Za-z_]\w*$/.test(name))).toEqual([]);
});
