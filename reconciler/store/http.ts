/**
 * The state behind the Terraform HTTP state protocol: one document, read with GET, written with POST, and a lock. It
 * cannot append, so snapshot and journal travel together, and what is recorded in one moment shares one write.
 *
 * The protocol has no leases. A lock stands until its holder lets it go or somebody takes it away, and a server that
 * checks the lock's id on every write (GitLab does) turns a former holder away. For the others the holder's first write
 * signs the document, after a look that shows it as it was when it was locked, and every later one looks first whether the
 * document is still its own.
 *
 * A document that is not there is believed only when two looks say so: nothing is written over one that was not read.
 */
import { createHash, randomUUID } from "node:crypto";
import { calendarMs, instantAt } from "../core/model/time";
import { knownVersion, newerVersion, WrittenByNewer } from "../core/state/newer";
import { certificateProblem } from "../core/text/certificate-problems";
import { causeOf, errorCode, errorMessage } from "../core/text/errors";
import { fieldsIn, fieldsOfJson, onlyDefined, parsedJson } from "../core/text/objects";
import { type AddressFault, addressFault, waits } from "../core/text/outside-policy";
import { readRetryAfter } from "../core/text/retry-after";
import { lastEpoch, readHolder, shortText, unknownHolder } from "./lease";
import { repeat, StoreUnavailable } from "./remote";
import {
  type Holder,
  LeaseLost,
  StateLocked,
  type StateSession,
  type StateStore,
  type StoredState,
  StoreFailed,
} from "./store";

export interface HttpStoreOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly insecureHttp?: boolean;
}

const documentFormat = "reconcile-cloud/stored-state";
/** The largest document that is read, for a very large state. The answer to a lock is a few lines. */
const largestDocument = 256 * 2 ** 20;
const largestOther = 2 ** 20;
/** GitLab takes no longer text. */
const longestLockId = 255;
/** A lock that is there again after so many tries to take it away stays. */
const mostBreaks = 3;

interface HttpDocument {
  /** The number of the write: GitLab keeps one version for each number and refuses a second one. */
  readonly serial: number;
  readonly writer: string;
  readonly snapshot?: string;
  readonly journal: readonly string[];
  /** How many journal lines were written. An older version of this tool did not keep the number. */
  readonly lines?: number;
}

const noDocument: HttpDocument = { serial: 0, writer: "", journal: [] };

const describeSerial = ({ writer, serial }: HttpDocument): string => (writer === "" ? "none" : `number ${serial}`);

interface StoreAnswer {
  readonly status: number;
  readonly text: string;
}

