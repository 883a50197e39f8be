import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createHttpStore } from "../../reconciler/store/http";
import { StateLocked, StoreFailed } from "../../reconciler/store/store";
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
    ["https://", /no address/],
  ])("%s is refused before anything is sent", (address, message) => {
    expect(() => createHttpStore(address, { environment: {} })).toThrow(message);
    expect(() => createHttpStore(address, { environment: {} })).not.toThrow(/canary/);
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

  it("says in words that nobody answers", async () => {
    await expect(createHttpStore("http://127.0.0.1:1/s", { environment: {} }).read()).rejects.toThrow(
      "the state http://127.0.0.1:1/s cannot be reached",
    );
  });
});
