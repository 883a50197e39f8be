/** The schemas of saved plans and states describe what is really written, field by field. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020";
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import { abilitiesOf } from "../../reconciler/core/model/abilities";
import { notSeen } from "../../reconciler/core/model/live";
import { makePlan } from "../../reconciler/core/plan/plan";
import { emptyState } from "../../reconciler/core/state/fold";
import { writeSnapshot } from "../../reconciler/core/state/text";
import { canonicalJson } from "../../reconciler/core/text/canonical-json";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { unreadablePart } from "../../reconciler/plan-shape";
import { savePlan } from "../../reconciler/saved-plan";
import { readDesiredOf, readStory, tell } from "../support/golden-story";
import { Asked, schemaOf } from "../support/schemas";

const root = join(__dirname, "../..");
const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  strictTypes: false,
  strictRequired: false,
  discriminator: false,
});
const isPlan = ajv.compile(schemaOf("plan"));
const isState = ajv.compile(schemaOf("state"));
const golden = join(root, "test/golden");
const stories = readdirSync(golden).filter((name) => /^\d{3}-/.test(name));

const origin = {
  sources: [{ file: "reconcile.yaml", text: "version: 1" }],
  folder: ".",
  planFile: "plan.json",
  baseUrl: "embedded",
  state: "reconcile.state.json",
  dialect: builtInDialect,
};

/** The plan is made again before it is applied, and has to come out the same: these are compared or shown, and steer nothing. */
const notRead: Readonly<Record<string, readonly string[]>> = {
  plan: [
    "format",
    "version",
    "id",
    "created_by",
    "folder_from_working_folder",
    "base_url",
    "state",
    "dialect",
    "bookkeeping",
    "diagnostics",
    "estimate",
    "unchanged",
  ],
  change: ["kind", "name", "id", "fields", "reason", "because", "losses", "leaves", "movedFrom", "source"],
  step: ["action", "title", "needs", "holds", "record", "forgets", "estimateMs", "downtimeOf"],
  loss: ["id", "sizeGb", "detail"],
  "plan.consents[]": ["address", "detail", "grant", "count"],
  "plan.outputs[]": ["before", "after", "sensitive", "description"],
};
const isNotRead = (difference: string): boolean =>
  Object.entries(notRead).some(([place, names]) =>
    names.some((name) => difference === `${place}.${name}: in the schema, and never checked`),
  );
/** The desired state is checked by what is made from the schema, which tries each alternative on an object. */
const isTried = (difference: string): boolean => /\|\d\.\w+: checked, and in no schema$/.test(difference);
const asked = new Asked(schemaOf("plan"));

/** A group, a VM and a volume, with a value of the defaults and one of a variable. */
async function planOfThree() {
  const text = `
version: 1
project: p
region: r
vars: { large: { default: 20 } }
defaults: { vm: { owner: me } }
groups: { web: { rules: [{ protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0 }] } }
vms: { shop: { flavor_id: f, image_id: i, user_id: "1", size: 10 } }
volumes: { data: { size: "\${var.large}" } }
`;
  const { desired, diagnostics } = readDesired([{ file: "reconcile.yaml", text }]);
  if (desired === undefined) throw new Error(JSON.stringify(diagnostics));
  const plan = makePlan({ desired, state: emptyState("l"), live: notSeen, can: abilitiesOf(() => true), options: {} });
  return JSON.parse(canonicalJson(savePlan(plan, desired, origin)));
}

