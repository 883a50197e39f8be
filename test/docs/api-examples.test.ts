/** The examples on the exports of the public API: each is a whole program, checked by the compiler and run. */
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { root } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const run = promisify(execFile);
const source = readFileSync(join(root, "reconciler/index.ts"), "utf8");

/** Each comment with what it stands on. */
const documented = [...source.matchAll(/^\/\*\*\n((?: \*.*\n)*?) \*\/\nexport (.*)$/gm)].map(
  ([, comment, exported]) => ({
    exported: exported!,
    program: /^ \* @example\n([\s\S]*)/m.exec(comment!)?.[1]?.replace(/^ \* ?/gm, ""),
  }),
);

/** The names of values; types have no example. */
const exportedValues = [...source.matchAll(/^export (?:const (\w+)|\{ ([^}]*) \})/gm)].flatMap(([, one, list]) =>
  one === undefined ? list!.split(", ").map((name) => name.replace(/^.* as /, "")) : [one],
);

/** What the types refuse, and `await using`, which older Nodes need compiled. */
const refused = `import { codeOf, connect, handlerOf, Refused, type CloudPlan } from "reconcile-cloud";
// @ts-expect-error
handlerOf("Vmm");
// @ts-expect-error
handlerOf("Volume").check({ nmae: "x", size: 10 });
// @ts-expect-error
handlerOf("Volume").check({ name: "x", size: "ten" });
// @ts-expect-error
handlerOf("Vm").check({ power: "on" });
const failed = (error: unknown, refusal: Refused): boolean =>
  // @ts-expect-error
  refusal.code === "no/such-code" ||
  // @ts-expect-error
  codeOf(error) === "no/such-code";
const inside = (plan: CloudPlan, cloud: ReturnType<typeof connect>) => [
  // @ts-expect-error
  plan.prepared,
  // @ts-expect-error
  plan.store,
  // @ts-expect-error
  cloud.notesOf,
];
const opened = async (cloud: ReturnType<typeof connect>) => {
  const service = await cloud.service();
  // @ts-expect-error
  return service.client;
};
export { failed, inside, opened };
`;
const disposed = `import { connect, readDesired } from "reconcile-cloud";
let used: unknown;
{
  await using cloud = connect({ baseUrl: "embedded" });
  const { desired } = readDesired([{ file: "reconcile.yaml", text: "version: 1\\nvolumes: { used: { name: used, size: 10 } }" }]);
  if (desired === undefined) throw new Error("the file has errors");
  used = (await cloud.plan(desired, { state: "used.state.json" })).changes.length;
}
console.log(used);
`;
const files = {
  ...Object.fromEntries(documented.map(({ program }, index) => [`example-${index}.mts`, program ?? ""])),
  "refused.mts": refused,
  "disposed.mts": disposed,
};
const folder = makeFolder(files);
mkdirSync(join(folder, "node_modules/@types"), { recursive: true });
symlinkSync(root, join(folder, "node_modules/reconcile-cloud"));
symlinkSync(join(root, "node_modules/@types/node"), join(folder, "node_modules/@types/node"));

let compilation: Promise<string> | undefined;
/** What the compiler says of all of them; it runs once, and writes them for the oldest Node. */
function compiled(): Promise<string> {
  const compiler = join(root, "node_modules/typescript-native/bin/tsc");
  const options = ["--strict", "--skipLibCheck", "--module", "nodenext", "--target", "es2022", "--types", "node"];
  compilation ??= run(process.execPath, [compiler, ...options, ...Object.keys(files)], { cwd: folder }).then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
  return compilation;
}

describe("the public API", () => {
  it("has an example on every value that it exports", () => {
    const covered = documented.filter(({ program }) => program !== undefined).map(({ exported }) => exported);
    const without = exportedValues.filter(
      (name) => !covered.some((exported) => new RegExp(`\\b${name}\\b`).test(exported)),
    );
    expect(without).toEqual([]);
    expect(exportedValues.length).toBeGreaterThan(10);
  });

  it("has examples that the compiler accepts", async () => {
    expect(await compiled()).toBe("");
  });

  it("closes a service at the end of its block, compiled for the oldest Node", async () => {
    await compiled();
    const env = { PATH: process.env["PATH"] ?? "", RECONCILE_TIME_SCALE: "200" };
    await expect(run(process.execPath, ["disposed.mjs"], { cwd: folder, env })).resolves.toMatchObject({
      stdout: "1\n",
    });
  });

  it.each(documented.map(({ exported, program }) => [exported.split(" from ")[0]!, program ?? ""]))(
    "has an example that runs: %s",
    async (_, program) => {
      const env = { PATH: process.env["PATH"] ?? "", RECONCILE_TIME_SCALE: "200" };
      const ran = run(process.execPath, ["--input-type=module", "--eval", program], { cwd: folder, env });
      await expect(ran).resolves.toMatchObject({ stderr: "" });
    },
  );
});
