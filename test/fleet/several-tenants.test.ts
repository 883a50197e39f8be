/** In a fleet of several tenants a stack's files start nothing and name no address, unless the tenant is trusted. */
import { existsSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import type { Planned } from "../../reconciler/fleet/project";
import { planStack } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";

const touch = "[sh, -c, 'touch ran; echo []']";
const head = "version: 1\nproject: acme\n";

describe("a closed stack", () => {
  const heard: string[] = [];
  const canary = createServer((request, answer) => {
    heard.push(`${request.url} ${request.headers.authorization}`);
    answer.end("{}");
  });
  let emulator: RunningEmulator;
  beforeEach(async () => {
    heard.length = 0;
    emulator = await startEmulator({ timeScale: 0 });
    vi.stubEnv("RECONCILE_TOKEN", "canary-token");
    await new Promise<void>((resolve) => canary.listen(0, "127.0.0.1", resolve));
    return async () => {
      await emulator.close();
      await new Promise((resolve) => canary.close(resolve));
    };
  });
  afterEach(() => vi.unstubAllEnvs());

  async function plan(
    files: Record<string, string>,
    { isClosed = true, named = true, prepare = (_folder: string): void => undefined } = {},
  ): Promise<Planned> {
    const folder = makeFolder(files);
    prepare(folder);
    const service = named ? emulator.url : undefined;
    const planned = await planStack(folder, { service, isClosed, readsAnything: true });
    expect(existsSync(join(folder, "ran"))).toBe(!isClosed);
    return planned;
  }
  const url = (): string => `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
  const policy = `${head}groups: { web: {} }\npolicy: { command: ${touch} }\n`;

  test("starts no policy, and is not applied without it", async () => {
    const { errors } = await plan({ "reconcile.yaml": policy });
    expect(errors.join()).toContain("the file's policy was not run");
    expect((await plan({ "reconcile.yaml": policy }, { isClosed: false })).errors).toEqual([]);
  });

  test("starts no helper, and sends the worker's credential to no address of its file", async () => {
    const service = `{ base_url: "${url()}", dialect: { authorization: { command: ${touch} } } }`;
    for (const token of ["canary-token", ""]) {
      vi.stubEnv("RECONCILE_TOKEN", token);
      await expect(
        plan({ "reconcile.yaml": `${head}service: ${service}\nvolumes: { a: { size: 1 } }\n` }, { named: false }),
      ).rejects.toThrow("the file says where the credential is sent");
    }
    expect(heard).toEqual([]);
  });

  test("reads no file outside of its checkout", async () => {
    const outside = makeFolder({ "c.yaml": "component: 1\ngroups: { web: {} }\n" });
    const uses = `${head}components: { shop: { from: ./c.yaml } }\n`;
    await expect(
      plan(
        { "reconcile.yaml": uses },
        { prepare: (folder) => symlinkSync(join(outside, "c.yaml"), join(folder, "c.yaml")) },
      ),
    ).rejects.toThrow("is not read: it lies outside of");
  });
});
