/** A program whose state was replaced or removed on purpose has the way on that the command has. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startEmulator } from "../../emulator";
import { codeOf, connect, readDesired } from "../../reconciler/index";
import { makeFolder } from "../support/folder";

it("plans on what is there now when it says so, and not before", async () => {
  const folder = makeFolder();
  const emulator = await startEmulator({ timeScale: 0 });
  const cloud = connect({ baseUrl: emulator.url, token: "t" }, folder);
  try {
    const { desired } = readDesired([{ file: "f.yaml", text: "version: 1\ngroups: { web: {} }" }]);
    if (desired === undefined) throw new Error("the file has errors");
    const state = "s.json";
    await cloud.apply(await cloud.plan(desired, { state }));
    rmSync(join(folder, state));
    const refused = await cloud.plan(desired, { state }).then(() => undefined, codeOf);
    expect(refused).toBe("state/gone");
    expect((await cloud.plan(desired, { state, newState: true })).serial).toBe(0);
    expect((await cloud.plan(desired, { state })).serial).toBe(0);
  } finally {
    await cloud.close();
    await emulator.close();
  }
});