export function createHttpStore(address: string, options: HttpStoreOptions): StateStore {
  const protocol = readHttpPlace(address, options);
  const { url, location, checksId } = protocol;

  let hasAnswered = false;

  /** The body is made anew for every try. */
  const send = (method: string, to: URL, bodyOf?: () => string): Promise<StoreAnswer> =>
    repeat(
      async () => {
        const answer = await sendOnce(protocol, method, to, bodyOf?.());
        const text = await readBounded(answer, method === "GET" ? largestDocument : largestOther, location);
        if (answer.status === 429 || answer.status >= 500)
          throw new StoreUnavailable(
            answer.status,
            // By the server's own clock, for that of this machine may be another one.
            readRetryAfter(
              answer.headers.get("retry-after") ?? undefined,
              calendarMs(answer.headers.get("date") ?? undefined, instantAt(Date.now())),
            ),
          );
        if (answer.status === 200 && isPage(text)) throw new PageAnswered();
        hasAnswered = true;
        return { status: answer.status, text };
      },
      {
        // A certificate that was refused will be refused again: no second try.
        isPassing: (error) => certificateProblemOf(error) === undefined,
        asFailure: (error) => new StoreFailed(`the state ${location} ${httpProblem(error)}`),
        patienceMs: () => (hasAnswered ? waits.restart.http : waits.firstAnswer),
      },
    );

  async function readDocument(): Promise<HttpDocument> {
    const { status, text } = await send("GET", url);
    if (status === 404 || status === 204) return noDocument;
    if (status !== 200) throw statusRefusal(location, status);
    if (text === "")
      throw new StoreFailed(
        `the state ${location} answers 200 with nothing in it, which is no state (one that does not exist is answered with 404 or 204)`,
      );
    return parseDocument(text, location);
  }

  /** Under the lock: what was absent is looked for twice. */
  async function readLocked(): Promise<HttpDocument> {
    const first = await readDocument();
    if (first !== noDocument || (await readDocument()) === noDocument) return first;
    throw new StoreFailed(
      `the state ${location} answered that there is none, and a moment later that there is one; nothing was written`,
    );
  }

  const lockBody = (id: string, holder: Holder) => (): string =>
    lockText(id, holder.command, `${holder.who}@${holder.host}`, holder.since);

  /** The holder of the lock; `undefined`: we have it now. */
  async function askForLock(id: string, holder: Holder): Promise<Present | undefined> {
    const { status, text } = await send(protocol.lockMethod, protocol.lockUrl, lockBody(id, holder));
    if (status === 200 || status === 201 || status === 204) return undefined;
    if (lacksLock.has(status)) throw cannotLock(location, protocol.lockMethod, status);
    if (status !== 409 && status !== 423) throw statusRefusal(location, status);
    const present = parsePresent(text);
    // The second request met the lock of the first, whose answer was lost.
    return present.id === id ? undefined : present;
  }

  async function unlock(id: string, holder: Holder): Promise<void> {
    const to = new URL(protocol.lockUrl);
    if (checksId) to.searchParams.set("ID", id);
    const { status } = await send(protocol.unlockMethod, to, lockBody(id, holder));
    if (status >= 300 && status !== 404 && status !== 409 && status !== 423) throw statusRefusal(location, status);
  }

  return {
    location,
    leases: false,
    read: async () => storedIn(await readDocument()),
    holder: async () => undefined,
    async breakLock() {
      const breaker = { ...unknownHolder, command: "reconcile state unlock", since: new Date().toISOString() };
      const id = lockId(breaker);
      const present = await askForLock(id, breaker);
      for (let times = 1; present !== undefined; times++) {
        await unlock(present.id ?? "", breaker);
        const next = await askForLock(id, breaker);
        if (next === undefined) break;
        // Another one was faster.
        if (next.id !== undefined && next.id !== present.id) return present.holder;
        // A holder that lets go asks for its lock once more, to see whose it is: it may have it again for that moment.
        if (next.id === undefined || times === mostBreaks)
          throw new StoreFailed(
            `the state ${location} keeps its lock${next.id === undefined ? ", and does not say of which id it is" : ""}: take it away on the server itself`,
          );
      }
      try {
        // The document is signed by the breaker, or the former holder would still take the document for its own.
        if (present !== undefined && !checksId) await (await openSession(id, breaker)).sign();
      } finally {
        await unlock(id, breaker);
      }
      return present?.holder;
    },
    async lock(holder) {
      const id = lockId(holder);
      const present = await askForLock(id, holder);
      if (present !== undefined) throw new StateLocked(present.holder, false);
      try {
        return await openSession(id, holder);
      } catch (error) {
        await unlock(id, holder).catch(() => undefined);
        throw error;
      }
    },
  };

  interface HttpSession extends StateSession {
    /** Writes the document as it is, under another name. One that does not exist is left alone. */
    sign(): Promise<void>;
  }

  async function openSession(id: string, holder: Holder): Promise<HttpSession> {
    const document = await readLocked();
    let now = document;
    const epoch = lastEpoch(now) + 1;
    let { serial } = now;
    let isSigned = false;
    const to = new URL(url);
    to.searchParams.set("ID", id);

    const isAsRead = (there: HttpDocument): boolean => documentText(there) === documentText(document);

    /** Before the first write the document is as it was read; from then on it has this holder's name. */
    async function assertMine(): Promise<void> {
      const there = await readDocument();
      if (isSigned) assertKept(there);
      if (there.writer !== id && (isSigned || !isAsRead(there))) throw new LeaseLost(location);
    }
    /** A server may say yes to a write and keep the document of before. */
    const isKept = (there: HttpDocument): boolean =>
      there.writer === id ? there.serial >= now.serial : !isAsRead(there);
    function assertKept(there: HttpDocument): void {
      if (isKept(there)) return;
      const failed = new StoreFailed(
        `the state ${location} was written and answered that it was, and what it shows is from before: ${describeSerial(there)} where ${describeSerial(now)} was sent`,
      );
      failed.hasLost = true;
      throw failed;
    }
    async function write(next: Pick<HttpDocument, "snapshot" | "journal" | "lines">): Promise<void> {
      if (!checksId) await assertMine();
      const signed = (): HttpDocument => ({ ...next, writer: id, serial });
      const { status } = await send(protocol.updateMethod, to, () => {
        serial++;
        return documentText(signed());
      });
      if (status === 409 || status === 423) throw new LeaseLost(location);
      if (status >= 300) throw statusRefusal(location, status);
      now = signed();
      isSigned = true;
    }
    return {
      epoch,
      async sign() {
        if (document !== noDocument) await write(now);
      },
      read: async () => storedIn(now),
      // Without leases a lock does not lapse. When somebody takes it by force, the next write finds that out.
      assertHeld: async () => undefined,
      append: (lines) =>
        write({
          snapshot: now.snapshot,
          journal: [...now.journal, ...lines],
          lines: (now.lines ?? now.journal.length) + lines.length,
        }),
      replace: (snapshot) => write({ snapshot, journal: [], lines: 0 }),
      async release() {
        try {
          // Where the server looks whose lock it is, nobody else has written: what it did not keep is sent once more.
          if (isSigned) {
            let there = await readDocument();
            if (checksId && !isKept(there)) {
              await write(now);
              there = await readDocument();
            }
            assertKept(there);
          }
        } finally {
          // A server that does not look whose lock it lets go of would let go of that of whoever took it by force.
          const present = checksId ? undefined : await askForLock(id, holder);
          if (present?.id === undefined) await unlock(id, holder);
        }
      },
    };
  }
}

