/**
 * With the real command line: states that earlier versions wrote (test/pulumi/states), put into a stack as Pulumi keeps
 * them. The first up changes nothing in the service and leaves no secret in the clear, a refresh finds nothing, and what
 * is changed and deleted after that is.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { WorldDump } from "../../../emulator";
import { unwrap } from "../../../provider/plugin/wire";
import { isSecret } from "../../../provider/secrets";
import { dialectWithRuleDelete as dialect, everything } from "../shared-scenarios";
import { head, type Mode, modes } from "./program";
import { type RealStack, startStack, whyNot } from "./stack";

type Values = Record<string, unknown>;
interface Written {
  readonly origin: string;
  readonly world: WorldDump;
  readonly resources: readonly {
    readonly type: string;
    readonly name: string;
    readonly id: string;
    readonly args: Values;
    readonly inputs: Values;
    readonly outs: Values;
  }[];
}

const reason = whyNot();
const folder = join(__dirname, "../states");
const secretWords = /secret-volume|secret description|203\.0\.113\.77/;

/** As Pulumi takes it in: a secret with its plain text, which it encrypts. */
const asState = (value: unknown): unknown => {
  if (isSecret(value)) {
    const { value: hidden, ...mark } = value;
    return { ...mark, plaintext: JSON.stringify(unwrap(hidden)) };
  }
  if (Array.isArray(value)) return value.map(asState);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, asState(one)]));
};

/** As a program in JavaScript says it; the id of another resource is asked of that. */
const asCode = (value: unknown, ids: ReadonlyMap<unknown, string>): string => {
  if (isSecret(value)) return `pulumi.secret(${JSON.stringify(value.value)})`;
  if (Array.isArray(value)) return `[${value.map((one) => asCode(one, ids)).join(", ")}]`;
  if (typeof value !== "object" || value === null) {
    const named = ids.get(value);
    return named === undefined ? JSON.stringify(value) : `things[${JSON.stringify(named)}].id`;
  }
  return `{ ${Object.entries(value)
    .map(([key, one]) => `${key}: ${asCode(one, ids)}`)
    .join(", ")} }`;
};

describe.skipIf(reason !== undefined).each(modes)("the real engine, %s", (mode: Mode) => {
  let stack: RealStack;
  afterEach(() => stack.close());

  it.each(readdirSync(folder))(
    "a state of %s: no change, no secret in the clear; update and destroy work",
    async (file) => {
      const { [mode]: written } = JSON.parse(readFileSync(join(folder, file), "utf8")) as Record<Mode, Written>;
      stack = await startStack({ with: everything, seed: written.world });
      stack.environment["RECONCILE_DIALECT"] = "dialect.yaml";
      const succeeds = async (...args: string[]): Promise<string> => {
        const { code, text } = await stack.pulumi(...args);
        expect(code, text).toBe(0);
        return text;
      };
      await succeeds("config", "set", "mode", mode);
      stack.write({ "dialect.yaml": dialect, "index.js": `${head} new cloud.Volume("pattern", { size: 1 }, opts);` });
      await succeeds("up", "--yes", "--skip-preview");
      const exported = await stack.exported();
      const state = JSON.parse(exported.slice(exported.indexOf("{")));
      const pattern = state.deployment.resources.find(({ urn }: { urn: string }) => urn.endsWith("::pattern"));
      const old = written.resources.map(({ type, name, id, inputs, outs }) => ({
        ...pattern,
        urn: pattern.urn.replace(/:Volume::pattern$/, `:${type}::${name}`),
        type: pattern.type.replace(/Volume$/, type),
        ...{ id, inputs: asState(inputs), outputs: asState(outs), propertyDependencies: {} },
      }));
      state.deployment.resources = [
        ...state.deployment.resources.filter((one: unknown) => one !== pattern),
        // The same, of the service that serves it now.
        ...JSON.parse(JSON.stringify(old).replaceAll(written.origin, stack.emulator.url)),
      ];
      stack.write({ "old.json": JSON.stringify(state) });
      await succeeds("stack", "import", "--file", "old.json");

      const ids = new Map(written.resources.map(({ id, name }) => [id, name]));
      const program = (changes: Readonly<Record<string, Values>> = {}): string =>
        [
          `${head} const things = {};`,
          ...written.resources.map(
            ({ type, name, args }) =>
              `things["${name}"] = new cloud.${type}("${name}", ${asCode({ ...args, ...changes[name] }, ids)}, opts);`,
          ),
        ].join("\n");
      const from = stack.emulator.requests().log.length;
      const writes = () =>
        stack.emulator
          .requests()
          .log.slice(from)
          .filter(({ method }) => method !== "GET");
      stack.write({ "index.js": program() });
      await succeeds("preview");
      await succeeds("up", "--yes", "--skip-preview");
      if (mode === "plugin") expect(await stack.exported()).not.toMatch(secretWords);
      await succeeds("up", "--yes", "--skip-preview", "--expect-no-changes");
      await succeeds("refresh", "--yes", "--skip-preview", "--expect-no-changes");
      expect(writes()).toEqual([]);

      const changes = { "db-1": { flavorId: "m1.large" }, data: { size: 8 }, "web-group": { description: "another" } };
      stack.write({ "index.js": program(changes) });
      await succeeds("up", "--yes", "--skip-preview");
      expect(stack.emulator.dump().volumes).toContainEqual(expect.objectContaining({ name: "secret-volume", size: 8 }));
      expect(stack.emulator.dump().groups).toContainEqual(expect.objectContaining({ description: "another" }));
      await succeeds("destroy", "--yes", "--skip-preview");
      const { vms, volumes, groups } = stack.emulator.dump();
      expect(vms).toEqual([]);
      expect(volumes.filter(({ name }) => name === "secret-volume")).toEqual([]);
      expect(groups.filter(({ name }) => name === "web-group")).toEqual([]);
    },
  );
});
