/** Whom a credential speaks for, where it says so itself: the claims of a signed token, the user of a `Basic` one. */

import { createHash } from "node:crypto";
import { type Fields, isObject, parsedJson } from "../core/text/objects";

/** Claims that stay the same from one token of somebody to the next, and differ between projects. */
const subjectClaims = [
  "iss",
  "sub",
  "client_id",
  "project",
  "project_id",
  "tenant",
  "tenant_id",
  "tid",
  "org_id",
  "account_id",
] as const;

/** A mark from which nobody learns who it is. `undefined`: the credential does not say it. */
export function subjectOf(authorization: string): string | undefined {
  const said = userIn(authorization) ?? claimsIn(authorization.split(/\s+/).at(-1) ?? "");
  return said === undefined ? undefined : createHash("sha256").update(said).digest("hex").slice(0, 16);
}

function userIn(authorization: string): string | undefined {
  const [, encoded] = /^basic\s+(\S+)$/i.exec(authorization) ?? [];
  const [user = "", ...rest] = Buffer.from(encoded ?? "", "base64")
    .toString("utf8")
    .split(":");
  return user === "" || rest.length === 0 ? undefined : `user ${user}`;
}

function claimsIn(token: string): string | undefined {
  const [head = "", body = "", ...rest] = token.split(".");
  const told = rest.length === 1 && objectIn(head) !== undefined ? objectIn(body) : undefined;
  if (told?.["sub"] === undefined && told?.["client_id"] === undefined) return undefined;
  return JSON.stringify(subjectClaims.map((claim) => told[claim] ?? null));
}

function objectIn(part: string): Fields | undefined {
  const value = parsedJson(Buffer.from(part, "base64url").toString("utf8"));
  return isObject(value) ? value : undefined;
}
