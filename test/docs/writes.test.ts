/** docs/reliability.md says of every operation that changes something what shows that it was done. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { operationNames, rowOf } from "../../reconciler/core/model/operation";
import { root } from "../support/cli-process";

it("every operation that changes something has its row, once", () => {
  const [, after = ""] = readFileSync(join(root, "docs/reliability.md"), "utf8").split(
    "## What is looked at for each write\n",
  );
  const [table = ""] = after.split("\n\nThe look at the end");
  const named = table
    .split("\n")
    .flatMap((line) => [...(line.split("|")[1] ?? "").matchAll(/`([\w.]+)`/g)].map(([, name]) => name));
  expect([...named].sort()).toEqual(operationNames.filter((name) => rowOf(name).method !== "GET").sort());
});
