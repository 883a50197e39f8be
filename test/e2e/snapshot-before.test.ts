import { expect, it } from "vitest";
import { json, ownMeddledPlace } from "../support/own-place";

const place = ownMeddledPlace();
const { reconcile } = place;

const apply = (...flags: string[]) => reconcile("apply", "-y", "--allow-data-loss", ...flags);

const declare = (vm: object, dialect: object = {}): void =>
  place.declare({ vms: { db: { name: "db-1", ...vm } } }, { dialect });
const rebuilt = { image_id: "debian-12", lifecycle: { snapshot_before: ["rebuild"] } };
const wipes = () => place.emulator.dump().vms[0]!.root_wipes;
const snapshots = () => place.proxy.writes.filter((write) => write.includes("/snapshot/")).length;

interface Listed {
  readonly data?: unknown;
}
/** Changes what the list of images shows of the snapshot. */
function showSnapshot(as: (image: object) => object | undefined): void {
  place.proxy.meddle(async ({ path }, forward) => {
    const answer = await forward();
    if (!path.startsWith("/api/v1/image/list")) return answer;
    const body = JSON.parse(answer.body) as Listed;
    const images = (body.data ?? body) as { name: string }[];
    const shown = images.flatMap((image) => (image.name.endsWith("-pre-rebuild") ? (as(image) ?? []) : image));
    return json(body.data === undefined ? shown : { data: shown });
  });
}

it("a snapshot that was accepted and does not appear keeps the rebuild from being sent, and is not taken again", async () => {
  declare({});
  expect(await apply()).toMatchObject({ exitCode: 0 });
  showSnapshot(() => undefined);
  declare(rebuilt);
  for (const _ of [1, 2]) {
    const ran = await apply();
    expect([ran.exitCode, ran.stderr + ran.stdout]).toEqual([
      1,
      expect.stringContaining("no image named db-1-pre-rebuild"),
    ]);
    expect(ran.stderr + ran.stdout).toContain("reconcile state resolve vm.db --not-created");
    expect([wipes(), snapshots()]).toEqual([0, 1]);
  }
  showSnapshot((image) => image);
  expect((await apply()).exitCode).toBe(0);
  expect([wipes(), snapshots()]).toEqual([1, 1]);
  expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
});

it("an image that appears as failed saves nothing", async () => {
  declare({});
  await apply();
  showSnapshot((image) => ({ ...image, status: "error" }));
  declare(rebuilt);
  const ran = await apply();
  expect([ran.exitCode, ran.stderr + ran.stdout]).toEqual([1, expect.stringMatching(/failed state error/)]);
  expect((await apply()).exitCode).toBe(1);
  expect([wipes(), snapshots()]).toEqual([0, 1]);
  const settled = await reconcile("state", "resolve", "vm.db", "--not-created");
  expect([settled.exitCode, settled.stdout]).toEqual([
    0,
    "The snapshot db-1-pre-rebuild of vm.db counts as not taken; what needs it takes it anew.\n",
  ]);
  place.proxy.meddle((_, forward) => forward());
  expect((await apply()).exitCode).toBe(0);
  expect([wipes(), snapshots()]).toEqual([1, 2]);
});

it("an image that is still being made is waited for", async () => {
  declare({});
  await apply();
  let looked = 0;
  let wipesThen = -1;
  showSnapshot((image) => {
    wipesThen = wipes();
    return { ...image, status: ++looked < 6 ? "saving" : "active" };
  });
  declare(rebuilt);
  expect((await apply()).exitCode).toBe(0);
  expect(looked).toBeGreaterThanOrEqual(6);
  expect([wipesThen, wipes(), snapshots()]).toEqual([0, 1, 1]);
});

it("a list of images that cannot be read is no proof either", async () => {
  declare({});
  await apply();
  place.proxy.meddle(async ({ path }, forward) =>
    path.startsWith("/api/v1/image/list") && snapshots() > 0
      ? json({ error: { code: 403, message: "no" } }, 403)
      : forward(),
  );
  declare(rebuilt);
  const ran = await apply();
  expect([ran.exitCode, wipes()]).toEqual([1, 0]);
  expect(ran.stderr + ran.stdout).toContain("the list of images could not be read");
});

it("where there is no list of images, the plan says so and the loss is permitted by name", async () => {
  const blind = { operations: { "image.list": null } };
  const image_id = "00000000-0000-4000-8003-000000000001";
  declare({ image_id }, blind);
  await apply();
  declare({ image_id, flavor_id: "m1.large", lifecycle: { snapshot_before: ["resize"] } }, blind);
  const refused = await reconcile("apply", "-y");
  expect([refused.exitCode, place.proxy.writes.filter((write) => write.includes("resize"))]).toEqual([3, []]);
  expect(refused.stdout + refused.stderr).toContain("cannot be proved");
  expect((await apply()).exitCode).toBe(0);
});
