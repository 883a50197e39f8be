/** The schemas of saved plans and states describe what is really written, field by field. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020";
import { describe, expect, it } from "vitest";
import { unreadablePart } from "../../reconciler/cli/plan-shape";
import { savePlan } from "../../reconciler/cli/saved-plan";
import { writeSnapshot } from "../../reconciler/core/state/text";
import { canonicalJson } from "../../reconciler/core/text/canonical-json";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { Asked, schemaOf } from "../support/asked-of-schema";
import { readDesiredOf, readStory, tell } from "../support/golden-story";

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
  desired: ["external"],
  change: ["kind", "name", "id", "fields", "reason", "because", "losses", "leaves", "movedFrom", "source"],
  step: ["action", "title", "needs", "holds", "record", "forgets", "estimateMs", "downtimeOf"],
  loss: ["id", "sizeGb", "detail"],
  "plan.consents[]": ["address", "detail", "grant", "count"],
  "plan.outputs[]": ["before", "after", "sensitive", "description"],
  "desired.outputs[]": ["description", "sensitive"],
  "shaped|0": ["text"],
  "shaped|2": ["items"],
};
const isNotRead = (difference: string): boolean =>
  Object.entries(notRead).some(([place, names]) =>
    names.some((name) => difference === `${place}.${name}: in the schema, and never checked`),
  );
const asked = new Asked(schemaOf("plan"));

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
    const differences = asked.differences().filter((text) => !isNotRead(text));
    expect(differences).toEqual([]);
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
