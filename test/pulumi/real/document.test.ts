import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { engineSettings, makeLauncherFolder, pathWith, whyNot } from "./stack";

const root = resolve(__dirname, "../../..");
const reason = whyNot("yaml");
if (reason !== undefined) console.error(`\n*** docs/pulumi.md: ${reason} ***\n`);

describe.skipIf(reason !== undefined)("docs/pulumi.md", () => {
  it("every command ends as it says, in the order in which a reader types them", async () => {
    const launchers = makeLauncherFolder();
    const { PULUMI_BACKEND_URL: _backend, ...inherited } = process.env;
    const said = await new Promise<string>((done) => {
      execFile(
        process.execPath,
        [join(root, "scripts/generate-docs.mjs"), "--check", "docs/pulumi.md"],
        {
          cwd: root,
          env: {
            ...inherited,
            ...engineSettings,
            PULUMI_HOME: join(launchers.folder, "home"),
            PATH: pathWith(launchers.folder),
          },
        },
        (error, stdout, stderr) => done(error === null ? "" : `${stdout}${stderr}`),
      );
    });
    launchers.remove();
    expect(said).toBe("");
  });
});
