import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readState } from "../../reconciler/core/state/text";
import { createS3Store, readS3Address } from "../../reconciler/store/s3";
import { StateLocked, StoreFailed } from "../../reconciler/store/store";
import { closeHere, listenHere } from "../support/loopback";
import { startMoodyProxy } from "../support/own-place";
import { type S3Server, startS3Server } from "../support/state-server";
import { describeStore, holder, keysIn, line, snapshot } from "./conformance";

/** HTTP's dates have whole seconds. */
const lapse = { times: { leaseMs: 500, heartbeatMs: 3_600_000 }, waitMs: 1600 };

// A real server: RECONCILE_TEST_S3=http://127.0.0.1:7070 with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and a bucket `states`.
const elsewhere = process.env["RECONCILE_TEST_S3"];
const canary = "canary-s3-53cr3t";

describe("S3", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3Server();
    process.env["AWS_ENDPOINT_URL"] = elsewhere ?? server.url;
    process.env["AWS_REGION"] ??= "us-east-1";
    process.env["AWS_ACCESS_KEY_ID"] ??= "tester";
    process.env["AWS_SECRET_ACCESS_KEY"] ??= canary;
  });
  afterAll(() => server.stop());

  const loseLast = (prefix: string): void => {
    const last = [...server.objects.keys()]
      .filter((name) => name.startsWith(prefix) && /\d{10}$/.test(name))
      .sort()
      .at(-1);
    server.objects.delete(last!);
  };

  describeStore(
    elsewhere === undefined ? "s3" : `s3 at ${elsewhere}`,
    () => {
      const key = `team a/${randomUUID()}`;
      return {
        open: (times) => createS3Store(`s3://states/${key}`, times),
        ...(elsewhere === undefined ? { loseLast: () => loseLast(`states/${key}/`) } : {}),
      };
    },
    lapse,
  );

  describe.runIf(elsewhere === undefined)("with a server of its own", () => {
    it("a server that swallows everything ends in a failure of the store, and is not waited for without end", async () => {
      const proxy = await startMoodyProxy(new URL(server.url));
      process.env["AWS_ENDPOINT_URL"] = `http://127.0.0.1:${proxy.port}`;
      try {
        const store = createS3Store("s3://states/mute", undefined, 1000);
        const session = await store.lock(holder());
        proxy.set("swallows requests");
        for (const attempt of [() => store.read(), () => session.append([line(1, session.epoch)])]) {
          const failed = await attempt().catch((error: unknown) => error);
          expect(failed).toBeInstanceOf(StoreFailed);
          expect(String(failed)).toContain("gives no answer within 1 seconds");
        }
      } finally {
        process.env["AWS_ENDPOINT_URL"] = server.url;
        await proxy.stop();
      }
    });

    it("goes on when the answer to any request was lost", async () => {
      const store = createS3Store("s3://states/lossy");
      for (const [index, method] of ["PUT", "GET", "DELETE"].entries()) {
        server.loseAnswers(method, 1);
        const session = await store.lock(holder());
        server.loseAnswers(method, 1);
        await session.replace(snapshot(index * 2 + 1, session.epoch, [`s${index}`]));
        server.loseAnswers(method, 1);
        await session.append([line(index * 2 + 2, session.epoch)]);
        server.loseAnswers(method, 1);
        await session.release();
        server.loseAnswers(method, 0);
      }
      expect(await keysIn(store)).toEqual(["s2", "v6"]);
    });

    it("leaves one object and no lock behind after a run that ends with a snapshot", async () => {
      const session = await createS3Store("s3://states/tidy/here").lock(holder());
      await session.replace(snapshot(1, session.epoch));
      for (let serial = 2; serial < 20; serial++) await session.append([line(serial, session.epoch)]);
      await session.replace(snapshot(20, session.epoch, ["a"]));
      await session.release();
      const left = [...server.objects.keys()].filter((key) => key.startsWith("states/tidy/here/"));
      expect(left).toEqual([expect.stringMatching(/\/\d{10}$/), "states/tidy/here/end"]);
      expect(await keysIn(createS3Store("s3://states/tidy/here"))).toEqual(["a"]);
    });

    it("does not read around an object that is missing", async () => {
      const session = await createS3Store("s3://states/gap").lock(holder());
      for (let serial = 1; serial < 6; serial++) await session.append([line(serial, session.epoch)]);
      await session.release();
      const keys = [...server.objects.keys()].filter((key) => key.startsWith("states/gap/")).sort();
      server.objects.delete(keys[2]!);
      const stored = await createS3Store("s3://states/gap").read();
      expect(readState(stored, "l")).toMatchObject({ ok: false, problem: expect.stringContaining("is lost") });
      // Locked without being replaced, it is as incomplete as before.
      await (await createS3Store("s3://states/gap").lock(holder())).release();
      expect(readState(await createS3Store("s3://states/gap").read(), "l").ok).toBe(false);
    });

    it("reads anew where an object that was listed is compacted away before it is read", async () => {
      const store = createS3Store("s3://states/compacted");
      const session = await store.lock(holder());
      await session.append([line(1, session.epoch), line(2, session.epoch)]);
      const { objects } = server;
      const get = objects.get.bind(objects);
      let gone = "";
      objects.get = (path) => {
        if (gone !== "" || !/\/\d{10}$/.test(path)) return get(path);
        gone = path;
        return undefined;
      };
      try {
        expect(await keysIn(store)).toEqual(["v1", "v2"]);
        expect(gone).toContain("states/compacted/");
      } finally {
        objects.get = get;
      }
      await session.release();
    });

    const inAnHour = (now: Date): string => new Date(now.getTime() + 3_600_000).toUTCString();
    const anHourAgo = (now: Date): string => new Date(now.getTime() - 3_600_000).toUTCString();
    it.each<[string, (now: Date) => string | null]>([
      ["a word", () => "soon"],
      ["nothing", () => ""],
      ["the 99th of a month", () => "Tue, 99 Nov 2026 25:61:00 GMT"],
      ["a time before the lock was written", anHourAgo],
      ["a time long after the lock was written", inAnHour],
      ["no time at all", () => null],
    ])("a server whose Date is %s takes no living lock away", async (_, date) => {
      const key = `s3://states/${randomUUID()}`;
      const times = { leaseMs: 2000, heartbeatMs: 150 };
      server.odd.date = date;
      try {
        const session = await createS3Store(key, times).lock(holder("ada"));
        await session.append([line(1, session.epoch)]);
        for (let round = 0; round < 3; round++) {
          await expect(createS3Store(key, times).lock(holder("bob"))).rejects.toThrow(StateLocked);
          await session.append([line(2 + round, session.epoch)]);
        }
        await session.release();
        expect(await keysIn(createS3Store(key, times))).toEqual(["v1", "v2", "v3", "v4"]);
      } finally {
        delete server.odd.date;
      }
    });

    it("a server without a clock lets a dead holder's lock go once it was watched for a lease", async () => {
      const key = `s3://states/${randomUUID()}`;
      const dead = { leaseMs: 500, heartbeatMs: 3_600_000 };
      server.odd.date = () => null;
      try {
        await createS3Store(key, dead).lock(holder("ada"));
        const store = createS3Store(key, dead);
        await expect(store.lock(holder("bob"))).rejects.toThrow(StateLocked);
        await new Promise((waited) => setTimeout(waited, 700));
        await (await store.lock(holder("bob"))).release();
      } finally {
        delete server.odd.date;
      }
    });

    it("a list that is cut off and does not say how to go on is an error", async () => {
      const session = await createS3Store("s3://states/cut").lock(holder());
      for (let serial = 1; serial < 20; serial++) await session.append([line(serial, session.epoch)]);
      await session.release();
      server.odd.losesTokens = true;
      try {
        await expect(createS3Store("s3://states/cut").read()).rejects.toThrow(/lists a part of its objects/);
      } finally {
        delete server.odd.losesTokens;
      }
    });

    const part = "<IsTruncated>true</IsTruncated><NextContinuationToken>same</NextContinuationToken>";
    it.each([
      [200, "<!DOCTYPE html><html><body>Log in</body></html>", /no list of objects/],
      [200, `<ListBucketResult>${part}</ListBucketResult>`, /with the same NextContinuationToken/],
      [403, "<Error><Code>RequestTimeTooSkewed</Code></Error>", /this machine's clock/],
      [400, "<Error><Code>ExpiredToken</Code></Error>", /refuses these credentials \(400 ExpiredToken\)/],
      [301, "<Error><Code>PermanentRedirect</Code></Error>", /another region/],
    ])("reads answered with %i %s are no state, and say what is wrong", async (status, text, said) => {
      server.odd.reads = [status, text];
      try {
        await expect(createS3Store("s3://states/odd").read()).rejects.toThrow(said);
      } finally {
        delete server.odd.reads;
      }
    });

    it("a server that ignores conditions is named at the first write", async () => {
      server.odd.ignoresConditions = true;
      try {
        const session = await createS3Store("s3://states/lax").lock(holder());
        await expect(session.append([line(1, session.epoch)])).rejects.toThrow(/ignores conditional writes/);
        await session.release();
      } finally {
        delete server.odd.ignoresConditions;
      }
    });

    it("an address at which nothing is found is no lock of somebody else's", async () => {
      const nothing = createServer((_, response) => response.writeHead(404).end("404 page not found"));
      process.env["AWS_ENDPOINT_URL"] = await listenHere(nothing);
      try {
        await expect(createS3Store("s3://states/nowhere").lock(holder())).rejects.toThrow("answers 404");
      } finally {
        process.env["AWS_ENDPOINT_URL"] = server.url;
        await closeHere(nothing);
      }
    });

    it("an object of somebody else under the key is named, not guessed at", async () => {
      server.objects.set("states/foreign/0000000001", { body: Buffer.from("hello"), etag: '"x"', at: new Date() });
      await expect(createS3Store("s3://states/foreign").read()).rejects.toThrow(
        /0000000001 is not of this tool's making/,
      );
    });
  });

  it.each(["s3://", "s3://bucket", "s3://bucket/", "s3://a@b/c", "s3://a:b/c@d/e"])(
    "%s is no address of a state",
    (address) => {
      expect(() => createS3Store(address)).toThrow(/s3:\/\/BUCKET\/KEY/);
    },
  );

  const arn = "arn:aws:s3:eu-west-1:123456789012:accesspoint";
  it.each([
    ["s3://bucket/one/two/", "bucket", "one/two"],
    [`s3://${arn}:mine/one/two`, `${arn}:mine`, "one/two"],
    [`s3://${arn}/mine/one/two`, `${arn}/mine`, "one/two"],
    [
      "s3://arn:aws:s3-outposts:r:1:outpost/op-1/accesspoint/mine/one",
      "arn:aws:s3-outposts:r:1:outpost/op-1/accesspoint/mine",
      "one",
    ],
  ])("%s is a key of a bucket or of an access point", (address, bucketName, key) => {
    expect(readS3Address(address)).toEqual({ bucketName, key, location: address.replace(/\/$/, "") });
  });

  it("says in words that nobody answers, and never a key", async () => {
    const endpoint = process.env["AWS_ENDPOINT_URL"];
    process.env["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1";
    try {
      const failed = await createS3Store("s3://states/x")
        .read()
        .catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(StoreFailed);
      expect(String(failed)).toContain("the state s3://states/x cannot be reached: ECONNREFUSED");
      expect(String(failed)).not.toContain(canary);
    } finally {
      process.env["AWS_ENDPOINT_URL"] = endpoint;
    }
  });
});
