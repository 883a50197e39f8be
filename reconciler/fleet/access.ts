/** Who may do what: roles for stacks by name. Tokens and sessions are kept as hashes only. */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { isOneOf } from "../core/text/objects";
import { fits, fitsAny, type RoleRule } from "./model";

export const roles = ["viewer", "approver", "operator"] as const;
export type Role = (typeof roles)[number];

export interface Grant {
  readonly role: Role;
  /** Names of stacks with `*`; empty: every stack. */
  readonly stacks: readonly string[];
}

export interface Visitor {
  readonly name: string;
  readonly grants: readonly Grant[];
}

export type Act = "see" | "approve" | "reject" | "run" | "pause" | "resume" | "stop" | "undo";

const needs: Readonly<Record<Act, Role>> = {
  see: "viewer",
  approve: "approver",
  reject: "approver",
  run: "operator",
  pause: "operator",
  resume: "operator",
  stop: "operator",
  undo: "operator",
};

const reaches = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/** Whether a visitor may do something to a stack. An operator may approve as well, and an approver may see. */
export const may = ({ grants }: Visitor, act: Act, stack: string): boolean =>
  grants.some(({ role, stacks }) => reaches(role, needs[act]) && fitsAny(stacks, stack));

/** Whether a visitor may see what belongs to no stack, or to all. */
export const maySeeAll = ({ grants }: Visitor): boolean =>
  grants.some(({ stacks }) => stacks.length === 0 || stacks.includes("*"));

export const roleNeeded = (act: Act): Role => needs[act];

/** The most powerful role of a visitor, for a person to read. */
export const roleOf = ({ grants }: Visitor): Role =>
  grants.reduce<Role>((most, { role }) => (reaches(role, most) ? role : most), "viewer");

export const isRole = (text: string): text is Role => isOneOf(text, roles);

/** The visitor of this machine, where nobody has to sign in. */
export const localVisitor = (name: string): Visitor => ({ name, grants: [{ role: "operator", stacks: [] }] });

export type Claims = Readonly<Record<string, unknown>>;

/** The grants that the fleet's file gives for the claims of a person. None: the person may not come in. */
export const grantsOf = (claims: Claims, rules: readonly RoleRule[]): readonly Grant[] =>
  rules.flatMap(({ role, stacks, claim, is }) =>
    claim === undefined || claimValues(claims, claim).some((value) => fits(is, value)) ? [{ role, stacks }] : [],
  );

/**
 * The values of a claim, which may be a text, a list of texts, or lie deeper: `realm_access.roles`. A claim with the
 * whole path as its name comes first.
 */
function claimValues(claims: Claims, path: string): readonly string[] {
  const found = Object.hasOwn(claims, path) ? claims[path] : path.split(".").reduce<unknown>(claimUnder, claims);
  return (Array.isArray(found) ? found : [found]).flatMap((value: unknown) =>
    typeof value === "string" ? [value] : [],
  );
}

const claimUnder = (value: unknown, key: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;

/** The name under which the history shows a person. */
export const nameInHistory = (claims: Claims, claim: string): string | undefined =>
  [...claimValues(claims, claim), ...claimValues(claims, "email"), ...claimValues(claims, "sub")].find(
    (name) => name !== "",
  );

export const newToken = (): string => `rfl_${randomBytes(24).toString("base64url")}`;
export const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** In the same time for each pair, so that nobody learns a secret by how long an answer takes. */
export const isSameSecret = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(hashOf(a)), Buffer.from(hashOf(b)));
