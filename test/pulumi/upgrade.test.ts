/**
 * States that earlier versions wrote (test/pulumi/states, each with the world of its service), served by today's provider:
 * the first up sends nothing that changes the service and leaves no secret in the clear, a refresh finds nothing, and what
 * is changed and deleted after that is. `recorded` may differ once, where an earlier plugin wrote a secret in the clear.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator, type WorldDump } from "../../emulator";
import { isSecret } from "../../provider/secrets";
import { type ProviderProcess, secret, startProviderProcess } from "./provider-process";
import { dialectWithRuleDelete as dialect, everything } from "./shared-scenarios";

type Values = Record<string, unknown>;
interface Kept {
  readonly type: string;
  readonly name: string;
  readonly id: string;
  /** As the program says them. */
  readonly args: Values;
  inputs: Values;
  outs: Values;
}
interface Written {
  readonly origin: string;
  readonly world: WorldDump;
  readonly resources: Kept[];
}
type Mode = "dynamic" | "plugin";

const folder = join(__dirname, "states");
const secretWords = /secret-volume|secret description|203\.0\.113\.77/;

/** What a state has in the clear. */
const clear = (value: unknown): unknown => {
  if (isSecret(value)) return "[secret]";
  if (Array.isArray(value)) return value.map(clear);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, clear(one)]));
};

describe.each(readdirSync(folder))("a state of %s", (file) => {
  let emulator: RunningEmulator;
  let provider: ProviderProcess;
  afterEach(async () => {
    await provider.stop();
    await emulator.close();
  });

  it.each<Mode>(["dynamic", "plugin"])(
    "%s: no change, no secret in the clear; refresh, update and delete work",
    async (mode) => {
      // The file holds what the two modes wrote.
      const { [mode]: written } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Record<Mode, Written>;
      emulator = await startEmulator({ timeScale: 0, with: everything, seed: written.world });
      const text = JSON.stringify(written.resources).replaceAll(written.origin, emulator.url);
      // The same, of the service that serves it now.
      const kept = JSON.parse(text) as Kept[];
      const timing = JSON.stringify({ poll_interval: "20ms", discovery_window: "500ms" });
      const settings: Values = { baseUrl: emulator.url, token: secret("ops-token"), timing, dialect };
      const prefixed = Object.fromEntries(
        Object.entries(settings).map(([key, value]) => [`reconcile-cloud:${key}`, value]),
      );
      provider = await startProviderProcess({ kind: mode, config: mode === "dynamic" ? prefixed : settings });
      const urnOf = ({ type, name }: Kept): string =>
        `urn:pulumi:dev::demo::${mode === "dynamic" ? "pulumi-nodejs:dynamic/reconcile-cloud" : "reconcile-cloud:index"}:${type}::${name}`;
      const writes = () => emulator.requests().log.filter(({ method }) => method !== "GET");
      /** An up of what the program says now; answers with what changed of each. */
      const up = async (changes: Readonly<Record<string, Values>> = {}): Promise<Record<string, readonly string[]>> => {
        const changed: Record<string, readonly string[]> = {};
        for (const one of kept) {
          const checked = await provider.check(urnOf(one), one.inputs, { ...one.args, ...changes[one.name] });
          expect(checked.failures).toEqual([]);
          const found = await provider.diff(one.id, urnOf(one), one.outs, checked.inputs, one.inputs);
          expect(found.replaces).toEqual([]);
          if (found.changes !== "some") continue;
          changed[one.name] = found.detailed;
          one.outs = await provider.update(one.id, urnOf(one), one.outs, checked.inputs);
          one.inputs = checked.inputs;
        }
        return changed;
      };

      for (const what of Object.values(await up())) expect([mode, what]).toEqual(["plugin", ["~recorded"]]);
      expect(writes()).toEqual([]);
      if (mode === "plugin") expect(JSON.stringify(kept.map(({ outs }) => clear(outs)))).not.toMatch(secretWords);
      expect(await up()).toEqual({});

      for (const one of kept) {
        const read = await provider.read(one.id, urnOf(one), one.outs, one.inputs);
        expect(read.id).toBe(one.id);
        one.outs = read.outs ?? {};
      }
      expect(await up()).toEqual({});
      expect(writes()).toEqual([]);

      const description = mode === "plugin" ? secret("another") : "another";
      expect(
        Object.keys(await up({ "db-1": { flavorId: "m1.large" }, data: { size: 8 }, "web-group": { description } })),
      ).toEqual(["db-1", "data", "web-group"]);
      expect(emulator.dump().volumes).toContainEqual(expect.objectContaining({ name: "secret-volume", size: 8 }));
      expect(emulator.dump().groups).toContainEqual(expect.objectContaining({ description: "another" }));

      for (const one of [...kept].reverse()) await provider.delete(one.id, urnOf(one), one.outs);
      const { vms, volumes, groups } = emulator.dump();
      expect(vms).toEqual([]);
      expect(volumes.filter(({ name }) => name === "secret-volume")).toEqual([]);
      expect(groups.filter(({ name }) => name === "web-group")).toEqual([]);
    },
  );
});