/** A state of the same server that nobody has: the last part of the path gets another name. */
export function besideHttp(address: string, name: string): string {
  const url = new URL(address);
  url.pathname = `${url.pathname.replace(/\/$/, "")}-${name}`;
  return url.toString();
}

/** Sends one request as it is, without another try, and tells how it was answered. For `state check`. */
export function httpProbe(address: string, options: HttpStoreOptions) {
  const place = readHttpPlace(address, options);
  const { url, lockUrl, lockMethod, unlockMethod, updateMethod, checksId } = place;
  const send = async (method: string, to: URL, id?: string, body?: string): Promise<StoreAnswer> => {
    const target = new URL(to);
    if (id !== undefined) target.searchParams.set("ID", id);
    const answer = await sendOnce(place, method, target, body);
    return { status: answer.status, text: await readBounded(answer, largestDocument, url.toString()) };
  };
  const lockBody = (id: string): string => lockText(id, "reconcile state check", "check", new Date().toISOString());
  return {
    checksId,
    read: () => send("GET", url),
    write: (id: string, serial: number, text: string) =>
      send(updateMethod, url, id, documentText({ serial, writer: id, snapshot: text, journal: [] })),
    lock: (id: string) => send(lockMethod, lockUrl, undefined, lockBody(id)),
    unlock: (id: string) => send(unlockMethod, lockUrl, checksId ? id : undefined, lockBody(id)),
    remove: () => send("DELETE", url),
  };
}

interface HttpPlace {
  readonly url: URL;
  readonly lockUrl: URL;
  readonly lockMethod: string;
  readonly unlockMethod: string;
  readonly updateMethod: string;
  /** The server refuses a write whose lock id is not the present one's. */
  readonly checksId: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly location: string;
}

const sendOnce = ({ headers }: HttpPlace, method: string, to: URL, body: string | undefined): Promise<Response> =>
  fetch(to, {
    method,
    redirect: "manual",
    // A cached answer is no evidence of what is there now.
    headers: { "cache-control": "no-cache", ...headers, ...(body === undefined ? {} : contentHeaders(body)) },
    ...onlyDefined({ body }),
    signal: AbortSignal.timeout(waits.stateDocument),
  });

/** What a server keeps of a lock, in the words of Terraform. */
const lockText = (id: string, operation: string, who: string, created: string): string =>
  JSON.stringify({ ID: id, Operation: operation, Info: "", Who: who, Version: "1.0.0", Created: created, Path: "" });

