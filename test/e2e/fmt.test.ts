/** `reconcile fmt` on files as people have them: the components come along, comments stay, twice changes nothing. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { topOrder } from "../../reconciler/config/format";
import { root, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const untidy = "groups: { web: {name: 'shop-web'} } # the front\ncomponent: 1\n";
const tidy = "component: 1\ngroups: { web: { name: shop-web } } # the front\n";

it("formats a file with the components that it uses, and leaves those that lie elsewhere", async () => {
  const folder = makeFolder({
    "shop/reconcile.yaml":
      "version: 1\ncomponents:\n  a: { from: ./components/tier.yaml }\n  b: { from: ../shared.yaml }\n  c: { from: npm:tiers/web.yaml }\n  d: { from: ./missing.yaml }\n",
    "shop/components/tier.yaml": `${untidy}components: { inner: { from: ./inner.yaml } }\n`,
    "shop/components/inner.yaml": untidy,
    "shared.yaml": untidy,
  });
  const cwd = join(folder, "shop");
  const read = (file: string): string => readFileSync(join(folder, file), "utf8");
  const checked = await runCli(["fmt", "--check"], { cwd });
  expect(checked).toMatchObject({ exitCode: 2, stdout: "components/tier.yaml\ncomponents/inner.yaml\n" });
  expect(read("shop/components/inner.yaml")).toBe(untidy);
  expect(await runCli(["fmt"], { cwd })).toMatchObject({ exitCode: 0, stdout: checked.stdout });
  expect(read("shop/components/inner.yaml")).toBe(tidy);
  expect(read("shared.yaml")).toBe(untidy);
  expect(await runCli(["fmt", "--check"], { cwd })).toMatchObject({ exitCode: 0, stdout: "" });
});

it("leaves what is another program's in a folder, and formats it where it is named", async () => {
  const compose = "services:   { web: {image: 'nginx'} }\nvolumes: {}\n";
  const folder = makeFolder({
    "reconcile.yaml": "x-mine:   1\nversion:   1\n",
    "compose.yaml": compose,
    "playbook.yaml": "- hosts:   all\n",
    "several.yaml": "# two of them\n---\nkind:  'A'\n---\nkind: B\n",
    "values.yaml": "name:  'x'\n",
  });
  const read = (file: string): string => readFileSync(join(folder, file), "utf8");
  const ran = await runCli(["fmt", "."], { cwd: folder });
  expect(ran).toMatchObject({ exitCode: 0, stdout: "reconcile.yaml\n" });
  expect(ran.stderr).toContain(
    "compose.yaml is left as it is: services is no key of a desired state. Named by itself, it is formatted.\n",
  );
  expect(ran.stderr).toContain("playbook.yaml is left as it is: a list is no form of a desired state.");
  expect(ran.stderr).toContain("values.yaml is left as it is: name is no key");
  expect(ran.stderr).toContain("several.yaml is left as it is: kind is no key of a desired state.\n");
  expect(read("compose.yaml")).toBe(compose);
  expect((await runCli(["fmt", "compose.yaml"], { cwd: folder })).stdout).toBe("compose.yaml\n");
  expect(read("compose.yaml")).toBe("services: { web: { image: nginx } }\nvolumes: {}\n");
});

it.each<[args: readonly string[], input: string, exitCode: number, printed: string, events: readonly object[]]>([
  [[], untidy, 0, tidy, [{ type: "formatted", file: "standard input", written: false, text: tidy }]],
  [[], tidy, 0, tidy, []],
  [["--check"], untidy, 2, "standard input\n", [{ type: "formatted", file: "standard input", written: false }]],
  [["--check"], tidy, 0, "", []],
])("standard input %j", async (args, input, exitCode, printed, events) => {
  const cwd = makeFolder({});
  expect(await runCli(["fmt", "-", ...args], { cwd, input })).toEqual({ exitCode, stdout: printed, stderr: "" });
  const { stdout } = await runCli(["fmt", "-", "--json", ...args], { cwd, input });
  const lines = stdout
    .trim()
    .split("\n")
    .map((line): unknown => JSON.parse(line));
  expect(lines).toEqual([
    ...events.map((event) => expect.objectContaining(event)),
    expect.objectContaining({ type: "summary", exit_code: exitCode }),
  ]);
});

it("leaves a file alone that is not text in UTF-8, and says where", async () => {
  const cwd = makeFolder({});
  const bytes = Buffer.from("project:   acme\nregion: eu # caf\u00e9\n", "latin1");
  writeFileSync(join(cwd, "reconcile.yaml"), bytes);
  const ran = await runCli(["fmt"], { cwd });
  expect(ran).toMatchObject({ exitCode: 1, stdout: "" });
  expect(ran.stderr).toContain("error[config/encoding]: the file is not text in UTF-8\n --> reconcile.yaml:2");
  expect(readFileSync(join(cwd, "reconcile.yaml"))).toEqual(bytes);
});

it("says all that is wrong with a file that cannot be read, as validate does, also of standard input", async () => {
  const text = `version: 1\nvms:\n  web: { size: [1, 2 }\n  db: { name: "db }\n`;
  const cwd = makeFolder({ "reconcile.yaml": text });
  const validated = await runCli(["validate"], { cwd });
  expect(validated.stderr.match(/^error/gm)).toHaveLength(2);
  expect((await runCli(["fmt"], { cwd })).stderr).toBe(validated.stderr);
  const input = await runCli(["fmt", "-"], { cwd, input: text });
  expect([input.exitCode, input.stderr]).toEqual([1, validated.stderr.replaceAll("reconcile.yaml", "standard input")]);
});

it.each([
  ["that repeats nothing", "vms: *none\n"],
  ["that repeats itself", "vms: &a { b: *a }\n"],
  ["that merges itself", "vms: &a { <<: *a }\n"],
])("leaves a file alone with an alias %s, and says where", async (_, text) => {
  const cwd = makeFolder({ "reconcile.yaml": `version: 1\n${text}` });
  const ran = await runCli(["fmt"], { cwd });
  expect([ran.exitCode, ran.stderr]).toEqual([
    1,
    expect.stringMatching(/^error\[config\/[\s\S]* --> reconcile.yaml:2/),
  ]);
  expect(readFileSync(join(cwd, "reconcile.yaml"), "utf8")).toBe(`version: 1\n${text}`);
});

it("knows the place of every key that a file or a component may begin with", () => {
  for (const name of ["desired-state", "component"]) {
    const { properties } = JSON.parse(readFileSync(join(root, "schemas", `${name}.schema.json`), "utf8"));
    expect(Object.keys(properties).filter((key) => !topOrder.includes(key))).toEqual([]);
  }
});
