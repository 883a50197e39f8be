/**
 * Not to be seen is no proof of being gone: the command as a process, against a service that shows nothing because the
 * credential, the address or a proxy in front of it is not the right one.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { jsonLines, type Ran, runCli, startCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

let folder: string;
let emulator: RunningEmulator;
let proxy: { readonly url: string; readonly server: Server; answers: Answers | undefined };

/** What the proxy says in the service's place; `undefined`: it lets the request through. */
type Answers = (path: string, response: ServerResponse) => boolean;

beforeEach(async () => {
  folder = makeFolder();
  emulator = await startEmulator({ timeScale: 0, with: ["volume.list"] });
  proxy = await startProxy();
});
afterEach(async () => {
  await new Promise((resolve) => proxy.server.close(resolve));
  await emulator.close();
});

async function startProxy(): Promise<typeof proxy> {
  const { hostname, port } = new URL(emulator.url);
  const server = createServer((from, to) => {
    if (proxy.answers?.(from.url ?? "", to) === true) return;
    const { method, headers, url: path } = from;
    from.pipe(
      request({ hostname, port, method, headers, path }, (answer) => {
        to.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(to);
      }),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port: own } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}`, server, answers: undefined };
}

const answer =
  (status: number, body: string, type = "text/html"): Answers =>
  (path, response) => {
    if (!/\/(volume|vm|security-group)\//.test(path)) return false;
    response.writeHead(status, { "content-type": type }).end(body);
    return true;
  };

const reconcile = (args: readonly string[], env: Record<string, string> = {}): Promise<Ran> =>
  runCli([...args], { cwd: folder, env: { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: proxy.url, ...env } });
const volumesNamed = (name: string) => emulator.dump().volumes.filter((one) => one.name === name);
const writes = (): number => emulator.requests().log.filter(({ method }) => method !== "GET").length;
const stateText = (): string => readFileSync(join(folder, "reconcile.state.json"), "utf8");
const world = `version: 1
project: acme
region: in-west-1
service: { timing: { poll_interval: 5ms, discovery_window: 1s } }
vms:
  db: { name: db-1, owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 }
volumes: { spare: { size: 7 } }
groups: { web: { rules: [ { protocol: tcp, dst_port: 443 } ] } }
`;

async function applied(text = world): Promise<void> {
  writeFileSync(join(folder, "reconcile.yaml"), text);
  const ran = await reconcile(["apply", "-y"]);
  expect(ran.exitCode, ran.stderr).toBe(0);
}

/** Everything that could forget or make a twin, while the service is not itself. */
async function nothingHappens(env: Record<string, string>, exitCodes: readonly number[], says: RegExp): Promise<void> {
  const before = { state: stateText(), writes: writes() };
  for (const args of [
    ["apply", "-y"],
    ["destroy", "-y", "--allow-data-loss", "--allow-removal", "all"],
  ]) {
    const ran = await reconcile(args, env);
    expect(exitCodes, ran.stderr + ran.stdout).toContain(ran.exitCode);
    expect(ran.stderr + ran.stdout).toMatch(says);
  }
  const watching = await watchOnce(env);
  expect(watching).toMatch(says);
  expect({ state: stateText(), writes: writes() }).toEqual(before);
  proxy.answers = undefined;
  const after = await reconcile(["plan", "--detailed-exitcode"]);
  expect(after.exitCode, after.stdout + after.stderr).toBe(0);
}

/** The first round of `watch --apply`; it is stopped once it has said how the round ended. */
async function watchOnce(env: Record<string, string>): Promise<string> {
  const watching = startCli(["watch", "--apply", "--interval", "1h", "--listen", "none", "--json"], {
    cwd: folder,
    env: { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: proxy.url, ...env },
  });
  const round = await watching.says("the end of a round", ({ stdout }) =>
    stdout.split("\n").find((line) => line.includes('"type":"round"')),
  );
  watching.child.kill("SIGINT");
  await watching.finished;
  return round;
}

describe("nothing counts as gone, and nothing is made twice,", () => {
  it("with another project's credential", async () => {
    await applied();
    await nothingHappens({ RECONCILE_TOKEN: "outsider-token" }, [3], /--accept-service/);
  });

  it("at another address", async () => {
    await applied();
    const other = await startEmulator({ timeScale: 0 });
    try {
      await nothingHappens({ RECONCILE_BASE_URL: other.url }, [3], /--accept-service/);
      expect(other.requests().log.filter(({ method }) => method !== "GET")).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it.each([
    ["answers 404 in HTML", answer(404, "<html>not here</html>")],
    ["answers an empty 404", answer(404, "")],
    ["shows a login page", answer(200, "<html>log in</html>")],
  ])("behind a proxy that %s", async (_, answers) => {
    await applied();
    proxy.answers = answers;
    await nothingHappens({}, [1], /service\/|not_proven|not JSON|answered 404|dialect/);
  });

  it("behind a proxy that answers 404 for the volume alone", async () => {
    await applied();
    proxy.answers = (path, response) =>
      path.includes("/volume/") && answer(404, "<html>not here</html>")(path, response);
    await nothingHappens({}, [1], /volume/);
    expect(volumesNamed("spare")).toHaveLength(1);
  });
});

describe("a state that knows nothing but an open create", () => {
  const alone = world.replace(/volumes:[\s\S]*/, "");

  it("takes nothing for its absence where what the service showed before does not show either", async () => {
    await applied(alone.replaceAll("db", "somebody-else"));
    // Removed on purpose, which the next run has to be told.
    rmSync(join(folder, "reconcile.state.json"));
    writeFileSync(join(folder, "reconcile.yaml"), alone);
    let isAway = false;
    proxy.answers = (path, response) => {
      isAway ||= path.includes("/vm/create");
      if (isAway) response.destroy();
      return isAway;
    };
    expect((await reconcile(["apply", "-y", "--new-state"])).exitCode).toBe(1);
    const empty: Answers = (path, response) => {
      if (!/\/(vm|volume)\/list/.test(path)) return false;
      response.writeHead(200, { "content-type": "application/json" }).end('{"data":[]}');
      return true;
    };
    proxy.answers = empty;
    const sent = writes();
    const refused = await reconcile(["apply", "-y"]);
    expect([refused.exitCode, refused.stderr, writes()]).toEqual([
      3,
      expect.stringContaining("--accept-service"),
      sent,
    ]);
    proxy.answers = undefined;
    const ran = await reconcile(["apply", "-y"]);
    expect([ran.exitCode, emulator.dump().vms.filter(({ name }) => name === "db-1").length], ran.stderr).toEqual([
      0, 1,
    ]);
  });

  it("says so where a plan did not look, and where the service has no list asks whether it is there", async () => {
    writeFileSync(join(folder, "reconcile.yaml"), alone);
    proxy.answers = (path, response) => {
      if (!path.includes("/vm/create")) return false;
      response.destroy();
      return true;
    };
    expect((await reconcile(["apply", "-y", "--no-refresh"])).exitCode).toBe(1);
    proxy.answers = undefined;
    const unlooked = await reconcile(["plan", "--no-refresh"]);
    expect([unlooked.exitCode, unlooked.stderr]).toEqual([1, expect.stringContaining("plan without --no-refresh")]);
    writeFileSync(join(folder, "no-list.yaml"), "operations: { vm.list: null }\n");
    const unlisted = await reconcile(["plan", "--dialect", "no-list.yaml"]);
    expect([unlisted.exitCode, unlisted.stderr]).toEqual([
      1,
      expect.stringContaining("reconcile state resolve --dialect no-list.yaml vm.db --not-created"),
    ]);
  });
});

describe("a state from before scopes", () => {
  it("is refused where nothing of it shows, and remembers its scope with the first run that writes", async () => {
    await applied();
    const path = join(folder, "reconcile.state.json");
    writeFileSync(path, stateText().replace(/^"scope":.*\n/m, ""));
    expect(stateText()).not.toContain('"scope"');
    const refused = await reconcile(["apply", "-y"], { RECONCILE_TOKEN: "outsider-token" });
    expect(refused.exitCode, refused.stderr).toBe(3);
    writeFileSync(join(folder, "reconcile.yaml"), world.replace("size: 7", "size: 8"));
    const ran = await reconcile(["apply", "-y"]);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(stateText()).toContain(`"scope":{"origin":"${proxy.url}","project":"acme"}`);
  });
});

describe("a service that moved", () => {
  it("is taken for the state's own with --accept-service, once", async () => {
    await applied();
    const direct = { RECONCILE_BASE_URL: emulator.url };
    const refused = await reconcile(["plan"], direct);
    expect(refused.exitCode).toBe(3);
    expect(refused.stderr).toContain("--accept-service");
    const sent = writes();
    const accepted = await reconcile(["apply", "-y", "--accept-service"], direct);
    expect(accepted.exitCode, accepted.stderr).toBe(0);
    expect((await reconcile(["plan", "--detailed-exitcode"], direct)).exitCode).toBe(0);
    expect((await reconcile(["plan"])).exitCode).toBe(3);
    expect(writes()).toBe(sent);
  });
});

describe("what is really gone", () => {
  const drop = (kind: "volume" | "vm", name: string): Promise<void> => {
    const world = emulator.dump();
    const gone = world.vms.find((one) => kind === "vm" && one.name === name)?.id;
    // Its volumes outlive it, and hang on nothing then.
    const volumes = world.volumes.map((one) => (one.attached_to === gone ? { ...one, attached_to: null } : one));
    return emulator.load(
      kind === "vm"
        ? { ...world, volumes, vms: world.vms.filter((one) => one.name !== name) }
        : { ...world, volumes: world.volumes.filter((one) => one.name !== name) },
    );
  };

  it("is made anew where that was named, and kept as missing; a volume always asks", async () => {
    await applied();
    await drop("volume", "spare");
    const refused = await reconcile(["apply", "-y"]);
    expect(refused.exitCode, refused.stderr).toBe(3);
    expect(refused.stderr).toContain("--recreate volume.spare");
    const drift = await reconcile(["drift"]);
    expect(drift.exitCode).toBe(2);
    const ran = await reconcile(["apply", "-y", "--recreate", "volume.spare"]);
    expect(ran.exitCode, ran.stderr).toBe(0);
    const listed = await reconcile(["orphans", "list", "--json"]);
    expect(jsonLines(listed.stdout)[0]).toMatchObject({
      type: "orphan",
      kind: "volume",
      name: "spare",
      missing_since: expect.any(String),
    });
    expect((await reconcile(["plan", "--detailed-exitcode"])).exitCode).toBe(0);
  });

  it("is kept as missing when its block is removed, and is an orphan when it shows again", async () => {
    await applied();
    const before = emulator.dump();
    const id = volumesNamed("spare")[0]!.id;
    await drop("volume", "spare");
    writeFileSync(join(folder, "reconcile.yaml"), world.replace("volumes: { spare: { size: 7 } }\n", ""));
    expect((await reconcile(["apply", "-y"])).exitCode).toBe(0);
    const listed = await reconcile(["orphans", "list"]);
    expect(listed.stdout).toContain("missing since");
    await emulator.load(before);
    writeFileSync(join(folder, "reconcile.yaml"), world.replace("spare: { size: 7 }", "other: { size: 3 }"));
    expect((await reconcile(["apply", "-y"])).exitCode).toBe(0);
    const shown = await reconcile(["orphans", "list"]);
    expect(shown.stdout).toContain(id);
    expect(shown.stdout).not.toContain("missing since");
    expect(volumesNamed("spare")).toHaveLength(1);
  });

  it("asks for a word for one VM as well: what may not be seen any more looks the same", async () => {
    await applied();
    await drop("vm", "db-1");
    const refused = await reconcile(["apply", "-y"]);
    expect([refused.exitCode, refused.stderr]).toEqual([3, expect.stringContaining("--recreate vm.db")]);
    const ran = await reconcile(["apply", "-y", "--recreate", "vm.db"]);
    expect(ran.exitCode, ran.stderr).toBe(0);
    expect(emulator.dump().vms).toHaveLength(1);
    expect((await reconcile(["plan", "--detailed-exitcode"])).exitCode).toBe(0);
  });
});

describe("a VM so young that a list may not show it yet", () => {
  it("is not said to match the file while nobody has seen it", async () => {
    await applied(world.replace("discovery_window: 1s", "discovery_window: 10m"));
    const { vms } = emulator.dump();
    const whole = emulator.dump();
    await emulator.load({ ...whole, vms: vms.filter(({ name }) => name !== "db-1") });
    const plan = await reconcile(["plan"]);
    expect(plan.exitCode, plan.stderr).toBe(0);
    expect(plan.stdout).toContain("Nothing to do as far as could be seen");
    expect(plan.stderr).toContain("warning[plan/not-listed-yet]");
  });
});

describe("a list that is read region by region", () => {
  const zoned = world
    .replace(
      "service: {",
      'service: { dialect: { operations: { vm.list: { method: GET, path: "/api/v1/zones/{region}/vms", for_each: region } }, records: { vm: { volumes: [] } } },',
    )
    .replace("discovery_window: 1s", "discovery_window: 5ms")
    .replace(
      /vms:\n {2}db: \{ name: db-1, ([^}]*)\}(?:.|\n)*/,
      "defaults: { vm: { $1 } }\nvms: { near: {}, far: { region: in-south-1 } }\n",
    );
  const showing =
    (...regions: readonly string[]): Answers =>
    (path, response) => {
      const [, region] = /\/zones\/([^/]+)\/vms/.exec(path) ?? [];
      if (region === undefined && !path.includes("/region/list")) return false;
      const items = region === undefined ? regions : emulator.dump().vms.filter((one) => one.region === region);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ items }));
      return true;
    };

  it("does not show what is in a region that is not shown any more, and no region is no list", async () => {
    proxy.answers = showing("in-west-1", "in-south-1");
    await applied(zoned);
    proxy.answers = showing("in-west-1");
    const drift = await reconcile(["drift"]);
    expect([drift.exitCode, drift.stdout]).toEqual([0, expect.not.stringContaining("is gone")]);
    const plan = await reconcile(["plan", "--destroy"]);
    expect([plan.exitCode, plan.stdout]).toEqual([0, expect.not.stringContaining("no longer exists")]);
    expect(plan.stderr).toContain("its region in-south-1 is not shown any more");
    proxy.answers = showing();
    const none = await reconcile(["plan"]);
    expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("region.list shows no region")]);
    proxy.answers = showing("in-west-1", "in-south-1");
    expect((await reconcile(["plan", "--detailed-exitcode"])).exitCode).toBe(0);
  });
});

describe("two answers that differ", () => {
  it("prove nothing: a volume that its VM's record names is flushed although the list of volumes lacks it", async () => {
    const listed = world.replace(
      "service: {",
      "service: { dialect: { operations: { volume.list: { method: GET, path: /api/v1/volume/list } } },",
    );
    await applied(listed);
    writeFileSync(join(folder, "reconcile.yaml"), listed.replace(/vms:\n.*\n/, ""));
    proxy.answers = (path, response) => {
      if (!path.includes("/volume/list")) return false;
      response.writeHead(200, { "content-type": "application/json" }).end('{"data":[]}');
      return true;
    };
    const plan = await reconcile(["plan"]);
    expect(plan.stdout, plan.stderr).toContain("so that its volumes are flushed");
  });
});