const isGitLab = /^\/(?:.*\/)?api\/v4\/projects\/[^/]+\/terraform\/state\/[^/]+\/?$/;

function readHttpPlace(address: string, { environment, insecureHttp }: HttpStoreOptions): HttpPlace {
  const url = safeUrl(address, "--state", insecureHttp === true);
  const gitlab = isGitLab.test(url.pathname);
  const given = (name: string): string | undefined => environment[`RECONCILE_STATE_${name}`]?.trim() || undefined;
  const lockAddress = given("LOCK_ADDRESS");
  // User and password go to both addresses, so both are held to the same rule.
  const lockUrl =
    lockAddress === undefined
      ? new URL(url)
      : safeUrl(lockAddress, "RECONCILE_STATE_LOCK_ADDRESS", insecureHttp === true);
  if (gitlab && lockAddress === undefined) lockUrl.pathname = `${url.pathname.replace(/\/$/, "")}/lock`;
  const user = given("USERNAME");
  const password = given("PASSWORD");
  return {
    url,
    lockUrl,
    lockMethod: given("LOCK_METHOD") ?? (gitlab ? "POST" : "LOCK"),
    unlockMethod: given("UNLOCK_METHOD") ?? (gitlab ? "DELETE" : "UNLOCK"),
    updateMethod: given("UPDATE_METHOD") ?? "POST",
    checksId: gitlab,
    headers:
      user === undefined && password === undefined
        ? {}
        : { authorization: `Basic ${Buffer.from(`${user ?? ""}:${password ?? ""}`, "utf8").toString("base64")}` },
    location: `${url.origin}${url.pathname}`,
  };
}

const urlProblems: Readonly<Record<Exclude<AddressFault, "has_a_query">, (name: string, address: string) => string>> = {
  no_url: (name) => `${name === "--state" ? "--state https://…" : name} is no address`,
  neither_http_nor_https: (name) => `${name} is neither http:// nor https://`,
  holds_a_credential: (name) =>
    `${name} must not hold a user or password: give them as RECONCILE_STATE_USERNAME and RECONCILE_STATE_PASSWORD`,
  in_the_clear: (name, address) =>
    `the state ${new URL(address).origin} (${name}) would be sent over plain http: use https://, or --insecure-http if the way is safe`,
};

/** A query may say which state it is. */
function safeUrl(address: string, name: string, insecureHttp: boolean): URL {
  const fault = addressFault(URL.canParse(address) ? new URL(address) : null, insecureHttp);
  if (fault !== undefined && fault !== "has_a_query") throw new StoreFailed(urlProblems[fault](name, address));
  return new URL(address);
}

/** An answer without an end would fill the memory. */
async function readBounded(answer: Response, largest: number, location: string): Promise<string> {
  const tooLarge = (): StoreFailed =>
    new StoreFailed(
      `the state ${location} answers with more than ${largest / 2 ** 20} MiB, which is not taken: is this the right address?`,
    );
  const reader = answer.body?.getReader();
  if (reader === undefined) return "";
  const chunks: Uint8Array[] = [];
  let size = Number(answer.headers.get("content-length")) > largest ? Number.POSITIVE_INFINITY : 0;
  for (;;) {
    if (size > largest) {
      await reader.cancel().catch(() => undefined);
      throw tooLarge();
    }
    const { done, value } = await reader.read();
    if (done) return new TextDecoder().decode(Buffer.concat(chunks));
    chunks.push(value);
    size += value.length;
  }
}

const contentHeaders = (body: string): Record<string, string> => ({
  "content-type": "application/json",
  "content-md5": createHash("md5").update(body).digest("base64"),
});

const documentText = ({ serial, writer, snapshot, journal, lines }: HttpDocument): string =>
  JSON.stringify({ version: 1, serial, format: documentFormat, writer, lines, snapshot, journal });

const storedIn = ({ snapshot, journal, lines }: HttpDocument): StoredState => ({
  snapshot,
  journal,
  acknowledged: lines,
});

const isLines = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((line) => typeof line === "string");