describe("schemas", () => {
  it.each(stories)("the plan and the state of %s are as their schemas say", async (name) => {
    const folder = join(golden, name);
    const story = readStory(folder);
    const stage = await tell(folder, story);
    const desired = readDesiredOf(folder, "reconcile.yaml", stage);
    const { refresh = true, ...options } = story.options ?? {};
    const { plan } = await stage.plan(desired, options, refresh);
    const saved = JSON.parse(canonicalJson(savePlan(plan, desired, origin)));
    expect(isPlan(saved), JSON.stringify(isPlan.errors?.slice(0, 5), undefined, 1)).toBe(true);
    expect(unreadablePart(asked.watch(saved, asked.root, "plan") as object)).toBeUndefined();
    const written = JSON.parse(writeSnapshot(await stage.state()));
    expect(isState(written), JSON.stringify(isState.errors?.slice(0, 5), undefined, 1)).toBe(true);
  });

  it("what is checked of a plan that is read is what its schema names, wherever a reader looks into it", () => {
    const differences = asked.differences().filter((text) => !isNotRead(text) && !isTried(text));
    expect(differences).toEqual([]);
  });

  it.each([
    ["a VM without its flavor", ["resources", 1, "flavor"], undefined, "resources[1].flavor is missing"],
    ["a size that is text", ["resources", 2, "sizeGb"], "20", "resources[2].sizeGb must be number"],
    ["a power that there is not", ["resources", 1, "power"], "on", "resources[1].power is none of running, stopped"],
    ["a path that is none", ["resources", 1, "commandFile"], 7, "resources[1].commandFile must be string"],
    [
      "a lifecycle without its list",
      ["resources", 0, "lifecycle"],
      {},
      "resources[0].lifecycle.ignoreChanges is missing",
    ],
    ["a rule without its direction", ["resources", 0, "rules", 0], {}, "resources[0].rules[0].direction is missing"],
    ["a kind that there is not", ["resources", 2, "kind"], "disk", 'resources[2].kind is "disk", which is no kind'],
    ["a volume at a VM", ["resources", 2, "address"], "vm.x", 'resources[2].kind is "volume", and its address is vm.x'],
    ["resources that are no list", ["resources"], {}, "resources must be array"],
  ] as const)("a plan with %s is refused, and says so", async (_, path, value, says) => {
    const saved = await planOfThree();
    expect(isPlan(saved)).toBe(true);
    let inner = (saved as Record<string, unknown>)["desired"] as Record<string | number, unknown>;
    for (const part of path.slice(0, -1)) inner = inner[part] as typeof inner;
    inner[path.at(-1) ?? ""] = value;
    const broken = JSON.parse(JSON.stringify(saved));
    expect(unreadablePart(broken)).toContain(`its desired cannot be read: `);
    expect(unreadablePart(broken)).toContain(says);
    if (value !== "vm.x") expect(isPlan(broken)).toBe(false);
  });

  it.each(["diagnostics", "findings"])("a plan whose %s are no texts at a place is refused", async (part) => {
    const saved = await planOfThree();
    const told = { severity: "warning", code: "exposure/open-port", summary: "group.web: SSH is open" };
    const withTold = (more: object) => ({ ...saved, [part]: [{ ...told, ...more }] });
    expect(unreadablePart(withTold({ fix: "name networks", source: { file: "a.yaml", line: 1 } }))).toBeUndefined();
    for (const more of [{ fix: {} }, { address: {} }, { excerpt: 4 }, { source: "a.yaml" }, { summary: undefined }])
      expect(unreadablePart(withTold(more))).toBe(`its ${part} cannot be read`);
  });

  it("what another version says more of a resource is left alone", async () => {
    const saved = await planOfThree();
    saved.desired.resources[0].another = 1;
    expect(unreadablePart(saved)).toBeUndefined();
    expect(isPlan(saved)).toBe(false);
  });

  it("every field has a description", () => {
    const missing: string[] = [];
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== "object" || value === null) return;
      const { properties } = value as { properties?: Record<string, { description?: string; $ref?: string }> };
      for (const [name, field] of Object.entries(properties ?? {}))
        if (field.description === undefined && field.$ref === undefined) missing.push(`${path}.${name}`);
      for (const [key, inner] of Object.entries(value)) visit(inner, `${path}.${key}`);
    };
    visit(schemaOf("plan"), "plan");
    visit(schemaOf("state"), "state");
    expect(missing).toEqual([]);
  });

  it("a field that nobody knows is refused", () => {
    expect(
      isState({
        ...JSON.parse(
          '{"format":"reconcile-cloud/state","version":1,"lineage":"l","serial":0,"epoch":0,"resources":{},"intents":{},"orphans":{},"quarantined":[]}',
        ),
        extra: 1,
      }),
    ).toBe(false);
  });
});
