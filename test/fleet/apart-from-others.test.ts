/** Stacks of the same files, and stacks at one place: none takes what another one has, and none is let into its state. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createProjectOpener } from "../../reconciler/cli/fleet/opener";
import { carryOutSync, plannedSync } from "../../reconciler/fleet/actions";
import type { Database } from "../../reconciler/fleet/database/database";
import { createRecords } from "../../reconciler/fleet/database/records";
import { prepareTables } from "../../reconciler/fleet/database/tables";
import { noSettings, type StackSpec } from "../../reconciler/fleet/model";
import { runCli } from "../support/cli-process";
import { idleQueue, newDatabase, stackSpec } from "../support/fleet-stage";
import { makeFolder } from "../support/folder";

const never = new AbortController().signal;

describe("two stacks of the same files", () => {
  let emulator: RunningEmulator;
  beforeAll(async () => {
    emulator = await startEmulator({ timeScale: 0 });
  });
  afterAll(() => emulator.close());

  const file = (more = ""): string => `version: 1
project: acme
region: in-west-1
service: { base_url: "${emulator.url}" }
vms: { web: { name: shop-web, owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
${more}`;

  /** What stands in the way of a plan of the stack prod, beside the stack staging with its state at this place. */
  async function refused(text: string, staging: string): Promise<string> {
    const folder = makeFolder({ "reconcile.yaml": text });
    const project = await createProjectOpener({ cache: makeFolder() })({
      stack: stackSpec("prod", { source: { kind: "folder", folder }, state: join(folder, "prod.json") }),
      service: { name: "here", baseUrl: emulator.url, insecureHttp: false, credential: { env: "APART_TOKEN" } },
      checkout: { folder, root: folder, revision: "r", content: "c" },
      inputs: {},
      destroy: false,
      worker: "w",
      mayRead: async (state) => ({ state }),
      siblings: async () => [{ name: "staging", tenant: "default", state: staging }],
    });
    try {
      return (await project.plan(never)).errors.join("\n");
    } finally {
      await project.close();
    }
  }

  test("take nothing from each other, and the plan says whose it is", async () => {
    process.env["APART_TOKEN"] = "ops-token";
    const folder = makeFolder({ "reconcile.yaml": file(), "broken.json": "{ broken" });
    const staging = join(folder, "staging.json");
    const applied = await runCli(["apply", "-y", "--state", staging], {
      cwd: folder,
      env: { RECONCILE_TOKEN: "ops-token" },
    });
    expect(applied.exitCode, applied.stderr).toBe(0);
    const before = emulator.dump();
    const id = before.vms[0]?.id ?? "";
    const wished = file(`imports: [{ to: vm.web, id: "${id}" }]\n`);
    expect(await refused(wished, staging)).toContain(
      `vm.web cannot take ${id} over: it is vm.web of the stack staging`,
    );
    const disk = before.volumes.find(({ root }) => !root)?.id ?? "";
    const parted = `${file().replace(/vms:.*\n/, "")}imports: [{ to: volume.disk, id: "${disk}" }]\nvolumes: { disk: { size: 10 } }\n`;
    expect(await refused(parted, staging)).toContain(
      `volume.disk cannot take ${disk} over: it is the own data volume of vm.web of the stack staging`,
    );
    // It would be deleted as well.
    const replaced = wished.replace("ops@acme.example", "dev@acme.example");
    expect(await refused(replaced, staging)).toContain(`vm.web cannot take ${id} over`);
    // Nobody else has it.
    expect(await refused(wished, join(folder, "empty.json"))).toBe("");
    const byName = file("imports: [{ to: vm.web, name: shop-web }]\n");
    expect(await refused(byName, staging)).toContain("of the stack staging");
    expect(await refused(byName, join(folder, "broken.json"))).toContain("does not take");
    expect(emulator.dump()).toEqual(before);
  });
});

describe("stacks in one database", () => {
  let database: Database;
  beforeAll(async () => {
    database = await newDatabase();
    await prepareTables(database);
  });
  afterAll(() => database.close());

  test("are siblings when their files are in one place, at whatever commit", async () => {
    const records = createRecords(database);
    const git = (path: string, ref = "main") => ({ kind: "git", url: "https://git.example/infra", ref, path }) as const;
    const staging = stackSpec("web-staging", { source: git("web", "next"), env: "staging" });
    const prod = stackSpec("web-prod", { source: git("web"), env: "prod" });
    await records.saveStacks([prod, staging, stackSpec("mail", { source: git("mail") }), stackSpec("shop-a")]);
    const { tenant, state } = staging;
    expect(await records.siblings(prod)).toEqual([{ name: "web-staging", tenant, state }]);
    expect(await records.siblings(stackSpec("shop-a"))).toEqual([]);
    for (const { name } of await records.stacks()) await records.releaseStack(name);
  });

  test("at the place of one that leaves is refused until that is gone, and a released one gives its state up", async () => {
    const records = createRecords(database);
    const desk = { records, queue: idleQueue, who: "ann" };
    const sync = async (...stacks: StackSpec[]): Promise<void> => {
      const changes = await plannedSync(desk, stacks);
      await carryOutSync(desk, { ...noSettings, stacks, generators: [] }, changes);
    };
    const state = "postgres://fleet@db.example/fleet?state=shop";
    const shop = stackSpec("shop", { state, destroy: true });
    const renamed = stackSpec("store", { state: "postgresql://db.example:5432/fleet?state=shop" });
    await sync(shop, stackSpec("other"));
    const taken = /the stacks store and shop have one state.*shop has left the fleet's file, and is not gone yet/;
    // In the sync that lets it go, and while what it made is still to be destroyed.
    await expect(sync(renamed)).rejects.toThrow(taken);
    await sync(stackSpec("other"));
    expect((await records.stack("shop"))?.leaving).toBe(true);
    await expect(sync(renamed, stackSpec("other"))).rejects.toThrow(taken);
    // Taken back into the file it is the fleet's again; without `destroy` its name may be changed.
    await sync(stackSpec("shop", { state }));
    await sync(renamed);
    expect((await records.stacks()).map(({ name }) => name)).toEqual(["store"]);
  });
});
