/** The revision of a folder: it follows what the files of the folder show, through links as well. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkOutFolder } from "../../reconciler/fleet/sources/folder";
import { makeFolder } from "../support/folder";

const revision = async (folder: string): Promise<string> => (await checkOutFolder({ folder })).revision;

test("changes with the file that a link shows, and with files in a folder that one shows", async () => {
  const shared = makeFolder({ "reconcile.yaml": "one", "parts/a.yaml": "one" });
  const folder = makeFolder();
  symlinkSync(join(shared, "reconcile.yaml"), join(folder, "reconcile.yaml"));
  symlinkSync(join(shared, "parts"), join(folder, "parts"));
  const before = await revision(folder);
  writeFileSync(join(shared, "reconcile.yaml"), "two");
  const after = await revision(folder);
  expect(after).not.toBe(before);
  writeFileSync(join(shared, "parts/a.yaml"), "two");
  expect(await revision(folder)).not.toBe(after);
  expect(await revision(folder)).toBe(await revision(folder));
});

test("is found where links lead around, nowhere, or to no file", async () => {
  const folder = makeFolder({ "reconcile.yaml": "one" });
  mkdirSync(join(folder, "a"));
  symlinkSync(folder, join(folder, "a/again"));
  symlinkSync("/nowhere", join(folder, "lost"));
  symlinkSync("/dev/zero", join(folder, "zero"));
  expect(await revision(folder)).toMatch(/^folder:[0-9a-f]{16}$/);
});
