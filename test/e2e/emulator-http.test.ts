import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  type EmulatorOptions,
  operationNames,
  parseFault,
  type RunningEmulator,
  startEmulator,
} from "../../emulator/index";
import { imageId, vmBody } from "../support/virtual-world";

let running: RunningEmulator | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
});

interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into answers of every shape
  body: any;
}

async function start(options: EmulatorOptions = {}) {
  running = await startEmulator({ timeScale: 0, ...options });
  const { url } = running;
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: "Bearer any", "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return { running, url, call };
}

const envelope = (code: number) => ({ error: { code, message: expect.any(String) } });

describe("the envelope for errors", () => {
  const cases: Record<string, [string, string, unknown, Record<string, string>, number]> = {
    "a path that is not there": ["GET", "/api/v1/nothing", undefined, {}, 404],
    "another version": ["GET", "/api/v2/vm/list", undefined, {}, 404],
    "a slash too many": ["GET", "/api/v1/vm/list/", undefined, {}, 404],
    "two slashes": ["GET", "//api/v1/vm/list", undefined, {}, 404],
    "an empty id": ["GET", "/api/v1/volume/", undefined, {}, 404],
    "a method that is not there": ["PUT", "/api/v1/vm/create", {}, {}, 405],
    "no Authorization (clause 1)": ["GET", "/api/v1/vm/list", undefined, { authorization: "" }, 401],
    "an empty token": ["GET", "/api/v1/vm/list", undefined, { authorization: "Bearer " }, 401],
    "JSON that is none": ["POST", "/api/v1/volume/create", "{", {}, 400],
    "a body of another type": ["POST", "/api/v1/volume/create", "a=1", { "content-type": "text/plain" }, 415],
    "no body": ["POST", "/api/v1/volume/create", undefined, {}, 400],
    "a body that is too large": ["POST", "/api/v1/volume/create", `"${"x".repeat(1 << 20)}"`, {}, 413],
    "a body that is too deep": ["POST", "/api/v1/volume/create", "[".repeat(100_000), {}, 400],
    "an id that does not decode": ["GET", "/api/v1/volume/%E0%A4%A", undefined, {}, 400],
    "a prototype's name as an id": ["POST", "/api/v1/vm/stop/__proto__", undefined, {}, 404],
  };
  it.each(Object.entries(cases))("%s", async (_, [method, path, body, headers, status]) => {
    const { call } = await start();
    const answer = await call(method, path, body, headers);
    expect([answer.status, answer.body]).toEqual([status, envelope(status)]);
    expect(answer.headers.get("content-type")).toBe("application/json");
  });

  it.each([
    [64, "must be a JSON object"],
    [65, "nested more than 64 levels"],
  ])("valid JSON that is %i levels deep: %s", async (depth, message) => {
    const { call } = await start();
    const answer = await call("POST", "/api/v1/volume/create", "[".repeat(depth) + "]".repeat(depth));
    expect(answer.body.error.message).toContain(message);
  });

  it("bad UTF-8", async () => {
    const { url } = await start();
    const body = Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xff, 0xfe]), Buffer.from('","size":"1"}')]);
    const headers = { authorization: "x", "content-type": "application/json" };
    const response = await fetch(`${url}/api/v1/volume/create`, { method: "POST", headers, body });
    expect([response.status, await response.json()]).toEqual([400, envelope(400)]);
  });

  it("says which methods a path has", async () => {
    const { call } = await start({ with: ["group.get"] });
    const answer = await call("PUT", `/api/v1/security-group/${imageId}`, {});
    expect(answer.headers.get("allow")?.split(", ").sort()).toEqual(["DELETE", "GET", "PATCH"]);
  });

  it("takes a listing of up to 10 MiB in the import alone", async () => {
    const { call } = await start();
    const body = { SecurityGroups: [], padding: "x".repeat(2 << 20) };
    expect((await call("POST", "/api/v1/security-group/import", body)).status).toBe(200);
  });

  it.each([
    ["what is not HTTP", "nonsense\r\n\r\n", 400],
    ["a header without end", `GET / HTTP/1.1\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, 431],
    ["an expectation", "GET /api/v1/vm/list HTTP/1.1\r\nHost: x\r\nExpect: magic\r\nConnection: close\r\n\r\n", 417],
    ["CONNECT", "CONNECT example.com:80 HTTP/1.1\r\nHost: x\r\n\r\n", 405],
  ])("%s", async (_, text, status) => {
    const { running } = await start();
    const answer = await raw(running.port, text);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4))).toEqual(envelope(status));
  });
});

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
  });
}

describe("credentials", () => {
  it("are taken with Bearer or bare", async () => {
    const { call } = await start({ strict: true });
    for (const authorization of ["Bearer member-token", "bearer member-token", "member-token"])
      expect((await call("GET", "/api/v1/vm/list", undefined, { authorization })).status).toBe(200);
    expect((await call("GET", "/api/v1/vm/list")).status).toBe(401);
  });

  it("that nobody knows stand for the project's owner in an open world", async () => {
    const { call } = await start();
    const group = await call(
      "POST",
      "/api/v1/security-group",
      { name: "web" },
      { authorization: "Basic Zm9vOmJhcg==" },
    );
    expect(group.body.created_by).toBe("ops@acme.example");
  });

  it("are in no log and no dump", async () => {
    const lines: string[] = [];
    const { running, call } = await start({ logger: (line) => lines.push(line) });
    await call("POST", "/api/v1/vm/create", vmBody(), { authorization: "Bearer s3cret-canary" });
    expect(JSON.stringify([running.dump(), running.requests(), lines])).not.toContain("s3cret-canary");
  });
});

describe("which operations there are", () => {
  const offered = async (options: EmulatorOptions) => (await start(options)).running.operations;
  it("documented and assumed ones by default", async () => {
    const names = await offered({});
    expect(names).toHaveLength(27);
    expect(names).toContain("vm.list");
    expect(names).not.toContain("vm.get");
  });
  it("the twenty documented ones alone with contractOnly", async () => {
    expect(await offered({ contractOnly: true })).toHaveLength(20);
  });
  it("single ones more or less", async () => {
    expect(await offered({ contractOnly: true, with: ["group.get"] })).toHaveLength(21);
    expect(await offered({ without: ["vm.list", "vm.stop"] })).toHaveLength(25);
    expect(operationNames).toHaveLength(32);
  });
  it("one that is off is nowhere", async () => {
    const { call } = await start({ contractOnly: true });
    expect((await call("GET", "/api/v1/vm/list")).status).toBe(404);
    expect((await call("DELETE", `/api/v1/volume/${imageId}`)).status).toBe(405);
  });
});

describe("time", () => {
  it("can be skipped: a stop that blocks is answered once its moment has come, and no sooner", async () => {
    const { call, running } = await start({ timeScale: 1, seed: { vms: [{ id: "v", name: "web" }] } });
    let answered = false;
    const stopped = call("POST", "/api/v1/vm/stop/v").finally(() => {
      answered = true;
    });
    while (running.dump().vms[0]?.status !== "STOPPING") await call("GET", "/api/v1/vm/list");
    for (let n = 0; n < 5; n += 1) await call("GET", "/api/v1/vm/list");
    expect(answered).toBe(false);
    await call("POST", "/_control/time", { advance_ms: 20_000 });
    expect(await stopped).toMatchObject({ status: 200, body: { data: "VM stopped" } });
    expect(running.dump().vms[0]?.status).toBe("SHUTOFF");
  });

  it.each([
    [0.5, 120],
    [1, 60],
    [20, 3],
  ])("at scale %d a build, of a minute, takes %d s", async (timeScale, seconds) => {
    const { call } = await start({ timeScale });
    await call("POST", "/api/v1/vm/create", vmBody());
    const statusAfter = async (ms: number) => {
      await call("POST", "/_control/time", { advance_ms: ms });
      return (await call("GET", "/api/v1/vm/list")).body.data[0].status;
    };
    expect([await statusAfter(seconds * 500), await statusAfter(seconds * 500)]).toEqual(["BUILD", "ACTIVE"]);
  });

  it("at scale 0 everything has happened by the next request", async () => {
    const { call } = await start();
    await call("POST", "/api/v1/vm/create", vmBody());
    expect((await call("GET", "/api/v1/vm/list")).body.data[0].status).toBe("ACTIVE");
  });
});

describe("faults", () => {
  const volume = ["POST", "/api/v1/volume/create", { name: "disk", size: "1" }] as const;
  const made = (emulator: RunningEmulator) => emulator.dump().volumes.length;

  it("drop-before leaves no effect, drop-after leaves one; neither answers", async () => {
    for (const [kind, effects] of [
      ["drop-before", 0],
      ["drop-after", 1],
    ] as const) {
      const { call, running } = await start({ faults: [parseFault(`operation=volume.create,kind=${kind},count=1`)] });
      await expect(call(...volume)).rejects.toThrow();
      expect(made(running)).toBe(effects);
      expect((await call(...volume)).status).toBe(201);
      expect(running.requests().log.map((entry) => entry.status)).toEqual([0, 201]);
      await running.close();
    }
  });

  it("status answers the envelope with Retry-After, before the effect or after it", async () => {
    const faults = ["code=429,retry_after=7,count=1", "code=503,when=after,count=1,skip=1"];
    const { call, running } = await start({ faults: faults.map((fault) => parseFault(`kind=status,${fault}`)) });
    const first = await call(...volume);
    expect([first.status, first.headers.get("retry-after"), first.body]).toEqual([429, "7", envelope(429)]);
    expect(made(running)).toBe(0);
    expect((await call(...volume)).status).toBe(503);
    expect(made(running)).toBe(1);
  });

  it.each([
    ["kind=garbage", 201, 1],
    ["kind=truncate", 201, 1],
    ["kind=html", 502, 0],
    ["kind=html,code=504,when=after", 504, 1],
  ])("%s answers %i with a body that is no JSON, after %i effect", async (fault, status, effects) => {
    const { url, running } = await start({ faults: [parseFault(fault)] });
    const headers = { authorization: "x", "content-type": "application/json" };
    const response = await fetch(`${url}${volume[1]}`, { method: "POST", headers, body: JSON.stringify(volume[2]) });
    const text = await response.text();
    expect(response.status).toBe(status);
    expect(() => JSON.parse(text)).toThrow();
    expect(made(running)).toBe(effects);
  });

  it("latency holds the answer back, before the effect or after it", async () => {
    const { call, running } = await start();
    for (const [when, effects] of [
      ["after", 1],
      ["before", 0],
    ] as const) {
      await call("POST", "/_control/faults", { kind: "latency", ms: 1500, when, operation: "volume.create" });
      const before = made(running);
      let answers = 0;
      const answered = call(...volume).finally(() => answers++);
      await expect.poll(() => running.requests().counts["volume.create"]).toBe(1);
      await expect.poll(() => made(running) - before).toBe(effects);
      expect(answers).toBe(0);
      await answered;
      expect(made(running) - before).toBe(1);
      await call("DELETE", "/_control/faults");
      await call("DELETE", "/_control/requests");
    }
  });

  it("stale-list hides what is young, and only from lists", async () => {
    const { call } = await start({ faults: [parseFault("kind=stale-list,ms=60000,count=1")], with: ["volume.list"] });
    await call("GET", "/api/v1/region/list");
    const { body } = await call(...volume);
    expect((await call("GET", "/api/v1/volume/list")).body.data).toHaveLength(1);
    await call("POST", "/_control/faults", { kind: "stale-list", ms: 60_000 });
    expect((await call("GET", "/api/v1/volume/list")).body.data).toHaveLength(0);
    expect((await call("GET", `/api/v1/volume/${body.id}`)).status).toBe(200);
  });

  it.each([
    ["page-skips", "misses the entry that slipped to the page before", ["a", "b", "d"]],
    ["page-repeats", "shows again what slipped to the next page", ["a", "b", "b", "c"]],
  ])("%s: a list that changes while it is read %s", async (kind, _, expected) => {
    const seed = { volumes: ["a", "b", "c", "d"].map((name) => ({ name, size: 1 })) };
    const { call } = await start({ seed, pageSize: 2, with: ["volume.list"] });
    const first = (await call("GET", "/api/v1/volume/list")).body;
    await call("POST", "/_control/faults", { kind, operation: "volume.list", count: 1 });
    const second = (await call("GET", `/api/v1/volume/list?page=${first.page.next}`)).body;
    expect([...first.data, ...second.data].map(({ name }: { name: string }) => name)).toEqual(expected);
  });

  it("vm-fails: the VM does not arrive, and a call that blocks until it has says so", async () => {
    const seed = { vms: [{ id: "v", name: "web" }] };
    const { call, running } = await start({ seed, timeScale: 0 });
    await call("POST", "/_control/faults", { kind: "vm-fails", operation: "vm.resize", count: 1 });
    expect((await call("POST", "/api/v1/vm/resize/v", { flavor: "m1.large" })).status).toBe(200);
    expect(running.dump().vms[0]!.status).toBe("ERROR");
    await call("PATCH", "/_control/vm/v", { status: "ACTIVE" });
    await call("POST", "/_control/faults", { kind: "vm-fails", operation: "vm.stop", count: 1 });
    expect((await call("POST", "/api/v1/vm/stop/v")).status).toBe(500);
    expect(running.dump().vms[0]!.status).toBe("ERROR");
  });

  it("are set, shown and cleared by control", async () => {
    const { call } = await start();
    await call("POST", "/_control/faults", [{ kind: "status", code: 500, operation: "vm.list", count: 1 }]);
    expect((await call("GET", "/api/v1/vm/list")).status).toBe(500);
    expect((await call("GET", "/_control/faults")).body.data).toEqual([
      { kind: "status", code: 500, operation: "vm.list", count: 1, seen: 1, hit: 1 },
    ]);
    expect((await call("POST", "/_control/faults", { kind: "boom" })).status).toBe(400);
    expect((await call("DELETE", "/_control/faults")).body.data).toEqual([]);
  });
});

describe("control", () => {
  const seed = { vms: [{ id: "v", name: "web" }], volumes: [{ id: "d", name: "disk", size: 5, attached_to: "v" }] };

  it("attaches a group to a VM, which no contract call can, and detaches it", async () => {
    const { call } = await start({ seed });
    const group = (await call("POST", "/api/v1/security-group", { name: "web" })).body.id;
    expect((await call("POST", "/_control/vm/v/groups", { group_id: group })).status).toBe(200);
    expect((await call("DELETE", `/api/v1/security-group/${group}`)).status).toBe(409);
    expect((await call("DELETE", `/_control/vm/v/groups/${group}`)).status).toBe(200);
    expect((await call("DELETE", `/api/v1/security-group/${group}`)).status).toBe(200);
  });

  it("changes fields behind the user's back", async () => {
    const { call, running } = await start({ seed });
    expect((await call("PATCH", "/_control/vm/v", { status: "SHUTOFF", name: "drifted" })).status).toBe(200);
    expect((await call("PATCH", "/_control/volume/d", { size: 7, attached_to: null })).status).toBe(200);
    expect(running.dump()).toMatchObject({ vms: [{ status: "SHUTOFF", name: "drifted" }], volumes: [{ size: 7 }] });
    for (const body of [{ id: "x" }, { nothing: 1 }, { name: 5 }, []])
      expect((await call("PATCH", "/_control/vm/v", body)).status).toBe(400);
  });

  it("a status that was set stays, whatever was to become of the VM", async () => {
    const { call, running } = await start({ timeScale: 1 });
    await call("POST", "/api/v1/vm/create", vmBody());
    await call("PATCH", `/_control/vm/${running.dump().vms[0]?.id}`, { status: "ERROR" });
    await call("POST", "/_control/time", { advance_ms: 600_000 });
    expect(running.dump().vms[0]?.status).toBe("ERROR");
  });

  it("makes things vanish", async () => {
    const { call, running } = await start({ seed });
    await call("DELETE", "/_control/vm/v");
    expect(running.dump()).toMatchObject({ vms: [], volumes: [{ id: "d", attached_to: null }] });
    await call("DELETE", "/_control/volume/d");
    expect(running.dump().volumes).toEqual([]);
  });

  it("adds and drops rules", async () => {
    const { call } = await start();
    const { id } = (await call("POST", "/api/v1/security-group", { name: "web" })).body;
    const rule = (
      await call("POST", `/_control/group/${id}/rule`, { protocol: "tcp", port_range_min: 1, port_range_max: 9 })
    ).body.data;
    const rules = async () => (await call("GET", `/api/v1/security-group/${id}/rule`)).body.data;
    expect(await rules()).toContainEqual(
      expect.objectContaining({ id: rule.id, port_range_min: 1, port_range_max: 9 }),
    );
    await call("DELETE", `/_control/group/${id}/rule/${rule.id}`);
    expect(await rules()).toHaveLength(2);
  });

  it("dumps a world that loads as it was, and refuses one that does not fit", async () => {
    const { call, running } = await start({ seed });
    const dump = (await call("GET", "/_control/world")).body;
    await call("DELETE", "/_control/vm/v");
    expect((await call("POST", "/_control/world", dump)).status).toBe(200);
    expect(running.dump()).toEqual(dump);
    for (const body of [[], "x", { version: 1, projects: 5 }, { vms: [null] }])
      expect((await call("POST", "/_control/world", body)).status).toBe(400);
    expect(running.dump()).toEqual(dump);
  });

  it("loads a seed as well", async () => {
    const { call, running } = await start();
    await call("POST", "/_control/world", { vms: [{ id: "t", name: "twin", flavor_id: "m1.large" }] });
    expect(running.dump().vms).toMatchObject([{ id: "t", status: "ACTIVE" }]);
  });

  it("counts requests, and forgets them when told", async () => {
    const { call } = await start();
    await call("POST", "/api/v1/volume/create", { name: "disk", size: "1" });
    await call("GET", "/api/v1/nothing");
    const { counts, log } = (await call("GET", "/_control/requests")).body;
    expect(counts).toEqual({ "volume.create": 1, unknown: 1 });
    expect(log[0]).toMatchObject({ operation: "volume.create", status: 201, body: { name: "disk", size: "1" } });
    await call("DELETE", "/_control/requests");
    expect((await call("GET", "/_control/requests")).body).toEqual({ counts: {}, log: [] });
  });

  it("is out of reach for web pages, and can be switched off", async () => {
    const { call, running } = await start();
    expect((await call("GET", "/_control/world", undefined, { origin: "http://evil.example" })).status).toBe(403);
    const rebound = await raw(
      running.port,
      "GET /_control/world HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
    );
    expect(rebound).toMatch(/^HTTP\/1.1 403 /);
    await running.close();
    const off = await start({ control: false });
    expect((await off.call("GET", "/_control/world")).status).toBe(404);
  });
});

it("refuses a host that is not loopback", async () => {
  await expect(startEmulator({ host: "0.0.0.0" })).rejects.toThrow("loopback");
});

it("says which address is taken, and how to get another", async () => {
  const { running } = await start();
  await expect(startEmulator({ port: running.port })).rejects.toThrow(
    `127.0.0.1:${running.port} is taken by another program (EADDRINUSE); give another --port, or --port 0`,
  );
});
