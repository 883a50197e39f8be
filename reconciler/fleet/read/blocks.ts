/** The fleet's file as its schema leaves it, and what each part of the reader gets. */
import { parseAnyDuration } from "../../config/durations";
import type { Problem } from "../../config/problems";
import type { Path } from "../../config/yaml-file";
import type { Approve, FleetWindow, Receiver, RoleRule, SecretAddress, SecretSource, StandingConsent } from "../model";

/** The file as the schema leaves it. */
export interface FleetFile {
  services?: Record<string, ServiceBlock>;
  tenants?: Record<string, TenantBlock | null>;
  defaults?: Common;
  windows?: WindowBlock[];
  notify?: { on: Receiver["on"]; stacks?: string[]; to: ReceiverBlock }[];
  stacks?: Record<string, StackBlock>;
  generate?: GenerateBlock[];
  follow?: { git: string; ref?: string; path?: string };
  history?: HistoryBlock;
  sign_in?: SignInBlock;
}
/** The schema wants at least one of webhook, slack, teams, email and commit_status. */
export interface ReceiverBlock {
  webhook?: string;
  secret?: SecretSource;
  slack?: SecretAddress;
  teams?: SecretAddress;
  email?: string | string[];
  from?: string;
  smtp?: SecretAddress;
  commit_status?: { token: SecretSource; api?: string };
}
export interface SignInBlock {
  issuer: string;
  client_id: string;
  client_secret?: SecretSource;
  url: string;
  scopes?: string[];
  name?: string;
  accept_unverified_email?: boolean;
  roles: { role: RoleRule["role"]; stacks?: string[]; claim?: string; is?: string }[];
}
export interface TenantBlock {
  weight?: number;
  max_running?: number;
  trusted?: boolean;
  may_read?: string[];
}

export interface ServiceBlock {
  base_url: string;
  dialect?: string;
  budget?: { requests_per_second: number; burst?: number };
  concurrency?: number;
  credential?: SecretSource;
  insecure_http?: boolean;
  time_scale?: number;
}
export interface WindowBlock {
  kind: FleetWindow["kind"];
  schedule: string;
  time_zone?: string;
  duration: string;
  stacks?: string[];
  actions?: FleetWindow["actions"];
}
export interface HistoryBlock {
  quiet?: string;
  changes?: string;
}
export interface Common {
  interval?: string;
  retry?: { first?: string; max?: string; give_up_after?: number };
  approve?: Approve;
  consents?: StandingConsent[];
  opens_at?: string;
  approvers?: number;
  not_the_author?: boolean;
  state?: string;
  service?: string;
  tenant?: string;
}
export interface GitBlock {
  git?: string;
  ref?: string;
  path?: string;
  pull_requests?: boolean | { token?: SecretSource; api?: string; approvers?: string[] };
}
export interface SourceBlock extends GitBlock {
  folder?: string;
  artifact?: string;
  digest?: string;
}
export interface Environment {
  env?: string;
  vars?: Record<string, string | number | boolean>;
}
export interface StackBlock extends Common, Environment {
  source: SourceBlock;
  var_files?: string[];
  inputs?: Record<string, string>;
  depends_on?: string[];
  destroy?: boolean;
  paused?: boolean;
}
export interface GenerateBlock extends Common, Environment, GitBlock {
  folder?: string;
  folders: string;
  stack?: string;
}

/** What only the caller knows, so that reading stays a function of text. */
export interface FleetReading {
  /** Makes a path absolute that is relative to the file. */
  readonly resolvePath: (file: string, path: string) => string;
  /** What is wrong with a schedule; absent: nothing. */
  readonly scheduleProblem: (schedule: string, timeZone: string) => string | undefined;
}

export interface Reader {
  readonly file: string;
  readonly at: (path: Path) => Problem["at"];
  readonly problems: Problem[];
  readonly reading: FleetReading;
}

/** A duration that the schema has checked; less than a millisecond counts as one. */
export const duration = (text: string): number => parseAnyDuration(text) ?? 1;

/** Whether a URL has a password in it; a text that is no URL has none. */
export function holdsPassword(text: string): boolean {
  try {
    return new URL(text).password !== "";
  } catch {
    return false;
  }
}

export const passwordIn = (what: string, at: Problem["at"], fix: string): Problem => ({
  code: "fleet/credential-in-url",
  summary: `${what} holds a password, which would be kept in the database`,
  fix,
  at,
});
