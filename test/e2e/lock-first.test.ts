/** Whatever writes the state or the service holds the lock before it looks, and plans on what it then reads. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { createFileStore } from "../../reconciler/store/file";
import { type Ran, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

let folder: string;
let emulator: RunningEmulator;
beforeEach(async () => {
  folder = makeFolder();
  emulator = await startEmulator({ timeScale: 0 });
});
afterEach(() => emulator.close());

const head = `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 20ms, discovery_window: 500ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
`;
const write = (text: string, name = "reconcile.yaml"): void => writeFileSync(join(folder, name), `${head}${text}`);
const statePath = (): string => join(folder, "s.json");
const reconcile = (args: readonly string[], baseUrl = emulator.url): Promise<Ran> =>
  runCli([...args, "--state", statePath()], {
    cwd: folder,
    env: { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: baseUrl },
  });
const writes = (): number => emulator.requests().log.filter(({ method }) => method !== "GET").length;

async function done(ran: Promise<Ran>): Promise<Ran> {
  const { exitCode, stdout, stderr } = await ran;
  expect(exitCode, stdout + stderr).toBe(0);
  return ran;
}

describe("while another run holds the state", () => {
  it("nothing is written or sent by any command that would", async () => {
    write("vms: { app: { name: app-1 } }\nvolumes: { data: { size: 5 } }\n");
    await done(reconcile(["apply", "-y"]));
    write(
      "vms: { app: { name: app-1 } }\nremoved: [{ from: volume.data, destroy: false }]\nvolumes: { more: { size: 1 } }\n",
    );
    const [orphan] = emulator.dump().volumes.filter(({ size }) => size === 5);
    writeFileSync(join(folder, "listing.json"), '{"SecurityGroups": []}');
    const session = await createFileStore(statePath()).lock({
      ...{ who: "another", host: "here", pid: process.pid, since: new Date().toISOString(), command: "apply" },
    });
    try {
      const before = readFileSync(statePath(), "utf8");
      const sent = writes();
      for (const args of [
        ["apply", "-y"],
        ["destroy", "-y", "--allow-data-loss"],
        ["import", "volume.more", orphan?.id ?? ""],
        ["orphans", "delete", orphan?.id ?? "", "--allow-data-loss"],
        ["group", "import", "listing.json"],
        ["vm", "stop", "vm.app"],
        ["state", "rm", "vm.app"],
      ]) {
        const ran = await reconcile(args);
        expect([ran.exitCode, ran.stderr], args.join(" ")).toEqual([1, expect.stringContaining("locked by another")]);
      }
      expect([writes(), readFileSync(statePath(), "utf8")]).toEqual([sent, before]);
    } finally {
      await session.release();
    }
  });
});

/** The service, whose next list of VMs is not answered before what was armed is over. */
async function startSlowLists() {
  const { hostname, port } = new URL(emulator.url);
  let armed: (() => Promise<unknown>) | undefined;
  const server = createServer(async (incoming, outgoing) => {
    const meanwhile = armed;
    if (incoming.url?.startsWith("/api/v1/vm/list") === true) {
      armed = undefined;
      await meanwhile?.();
    }
    const { method, url: path, headers } = incoming;
    const forwarded = send({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arm(meanwhile: () => Promise<unknown>) {
      armed = meanwhile;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe("import", () => {
  it("lets no apply in between its look and its record, so that nothing is forgotten or made twice", async () => {
    const slow = await startSlowLists();
    try {
      write("vms: { app: { name: app-1 } }\n");
      await done(reconcile(["apply", "-y"], slow.url));
      const id = emulator.dump().vms[0]?.id ?? "";
      await done(reconcile(["state", "rm", "vm.app"]));
      write("vms: { app: { name: app-1 }, more: { name: more-1 } }\n");
      write("vms: { more: { name: more-1 } }\n", "other.yaml");
      let beside: Ran | undefined;
      slow.arm(async () => {
        beside = await reconcile(["apply", "other.yaml", "-y"], slow.url);
      });
      await done(reconcile(["import", "vm.app", id], slow.url));
      expect(beside?.stderr).toContain("error[state/locked]");
      await done(reconcile(["apply", "-y"], slow.url));
      expect(
        emulator
          .dump()
          .vms.map(({ name }) => name)
          .sort(),
      ).toEqual(["app-1", "more-1"]);
    } finally {
      slow.close();
    }
  });

  it("of a volume whose name differs takes it over as it is, and says what differs", async () => {
    write("volumes: { old-name: { size: 5 } }\n");
    await done(reconcile(["apply", "-y"]));
    const id = emulator.dump().volumes[0]?.id ?? "";
    await done(reconcile(["state", "rm", "volume.old-name"]));
    write("volumes: { new-name: { size: 5 } }\n");
    const ran = await done(reconcile(["import", "volume.new-name", id]));
    expect(ran.stderr).toContain("plan/import-differs");
    const { resources, orphans } = JSON.parse((await done(reconcile(["state", "pull"]))).stdout);
    expect(resources).toMatchObject({ "volume.new-name": { id, name: "old-name" } });
    expect(orphans).toEqual({});
    const next = await reconcile(["apply", "-y"]);
    expect([next.exitCode, next.stderr]).toEqual([3, expect.stringContaining("--allow-loss volume.new-name")]);
  });
});
