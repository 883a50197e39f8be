/** A volume is looked at directly before it is deleted, and waited for afterwards. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { type Ran, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { json, type MeddlingProxy, startMeddlingProxy } from "../support/meddling-proxy";

let folder: string;
let emulator: RunningEmulator;
let proxy: MeddlingProxy;

beforeEach(async () => {
  folder = makeFolder();
  emulator = await startEmulator({ timeScale: 0 });
  proxy = await startMeddlingProxy(emulator.url);
});
afterEach(async () => {
  await proxy.close();
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

const reconcile = (...args: string[]): Promise<Ran> =>
  runCli(args, { cwd: folder, env: { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: proxy.url } });
const said = ({ stdout, stderr }: Ran): string => (stdout + stderr).replace(/\s+/g, " ");
const apply = () => reconcile("apply", "-y", "--allow-data-loss", "--confirm-flush", "all");

const declare = (blocks: object): void =>
  writeFileSync(
    join(folder, "reconcile.yaml"),
    JSON.stringify({
      version: 1,
      project: "acme",
      region: "in-west-1",
      service: { timing: { poll_interval: "5ms", discovery_window: "100ms", vm_create_timeout: "3s" } },
      defaults: {
        vm: { owner: "ops@acme.example", user_id: "1042", image_id: "ubuntu-24.04", flavor_id: "m1.small", size: 10 },
      },
      ...blocks,
    }),
  );

const ask = async (path: string, body: object): Promise<void> => {
  const answer = await fetch(emulator.url + path, {
    method: "POST",
    headers: { authorization: "Bearer ops-token", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
};
const volume = () => emulator.dump().volumes.find(({ name }) => name === "data");
const vm = (name: string) => emulator.dump().vms.find((one) => one.name === name);
const grow = (id: string | undefined, size: number) => ask(`/api/v1/volume/resize/${id}`, { size: String(size) });
const deletes = (): number => proxy.writes.filter((write) => write.startsWith("DELETE ")).length;
const orphans = (): Record<string, { sizeGb?: number }> =>
  JSON.parse(readFileSync(join(folder, "reconcile.state.json"), "utf8")).orphans;

describe("between the plan and the delete of a volume", () => {
  it.each([
    ["somebody grows it", () => grow(volume()?.id, 9), "9 GB now"],
    [
      "somebody attaches it to another VM",
      () => ask("/api/v1/volume/attach", { volume_id: volume()?.id, vm_id: vm("other")?.id }),
      "hangs on VM",
    ],
  ])("%s: it is kept, and told what it is now", async (_, meanwhile, told) => {
    declare({ vms: { web: {}, other: {} }, volumes: { data: { size: 5, attach_to: "web" } } });
    expect((await apply()).exitCode).toBe(0);
    let done = false;
    proxy.meddle(async (exchange, forward) => {
      const answer = await forward();
      if (!done && exchange.path.endsWith("/volume/detach")) {
        done = true;
        await meanwhile();
      }
      return answer;
    });
    declare({ vms: { web: {}, other: {} } });
    const ran = await apply();
    expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining(told)]);
    expect([volume() !== undefined, deletes()]).toEqual([true, 0]);
    // The next plan knows what it is by then.
    expect((await apply()).exitCode).toBe(0);
    expect(volume()).toBeUndefined();
  });
});

describe("orphans delete", () => {
  const leaveOne = async (): Promise<string> => {
    declare({ vms: { web: {} } });
    expect((await apply()).exitCode).toBe(0);
    declare({});
    expect((await reconcile("apply", "-y", "--allow-data-loss", "--allow-empty")).exitCode).toBe(0);
    const [key = ""] = Object.keys(orphans());
    return key.replace("volume:", "");
  };
  const end = (id: string) => reconcile("orphans", "delete", id, "--allow-data-loss");

  it("waits until a service that deletes later has deleted it", async () => {
    const id = await leaveOne();
    let looks = 0;
    let record = "";
    proxy.meddle(async ({ method, path }, forward) => {
      if (method === "GET" && path.endsWith(id) && record !== "" && looks++ < 3)
        return json({ ...JSON.parse(record), status: "deleting" });
      const answer = await forward();
      if (method === "GET" && path.endsWith(id)) record = answer.body;
      return answer;
    });
    const ran = await end(id);
    expect([ran.exitCode, looks], said(ran)).toEqual([0, 4]);
    expect(orphans()).toEqual({});
  });

  it("keeps on its list what the service goes on showing", async () => {
    const id = await leaveOne();
    let isDeleted = false;
    let record = "";
    proxy.meddle(async ({ method, path }, forward) => {
      if (method === "GET" && path.endsWith(id) && isDeleted) return json({ ...JSON.parse(record), status: "error" });
      const answer = await forward();
      if (path.endsWith(id)) {
        if (method === "GET") record = answer.body;
        else isDeleted = true;
      }
      return answer;
    });
    const ran = await end(id);
    expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining("apply/volume-not-settled")]);
    expect(Object.keys(orphans())).toEqual([`volume:${id}`]);
  });

  it("deletes nothing that hangs on a VM or has grown since it was left", async () => {
    const id = await leaveOne();
    await grow(id, 30);
    const grown = await end(id);
    expect([grown.exitCode, said(grown), deletes()]).toEqual([1, expect.stringContaining("30 GB"), 1]);
    expect(orphans()[`volume:${id}`]?.sizeGb).toBe(30);
    declare({ vms: { other: {} } });
    expect((await apply()).exitCode).toBe(0);
    await ask("/api/v1/volume/attach", { volume_id: id, vm_id: vm("other")?.id });
    const attached = await end(id);
    expect([attached.exitCode, said(attached), deletes()]).toEqual([1, expect.stringContaining("hangs on VM"), 1]);
    await ask("/api/v1/volume/detach", { volume_id: id, vm_id: vm("other")?.id, flush_confirmed: true });
    expect((await end(id)).exitCode).toBe(0);
    expect(orphans()).toEqual({});
  });
});
