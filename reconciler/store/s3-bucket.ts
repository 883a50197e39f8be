/** The few requests that the S3 store sends, with their conditions; the SDK finds region, endpoint and credentials. */

import type { S3Client } from "@aws-sdk/client-s3";
import { causeOf, errorCode, errorMessage, ifPossible } from "../core/text/errors";
import { fieldsIn, isObject, onlyDefined } from "../core/text/objects";
import { waits } from "../core/text/outside-policy";
import { firstLine } from "../core/text/parts";
import { packageMissing, repeat } from "./remote";
import { StoreFailed } from "./store";

export interface StoredObject {
  readonly text: string;
  readonly etag: string;
  /** Another one with every write, also with one of the same text. */
  readonly version: string;
  /**
   * The age of the object, where the server says with one clock when it was written and what time it is. Absent: it does
   * not, and no clock of this machine stands in for it.
   */
  readonly ageMs?: number;
}

export interface S3Bucket {
  get(key: string): Promise<StoredObject | undefined>;
  /** False: such an object exists already. */
  create(key: string, text: string): Promise<boolean>;
  /** False: the object has another tag by now. */
  replace(key: string, text: string, etag: string): Promise<boolean>;
  /** Replaces whatever object is there. */
  put(key: string, text: string): Promise<void>;
  remove(key: string): Promise<void>;
  list(prefix: string): Promise<string[]>;
}

/** For one request with its repeats, to the last byte. The SDK itself waits without end. */
class TimedOut extends Error {
  constructor(timeoutMs: number) {
    super(`no answer within ${Math.ceil(timeoutMs / 1000)} seconds`);
  }
}

/** The SDK takes a page of a proxy for a list with nothing in it. */
class NoList extends Error {}

type Sdk = typeof import("@aws-sdk/client-s3");

export function createBucket(Bucket: string, location: string, timeoutMs: number = waits.bucketObject): S3Bucket {
  let opened: { readonly sdk: Sdk; readonly client: S3Client } | undefined;
  const open = () => (opened ??= openClient());
  const asFailure = (error: unknown): StoreFailed => new StoreFailed(`the state ${location} ${bucketProblem(error)}`);
  const ask = <T>(send: (options: { abortSignal: AbortSignal }) => Promise<T>): Promise<T> =>
    repeat(
      () => {
        const abortSignal = AbortSignal.timeout(timeoutMs);
        const late = new Promise<never>((_, reject) => {
          abortSignal.addEventListener("abort", () => reject(new TimedOut(timeoutMs)), { once: true });
        });
        return Promise.race([send({ abortSignal }), late]);
      },
      // The SDK repeats failed requests by itself too.
      { isPassing: isPassingAnswer, asFailure, patienceMs: () => waits.firstAnswer },
    );

  async function put(key: string, text: string, condition: { IfNoneMatch?: string; IfMatch?: string }) {
    const { sdk, client } = open();
    try {
      await ask((options) =>
        client.send(
          new sdk.PutObjectCommand({
            Bucket,
            Key: key,
            Body: text,
            ContentType: "application/octet-stream",
            ...condition,
          }),
          options,
        ),
      );
      return true;
    } catch (error) {
      const status = httpStatusOf(causeOf(error));
      // 404: the object that was to be replaced is gone. To what is created it says that this is no server of buckets.
      const isGone = status === 404 && condition.IfMatch !== undefined && errorName(causeOf(error)) !== "NoSuchBucket";
      if (status === 412 || isGone) return false;
      throw error;
    }
  }

  return {
    async get(key) {
      const { sdk, client } = open();
      return ask(async (options) => {
        try {
          const answer = await client.send(new sdk.GetObjectCommand({ Bucket, Key: key }), options);
          const text = (await answer.Body?.transformToString("utf8")) ?? "";
          const etag = answer.ETag ?? "";
          const written = answer.LastModified?.getTime();
          const ageMs = ageBetween(written, serverTimeOf(answer));
          return { text, etag, version: `${etag} ${written ?? ""}`, ageMs };
        } catch (error) {
          if (httpStatusOf(error) === 404 && errorName(error) !== "NoSuchBucket") return undefined;
          throw error;
        }
      });
    },
    create: (key, text) => put(key, text, { IfNoneMatch: "*" }),
    replace: (key, text, etag) => put(key, text, { IfMatch: etag }),
    put: async (key, text) => void (await put(key, text, {})),
    async remove(key) {
      const { sdk, client } = open();
      await ask((options) => client.send(new sdk.DeleteObjectCommand({ Bucket, Key: key }), options));
    },
    async list(prefix) {
      const { sdk, client } = open();
      const keys: string[] = [];
      let token: string | undefined;
      do {
        const page = await ask(async (options) => {
          const answer = await client.send(
            new sdk.ListObjectsV2Command({ Bucket, Prefix: prefix, ...onlyDefined({ ContinuationToken: token }) }),
            options,
          );
          const { Name, KeyCount, IsTruncated, Contents } = answer;
          if ((Name ?? KeyCount ?? IsTruncated ?? Contents) === undefined) throw new NoList();
          return answer;
        });
        // What is listed here may be removed, and a server may list what it was not asked for.
        for (const { Key } of page.Contents ?? []) if (Key?.startsWith(prefix) === true) keys.push(Key);
        const next = page.IsTruncated === true ? page.NextContinuationToken : undefined;
        if (page.IsTruncated === true && (next === undefined || next === token))
          throw new StoreFailed(
            `the state ${location} lists a part of its objects, and its server does not say how to ask for the rest (IsTruncated ${next === undefined ? "without" : "with the same"} NextContinuationToken)`,
          );
        token = next;
      } while (token !== undefined);
      return keys;
    },
  };
}

