/**
 * Approvals of plans that a program asked for, by a person at a terminal. A file or a typed "yes" would be no approval,
 * since every program of this machine can write the one and type the other. An approval is signed with a key that is
 * made of a passphrase, which is in no file: the server knows what checks a signature (RECONCILE_APPROVER) and cannot
 * make one.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  randomBytes,
  scryptSync,
  sign,
  verify,
} from "node:crypto";
import { fieldsOfJson } from "../core/text/objects";

/** What `RECONCILE_APPROVER` holds: a salt, and the public key that belongs to a passphrase with it. */
export interface Approver {
  readonly salt: Buffer;
  readonly publicKey: Buffer;
}

/** The head of an Ed25519 key in DER. */
const privateHead = Buffer.from("302e020100300506032b657004220420", "hex");
const publicHead = Buffer.from("302a300506032b6570032100", "hex");

const privateKeyOf = (passphrase: string, salt: Buffer): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([privateHead, scryptSync(passphrase, salt, 32, { N: 1 << 16, r: 8, p: 1, maxmem: 1 << 27 })]),
    format: "der",
    type: "pkcs8",
  });

const publicPartOf = (key: KeyObject): Buffer =>
  createPublicKey(key).export({ format: "der", type: "spki" }).subarray(publicHead.length);

export function newApprover(passphrase: string): Approver {
  const salt = randomBytes(16);
  return { salt, publicKey: publicPartOf(privateKeyOf(passphrase, salt)) };
}

export const writeApprover = ({ salt, publicKey }: Approver): string =>
  Buffer.concat([salt, publicKey]).toString("base64url");

export function readApprover(text: string): Approver | undefined {
  const bytes = Buffer.from(text, "base64url");
  return bytes.length === 48 ? { salt: bytes.subarray(0, 16), publicKey: bytes.subarray(16) } : undefined;
}

/** What is approved: this plan, byte by byte, with the word that these volumes are flushed. */
const statement = (plan: Buffer, flushed: readonly string[]): Buffer =>
  Buffer.from(
    JSON.stringify(["reconcile: this plan may be applied", createHash("sha256").update(plan).digest("hex"), flushed]),
  );

/** `undefined`: the passphrase is not the approver's. */
export function approvalOf(
  approver: Approver,
  passphrase: string,
  plan: Buffer,
  flushed: readonly string[],
): string | undefined {
  const key = privateKeyOf(passphrase, approver.salt);
  if (!publicPartOf(key).equals(approver.publicKey)) return undefined;
  return JSON.stringify({ flushed, signature: sign(null, statement(plan, flushed), key).toString("base64url") });
}

/** The volumes that are flushed by the approver's word; `undefined`: this is no approval of this plan. */
export function approved(approver: Approver, approval: string, plan: Buffer): readonly string[] | undefined {
  const { flushed: addresses, signature } = fieldsOfJson(approval);
  if (!Array.isArray(addresses) || typeof signature !== "string") return undefined;
  const flushed = addresses.map(String);
  const key = createPublicKey({ key: Buffer.concat([publicHead, approver.publicKey]), format: "der", type: "spki" });
  return verify(null, statement(plan, flushed), key, Buffer.from(signature, "base64url")) ? flushed : undefined;
}
