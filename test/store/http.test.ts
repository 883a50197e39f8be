import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpStore } from "../../reconciler/store/http";
import { StateLocked, StoreFailed } from "../../reconciler/store/store";
import { closeHere, listenHere, serverThat } from "../support/loopback";
import { type StateServer, startStateServer } from "../support/state-server";
import { describeStore, holder, keysIn, line, snapshot } from "./conformance";

const environment = { RECONCILE_STATE_USERNAME: "gitlab-ci-token", RECONCILE_STATE_PASSWORD: "canary-http-53cr3t" };
const credentials = { username: "gitlab-ci-token", password: "canary-http-53cr3t" };

describe.each(["gitlab", "plain", "careless"] as const)("the HTTP state protocol, %s", (kind) => {
  let server: StateServer;
  beforeAll(async () => {
    server = await startStateServer({ kind, ...credentials });
  });
  afterAll(() => server.stop());

  describeStore(`http (${kind})`, () => {
    const name = randomUUID();
    return { open: () => createHttpStore(`${server.url}/${name}`, { environment }) };
  });

  it("goes on when the answer to any request was lost", async () => {
    const store = createHttpStore(`${server.url}/lossy`, { environment });
    const methods = kind === "gitlab" ? ["GET", "POST", "DELETE"] : ["GET", "POST", "LOCK", "UNLOCK"];
    for (const [index, method] of methods.entries()) {
      server.loseAnswers(method, 1);
      const session = await store.lock(holder());
      server.loseAnswers(method, 1);
      if (index === 0) await session.replace(snapshot(1, session.epoch, ["a"]));
      else await session.append([line(index + 1, session.epoch)]);
      server.loseAnswers(method, 1);
      await session.release();
      server.loseAnswers(method, 0);
    }
    expect(await keysIn(store)).toEqual(["a", ...methods.slice(1).map((_, index) => `v${index + 2}`)]);
  });

  it("takes no web page for an answer to any request", async () => {
    const store = createHttpStore(`${server.url}/pages`, { environment });
    const methods = kind === "gitlab" ? ["GET", "POST", "DELETE"] : ["GET", "POST", "LOCK", "UNLOCK"];
    const page = (method: string) => server.answerInstead(method, 200, "<!DOCTYPE html><title>Log in</title>", 1);
    for (const [index, method] of methods.entries()) {
      page(method);
      const session = await store.lock(holder());
      page(method);
      await session.append([line(index + 1, session.epoch)]);
      page(method);
      await session.release();
      server.answerInstead(method, 200, "", 0);
    }
    expect(await keysIn(store)).toEqual(methods.map((_, index) => `v${index + 1}`));
  });

  it("notices at its end a write that was answered and not kept, and mends it where nobody else can have written", async () => {
    const store = createHttpStore(`${server.url}/swallowed`, { environment });
    const session = await store.lock(holder());
    await session.append([line(1, session.epoch)]);
    server.answerInstead("POST", 200, "", 1);
    await session.append([line(2, session.epoch)]);
    const ended = await session.release().catch((error: unknown) => error);
    expect(ended).toEqual(kind === "gitlab" ? undefined : expect.objectContaining({ hasLost: true }));
    expect(await keysIn(store)).toEqual(kind === "gitlab" ? ["v1", "v2"] : ["v1"]);
  });

  it("says of a server that has no locks what is missing", async () => {
    const method = kind === "gitlab" ? "POST" : "LOCK";
    for (const status of [404, 405]) {
      server.answerInstead(method, status, "", 1);
      await expect(createHttpStore(`${server.url}/no-locks`, { environment }).lock(holder())).rejects.toThrow(
        `cannot be locked: ${method} is answered with ${status}${status === 404 ? ", which some servers also say to credentials without rights" : ""}; where its server locks in another way, RECONCILE_STATE_LOCK_`,
      );
    }
  });

  it("takes a password with a line feed behind it, as of a file that became a variable, without it", async () => {
    const spaced = { ...environment, RECONCILE_STATE_PASSWORD: `${environment.RECONCILE_STATE_PASSWORD}\n` };
    await createHttpStore(`${server.url}/spaced`, { environment: spaced }).read();
  });

  it("does not call a lock taken away that stays", async () => {
    const store = createHttpStore(`${server.url}/stays`, { environment });
    const session = await store.lock(holder());
    const [lockMethod, unlockMethod] = kind === "gitlab" ? ["POST", "DELETE"] : ["LOCK", "UNLOCK"];
    server.answerInstead(unlockMethod, 409, "{}", 3);
    await expect(store.breakLock()).rejects.toThrow("keeps its lock: take it away on the server itself");
    server.answerInstead(lockMethod, 423, "locked", 2);
    await expect(store.breakLock()).rejects.toThrow("does not say of which id it is");
    // A server that does not look whose lock it lets go of has let go of it by then.
    const host = kind === "careless" ? undefined : holder().host;
    expect((await store.breakLock())?.host).toBe(host);
    await session.release();
  });

  it("takes away a lock that its holder, who lets go of it just now, has once more for a moment", async () => {
    const store = createHttpStore(`${server.url}/once-more`, { environment });
    await store.lock(holder());
    server.answerInstead(kind === "gitlab" ? "DELETE" : "UNLOCK", 409, "{}", 1);
    expect((await store.breakLock())?.host).toBe(holder().host);
    await (await store.lock(holder())).release();
  });

  it("lets go of no lock but its own", async () => {
    const store = createHttpStore(`${server.url}/not-its-own`, { environment });
    for (const hasWritten of [false, true]) {
      const former = await store.lock(holder());
      if (hasWritten) await former.append([line(1, former.epoch)]);
      await store.breakLock();
      const next = await store.lock(holder());
      await former.release();
      await expect(store.lock(holder())).rejects.toThrow(StateLocked);
      await next.release();
      await (await store.lock(holder())).release();
    }
  });

  it("writes a document whose serial is new every time", async () => {
    const session = await createHttpStore(`${server.url}/versions`, { environment }).lock(holder());
    const serials = new Set<number>();
    for (let serial = 1; serial <= 5; serial++) {
      await session.append([line(serial, session.epoch)]);
      serials.add((JSON.parse(server.documentOf("versions")!) as { serial: number }).serial);
    }
    await session.release();
    expect(serials.size).toBe(5);
  });

  it("names the variables when the credentials are refused, and never the password", async () => {
    const store = createHttpStore(`${server.url}/x`, {
      environment: { ...environment, RECONCILE_STATE_PASSWORD: "canary-wrong" },
    });
    for (const attempt of [() => store.read(), () => store.lock(holder())]) {
      const failed = await attempt().catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(StoreFailed);
      expect(String(failed)).toContain("RECONCILE_STATE_PASSWORD");
      expect(String(failed)).not.toContain("canary");
    }
  });
});

