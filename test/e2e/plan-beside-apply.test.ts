/** A plan takes no lock: an apply may run between its look at the state and its look at the service. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, request as send } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startEmulator } from "../../emulator";
import { type Ran, runCli, startCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { ownPlace } from "../support/own-place";

const place = ownPlace();

const write = (name: string, vms: readonly string[]): void =>
  writeFileSync(
    join(place.folder, name),
    `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 20ms, discovery_window: 500ms } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { app: { for_each: [${vms.join(", ")}], name: "app-\${each}" } }
`,
  );

const reconcile = (args: readonly string[], baseUrl: string): Promise<Ran> =>
  runCli([...args, "--state", join(place.folder, "s.json")], place.surroundings(baseUrl));

/** The service, which is never quicker to list the VMs for `use` than somebody else's apply, at the same address. */
async function withMeanwhile<T>(
  meanwhile: (url: string) => Promise<unknown>,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const { hostname, port } = new URL(place.emulator.url);
  let isElsewhere = false;
  const server = createServer(async (incoming, outgoing) => {
    if (incoming.url?.startsWith("/api/v1/vm/list") === true && !isElsewhere) {
      isElsewhere = true;
      await meanwhile(`http://${incoming.headers.host}`);
      isElsewhere = false;
    }
    const { method, url: path, headers } = incoming;
    const forwarded = send({ hostname, port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe("plan beside an apply", () => {
  it("that has made everything meanwhile: it looks again, and there is nothing to do", async () => {
    write("reconcile.yaml", ["a", "b"]);
    let applied: Promise<Ran> | undefined;
    const meanwhile = (url: string) => {
      applied ??= reconcile(["apply", "-y"], url);
      return applied;
    };
    const ran = await withMeanwhile(meanwhile, (url) => reconcile(["plan", "--detailed-exitcode"], url));
    expect((await applied)?.exitCode).toBe(0);
    expect([ran.exitCode, ran.stderr], ran.stdout).toEqual([0, ""]);
  });

  it("that goes on and on: it says so, and shows no plan that is wrong", async () => {
    write("reconcile.yaml", ["a", "b", "c", "d", "e"]);
    const made: string[] = [];
    const meanwhile = async (url: string) => {
      made.push(["a", "b", "c", "d", "e"][made.length]!);
      write("other.yaml", made);
      const ran = await reconcile(["apply", "-y", "-f", "other.yaml"], url);
      expect(ran.exitCode, ran.stderr).toBe(0);
    };
    const ran = await withMeanwhile(meanwhile, (url) => reconcile(["plan"], url));
    expect(ran.exitCode).toBe(1);
    expect(ran.stderr).toMatch(/was changed by somebody else while this was planned \(serial \d+ then, \d+ now\)/);
    expect(ran.stderr + ran.stdout).not.toMatch(/exists already|to create/);
    expect(made).toEqual(["a", "b", "c"]);
    expect(readFileSync(join(place.folder, "s.json"), "utf8")).toContain("app-c");
  });
});

it("says that a run is at it, where what that has begun looks unfinished", async () => {
  const slow = await startEmulator({ timeScale: 20 });
  try {
    write("a.yaml", ["a"]);
    const running = startCli(["apply", "a.yaml", "-y", "--state", join(place.folder, "s.json")], {
      cwd: place.folder,
      env: { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: slow.url },
    });
    await eventually("a VM that is being made", () => (slow.dump().vms.length > 0 ? true : undefined));
    const planned = await reconcile(["plan", "a.yaml"], slow.url);
    expect(planned.exitCode, planned.stderr).toBe(0);
    expect(planned.stderr).toMatch(
      /warning\[plan\/run-under-way\]: another run holds the state: .* reconcile apply\) since /,
    );
    expect((await running.finished).exitCode).toBe(0);
    expect((await reconcile(["plan", "a.yaml"], slow.url)).stderr).not.toContain("run-under-way");
  } finally {
    await slow.close();
  }
});
