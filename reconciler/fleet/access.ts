/** Who may do what: a role for stacks by name. Tokens and sessions are kept as hashes only. */

import { createHash, randomBytes } from "node:crypto";
import { isOneOf } from "../core/text/objects";
import { isMeant } from "./model";

export const roles = ["viewer", "approver", "operator"] as const;
export type Role = (typeof roles)[number];

export interface Visitor {
  readonly name: string;
  readonly role: Role;
  /** Names with `*`; empty: every stack. */
  readonly stacks: readonly string[];
}

export type Act = "see" | "approve" | "reject" | "run" | "pause" | "resume";

const needs: Readonly<Record<Act, Role>> = {
  see: "viewer",
  approve: "approver",
  reject: "approver",
  run: "operator",
  pause: "operator",
  resume: "operator",
};

/** An operator approves as well, and an approver sees. */
export const may = ({ role, stacks }: Visitor, act: Act, stack: string): boolean =>
  roles.indexOf(role) >= roles.indexOf(needs[act]) && isMeant(stacks, stack);

export const roleNeeded = (act: Act): Role => needs[act];

export const isRole = (text: string): text is Role => isOneOf(text, roles);

/** Of whoever sits at this machine, where nobody has to sign in. */
export const localVisitor = (name: string): Visitor => ({ name, role: "operator", stacks: [] });

export const newToken = (): string => `rfl_${randomBytes(24).toString("base64url")}`;
export const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");
