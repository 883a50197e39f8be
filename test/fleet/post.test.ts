/** Letters to receivers: kept in the database with the end of the run, sent outside of rounds, one receiver beside the other. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Database } from "../../reconciler/fleet/database/database";
import type { Records } from "../../reconciler/fleet/database/records";
import type { Receiver } from "../../reconciler/fleet/model";
import { lettersOf } from "../../reconciler/fleet/notify";
import { openPost, type Post } from "../../reconciler/fleet/post";
import { newStatus } from "../../reconciler/fleet/status";
import { eventually } from "../support/eventually";
import { beginRun, newRecords, stackSpec } from "../support/fleet-stage";

const source = { kind: "folder", folder: "/nowhere" } as const;

describe("letters to receivers", () => {
  let database: Database;
  let records: Records;
  const servers: Server[] = [];
  const said: string[] = [];
  const posts: Post[] = [];

  /** What it was told, in order; `answer` may leave a request without one. */
  async function receiver(answer: (nth: number, path: string) => number | undefined) {
    const got: { readonly id: string; readonly event: string }[] = [];
    let asked = 0;
    const server = createServer(async (request, response) => {
      const body = JSON.parse(await textOf(request));
      const status = answer(asked++, request.url ?? "");
      if (status === undefined) return;
      if (status === 200) got.push({ id: body.id, event: body.event });
      response.writeHead(status).end();
    });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`, got, asked: () => asked };
  }
  async function textOf(request: IncomingMessage): Promise<string> {
    let text = "";
    for await (const chunk of request) text += chunk;
    return text;
  }
  function post(): Post {
    const opened = openPost({ records, say: (text) => said.push(text) });
    posts.push(opened);
    return opened;
  }
  const to = (...webhooks: string[]): Receiver[] =>
    webhooks.map((webhook) => ({ on: ["applied", "stalled"], stacks: [], webhook }));
  /** A run ends, and these receivers are to be told of it. */
  async function endRun(receivers: readonly Receiver[], occasion: "applied" | "stalled" = "applied"): Promise<boolean> {
    const { id } = await beginRun(records, { stack: "shop", worker: "w:1" });
    const letters = lettersOf(
      { receivers },
      [{ occasion, stack: "shop", tenant: "default", source, status: newStatus }],
      new Date(),
    );
    return records.finishRun(id, { result: "applied", reason: null, counts: {} }, newStatus, null, letters);
  }

  beforeAll(async () => {
    ({ database, records } = await newRecords());
    await records.saveStacks([stackSpec("shop")]);
  });
  beforeEach(async () => {
    await Promise.all(posts.splice(0).map((one) => one.close()));
    await database.query("DELETE FROM reconcile_fleet.letters");
    said.length = 0;
  });
  afterAll(async () => {
    await Promise.all(posts.map((one) => one.close()));
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    await database.close();
  });

  test("one that hangs keeps no other waiting, and what it is to be told stays", async () => {
    const [hangs, well] = [await receiver(() => undefined), await receiver(() => 200)];
    for (let runs = 0; runs < 5; runs++) await endRun(to(hangs.url, well.url));
    const sender = post();
    sender.send();
    await eventually("five letters", () => (well.got.length === 5 ? true : undefined));
    await eventually("an attempt at the other", () => (hangs.asked() > 0 ? true : undefined));
    const waiting = async () => (await records.lettersWaiting()).waiting;
    await eventually("the delivered ones gone", async () => ((await waiting()) === 5 ? true : undefined));
    // A worker that ends leaves them to another one, at once.
    await sender.close();
    const again = post();
    await eventually("another attempt", () => {
      again.send();
      return hangs.asked() > 1 ? true : undefined;
    });
    expect(await waiting()).toBe(5);
  });

  test("one that was away gets everything once it is back, in order and each with its id", async () => {
    const away = await receiver((nth) => (nth === 0 ? 503 : 200));
    for (const occasion of ["applied", "stalled", "applied"] as const) await endRun(to(away.url), occasion);
    const sender = post();
    sender.send();
    await eventually("an attempt", () => (said.length > 0 ? true : undefined));
    expect(said[0]).toMatch(/^nobody could be told of 3 changes: 127\.0\.0\.1:\d+ answered 503$/);
    await eventually("everything", () => {
      sender.send();
      return away.got.length === 3 ? true : undefined;
    });
    expect(away.got.map(({ event }) => event)).toEqual(["applied", "stalled", "applied"]);
    expect(new Set(away.got.map(({ id }) => id)).size).toBe(3);
    await eventually("nothing left", async () => ((await records.lettersWaiting()).waiting === 0 ? true : undefined));
  });

  test("a letter that is on its way stays with its worker when another letter to its receiver is not taken", async () => {
    const letter = (stack: string) =>
      lettersOf(
        { receivers: to("http://127.0.0.1:9/hook") },
        [{ occasion: "applied", stack, tenant: "default", source, status: newStatus }],
        new Date(),
      );
    const end = async (stack: string): Promise<void> => {
      const { id } = await beginRun(records, { stack, worker: "w:1" });
      await records.finishRun(id, { result: "applied", reason: null, counts: {} }, newStatus, null, letter(stack));
    };
    await records.saveStacks([stackSpec("mail")]);
    await end("shop");
    const [slow] = await records.takeLetters([]);
    await end("mail");
    const failed = await records.takeLetters([]);
    expect([slow?.body["stack"], failed.map(({ body }) => body["stack"])]).toEqual(["shop", ["mail"]]);
    const due = async () =>
      (
        await database.query(
          "SELECT body ->> 'stack' AS stack, extract(epoch FROM next_at - now()) < 60 AS soon FROM reconcile_fleet.letters ORDER BY id",
        )
      ).map((row) => [row["stack"], row["soon"]]);
    const ids = failed.map(({ id }) => id);
    await records.keepLetters("http://127.0.0.1:9/hook", ids, "it answered 503");
    const kept = [
      ["shop", false],
      ["mail", true],
    ];
    expect(await due()).toEqual(kept);
    // A worker that ends gives back its own.
    await records.keepLetters("http://127.0.0.1:9/hook", ids, null);
    expect(await due()).toEqual(kept);
    // What waits already waits with the next one that is not taken.
    await records.keepLetters("http://127.0.0.1:9/hook", [Number(slow?.id)], "it answered 503");
    expect(await due()).toEqual([
      ["shop", true],
      ["mail", true],
    ]);
    const waits = await database.query("SELECT count(DISTINCT next_at)::int AS n FROM reconcile_fleet.letters");
    expect(waits).toEqual([{ n: 1 }]);
    await records.releaseStack("mail");
  });

  test("one that leads to another address has not taken its letter, which would be lost on the way", async () => {
    const [well, moved] = [await receiver(() => 200), createServer()];
    moved.on("request", (_, response) => response.writeHead(301, { location: well.url }).end());
    servers.push(moved);
    await new Promise<void>((resolve) => moved.listen(0, "127.0.0.1", resolve));
    await endRun(to(`http://127.0.0.1:${(moved.address() as AddressInfo).port}/hook`));
    post().send();
    await eventually("an attempt", () => (said.length > 0 ? true : undefined));
    expect(said[0]).toMatch(/ answered 301 and leads to another address/);
    expect([well.asked(), (await records.lettersWaiting()).waiting]).toEqual([0, 1]);
  });

  test("one whose address holds a user, which may be a token, is told of without it", async () => {
    await endRun(to("https://canary@127.0.0.1/hook"));
    post().send();
    await eventually("an attempt", () => (said.length > 0 ? true : undefined));
    expect(said[0]).toMatch(/https:\/\/\*\*\*@127\.0\.0\.1\/hook/);
    expect(said[0]).not.toContain("canary");
  });

  test("a repository is told without its user, also where an @ stands in the name", () => {
    const url = "https://canary@t0ken@git.example/acme";
    const stack = { stack: "shop", tenant: "default", status: newStatus };
    const told = { ...stack, occasion: "applied", source: { kind: "git", url, ref: "main", path: "" } } as const;
    const [letter] = lettersOf({ receivers: to("http://127.0.0.1:9/hook") }, [told], new Date());
    expect(letter?.body["repository"]).toBe("https://git.example/acme");
  });

  test("a repository whose host takes no status keeps those of no other one waiting", async () => {
    const host = await receiver((_, path) => (path.includes("/gone/") ? 404 : 200));
    const channel = { kind: "commit_status", token: { env: "PATH" }, api: host.url } as const;
    const status = { ...newStatus, observedRevision: "a".repeat(40) };
    const notices = ["gone", "shop"].map((path) => {
      const repository = { kind: "git", url: `https://git.example/acme/${path}`, ref: "main", path } as const;
      return { occasion: "applied", stack: path, tenant: "default", source: repository, status } as const;
    });
    const letters = lettersOf(
      { receivers: [], channels: [{ on: ["applied"], stacks: [], to: channel }] },
      notices,
      new Date(),
    );
    const { id } = await beginRun(records, { stack: "shop", worker: "w:1" });
    await records.finishRun(id, { result: "applied", reason: null, counts: {} }, newStatus, null, letters);
    post().send();
    await eventually("the status of the other one", () => host.got.length === 1 || undefined);
    const behind = await eventually("why", async () =>
      (await records.receiversBehind()).find(({ place, why }) => place.endsWith("gone") && why !== undefined),
    );
    expect(behind.place).toMatch(/^commit_status [0-9a-f]{12} https:\/\/git\.example\/acme\/gone$/);
  });

  test("nothing overtakes an older letter of its stack that is on its way or kept back", async () => {
    const url = "http://127.0.0.1:9/hook";
    const taken = async () => (await records.takeLetters([])).map(({ body }) => body["event"]);
    await endRun(to(url));
    const first = await records.takeLetters([]);
    expect(first.map(({ body }) => body["event"])).toEqual(["applied"]);
    const mine = first.map(({ id }) => id);
    await endRun(to(url), "stalled");
    expect(await taken()).toEqual([]);
    await records.keepLetters(url, mine, "it answered 503");
    await endRun(to(url));
    expect(await taken()).toEqual([]);
    await endRun(to("http://127.0.0.1:9/other"));
    expect(await taken()).toEqual(["applied"]);
    await records.keepLetters(url, mine, null);
    expect(await taken()).toEqual(["applied"]);
    await records.sentLetters(mine);
    await database.query("UPDATE reconcile_fleet.letters SET next_at = now() WHERE place = $1", [url]);
    expect(await taken()).toEqual(["stalled", "applied"]);
  });

  test("two workers send each letter once", async () => {
    const well = await receiver(() => 200);
    for (let runs = 0; runs < 12; runs++) await endRun(to(well.url));
    const senders = [post(), post()];
    await eventually("all of them", async () => {
      for (const sender of senders) sender.send();
      return (await records.lettersWaiting()).waiting === 0 ? true : undefined;
    });
    expect(well.got).toHaveLength(12);
  });

  test("a run that another worker took over tells nobody", async () => {
    const { id } = await beginRun(records, { stack: "shop", worker: "slow:1" });
    await beginRun(records, { stack: "shop", worker: "w:2" });
    const letters = lettersOf(
      { receivers: to("http://127.0.0.1:9/") },
      [{ occasion: "applied", stack: "shop", tenant: "default", source, status: newStatus }],
      new Date(),
    );
    const end = { result: "applied", reason: null, counts: {} } as const;
    expect(await records.finishRun(id, end, newStatus, null, letters)).toBe(false);
    expect((await records.lettersWaiting()).waiting).toBe(0);
  });

  test("what could not be delivered for a day is given up, and said", async () => {
    // The other one hangs: what it is to be told is as old, as after a night without workers, and still to be tried.
    const [never, slow] = [await receiver(() => 500), await receiver(() => undefined)];
    await endRun(to(never.url, slow.url));
    await database.query("UPDATE reconcile_fleet.letters SET made_at = now() - interval '25 hours'");
    post().send();
    const told = await eventually("word of it", () => said.find((text) => text.includes("given up after a day")));
    expect(told).toMatch(/^1 letters? to /);
    expect((await records.receiversBehind()).map(({ place }) => place)).toEqual([slow.url]);
  });
});