describe("the HTTP store", () => {
  it("names the present holder on GitLab by what GitLab remembers of it, not by what it echoes", async () => {
    const server = await startStateServer({ kind: "gitlab" });
    try {
      const store = createHttpStore(`${server.url}/s`, { environment: {} });
      const session = await store.lock(holder("ada"));
      const refused = await store.lock(holder("bob")).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StateLocked);
      expect(String(refused)).toContain("ada on runner-7 (pid 4242, reconcile apply)");
      expect(String(refused)).not.toContain("bob");
      await session.release();
    } finally {
      await server.stop();
    }
  });

  it.each([
    [
      { ID: "1", Operation: "OperationTypeApply", Who: "ada@ci", Created: "2026-01-01" },
      "ada@ci (OperationTypeApply) since 2026-01-01",
    ],
    [{ ID: "1", Operation: "", Who: "ada@ci" }, "ada@ci"],
    [{}, "another program"],
  ])("names of another program's lock what is known: %j", async (told, who) => {
    const server = createServer((_, response) => response.writeHead(423).end(JSON.stringify(told)));
    const address = await listenHere(server);
    const refused = await createHttpStore(`${address}/s`, { environment: {} }).lock(holder()).catch(String);
    expect(refused).toBe(`StateLocked: the state is locked by ${who}`);
    await closeHere(server);
  });

  it("takes lock address and methods from the environment", async () => {
    const server = await startStateServer({ kind: "gitlab" });
    try {
      const store = createHttpStore(`${server.url}/s?x=1`, {
        environment: {
          RECONCILE_STATE_LOCK_ADDRESS: `${server.url}/s/lock`,
          RECONCILE_STATE_LOCK_METHOD: "POST",
          RECONCILE_STATE_UNLOCK_METHOD: "DELETE",
        },
      });
      await (await store.lock(holder())).release();
      expect(server.requests.some((request) => request.startsWith("DELETE"))).toBe(true);
    } finally {
      await server.stop();
    }
  });

  it.each([
    ["https://ada:canary-pw@example.org/s", /RECONCILE_STATE_USERNAME/],
    ["http://state.example.org/s", /plain http/],
    ["http://127.evil.example/s", /plain http/],
    ["http://127.0.0.1.evil.example/s", /plain http/],
    ["http://localhost.evil.example/s", /plain http/],
    ["https://", /no address/],
  ])("%s is refused before anything is sent", (address, message) => {
    expect(() => createHttpStore(address, { environment: {} })).toThrow(message);
    expect(() => createHttpStore(address, { environment: {} })).not.toThrow(/canary/);
  });

  it.each([
    ["http://127.evil.example/lock", /RECONCILE_STATE_LOCK_ADDRESS.*plain http/],
    ["https://ada:canary-pw@state.example.org/lock", /RECONCILE_STATE_LOCK_ADDRESS must not hold a user/],
    ["ftp://state.example.org/lock", /RECONCILE_STATE_LOCK_ADDRESS is neither/],
    ["nowhere", /RECONCILE_STATE_LOCK_ADDRESS is no address/],
  ])("the lock address %s is held to the same rule", (lockAddress, message) => {
    const open = (more = {}) =>
      createHttpStore("https://state.example.org/s", {
        environment: { RECONCILE_STATE_LOCK_ADDRESS: lockAddress },
        ...more,
      });
    expect(open).toThrow(message);
    expect(open).not.toThrow(/canary/);
    if (lockAddress.includes("evil")) expect(() => open({ insecureHttp: true })).not.toThrow();
  });

  describe("answers that never end", () => {
    const serve = async (answer: (request: IncomingMessage, response: ServerResponse) => void) => {
      const server = createServer(answer);
      await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
      const { port } = server.address() as AddressInfo;
      const store = createHttpStore(`http://127.0.0.1:${port}/s`, { environment: {} });
      const stop = (): Promise<unknown> => {
        server.closeAllConnections();
        return new Promise((done) => server.close(done));
      };
      return { store, stop };
    };

    it("one that says it is huge, and one that only is, end as a failure of the store", async () => {
      const { store, stop } = await serve((request, response) => {
        if (request.method === "GET") {
          response.writeHead(200, { "content-length": 2 ** 40 });
          response.write("{");
          return;
        }
        const more = (): void => {
          while (response.write(Buffer.alloc(65_536, 32)));
          response.once("drain", more);
        };
        more();
      });
      try {
        await expect(store.read()).rejects.toThrow(/answers with more than 256 MiB/);
        await expect(store.lock(holder())).rejects.toThrow(/answers with more than 1 MiB/);
      } finally {
        await stop();
      }
    });

    it.each([
      ["0", 503],
      ["Thu, 01 Jan 1970 00:00:00 GMT", 429],
    ])("Retry-After: %s makes no storm", async (retryAfter, status) => {
      const times: number[] = [];
      const { store, stop } = await serve((_, response) => {
        times.push(performance.now());
        response.writeHead(times.length < 4 ? status : 204, { "retry-after": retryAfter });
        response.end();
      });
      try {
        expect((await store.read()).journal).toEqual([]);
        expect(times).toHaveLength(4);
        for (const [index, at] of times.slice(1).entries()) expect(at - times[index]!).toBeGreaterThan(190);
      } finally {
        await stop();
      }
    });

    it("Retry-After is a date of the server's clock, whatever this machine's clock says", async () => {
      let asked = 0;
      const date = new Date(Date.now() + 3_600_000).toUTCString();
      const { store, stop } = await serve((_, response) => {
        response.writeHead(asked++ === 0 ? 503 : 204, { date, "retry-after": date }).end();
      });
      try {
        expect((await store.read()).journal).toEqual([]);
      } finally {
        await stop();
      }
    });

    it.each(["31536000", new Date(Date.now() + 365 * 86_400_000).toUTCString()])(
      "Retry-After: %s is not slept away, but told",
      async (retryAfter) => {
        let asked = 0;
        const { store, stop } = await serve((_, response) => {
          asked++;
          response.writeHead(503, { "retry-after": retryAfter });
          response.end();
        });
        try {
          await expect(store.read()).rejects.toThrow(/answers 503 and asks to come back in \d+ seconds/);
          expect(asked).toBe(1);
        } finally {
          await stop();
        }
      },
    );
  });

  it("does not take a Terraform state for its own", async () => {
    const server = await startStateServer({ kind: "plain" });
    try {
      await fetch(`${server.url}/tf`, {
        method: "POST",
        body: JSON.stringify({ version: 4, serial: 3, resources: [] }),
      });
      const store = createHttpStore(`${server.url}/tf`, { environment: {} });
      await expect(store.read()).rejects.toThrow(/Terraform/);
      await expect(store.lock(holder())).rejects.toThrow(/Terraform/);
      await (await createHttpStore(`${server.url}/other`, { environment: {} }).lock(holder())).release();
      await expect(store.lock(holder())).rejects.toThrow(/Terraform/);
    } finally {
      await server.stop();
    }
  });

  it("is read as it is, behind a cache that keeps what it was not told to ask for again", async () => {
    const origin = await startStateServer({ kind: "plain" });
    const kept = new Map<string, Response>();
    const cache = serverThat(async ({ method, url, headers, text }) => {
      const before = method === "GET" && headers["cache-control"] !== "no-cache" ? kept.get(url) : undefined;
      const answer =
        before ?? (await fetch(new URL(url, origin.url), { method, ...(text === "" ? {} : { body: text }) }));
      if (method === "GET") kept.set(url, answer);
      return { status: answer.status, headers: {}, text: await answer.clone().text() };
    });
    try {
      const store = createHttpStore(`${await listenHere(cache)}/states/cached`, { environment: {} });
      const session = await store.lock(holder());
      await session.append([line(1, session.epoch)]);
      await session.release();
      expect(await keysIn(store)).toEqual(["v1"]);
    } finally {
      await closeHere(cache);
      await origin.stop();
    }
  });

  it.each([301, 302, 307, 308])("follows no %i with its credential, and says what to give instead", async (status) => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(status, { location: "/elsewhere?token=canary" }).end();
    });
    const store = createHttpStore(`${await listenHere(server)}/s`, { environment });
    const told = new RegExp(`^the state \\S+/s answers ${status}, which leads to another address, .* give the address`);
    try {
      await expect(store.read()).rejects.toThrow(told);
      await expect(store.lock(holder())).rejects.toThrow(told);
      expect(new Set(asked)).toEqual(new Set(["/s"]));
    } finally {
      await closeHere(server);
    }
  });

  it("says in words that nobody answers", async () => {
    await expect(createHttpStore("http://127.0.0.1:1/s", { environment: {} }).read()).rejects.toThrow(
      "the state http://127.0.0.1:1/s cannot be reached",
    );
  });
});
