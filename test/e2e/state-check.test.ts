/** What `state check` says of places of every kind, right and odd ones; it writes only beside the state, and leaves nothing. */

import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { jsonLines, type Ran, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { closeHere, listenHere } from "../support/loopback";
import { type S3Server, type StateServerOptions, startS3Server, startStateServer } from "../support/state-server";

let folder: string;
let s3: S3Server;
beforeAll(async () => {
  s3 = await startS3Server();
});
afterAll(() => s3.stop());
beforeEach(() => {
  folder = makeFolder();
});

const check = (...words: string[]): Promise<Ran> => checkWith({}, ...words);
const checkWith = (env: Readonly<Record<string, string>>, ...words: string[]): Promise<Ran> =>
  runCli(["state", "check", ...words], {
    cwd: folder,
    env: {
      ...env,
      AWS_ENDPOINT_URL: s3.url,
      AWS_REGION: "us-east-1",
      AWS_ACCESS_KEY_ID: "tester",
      AWS_SECRET_ACCESS_KEY: "canary-aws",
    },
  });
const broken = ({ stdout }: Ran): string[] =>
  jsonLines(stdout).flatMap((line) => (line["type"] === "probe" && line["holds"] === false ? [line["probe"]] : []));

describe("state check", () => {
  it("says of a file that everything holds, touches no state and leaves nothing behind", async () => {
    writeFileSync(join(folder, "reconcile.state.json"), "not a state");
    const ran = await check("--state", "reconcile.state.json");
    expect(ran).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("Everything that a state needs holds here."),
    });
    expect(readdirSync(folder)).toEqual(["reconcile.state.json"]);
  });

  it("tries the place where a link ends, which is where the state is", async () => {
    mkdirSync(join(folder, "share"));
    symlinkSync("between", join(folder, "reconcile.state.json"));
    symlinkSync(join("share", "prod.json"), join(folder, "between"));
    const ran = await check("--state", "reconcile.state.json");
    expect(ran).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^Tried on \S+\/share\/prod\.json\./) });
    expect(readdirSync(join(folder, "share"))).toEqual([]);
  });

  it.each<[StateServerOptions["kind"], string[]]>([
    ["gitlab", []],
    ["plain", []],
    ["careless", ["write-of-another", "unlock-of-another"]],
  ])("says of a state server (%s) what does not hold", async (kind, expected) => {
    const server = await startStateServer({ kind });
    try {
      const ran = await check(`${server.url}/prod`, "--json");
      // Most servers keep no order of serials.
      expect(broken(ran).filter((probe) => probe !== "serial-twice")).toEqual(expected);
      const { diagnostics, exit_code } = jsonLines(ran.stdout).at(-1)!;
      expect([diagnostics.length, exit_code]).toEqual([broken(ran).length, broken(ran).length > 0 ? 1 : 0]);
      expect(server.documentOf("prod")).toBeUndefined();
      expect(server.requests.every((request) => request.includes("prod-reconcile-check-"))).toBe(true);
    } finally {
      await server.stop();
    }
  });

  it("writes and takes away nothing on a server that answers with the state itself, whatever the path", async () => {
    let text = "";
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.method ?? "");
      if (request.method === "DELETE") text = "";
      response.writeHead(text === "" ? 404 : 200).end(text);
    });
    const url = await listenHere(server);
    try {
      for (const there of ["{}", "<html>a page</html>"]) {
        text = there;
        const ran = await check(`${url}/state?name=prod`, "--json");
        expect([ran.exitCode, broken(ran), text]).toEqual([1, ["empty"], there]);
      }
      expect(new Set(asked)).toEqual(new Set(["GET"]));
    } finally {
      await closeHere(server);
    }
  });

  it.each(["/prod/lock", "/locks"])("a lock of its own (%s) is not asked for: a run may hold it", async (lock) => {
    const server = await startStateServer({ kind: "plain" });
    try {
      await checkWith({ RECONCILE_STATE_LOCK_ADDRESS: `${server.url}${lock}` }, `${server.url}/prod`);
      expect(server.requests.filter((request) => !request.includes("-reconcile-check-"))).toEqual([]);
      expect(server.requests.some((request) => request.startsWith("LOCK "))).toBe(true);
    } finally {
      await server.stop();
    }
  });

  it("leaves the lock of a run where the server tells locks apart by something else than their path", async () => {
    const held = JSON.stringify({ ID: "a-run", Who: "ann", Operation: "apply" });
    let lock: string | undefined = held;
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.method ?? "");
      if (request.method === "LOCK") response.writeHead(lock === undefined ? 200 : 423).end(lock);
      else if (request.method === "UNLOCK") {
        lock = undefined;
        response.end();
      } else response.writeHead(404).end();
    });
    const url = await listenHere(server);
    try {
      const env = { RECONCILE_STATE_LOCK_ADDRESS: `${url}/lock?state=prod` };
      const ran = await checkWith(env, `${url}/state/prod`, "--json");
      expect([ran.exitCode, broken(ran), lock]).toEqual([1, ["lock"], held]);
      expect(ran.stdout).toContain("it may be the lock of the state itself, and was left as it is");
      expect(asked).not.toContain("POST");
    } finally {
      await closeHere(server);
    }
  });

  it.each(["https://x:can/canary@host/state", "https://host:port/state", "postgres://host:port/db", "s3://bucket"])(
    "refuses %s, which is no address",
    async (location) => {
      const ran = await check(location);
      expect([ran.exitCode, ran.stderr]).toEqual([1, expect.stringMatching(/^error\[state\/store-failed\]/)]);
      expect(ran.stderr).not.toContain("canary");
    },
  );

  it("takes nothing of others out of a bucket that lists them as well", async () => {
    s3.objects.set("states/other/0000000001", { body: Buffer.from("another state"), etag: '"1"', at: new Date() });
    s3.odd.ignoresPrefix = true;
    await check("s3://states/prod");
    delete s3.odd.ignoresPrefix;
    expect([...s3.objects.keys()]).toEqual(["states/other/0000000001"]);
    s3.objects.clear();
  });

  it("says of a bucket what holds, and of one that ignores conditions or shows no clock what does not", async () => {
    expect(broken(await check("s3://states/prod", "--json"))).toEqual([]);
    expect([...s3.objects.keys()]).toEqual([]);
    s3.odd.date = () => "soon";
    expect(broken(await check("s3://states/prod", "--json"))).toEqual(["clock"]);
    delete s3.odd.date;
    s3.odd.ignoresConditions = true;
    const ran = await check("s3://states/prod", "--json");
    delete s3.odd.ignoresConditions;
    expect(ran.exitCode).toBe(1);
    expect(broken(ran)).toEqual(expect.arrayContaining(["conditional-create", "conditional-replace"]));
    expect([...s3.objects.keys()]).toEqual([]);
  });
});
