/**
 * In CI nothing is skipped for want of what CI has: the database that comes as a development dependency, the browser's
 * driver, openssl and git of its machines. Without this, a test that skips itself everywhere would be green everywhere.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../support/cli-process";
import { postgresMissing } from "../support/postgres-server";

const runs = (command: string, ...args: string[]): boolean => spawnSync(command, args).status === 0;
const installed = (name: string): boolean => existsSync(join(root, "node_modules", name, "package.json"));

it("has in CI what the tests skip themselves without", () => {
  const missing = [
    ...(postgresMissing === undefined ? [] : [postgresMissing]),
    ...["@electric-sql/pglite", "@pulumi/pulumi", "playwright-core", "axe-core", "oidc-provider"].filter(
      (name) => !installed(name),
    ),
    ...(runs("openssl", "version") ? [] : ["openssl"]),
    ...(runs("git", "--version") ? [] : ["git"]),
  ];
  // Elsewhere a machine may lack them, and the tests say so one by one.
  if (process.env["CI"] !== undefined) expect(missing).toEqual([]);
  expect(missing).not.toContain("@pulumi/pulumi");
});
