import { describe, expect, it } from "vitest";
import { json, ownMeddledPlace, said } from "../support/own-place";

const place = ownMeddledPlace();
const { reconcile, declare, ask } = place;

const apply = () => reconcile("apply", "-y", "--allow-data-loss", "--confirm-flush", "all");

const volume = () => place.emulator.dump().volumes.find(({ name }) => name === "data");
const vm = (name: string) => place.emulator.dump().vms.find((one) => one.name === name);
const grow = (id: string | undefined, size: number) =>
  ask("POST", `/api/v1/volume/resize/${id}`, { size: String(size) });
const deletes = (): number => place.proxy.writes.filter((write) => write.startsWith("DELETE ")).length;
const orphans = (): Record<string, { sizeGb?: number }> => place.state().orphans;

describe("between the plan and the delete of a volume", () => {
  it.each([
    ["somebody grows it", () => grow(volume()?.id, 9), "9 GB now"],
    [
      "somebody attaches it to another VM",
      () => ask("POST", "/api/v1/volume/attach", { volume_id: volume()?.id, vm_id: vm("other")?.id }),
      "hangs on VM",
    ],
  ])("%s: it is kept, and told what it is now", async (_, meanwhile, told) => {
    declare({ vms: { web: {}, other: {} }, volumes: { data: { size: 5, attach_to: "web" } } });
    expect((await apply()).exitCode).toBe(0);
    let done = false;
    place.proxy.meddle(async (exchange, forward) => {
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

describe("a replacement that is cut off before it deletes the old volume", () => {
  it.each(["/volume/detach", "/api/v1/volume/"])("at %s is finished by the next run", async (refused) => {
    declare({ vms: { web: {} }, volumes: { data: { name: "data", size: 5, attach_to: "web" } } });
    expect((await apply()).exitCode).toBe(0);
    declare({ vms: { web: {} }, volumes: { data: { name: "data-new", size: 5, attach_to: "web" } } });
    place.proxy.meddle(async ({ method, path }, forward) => {
      const isRefused = refused.endsWith("/") ? method === "DELETE" : path.endsWith(refused);
      return isRefused ? json({ error: { code: 400, message: "not now" } }, 400) : forward();
    });
    expect((await apply()).exitCode).toBe(1);
    expect([volume()?.name, Object.keys(orphans()).length]).toEqual(["data", 1]);
    place.proxy.meddle((_, forward) => forward());
    const unpermitted = await reconcile("apply", "-y", "--confirm-flush", "all");
    expect([unpermitted.exitCode, said(unpermitted)]).toEqual([3, expect.stringContaining("which it replaced")]);
    const ran = await apply();
    expect(ran.exitCode, said(ran)).toBe(0);
    expect([volume(), orphans()]).toEqual([undefined, {}]);
    expect(said(await reconcile("plan"))).toContain("Nothing to do");
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
    place.proxy.meddle(async ({ method, path }, forward) => {
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
    place.proxy.meddle(async ({ method, path }, forward) => {
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

  it("remembers that it sent the delete: what is gone after a lost answer was meant to go", async () => {
    const id = await leaveOne();
    let isDeleted = false;
    place.proxy.meddle(async ({ method, path }, forward) => {
      if (!path.endsWith(id)) return forward();
      if (method === "DELETE") isDeleted = (await forward()).status < 300 || isDeleted;
      return isDeleted ? json({ message: "later" }, 503) : forward();
    });
    const lost = await end(id);
    expect([lost.exitCode, Object.keys(orphans())], said(lost)).toEqual([1, [`volume:${id}`]]);
    place.proxy.meddle((_, forward) => forward());
    declare({ vms: { web: {} } });
    const next = await apply();
    expect(next.exitCode, said(next)).toBe(0);
    const again = await end(id);
    expect([again.exitCode, orphans()], said(again)).toEqual([0, {}]);
  });

  it("deletes nothing that hangs on a VM or has grown since it was left", async () => {
    const id = await leaveOne();
    await grow(id, 30);
    const grown = await end(id);
    expect([grown.exitCode, said(grown), deletes()]).toEqual([1, expect.stringContaining("30 GB"), 1]);
    expect(orphans()[`volume:${id}`]?.sizeGb).toBe(30);
    declare({ vms: { other: {} } });
    expect((await apply()).exitCode).toBe(0);
    await ask("POST", "/api/v1/volume/attach", { volume_id: id, vm_id: vm("other")?.id });
    const attached = await end(id);
    expect([attached.exitCode, said(attached), deletes()]).toEqual([1, expect.stringContaining("hangs on VM"), 1]);
    await ask("POST", "/api/v1/volume/detach", { volume_id: id, vm_id: vm("other")?.id, flush_confirmed: true });
    expect((await end(id)).exitCode).toBe(0);
    expect(orphans()).toEqual({});
  });
});
