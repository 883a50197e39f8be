/** `vm stop`, `start`, `reboot` and `snapshot`: an act on a VM looks first, and an image is not made twice. */
import { describe, expect, it } from "vitest";
import { startCli } from "../support/cli-process";
import { done, json, ownMeddledPlace, said } from "../support/own-place";

const place = ownMeddledPlace();
const { reconcile, declare, ask } = place;

const apply = () => reconcile("apply", "-y", "--allow-data-loss");
const images = () => place.emulator.dump().images.filter(({ name }) => name === "before");
const snapshot = () => reconcile("vm", "snapshot", "vm.web", "--name", "before");
const idOfWeb = () => place.state().resources["vm.web"].id as string;
const acts = [["stop"], ["start"], ["reboot"], ["snapshot", "--name", "before"]].map(([verb = "", ...flags]) => ({
  verb,
  words: ["vm", verb, "vm.web", ...flags],
}));

async function withTwo(): Promise<void> {
  declare({ vms: { web: {}, other: {} } });
  await done(apply());
}

describe.each(acts)("vm $verb", ({ words }) => {
  it("sends nothing to a VM that the list does not show any more", async () => {
    await withTwo();
    await ask("DELETE", `/api/v1/vm/delete/${idOfWeb()}`);
    const sent = place.writes();
    const refused = await reconcile(...words);
    expect([refused.exitCode, place.writes()], said(refused)).toEqual([1, sent]);
    expect(said(refused)).toMatch(/plan\/(gone|unobserved)/);
  });

  it("sends nothing to an id that has become another VM's", async () => {
    await withTwo();
    await ask("POST", `/api/v1/vm/rename/${idOfWeb()}`, { name: "of-somebody" });
    const sent = place.writes();
    const refused = await reconcile(...words);
    expect([refused.exitCode, place.writes()], said(refused)).toEqual([1, sent]);
    expect(said(refused)).toContain("plan/other-name");
  });
});

it.each([
  ["volume.web", "reconcile state list"],
  ["web", "did you mean vm.web?"],
])("of %s, which is no VM, never names the same again", async (named, fix) => {
  declare({ vms: { web: {} }, volumes: { web: { name: "web-data", size: 5 } } });
  await done(apply());
  expect((await reconcile("vm", "reboot", named)).stderr).toContain(`the state has no VM ${named}\n   = fix: ${fix}\n`);
});

/** Ends the command when the service has made the image, before the answer arrives. */
async function killed(): Promise<void> {
  const run = startCli(["vm", "snapshot", "vm.web", "--name", "before"], place.surroundings());
  place.proxy.meddle(async ({ method, path }, forward) => {
    const answer = await forward();
    if (method === "POST" && path.includes("/snapshot/")) {
      run.child.kill("SIGKILL");
      await run.finished;
    }
    return answer;
  });
  await run.finished;
  place.proxy.meddle((_, forward) => forward());
}

describe("vm snapshot", () => {
  it("that was killed after it was sent makes no second image when it is run again", async () => {
    await withTwo();
    await killed();
    await done(snapshot());
    expect(images()).toHaveLength(1);
    // That one has ended: whoever asks again wants another.
    await done(snapshot());
    expect(images()).toHaveLength(2);
    expect(place.state().intents).toEqual({});
  });

  it("is remembered over an apply that has nothing to do with it", async () => {
    await withTwo();
    await killed();
    declare({ vms: { web: { power: "stopped" }, other: {} } });
    await done(apply());
    await done(snapshot());
    expect(images()).toHaveLength(1);
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });

  it("takes no place of another one that is open", async () => {
    await withTwo();
    await killed();
    const refused = await reconcile("vm", "snapshot", "vm.web", "--name", "after");
    expect([refused.exitCode, images().length], said(refused)).toEqual([1, 1]);
    await done(snapshot());
    await done(reconcile("vm", "snapshot", "vm.web", "--name", "after"));
  });

  it("is over before an apply takes a snapshot of its own", async () => {
    await withTwo();
    await killed();
    declare({ vms: { web: { image_id: "debian-12", lifecycle: { snapshot_before: ["rebuild"] } }, other: {} } });
    let listings = 0;
    place.proxy.meddle(async ({ method, path }, forward) => {
      const answer = await forward();
      if (method !== "GET" || !path.startsWith("/api/v1/image/list") || listings++ > 3) return answer;
      return { ...answer, body: answer.body.replaceAll('"before"', '"hidden"') };
    });
    const ran = await apply();
    expect([ran.exitCode, images().length], said(ran)).toEqual([0, 1]);
    expect(said(ran)).toContain("the earlier snapshot before has ended");
    expect(place.state().intents).toEqual({});
  });

  it("whose answer was lost asks where the service has no list of images", async () => {
    await place.serve({ without: ["image.list"] });
    const image_id = place.emulator.dump().images[0]?.id ?? "";
    declare({ vms: { web: { image_id } } }, { dialect: { operations: { "image.list": null } } });
    await done(apply());
    place.proxy.meddle(async ({ method, path }, forward) => {
      const answer = await forward();
      if (method === "POST" && path.includes("/snapshot/")) throw new Error("cut off");
      return answer;
    });
    for (const _ of [1, 2]) {
      const asked = await snapshot();
      expect([asked.exitCode, images().length], said(asked)).toEqual([1, 1]);
      expect(said(asked)).toContain("apply/outcome-unknown");
    }
    place.proxy.meddle((_, forward) => forward());
    await done(reconcile("state", "resolve", "vm.web", "--not-created"));
    await done(snapshot());
  });

  it("of an answer in HTML from a proxy is looked for", async () => {
    await withTwo();
    place.proxy.meddle(async ({ method, path }, forward) => {
      const answer = await forward();
      return method === "POST" && path.includes("/snapshot/") ? json("<html>bad gateway</html>", 502) : answer;
    });
    await done(snapshot());
    expect(images()).toHaveLength(1);
  });
});
