import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { installOf } from "../../reconciler/fleet/database/open";

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
  for (const page of ["docs/fleet.md", "docs/errors.md"])
    expect(readFileSync(join(root, page), "utf8"), page).toContain(
      `pg-boss@${peerDependencies["pg-boss"]} cron-parser`,
    );
});