function parseDocument(text: string, location: string): HttpDocument {
  const value = parsedJson(text);
  if (value === undefined) throw new StoreFailed(`the state ${location} holds no JSON`);
  const { format, version, serial, writer, snapshot, journal, lines } = fieldsIn(value);
  const newer = format === documentFormat ? newerVersion(version) : undefined;
  if (newer !== undefined)
    throw new WrittenByNewer(
      `the state ${location}`,
      `its version is ${newer}, and this reconcile reads version ${knownVersion}`,
    );
  if (
    format !== documentFormat ||
    typeof serial !== "number" ||
    !isLines(journal) ||
    (snapshot !== undefined && typeof snapshot !== "string")
  )
    throw new StoreFailed(
      `the state ${location} was not written by this tool (a Terraform state, perhaps): give it a name of its own`,
    );
  return {
    serial,
    writer: typeof writer === "string" ? writer : "",
    snapshot,
    journal,
    lines: Number.isSafeInteger(lines) ? Number(lines) : undefined,
  };
}

/** Every server keeps this field and gives it back unchanged, so it says whose lock it is. */
function lockId(holder: Holder): string {
  const id = randomUUID();
  const telling = `${id}.${Buffer.from(JSON.stringify(holder), "utf8").toString("base64url")}`;
  return telling.length <= longestLockId ? telling : id;
}

interface Present {
  readonly id?: string;
  readonly holder: Holder;
}

function parsePresent(text: string): Present {
  const fields = fieldsOfJson(text);
  const id = typeof fields["ID"] === "string" ? fields["ID"] : undefined;
  const told = fieldsOfJson(Buffer.from(id?.split(".")[1] ?? "", "base64url").toString("utf8"));
  const holder =
    typeof told["who"] === "string"
      ? readHolder(told)
      : {
          ...unknownHolder,
          who: shortText(fields["Who"]),
          since: shortText(fields["Created"]),
          command: shortText(fields["Operation"] || undefined),
        };
  return { id, holder };
}

const certificateProblemOf = (error: unknown): string | undefined =>
  certificateProblem(errorCode(causeOf(error)) ?? "")?.words;

/**
 * A proxy or a login page speaks in the server's place, always with 200: what is written to it is kept by nobody. A
 * server of WebDAV answers a new document with a page and 201.
 */
class PageAnswered extends Error {}

const isPage = (text: string): boolean => /^\s*<(?:!doctype html|html)\b/i.test(text);

function httpProblem(error: unknown): string {
  if (error instanceof PageAnswered)
    return "answers with a web page, as a proxy or a login page does in a server's place";
  if (error instanceof StoreUnavailable)
    return error.retryAfterMs === undefined || error.retryAfterMs === 0
      ? `answers ${error.status}`
      : `answers ${error.status} and asks to come back in ${Math.ceil(error.retryAfterMs / 1000)} seconds`;
  if (fieldsIn(error)["name"] === "TimeoutError") return `did not answer within ${waits.stateDocument / 1000} seconds`;
  const certificate = certificateProblemOf(error);
  if (certificate !== undefined) return `is not believed: ${certificate}`;
  return `cannot be reached: ${errorCode(causeOf(error)) ?? errorMessage(causeOf(error) ?? error)}`;
}

/** What a server answers to a method that it does not have, or where it has no locks. A state that is not there can be locked. */
const lacksLock: ReadonlySet<number> = new Set([404, 405, 501]);

const cannotLock = (location: string, method: string, status: number): StoreFailed =>
  new StoreFailed(
    `the state ${location} cannot be locked: ${method} is answered with ${status}${status === 404 ? ", which some servers also say to credentials without rights" : ""}; where its server locks in another way, RECONCILE_STATE_LOCK_ADDRESS and RECONCILE_STATE_LOCK_METHOD say how`,
  );

function statusRefusal(location: string, status: number): StoreFailed {
  if (status === 401 || status === 403)
    return new StoreFailed(
      `the state ${location} refuses these credentials (${status}): set RECONCILE_STATE_USERNAME and RECONCILE_STATE_PASSWORD; writing may need more rights than reading`,
    );
  if (status === 413) return new StoreFailed(`the state ${location} refuses it for its size (413)`);
  if (status >= 300 && status < 400)
    return new StoreFailed(
      `the state ${location} answers ${status}, which leads to another address, and a credential follows no such lead: give the address at which its server answers itself`,
    );
  return new StoreFailed(`the state ${location} answers ${status}`);
}
