/**
 * Texts under a key: AES-256-GCM, bound to what they are and where they stand, so that a text that was changed, or put
 * in another's place, does not open. For the encrypted store and for saved plans.
 */

import { execSync } from "node:child_process";
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, scryptSync } from "node:crypto";
import { knownVersion, newerVersion, WrittenByNewer } from "../core/state/newer";
import { ifPossible } from "../core/text/errors";
import { itemAt } from "../core/text/invariant";
import { fieldsIn, fieldsOfJson } from "../core/text/objects";
import { waits } from "../core/text/outside-policy";
import { remembered } from "../core/text/remembered";
import { StateSealed } from "./store";

/** The user's key: 32 bytes, or a passphrase from which they are derived, with a salt for each text. */
export type Secret = { readonly bytes: Buffer } | { readonly passphrase: string };

export interface Keys {
  /** The first key seals; every key opens. */
  readonly secrets: readonly Secret[];
  /** True: a state in the clear is neither read nor written. */
  readonly required: boolean;
}

type KeyEnvironment = Readonly<Record<string, string | undefined>>;

export const shortestPassphrase = 12;

export function readKeys(environment: KeyEnvironment): Keys {
  const mode = environment["RECONCILE_STATE_ENCRYPTION"] ?? "";
  if (mode !== "" && mode !== "required" && mode !== "optional")
    throw new StateSealed("state/key-bad", "RECONCILE_STATE_ENCRYPTION is neither required nor optional");
  const first = environment["RECONCILE_STATE_KEY"] || fromCommand(environment["RECONCILE_STATE_KEY_COMMAND"]);
  const previous = environment["RECONCILE_STATE_KEY_PREVIOUS"] || undefined;
  if (first === undefined && (mode === "required" || previous !== undefined))
    throw new StateSealed(
      "state/key-missing",
      `${mode === "required" ? "RECONCILE_STATE_ENCRYPTION=required" : "RECONCILE_STATE_KEY_PREVIOUS"} needs a key: set RECONCILE_STATE_KEY or RECONCILE_STATE_KEY_COMMAND`,
    );
  const secrets: Secret[] = [];
  if (first !== undefined) secrets.push(readSealSecret(first, "RECONCILE_STATE_KEY"));
  if (previous !== undefined) secrets.push(readSealSecret(previous, "RECONCILE_STATE_KEY_PREVIOUS"));
  // A line feed behind the key, as of a file that became a variable, was once a part of it.
  for (const text of [first, previous])
    if (text !== undefined && text !== trimmedKey(text)) secrets.push(secretOf(text));
  return { secrets, required: mode === "required" };
}

/** Blanks alone are no key, and stay what they are: too short, or a passphrase of long ago. */
const trimmedKey = (text: string): string => text.trim() || text;

function readSealSecret(text: string, name: string): Secret {
  const secret = secretOf(trimmedKey(text));
  if ("passphrase" in secret && text.length < shortestPassphrase)
    throw new StateSealed(
      "state/key-bad",
      `${name} is too short: 32 bytes in base64 (openssl rand -base64 32), or a passphrase of at least ${shortestPassphrase} characters`,
    );
  return secret;
}

/** A fleet's worker reads the same few texts with each state that it opens. What is derived of one stays with it. */
const secretOf = remembered(
  (text): Secret => (/^[A-Za-z0-9+/]{43}=$/.test(text) ? { bytes: Buffer.from(text, "base64") } : { passphrase: text }),
  100,
);

/** What the command printed is used for a minute: each round of a fleet opens several states. */
const printedHoldsMs = 60_000;
const printedKeys = new Map<string, { readonly key: string; readonly at: number }>();

function fromCommand(command: string | undefined): string | undefined {
  if (command === undefined || command === "") return undefined;
  const before = printedKeys.get(command);
  if (before !== undefined && performance.now() - before.at < printedHoldsMs) return before.key;
  const key = askCommand(command);
  printedKeys.set(command, { key, at: performance.now() });
  return key;
}

function askCommand(command: string): string {
  let output: string;
  try {
    output = execSync(command, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], timeout: waits.helper });
  } catch (error) {
    const { status } = fieldsIn(error);
    throw new StateSealed(
      "state/key-missing",
      `RECONCILE_STATE_KEY_COMMAND ${typeof status === "number" ? `ended with ${status}` : "did not end well"}`,
    );
  }
  const key = output.trim();
  if (key === "") throw new StateSealed("state/key-missing", "RECONCILE_STATE_KEY_COMMAND printed nothing");
  return key;
}

/** A key made for one salt. */
export interface DerivedKey {
  /** Names the key that opens a text, and reveals nothing about the key. */
  readonly id: string;
  readonly bytes: Buffer;
}

const derived = new WeakMap<Secret, (salt: string) => DerivedKey>();

/** Deriving a key from a passphrase is slow, so it is done once for each salt. */
export function deriveKey(secret: Secret, salt: string): DerivedKey {
  const bySalt = derived.get(secret) ?? remembered((one) => derivedAnew(secret, one), 10_000);
  derived.set(secret, bySalt);
  return bySalt(salt);
}

function derivedAnew(secret: Secret, salt: string): DerivedKey {
  const saltBytes = Buffer.from(salt, "base64");
  const bytes =
    "bytes" in secret
      ? Buffer.from(hkdfSync("sha256", secret.bytes, saltBytes, "reconcile-cloud/state", 32))
      : scryptSync(secret.passphrase, saltBytes, 32, { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 2 ** 20 });
  return { id: createHmac("sha256", bytes).update("reconcile-cloud/key-id").digest("hex").slice(0, 8), bytes };
}

