/** The variables of the environment that this program reads. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { misspeltSettings } from "../../reconciler/outside/environment";

const root = join(__dirname, "../..");

const textsBelow = (folder: string, ending: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => readFileSync(join(root, folder, name), "utf8"));

/** A variable of a pipeline in the documents, and the beginnings of names. */
const others = new Set(["RECONCILE_READ_TOKEN", "RECONCILE_VAR", "RECONCILE_FLEET"]);

describe("a variable that is nearly a setting", () => {
  it("is told from each one that the sources and the documents name", () => {
    const texts = [...textsBelow("reconciler", ".ts"), ...textsBelow("docs", ".md")];
    const named = new Set(texts.flatMap((text) => text.match(/\bRECONCILE_[A-Z]+(?:_[A-Z]+)*/g) ?? []));
    const names = [...named].filter((name) => !others.has(name) && !name.startsWith("RECONCILE_VAR_"));
    expect(names.length).toBeGreaterThan(30);
    const told = /^RECONCILE_(?:ADDRESS|REASON|VM_.*|VOLUME_.*)$/;
    for (const name of names) expect([name, misspeltSettings({ [name]: "x" })]).toEqual([name, []]);
    for (const name of names.filter((one) => !told.test(one)))
      expect([name, misspeltSettings({ [`${name}Z`]: "x" })[0]?.fix]).toEqual([
        name,
        expect.stringContaining(`write ${name} if`),
      ]);
  });

  it.each([
    ["RECONCILE_TOKN", "RECONCILE_TOKEN"],
    ["RECONCILE_token", "RECONCILE_TOKEN"],
    ["RECONCILE_BASEURL", "RECONCILE_BASE_URL"],
    ["RECONCILE_STATE_PASWRD", "RECONCILE_STATE_PASSWORD"],
    ["RECONCILE_VERSION", undefined],
    ...["REGION", "STATUS", "VM", "VMS", "VOLUME", "VOLUMES", "VM_IPS", "FILES", "BASE", "TIME", "FLEET", "OTHER"].map(
      (own): [string, undefined] => [`RECONCILE_${own}`, undefined],
    ),
    ["RECONCILE_VAR_tokn", undefined],
    ["RECONCILE_TOKEN_PROD", undefined],
    ["TOKN", undefined],
  ])("%s: %s", (name, meant) => {
    const fix = misspeltSettings({ [name]: "x" })[0]?.fix;
    expect(fix).toEqual(meant === undefined ? undefined : expect.stringContaining(`write ${meant} if`));
  });
});
