import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { installOf } from "../../reconciler/fleet/database/open";
import { explanations } from "../../reconciler/report/explanations";

const root = join(__dirname, "../..");
const { peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
  readonly peerDependencies: Readonly<Record<string, string>>;
};

const every = `npm install pg-boss@${peerDependencies["pg-boss"]} cron-parser hono @hono/node-server`;

it.each([
  ["pg-boss", every],
  ["hono", every],
  ["@hono/node-server", every],
  ["pg", `${every} pg`],
  ["@electric-sql/pglite", `${every} @electric-sql/pglite`],
  ["openid-client", `${every} openid-client`],
])("a fleet that lacks %s is told to install it, with the version of the queue that was tried", (missing, told) => {
  expect(installOf(missing)).toBe(told);
});

it("the documents name the same version", () => {
  const named = `pg-boss@${peerDependencies["pg-boss"]} cron-parser`;
  expect(readFileSync(join(root, "docs/fleet.md"), "utf8")).toContain(named);
  expect(explanations["fleet/package-missing"].todo).toContain(named);
});
