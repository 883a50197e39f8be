import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { problemsOf } from "../../reconciler/config/generated/desired-state";
import { readDesired } from "../../reconciler/config/read/desired";
import { filePatternWords } from "../../reconciler/config/schema-words";
import { starterText } from "../../reconciler/config/starter";
import { ignorable } from "../../reconciler/core/model/fields";

interface Schema {
  readonly description?: string;
  readonly $ref?: string;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly properties?: Record<string, Schema>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
}
const text = readFileSync(join(__dirname, "../../schemas/desired-state.schema.json"), "utf8");
const schema = JSON.parse(text) as Schema & { $defs: Record<string, Schema> };

function every(node: unknown, visit: (node: Schema, path: string) => void, path = ""): void {
  if (typeof node !== "object" || node === null) return;
  if (!Array.isArray(node)) visit(node as Schema, path);
  for (const [key, inner] of Object.entries(node)) every(inner, visit, `${path}/${key}`);
}

describe("schemas/desired-state.schema.json", () => {
  it("describes every field and every definition", () => {
    const silent: string[] = [];
    every(schema, ({ properties }, path) => {
      for (const [name, field] of Object.entries(properties ?? {}))
        if (path.endsWith("/properties") === false && !described(field)) silent.push(`${path}/${name}`);
    });
    for (const [name, definition] of Object.entries(schema.$defs)) if (!described(definition)) silent.push(name);
    expect(silent).toEqual([]);
  });

  it("has a word for every pattern, so that no message shows a regular expression", () => {
    const patterns = new Set<string>();
    every(schema, ({ pattern }) => {
      if (typeof pattern === "string") patterns.add(pattern);
    });
    expect([...patterns].filter((pattern) => !(pattern in filePatternWords))).toEqual([]);
    expect(Object.keys(filePatternWords).filter((pattern) => !patterns.has(pattern))).toEqual([]);
  });

  it.each(["vm", "volume", "group"] as const)("knows the fields of a %s that ignore_changes may name", (kind) => {
    const ignore = schema.$defs[`${kind}_lifecycle`]?.properties?.["ignore_changes"];
    expect(ignore?.items?.anyOf?.[0]?.enum).toEqual(ignorable[kind]);
    const fields = Object.keys(schema.$defs[kind]?.properties ?? {});
    expect(ignorable[kind].filter((name) => !fields.includes(name))).toEqual([]);
  });

  it.each([
    ["a rule with two remotes", { groups: { grp: { rules: [{ remote_ip: "10.0.0.0/8", remote_group: "grp" }] } } }],
    ["icmp with a port", { groups: { grp: { rules: [{ protocol: "icmp", dst_port: 1 }] } } }],
    ["an import of nothing", { imports: [{ to: "vm.www" }] }],
    ["an import by id and name", { imports: [{ to: "vm.www", id: "1", name: "www" }] }],
    ["a lookup of nothing", { lookups: { a: { vm: {} } } }],
    ["an assertion of nothing", { reachability: [{ because: "x" }] }],
    [
      "two assertions in one",
      { reachability: [{ never: { from: "internet", to: "group.grp" }, only: { from: "internet", to: "group.grp" } }] },
    ],
  ])("refuses %s, as an editor shows it, and the reader has one problem for it", (_, part) => {
    const head = { version: 1, project: "acme", region: "here" };
    const rest = "groups" in part ? {} : { groups: { grp: {} } };
    const written = { ...head, ...rest, ...part };
    expect(problemsOf(written)).not.toEqual([]);
    const vms = { www: { owner: "o@x.example", user_id: "1", image_id: "i", flavor_id: "f", size: 10 } };
    const { diagnostics } = readDesired([{ file: "x.yaml", text: JSON.stringify({ ...written, vms }) }]);
    expect(diagnostics.map(({ summary }) => summary)).toHaveLength(1);
  });

  // yaml-language-server 1.25 takes a relative $id for the root of every $ref, and then finds nothing wrong at all.
  it.each(readdirSync(join(__dirname, "../../schemas")).filter((name) => name.endsWith(".schema.json")))(
    "%s has an absolute $id",
    (name) => {
      const { $id } = JSON.parse(readFileSync(join(__dirname, "../../schemas", name), "utf8")) as { $id: string };
      expect($id).toBe(`https://raw.githubusercontent.com/reconcile-cloud/reconcile-cloud/main/schemas/${name}`);
    },
  );

  it("allows an interpolation wherever a value is expected", () => {
    const value = {
      vms: {
        web: {
          size: "${var.s}",
          skip_floating_ip: "${var.b}",
          power: "${var.p}",
          lifecycle: { on_image_change: "${var.i}" },
        },
      },
      groups: {
        web: { rules: [{ protocol: "${var.p}", dst_port: "${var.d}", direction: "${var.x}", ethertype: "${var.e}" }] },
      },
    };
    expect(problemsOf(value)).toEqual([]);
  });

  it("is named in the head of the starter file, which is valid as it is", () => {
    const starter = starterText("../schemas/desired-state.schema.json");
    expect(starter.split("\n")[0]).toBe("# yaml-language-server: $schema=../schemas/desired-state.schema.json");
    const { desired, diagnostics } = readDesired([{ file: "reconcile.yaml", text: starter }]);
    expect(diagnostics).toEqual([]);
    expect(desired?.resources.map(({ address }) => address)).toEqual([
      "group.web",
      "vm.web[a]",
      "vm.web[b]",
      "volume.data",
    ]);
  });
});

const described = (field: Schema): boolean =>
  field.description !== undefined ||
  (field.$ref !== undefined && described(schema.$defs[field.$ref.split("/").at(-1)!]!));
