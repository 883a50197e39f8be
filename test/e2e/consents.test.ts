/** A consent permits what it names: one loss, a number of removals, a list that was reviewed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { jsonLines, type Ran } from "../support/cli-process";
import { done, headOf, ownPlace } from "../support/own-place";

const place = ownPlace();
const { reconcile, writes } = place;

const head = headOf("poll_interval: 5ms, discovery_window: 50ms");
const write = (text: string): void => writeFileSync(join(place.folder, "reconcile.yaml"), `${head}${text}`);
const volumes = (): string[] =>
  place.emulator
    .dump()
    .volumes.map(({ name }) => name)
    .sort();

async function refused(ran: Promise<Ran>, ...words: string[]): Promise<void> {
  const sent = writes();
  const { exitCode, stdout, stderr } = await ran;
  expect(exitCode, stdout + stderr).toBe(3);
  for (const word of words) expect(stderr).toContain(word);
  expect(writes()).toBe(sent);
}

describe("a plan that removes much", () => {
  const names = Array.from({ length: 20 }, (_, index) => `disk-${index}`);
  const file = (count: number): string =>
    `volumes:\n${names
      .slice(0, count)
      .map((name) => `  ${name}: { size: 1 }\n`)
      .join("")}`;

  it("from a file that was cut at the end of a line is refused, and done when its number is named", async () => {
    write(file(20));
    await done(reconcile("apply", "-y"));
    write(file(3));
    await refused(reconcile("apply", "-y", "--allow-data-loss"), "consent/removal", "--allow-removal 17");
    await refused(reconcile("apply", "-y", "--allow-data-loss", "--allow-removal", "16"), "--allow-removal 17");
    expect(volumes()).toHaveLength(20);
    await done(reconcile("apply", "-y", "--allow-data-loss", "--allow-removal", "17"));
    expect(volumes()).toEqual(["disk-0", "disk-1", "disk-2"]);
  });

  it("is done without more words as a plan that was reviewed, and as destroy", async () => {
    write(file(20));
    await done(reconcile("apply", "-y"));
    write(file(10));
    await done(reconcile("apply", "-y", "--allow-data-loss"));
    write(file(2));
    await done(reconcile("plan", "--out", "much.plan.json"));
    await done(reconcile("apply", "much.plan.json"));
    expect(volumes()).toHaveLength(2);
    write(file(20));
    await done(reconcile("apply", "-y"));
    await done(reconcile("destroy", "-y", "--allow-data-loss"));
    expect(volumes()).toEqual([]);
  });
});

describe("--allow-loss", () => {
  it("permits the loss of what it names and of nothing else; each loss is told with its id and size", async () => {
    write("volumes: { one-disk: { size: 1 }, two-disk: { size: 2 } }\n");
    await done(reconcile("apply", "-y"));
    write("groups: { web: {} }\n");
    const ids = new Map(place.emulator.dump().volumes.map(({ name, id }) => [name, id]));
    await refused(reconcile("apply", "-y"), "--allow-loss volume.one-disk --allow-loss volume.two-disk");
    await refused(reconcile("apply", "-y", "--allow-loss", "volume.one-disk"), "--allow-loss volume.two-disk");
    const ran = await reconcile("apply", "-y", "--json", "--allow-loss", "volume.one-disk");
    const events = jsonLines(ran.stdout);
    expect(events.find(({ address, type }) => type === "change" && address === "volume.two-disk")?.["lost"]).toEqual([
      { disk: "volume", id: ids.get("two-disk"), size_gb: 2 },
    ]);
    expect(events.at(-1)?.["diagnostics"]).toMatchObject([
      {
        code: "consent/data-loss",
        address: "volume.two-disk",
        summary: `volume two-disk (${ids.get("two-disk")}) of 2 GB is deleted with its data`,
      },
    ]);
    await done(reconcile("apply", "-y", "--allow-loss", "volume.one-disk", "--allow-loss", "volume.two-disk"));
    expect(volumes()).toEqual([]);
  });
});

describe("a permission for what is not there", () => {
  it.each([
    ["--allow-loss", "volume.on-disk", "did you mean volume.one-disk?"],
    ["--confirm-flush", "one-disk", "did you mean volume.one-disk?"],
    ["--recreate", "vm.web", "vm.web has vm.web[a]"],
    ["--unprotect", "vm.web[b]", "did you mean vm.web[a]?"],
  ])("is told with the nearest address: %s %s", async (flag, address, near) => {
    write("vms: { web: { for_each: [a] } }\nvolumes: { one-disk: { size: 1 } }\n");
    const { stderr } = await done(reconcile("apply", "-y", flag, address));
    expect(stderr).toContain(`warning[plan/unknown-address]: ${flag} ${address} names nothing`);
    expect(stderr).toContain(near);
    expect((await done(reconcile("apply", "-y", flag, "volume.one-disk"))).stderr).not.toContain("unknown-address");
  });
});

describe("prevent_destroy", () => {
  const vm = (more: string, guarded: boolean): string =>
    `vms: { app: { name: app-1, ${more} lifecycle: { prevent_destroy: ${guarded} } } }\n`;

  it("stands against a rebuild, which wipes the root disk", async () => {
    write(vm("", true));
    await done(reconcile("apply", "-y"));
    write(vm("image_id: debian-12,", true));
    await refused(reconcile("apply", "-y", "--allow-data-loss"), "consent/prevent-destroy");
  });

  it("takes two applies to be switched off and what it protects destroyed", async () => {
    write(vm("", true));
    await done(reconcile("apply", "-y"));
    write(vm("root_size: 60,", false));
    await refused(reconcile("apply", "-y", "--allow-data-loss"), "consent/prevent-destroy", "apply that alone first");
    write(vm("", false));
    await done(reconcile("apply", "-y"));
    write(vm("root_size: 60,", false));
    await done(reconcile("apply", "-y", "--allow-data-loss"));
  });
});
