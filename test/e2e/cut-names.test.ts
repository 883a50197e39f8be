/** A service that keeps only the beginning of a long name: what a lost create made bears another name than was sent. */
import { describe, expect, it } from "vitest";
import { startCli } from "../support/cli-process";
import { ownMeddledPlace, said } from "../support/own-place";

const place = ownMeddledPlace({ with: ["volume.list"] });
const { reconcile, declare } = place;
const long = "frontend-of-production";
const dialect = { operations: { "volume.list": { method: "GET", path: "/api/v1/volume/list" } } };
const kinds = {
  vm: { blocks: { vms: { web: { name: long } } }, made: () => place.emulator.dump().vms },
  volume: { blocks: { volumes: { web: { name: long, size: 5 } } }, made: () => place.emulator.dump().volumes },
} as const;

/** Cuts each name that is created, and tells of each create once it is done. */
const cutting = (after: () => void) =>
  place.proxy.meddle(async ({ method, path, body }, forward) => {
    if (method !== "POST" || !path.endsWith("/create")) return forward();
    const asked = JSON.parse(body);
    const answer = await forward(JSON.stringify({ ...asked, name: asked.name.slice(0, 12) }));
    after();
    return answer;
  });
const creates = (): number => place.proxy.writes.filter((write) => write.endsWith("/create")).length;

describe.each(["vm", "volume"] as const)("a %s", (kind) => {
  const { blocks, made } = kinds[kind];

  it("whose create was lost is asked about, and not created a second time", async () => {
    declare(blocks, { dialect });
    cutting(() => {
      throw new Error("cut off");
    });
    for (const _ of [1, 2]) {
      const ran = await reconcile("apply", "-y");
      expect([ran.exitCode, said(ran)]).toEqual([1, expect.stringContaining(`is called ${long.slice(0, 12)}`)]);
    }
    expect([creates(), made().filter(({ name }) => name === long.slice(0, 12)).length]).toEqual([1, 1]);
    const id = made().find(({ name }) => name === long.slice(0, 12))?.id ?? "";
    const taken = await reconcile("import", `${kind}.web`, id);
    expect([taken.exitCode, place.state().resources[`${kind}.web`].id], said(taken)).toEqual([0, id]);
  });

  it("whose run was killed is asked about by the next plan", async () => {
    declare(blocks, { dialect });
    const run = startCli(["apply", "-y"], place.surroundings());
    cutting(() => run.child.kill("SIGKILL"));
    await run.finished;
    const next = await reconcile("apply", "-y");
    expect([next.exitCode, creates()], said(next)).toEqual([1, 1]);
    expect(said(next)).toContain("plan/outcome-unknown");
  });

  it("is created when what bears the beginning of its name was there before", async () => {
    const short = JSON.parse(JSON.stringify(blocks).replace(long, long.slice(0, 12)));
    declare(short, { dialect });
    expect((await reconcile("apply", "-y")).exitCode).toBe(0);
    await reconcile("state", "rm", `${kind}.web`);
    declare(blocks, { dialect });
    let isLost = false;
    place.proxy.meddle(async ({ method, path }, forward) => {
      if (method === "POST" && path.endsWith("/create") && !isLost) {
        isLost = true;
        throw new Error("never arrived");
      }
      return forward();
    });
    const ran = await reconcile("apply", "-y");
    expect([ran.exitCode, place.state().resources[`${kind}.web`].name], said(ran)).toEqual([0, long]);
  });
});
