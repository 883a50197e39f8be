import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { convertListing } from "../../reconciler/config/convert-listing";
import { readListing } from "../../reconciler/config/read/listing";
import { writeYaml } from "../../reconciler/config/yaml/write";
import { mergeDialect } from "../../reconciler/dialect/merge-dialect";
import { desiredOf, startBenchWorld } from "../support/bench-world";
import { jsonLines, root } from "../support/cli-process";
import { ownPlace } from "../support/own-place";

/** Listings shaped as a cloud's command line prints them, with the YAML they become beside them, out of reach of formatters (UPDATE_GOLDEN=1). */
const folderOf = join(root, "test", "golden-listings");
const listings = readdirSync(folderOf)
  .filter((name) => name.endsWith(".json"))
  .map((name) => name.replace(".json", ""));
const pathOf = (name: string): string => join(folderOf, `${name}.json`);
const listingOf = (name: string): unknown => JSON.parse(readFileSync(pathOf(name), "utf8"));

const place = ownPlace();
const { reconcile, writes } = place;

describe.each(listings)("%s", (name) => {
  it("group import --convert writes the same YAML every time, names every skipped source, and calls no service", async () => {
    const ran = await reconcile("group", "import", pathOf(name), "--convert");
    expect(ran.exitCode).toBe(0);
    const golden = join(folderOf, `${name}.expected`);
    if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(golden, ran.stdout);
    expect(ran.stdout).toBe(readFileSync(golden, "utf8"));
    writeFileSync(join(place.folder, "converted.yaml"), ran.stdout);
    expect((await reconcile("validate", "converted.yaml")).exitCode).toBe(0);
    expect(place.emulator.requests().log).toEqual([]);
  });

  it("the YAML that group import prints takes the new groups over, and then plans to nothing", async () => {
    const nowhere = await reconcile("group", "import", pathOf(name), "--out", "no/groups.yaml");
    expect([nowhere.exitCode, nowhere.stderr]).toEqual([1, expect.stringContaining("there is no folder no")]);
    const ran = await reconcile("group", "import", pathOf(name), "--out", "groups.yaml", "--json");
    const events = jsonLines(ran.stdout) as { type: string; status?: string; name: string; skipped: string[] }[];
    const groups = events.filter(({ type }) => type === "group");
    const failed = groups.filter(({ status }) => status === "failed");
    expect(ran.exitCode).toBe(failed.length > 0 ? 1 : 0);
    const yaml = readFileSync(join(place.folder, "groups.yaml"), "utf8");
    for (const { skipped, status } of groups)
      for (const source of status === "created" ? skipped : []) expect(yaml).toContain(source);
    expect(writes()).toBe(1);
    const plan = await reconcile("plan", "groups.yaml", "--json");
    const changes = (jsonLines(plan.stdout) as { type: string; action: string; fields: unknown[] }[]).filter(
      ({ type }) => type === "change",
    );
    expect(changes).toHaveLength(groups.length - failed.length);
    for (const { action, fields } of changes) expect([action, fields]).toEqual(["import", []]);
    expect((await reconcile("apply", "groups.yaml", "-y")).exitCode).toBe(0);
    expect((await reconcile("plan", "groups.yaml", "--detailed-exitcode")).exitCode).toBe(0);
    expect(writes()).toBe(1);
  });

  it("the converted YAML builds the groups from nothing where ranges can be written, and then plans to nothing", async () => {
    const dialect = mergeDialect({ rules: { port_range: "{min}-{max}" } } as Parameters<typeof mergeDialect>[0]);
    const world = await startBenchWorld({ portRange: "{min}-{max}", dialect });
    try {
      const converted = convertListing(readListing(listingOf(name)).groups);
      const desired = desiredOf(writeYaml({ head: { version: 1 }, blocks: converted.map(({ block }) => block) }));
      const { plan, report } = await world.apply(desired);
      expect(plan.changes.map(({ action }) => action)).toEqual(converted.map(() => "create"));
      expect(report?.steps.filter(({ result }) => result.end !== "done")).toEqual([]);
      expect(world.refusals()).toEqual([]);
      expect((await world.plan(desired)).changes).toEqual([]);
    } finally {
      await world.close();
    }
  });

  it("after the service's import the converted YAML asks for the peers that the import leaves out, and nothing else", async () => {
    const world = await startBenchWorld();
    try {
      const imported = await world.client.importGroups(listingOf(name));
      if (imported.status !== "accepted") throw new Error("refused");
      const ids = new Map(imported.value.groups.map((group) => [group.name, group.id]));
      const blocks = convertListing(readListing(listingOf(name)).groups).flatMap(
        ({ name: fitted, listedName, block }) => {
          const id = listedName.toLowerCase() === fitted ? ids.get(fitted) : undefined;
          return id === undefined ? [] : [{ ...block, id }];
        },
      );
      const plan = await world.plan(desiredOf(writeYaml({ head: { version: 1 }, blocks })));
      const fields = plan.changes.flatMap((change) => change.fields);
      expect(plan.changes.every(({ action }) => action === "import")).toBe(true);
      expect(fields.filter(({ verb, after }) => verb !== "add rule" || !String(after).includes("group."))).toEqual([]);
    } finally {
      await world.close();
    }
  });
});

describe("a listing that cannot be used", () => {
  it.each([
    ["not JSON", "{", "cannot be read"],
    ["no listing", "[]", "SecurityGroups must be an array"],
    [
      "wrong types",
      '{"SecurityGroups":[{"GroupName":7,"IpPermissions":{}}]}',
      "SecurityGroups[0].GroupName must be a string",
    ],
  ])("%s: said before anything is sent", async (_, text, said) => {
    writeFileSync(join(place.folder, "listing.json"), text);
    const ran = await reconcile("group", "import", "listing.json");
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toContain(said);
    expect(place.emulator.requests().log).toEqual([]);
  });
});

it("a listing of which one group is refused: what may leave is said of the others alone", async () => {
  const groups = ["back", "x"].map((GroupName) => ({ GroupName, IpPermissions: [], IpPermissionsEgress: [] }));
  writeFileSync(join(place.folder, "listing.json"), JSON.stringify({ SecurityGroups: groups }));
  const ran = await reconcile("group", "import", "listing.json");
  expect(ran.exitCode).toBe(1);
  expect(ran.stderr).toContain("error[listing/group-failed]: group x was not created");
  expect(ran.stderr).toContain("warning[listing/egress]: back restricts what may leave");
});

it("of two groups of one name the description is not taken for that of the one that was made", async () => {
  const groups = ["first", "second"].map((Description) => ({ GroupName: "back", Description, IpPermissions: [] }));
  writeFileSync(join(place.folder, "listing.json"), JSON.stringify({ SecurityGroups: groups }));
  const ran = await reconcile("group", "import", "listing.json");
  expect(ran.exitCode).toBe(1);
  expect(ran.stdout).toContain("imports:");
  expect(ran.stdout).not.toContain("description:");
});
