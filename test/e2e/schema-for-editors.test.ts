/** `reconcile schema`: an editor's schema with the keys of a file and the names of its service. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { ownPlace } from "../support/own-place";

const place = ownPlace();

const file = `version: 1
project: acme
region: in-west-1
service: { base_url: embedded }
vms: { app: {}, web: { for_each: 2 }, api: { for_each: [east, west] }, job: { for_each: "\${var.jobs}" } }
groups: { front: {}, back: { rules: [ { protocol: tcp, remote_group: `;

interface Fields {
  readonly properties: Record<string, { readonly examples?: readonly string[] }>;
}
interface Schema {
  readonly $defs: Record<string, Fields>;
  readonly properties: {
    readonly imports: { readonly items: Fields };
    readonly checks: { readonly properties: { readonly hours: Fields } };
  };
}

it("offers the keys of a file that is half written, and what the service lists where the file can be read", async () => {
  const cwd = makeFolder({ "reconcile.yaml": `${file}front } ] } }\n` });
  const told = await runCli(["schema", "--out", ".reconcile/schema.json"], { cwd });
  expect([told.exitCode, told.stderr], told.stderr).toEqual([
    0,
    expect.stringContaining("Wrote .reconcile/schema.json"),
  ]);
  const { $defs, properties }: Schema = JSON.parse(readFileSync(join(cwd, ".reconcile/schema.json"), "utf8"));
  expect($defs["volume"]?.properties["attach_to"]?.examples).toEqual([
    ...["app", "web[0]", "web[1]", "api[east]", "api[west]", "job[]"],
  ]);
  expect($defs["rule"]?.properties["remote_group"]?.examples).toEqual(["front", "back"]);
  // Three fields are called `to`: an address, somebody of an assertion, and a time of day.
  const addressed = properties.imports.items.properties["to"]?.examples;
  expect(addressed).toContain("vm.app");
  expect($defs["flow"]?.properties["to"]?.examples).toContain("group.front");
  expect(properties.checks.properties.hours.properties["to"]?.examples).toBeUndefined();
  // The VMs have no owner yet: nobody is asked, which is a warning with what to mend.
  expect($defs["vm"]?.properties["flavor_id"]?.examples).toBeUndefined();
  expect(told.stderr).toContain("warning[config/missing]");
  const whole = makeFolder({
    "reconcile.yaml": "version: 1\nproject: acme\nservice: { base_url: embedded }\ngroups: { front: {} }\n",
  });
  const seen = await runCli(["schema"], { cwd: whole });
  const offered: Schema = JSON.parse(seen.stdout);
  expect(offered.$defs["vm"]?.properties["flavor_id"]?.examples).toContain("m1.small");
  expect(offered.$defs["vm"]?.properties["image_id"]?.examples).toContain("ubuntu-24.04");
});

it("says which of the names it could not ask the service for", async () => {
  await place.serve({ contractOnly: true });
  place.declare({});
  const away = await place.reconcile("schema");
  expect([away.exitCode, away.stderr.match(/the list of \w+ could not be read/g)]).toEqual([
    0,
    ["flavors", "images", "regions"].map((what) => `the list of ${what} could not be read`),
  ]);
});