/** Both times have whole seconds. More than this before its own beginning: two clocks speak. */
const mostBehindMs = 5000;

function ageBetween(written: number | undefined, now: number | undefined): number | undefined {
  if (written === undefined || now === undefined || !Number.isFinite(written) || !Number.isFinite(now))
    return undefined;
  return now - written < -mostBehindMs ? undefined : now - written;
}

const serverTimes = new WeakMap<object, number>();
const serverTimeOf = (output: { readonly $metadata: object }): number | undefined => serverTimes.get(output.$metadata);

function openClient(): { readonly sdk: Sdk; readonly client: S3Client } {
  // Messages about the versions of Node that the SDK will drop do not concern the user of a plan.
  process.env["AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED"] ??= "true";
  // `Sdk` is the type of that package.
  const sdk = ifPossible((): Sdk => require("@aws-sdk/client-s3"));
  if (sdk === undefined) throw packageMissing("@aws-sdk/client-s3", "s3://");
  const client = new sdk.S3Client({
    // Servers other than Amazon's know neither bucket host names nor the newer checksums.
    ...onlyDefined({
      forcePathStyle:
        process.env["AWS_ENDPOINT_URL"] === undefined && process.env["AWS_ENDPOINT_URL_S3"] === undefined
          ? undefined
          : true,
    }),
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  // The age of a lease is computed from the server's clock alone: no difference to this machine's makes one look over.
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args);
      const date = fieldsIn(fieldsIn(result.response)["headers"])["date"];
      const about = fieldsIn(result.output)["$metadata"];
      if (typeof date === "string" && isObject(about)) serverTimes.set(about, Date.parse(date));
      return result;
    },
    { step: "deserialize", priority: "high", name: "serverTime" },
  );
  return { sdk, client };
}

function httpStatusOf(error: unknown): number | undefined {
  const { httpStatusCode } = fieldsIn(fieldsIn(error)["$metadata"]);
  return typeof httpStatusCode === "number" ? httpStatusCode : undefined;
}
const errorName = (error: unknown): string => String(fieldsIn(error)["name"] ?? "");

/** No credentials, no region: nothing was sent. */
const isSetUp = (error: unknown): boolean => /credential|region/i.test(String(error));

/** 409: two conditional writes met; the documented way on is to try again. */
const isPassingAnswer = (error: unknown): boolean => {
  const status = httpStatusOf(error);
  return status === undefined ? !isSetUp(error) : status === 409 || status === 429 || status >= 500;
};

function bucketProblem(error: unknown): string {
  const said = firstLine(errorMessage(error)).slice(0, 300);
  const status = httpStatusOf(error);
  const name = errorName(error);
  if (error instanceof TimedOut) return `gives ${error.message}`;
  if (error instanceof NoList)
    return "answers something that is no list of objects, as a proxy does in a server's place";
  if (name === "NoSuchBucket") return "names a bucket that does not exist";
  if (name === "RequestTimeTooSkewed") return `takes this machine's clock for wrong (${status} ${name}): set it right`;
  if (status === 301 || status === 307) return `lies in another region than AWS_REGION says (${status} ${name})`;
  if (status === 403 || status === 401 || name === "ExpiredToken")
    return `refuses these credentials (${status} ${name}): they come from AWS_PROFILE, AWS_ACCESS_KEY_ID or the machine's role`;
  if (status === 501) return "is on a server without conditional writes (501), which the state needs";
  if (status !== undefined)
    return `answers ${status} ${name === "Error" || fieldsIn(error)["$response"] === undefined ? "" : name}`.trim();
  if (isSetUp(error)) return `cannot be used: ${said}`;
  return `cannot be reached: ${errorCode(error) ?? said}`;
}
