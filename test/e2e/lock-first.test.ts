/** Whatever writes the state or the service holds the lock before it looks, and plans on what it then reads. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createFileStore } from "../../reconciler/store/file";
import { type Ran, runCli } from "../support/cli-process";
import { done, headOf, ownPlace } from "../support/own-place";

const place = ownPlace();
const { writes } = place;

const head = headOf("poll_interval: 20ms, discovery_window: 500ms");
const write = (text: string, name = "reconcile.yaml"): void =>
  writeFileSync(join(place.folder, name), `${head}${text}`);
const statePath = (): string => join(place.folder, "s.json");
const reconcile = (args: readonly string[], baseUrl = place.emulator.url): Promise<Ran> =>
  runCli([...args, "--state", statePath()], place.surroundings(baseUrl));

describe("while another run holds the state", () => {
  it("nothing is written or sent by any command that would", async () => {
    write("vms: { app: { name: app-1 } }\nvolumes: { data: { size: 5 } }\n");
    await done(reconcile(["apply", "-y"]));
    write(
      "vms: { app: { name: app-1 } }\nremoved: [{ from: volume.data, destroy: false }]\nvolumes: { more: { size: 1 } }\n",
    );
    const [orphan] = place.emulator.dump().volumes.filter(({ size }) => size === 5);
    writeFileSync(join(place.folder, "listing.json"), '{"SecurityGroups": []}');
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
  const { hostname, port } = new URL(place.emulator.url);
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
      const id = place.emulator.dump().vms[0]?.id ?? "";
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
        place.emulator
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
    const id = place.emulator.dump().volumes[0]?.id ?? "";
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

  it("of a group with a rule too many, where rules cannot be deleted, takes it over with that rule, and says so", async () => {
    write("groups: { old: { name: web-1, rules: [ { protocol: tcp, dst_port: 22 } ] } }\n");
    await done(reconcile(["apply", "-y"]));
    const id = place.emulator.dump().groups.find(({ name }) => name === "web-1")?.id ?? "";
    await done(reconcile(["state", "rm", "group.old"]));
    write("groups: { web: {} }\n");
    const ran = await done(reconcile(["import", "group.web", id]));
    expect(ran.stderr).toContain("rules has ingress tcp 22 from anywhere (IPv4), and the file does not");
    const { resources } = JSON.parse((await done(reconcile(["state", "pull"]))).stdout);
    expect(resources).toMatchObject({ "group.web": { id, rules: [{ ports: { min: 22, max: 22 } }] } });
  });

  it("of a volume comes before that of the VM that it hangs on as well as behind it", async () => {
    write("vms: { app: { name: app-1 } }\nvolumes: { data: { size: 5, attach_to: app } }\n");
    await done(reconcile(["apply", "-y"]));
    const id = place.emulator.dump().volumes.find(({ name }) => name === "data")?.id ?? "";
    await done(reconcile(["state", "rm", "vm.app", "volume.data"]));
    await done(reconcile(["import", "volume.data", id]));
    await done(reconcile(["import", "vm.app", "app-1"]));
    await done(reconcile(["plan", "--detailed-exitcode"]));
  });
});
