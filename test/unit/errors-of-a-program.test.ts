/** Whatever a program catches has a code. */
import { expect, it } from "vitest";
import { startEmulator } from "../../emulator";
import { codeOf, connect, readDesired } from "../../reconciler/index";
import { makeFolder } from "../support/folder";

const { desired } = readDesired([{ file: "f.yaml", text: "version: 1\ngroups: { web: {} }" }]);

async function planAt(baseUrl: string): Promise<unknown> {
  if (desired === undefined) throw new Error("the file has errors");
  const cloud = connect({ baseUrl, token: "t", timing: { request_timeout: "5s" } }, makeFolder());
  try {
    return await cloud.plan(desired, { state: "s.json" }).then(() => "a plan", codeOf);
  } finally {
    await cloud.close();
  }
}

it("a service that is not there", async () => {
  const emulator = await startEmulator({ timeScale: 0 });
  await emulator.close();
  expect(await planAt(emulator.url)).toBe("service/unavailable");
});

it("a service that a credential must not go to", async () => {
  expect(await planAt("http://cloud.example")).toBe("service/insecure-http");
});
