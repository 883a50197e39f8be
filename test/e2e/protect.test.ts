import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import { done, ownPlace, said } from "../support/own-place";

const place = ownPlace();
const { reconcile } = place;

const file = (protect: string, image = "ubuntu-24.04", more = ""): string => `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms } }
environments:
  prod:
    protect: ${protect}
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ${image}, flavor_id: m1.small, size: 10 } }
vms:
  app: { name: app-1${more} }
  own: { name: own-1, image_id: ubuntu-24.04, lifecycle: { prevent_destroy: true } }
`;
const prod = (...args: string[]) => reconcile(...args, "--env", "prod");
const images = () => Object.fromEntries(place.emulator.dump().vms.map(({ name, image_id }) => [name, image_id]));
const appliedFirst = async () => {
  place.write(file("true"));
  await done(prod("apply", "-y"));
  return images()["app-1"];
};
const protectedRecords = async () => (await done(prod("state", "list"))).stdout.match(/prevent_destroy/g)?.length;

describe("a protected environment", () => {
  it("says which line protects what, and every way on", async () => {
    await appliedFirst();
    place.write(file("true", "debian-12"));
    const sent = place.writes();
    const refused = await prod("apply", "-y", "--allow-data-loss");
    expect(refused.exitCode).toBe(3);
    expect(said(refused)).toContain(
      "vm.app (app-1) is protected by its environment (reconcile.yaml:7), and this plan would wipe its root disk",
    );
    expect(said(refused)).toContain("nothing was sent: reconcile.yaml:7 protects it");
    expect(said(refused)).toContain("--unprotect vm.app, this once, at a terminal without -y or with a saved plan");
    expect(said(refused)).toContain("protect: { allow: [rebuild] }");
    // Also where no block is left that could say it.
    expect(said(await prod("destroy", "-y"))).toContain(
      "vm.app (app-1) is protected by its environment (reconcile.yaml:7), and this plan would delete it",
    );
    expect(place.writes()).toBe(sent);
  });

  it("permits in one commit what protect allows, stays protected, and a block's own protection stands", async () => {
    const image = await appliedFirst();
    place.write(file("{ allow: [rebuild] }", "debian-12"));
    const lossless = await prod("apply", "-y");
    expect([lossless.exitCode, said(lossless)]).toEqual([3, expect.stringContaining("--allow-loss vm.app")]);
    await done(prod("apply", "-y", "--allow-loss", "vm.app"));
    expect(images()["app-1"]).not.toBe(image);
    expect(await protectedRecords()).toBe(2);
    place.write(
      file("{ allow: [rebuild] }", "debian-12").replace("own-1, image_id: ubuntu-24.04", "own-1, image_id: debian-12"),
    );
    const own = await prod("apply", "-y", "--allow-data-loss");
    expect([own.exitCode, said(own)]).toEqual([
      3,
      expect.stringContaining("vm.own (own-1) has prevent_destroy (reconcile.yaml:11)"),
    ]);
    // What is not listed stays forbidden.
    place.write(file("{ allow: [rebuild] }", "debian-12", ", root_size: 60"));
    expect((await prod("apply", "-y", "--allow-data-loss")).exitCode).toBe(3);
  });

  it("is lifted once by --unprotect with a plan that was reviewed, and by no flag alone", async () => {
    const image = await appliedFirst();
    place.write(file("true", "debian-12"));
    const alone = await prod("apply", "-y", "--allow-data-loss", "--unprotect", "vm.app");
    expect(alone.exitCode).toBe(3);
    // The plan says no more than what holds.
    expect(alone.stdout).not.toContain("would wipe its root disk (permitted)");
    expect(images()["app-1"]).toBe(image);
    const shown = await done(prod("plan", "--unprotect", "vm.app", "--out", "change.plan.json"));
    expect(said(shown)).toContain("would wipe its root disk (permitted)");
    expect(said(shown)).toContain("--unprotect");
    expect((await reconcile("apply", "change.plan.json")).exitCode).toBe(3);
    expect((await reconcile("apply", "change.plan.json", "--unprotect", "vm.own")).exitCode).toBe(3);
    const reviewed = await done(reconcile("apply", "change.plan.json", "--unprotect", "vm.app"));
    expect(reviewed.stdout).toContain("would wipe its root disk (permitted)");
    expect(reviewed.stdout).not.toContain("--allow-loss");
    expect(images()["app-1"]).not.toBe(image);
    expect(await protectedRecords()).toBe(2);
    const watched = await prod("watch", "--unprotect", "vm.app");
    expect([watched.exitCode, said(watched)]).toEqual([1, expect.stringContaining("has no flag --unprotect")]);
  });

  const script = spawnSync("script", ["--version"]).status === 0;
  it.skipIf(!script).each([
    ["yes", 1],
    ["prod", 0],
  ])("is lifted at a terminal by its name: %s", async (typed, changed) => {
    const image = await appliedFirst();
    place.write(file("true", "debian-12"));
    const { cwd, env } = place.surroundings();
    const bin = join(__dirname, "../../bin/reconcile.js");
    const command = `'${process.execPath}' '${bin}' apply --env prod --unprotect vm.app`;
    const child = spawn("script", ["-qec", command, "/dev/null"], {
      cwd,
      env: { ...process.env, ...env, NO_COLOR: undefined, TERM: "dumb" },
      stdio: ["pipe", "pipe", "ignore"],
    });
    let shown = "";
    child.stdout.on("data", (chunk) => {
      const asked = shown.includes("Type prod");
      shown += chunk;
      if (!asked && shown.includes("Type prod to apply:")) child.stdin.write(`${typed}\n`);
    });
    await new Promise((resolve) => child.once("close", resolve));
    expect(shown).toContain("Type prod to apply:");
    // A terminal that calls itself dumb shows escape sequences as they are.
    expect(shown).not.toContain("\u001b");
    expect(images()["app-1"] === image ? 1 : 0).toBe(changed);
  });

  it.each([
    ["{ allow: [delete] }", "delete"],
    ["{ allow: rebuild }", "rebuild"],
    ["{ alow: [] }", "alow"],
  ])("takes no %s", (protect, word) => {
    const { diagnostics } = readDesired([{ file: "reconcile.yaml", text: file(protect) }], { env: "prod" });
    expect(JSON.stringify(diagnostics)).toContain(word);
    expect(diagnostics.some(({ severity }) => severity === "error")).toBe(true);
  });
});