export const newSalt = (): string => randomBytes(16).toString("base64");

export function seal(key: DerivedKey, bound: string, text: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", key.bytes, nonce);
  cipher.setAAD(Buffer.from(bound, "utf8"));
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]).toString("base64");
}

/** `undefined`: the text was changed, or belongs to another place. */
export function unseal(key: DerivedKey, bound: string, sealed: string): string | undefined {
  const bytes = Buffer.from(sealed, "base64");
  if (bytes.length < 28) return undefined;
  const decipher = createDecipheriv("aes-256-gcm", key.bytes, bytes.subarray(0, 12));
  decipher.setAAD(Buffer.from(bound, "utf8"));
  decipher.setAuthTag(bytes.subarray(-16));
  return ifPossible(() => Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString("utf8"));
}

const sealedFormat = "reconcile-cloud/sealed";
const opening = `{\n"format":"${sealedFormat}",`;
export const isSealed = (text: string): boolean => text.startsWith(opening);

export interface Document {
  readonly purpose: "state" | "plan";
  /** The epoch of the text inside, which the store needs without opening the text. */
  readonly epoch: number;
  readonly salt: string;
  readonly text: string;
}

export function sealDocument({ secrets }: Keys, { purpose, epoch, salt, text }: Document): string {
  const key = deriveKey(itemAt(secrets, 0), salt);
  const body = seal(key, boundOf(purpose, epoch, salt), text);
  return `${opening}\n"version":1,\n"purpose":"${purpose}",\n"epoch":${epoch},\n"salt":"${salt}",\n"key":"${key.id}",\n"body":"${body}"\n}\n`;
}

/** The document, and whether it was sealed with the first key. */
export function unsealDocument(
  { secrets }: Keys,
  purpose: Document["purpose"],
  what: string,
  sealed: string,
): Document & { readonly isNewest: boolean } {
  const head = readHead(sealed, what);
  if (head === undefined) throw sealDamaged(what);
  if (head.purpose !== purpose)
    throw new StateSealed("state/damaged", `${what} is an encrypted ${head.purpose}, no ${purpose}`);
  const key = findKey(secrets, head.salt, head.key, what);
  const text = unseal(key, boundOf(purpose, head.epoch, head.salt), head.body);
  if (text === undefined) throw sealDamaged(what);
  return {
    purpose,
    epoch: head.epoch,
    salt: head.salt,
    text,
    isNewest: key === deriveKey(itemAt(secrets, 0), head.salt),
  };
}

export function findKey(secrets: readonly Secret[], salt: string, id: string, what: string): DerivedKey {
  if (secrets.length === 0)
    throw new StateSealed(
      "state/key-missing",
      `${what} is encrypted: set RECONCILE_STATE_KEY or RECONCILE_STATE_KEY_COMMAND`,
    );
  for (const secret of secrets) {
    const key = deriveKey(secret, salt);
    if (key.id === id) return key;
  }
  // The command may print another one by now.
  printedKeys.clear();
  throw new StateSealed(
    "state/key-wrong",
    `${what} is encrypted with another key than was given; nothing was read or written`,
    "give the key it was encrypted with; after a change of keys, the former one as RECONCILE_STATE_KEY_PREVIOUS",
  );
}

export const sealDamaged = (what: string): StateSealed =>
  new StateSealed("state/damaged", `${what} was damaged or changed since it was encrypted; nothing of it is used`);

const boundOf = (purpose: string, epoch: number, salt: string): string => `${sealedFormat}:${purpose}:${epoch}:${salt}`;

function readHead(sealed: string, what: string) {
  const { version, purpose, epoch, salt, key, body } = fieldsOfJson(sealed);
  const newer = newerVersion(version);
  if (newer !== undefined)
    throw new WrittenByNewer(
      what,
      `its encryption is of version ${newer}, and this reconcile reads version ${knownVersion}`,
    );
  if (version !== 1 || typeof epoch !== "number" || (purpose !== "state" && purpose !== "plan")) return undefined;
  if (typeof salt !== "string" || typeof key !== "string" || typeof body !== "string") return undefined;
  return { purpose, epoch, salt, key, body } as const;
}

/** Seals one file that stands alone. */
export const sealFile = (keys: Keys, purpose: Document["purpose"], text: string): string =>
  keys.secrets.length === 0 ? text : sealDocument(keys, { purpose, epoch: 0, salt: newSalt(), text });

export function unsealFile(keys: Keys, purpose: Document["purpose"], what: string, text: string): string {
  if (isSealed(text)) return unsealDocument(keys, purpose, what, text).text;
  // With a key every plan is sealed, so a plan in the clear came from somewhere else, and anybody could have written
  // it.
  if (keys.required || keys.secrets.length > 0) throw notSealed(what, purpose);
  return text;
}

const notSealed = (what: string, purpose: Document["purpose"]): StateSealed =>
  new StateSealed(
    "state/not-encrypted",
    `${what} is not encrypted, and there is a key: a ${purpose} in the clear could have been written by anybody; make it anew with the key set, or unset the key to use it as it is`,
  );

export const notEncrypted = (what: string): StateSealed =>
  new StateSealed(
    "state/not-encrypted",
    `${what} is not encrypted, and RECONCILE_STATE_ENCRYPTION=required: run once without it to encrypt what is there`,
  );
