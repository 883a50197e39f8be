/**
 * The fields of the fleet's file, each said once: schemas/fleet.schema.json, its validator and the documents are made
 * from these types (scripts/schema-rows.mjs), and a file that fits the schema is a `FleetFile`.
 */

import type { Whole } from "../../config/rows/values";

/** @pattern ^[0-9]+(\.[0-9]+)?(ms|s|m|h)$ */
type PlainDuration = string;
/** @pattern ^[A-Za-z0-9][A-Za-z0-9_.-]*$ */
type PlainName = string;
/** @pattern ^[A-Za-z_][A-Za-z0-9_]*$ */
type Variable = string;
/** @pattern ^https?:// */
type Url = string;
/** @minLength 1 */
type SomeText = string;
/** @pattern ^[^@\s]+@[^@\s]+$ */
type Mail = string;
/** @minItems 1 */
type Mails = Mail[];
/** @pattern ^[\x21\x23-\x5B\x5D-\x7E]+$ */
type OneWord = string;
/** @pattern ^(https?|smtps?):// */
type SmtpUrl = string;

export interface Common {
  /** How often the stack is looked at; 10m when left out. */
  interval?: PlainDuration;
  retry?: Retry;
  approve?: Approve;
  consents?: Consents;
  opens_at?: OpensAt;
  approvers?: Approvers;
  not_the_author?: NotTheAuthor;
  /** Where the state is; ${stack} is the stack's name. No password: PGPASSWORD is read from the environment. */
  state?: SomeText;
  /** One of the services above. */
  service?: PlainName;
  /** One of the tenants above. */
  tenant?: PlainName;
}

export interface Environment {
  /** The environment of the file, as with --env. */
  env?: string;
  /** Variables of the file, as with --var. */
  vars?: Record<string, string | number | boolean>;
}

export interface GitBlock {
  /** The address of a Git repository, without a password. */
  git?: SomeText;
  /** A branch, a tag or a commit; main when left out. */
  ref?: string;
  /** The folder in the repository; the root when left out. */
  path?: string;
  pull_requests?: PullRequests;
}

export interface HistoryBlock {
  /** Runs that changed nothing; 72h when left out. */
  quiet?: PlainDuration;
  /** Runs that applied or failed, and what was decided; 9600h (400 days) when left out. */
  changes?: PlainDuration;
}

export interface FollowBlock {
  /** The address of a Git repository, without a password. */
  git: SomeText;
  /** A branch, a tag or a commit; main when left out. */
  ref?: string;
  /** The file in the repository, or a folder of them; fleet.yaml when left out. */
  path?: string;
}

/** Where to: webhook, slack, teams, email or commit_status; several of them are all told. @some webhook slack teams email commit_status @needs secret webhook @needs from email @needs smtp email @needs email from smtp @inline */
export interface ReceiverBlock {
  /** The address that gets one JSON object by POST. */
  webhook?: Url;
  /** Signs what a webhook gets. */
  secret?: SecretSource;
  /** The address of an incoming webhook of Slack; { env: NAME } keeps it out of the file. */
  slack?: SecretAddress;
  /** The address of a workflow of Microsoft Teams that posts what it gets; { env: NAME } keeps it out of the file. */
  teams?: SecretAddress;
  /** The addresses that get a mail; with from and smtp. It needs the package nodemailer on the workers. @one */
  email?: Mail | Mails;
  /** The sender of the mails. @pattern @ */
  from?: string;
  /** The mail server, as smtps://USER:PASSWORD@HOST; with a password, { env: NAME }. */
  smtp?: SecretAddress;
  /** The status of the commit, at GitHub or GitLab, for stacks whose files come from there. */
  commit_status?: {
    /** Of somebody who may write statuses. */
    token: SecretSource;
    /** The address of the API, where it is not the usual one of the repository's host. */
    api?: Url;
  };
}

/** @needs claim is @needs is claim */
export interface RoleBlock {
  /** A viewer sees, an approver also approves and rejects, an operator also runs, pauses and resumes. */
  role: "viewer" | "approver" | "operator";
  /** For which stacks: names with *; every stack when left out. @minItems 1 */
  stacks?: SomeText[];
  /** The claim to look at, such as groups or realm_access.roles; everybody who signs in when left out. */
  claim?: SomeText;
  /** What the claim holds, or holds among others: a text, with * for any text. */
  is?: SomeText;
}

export interface FleetFile {
  /** The version of this format. */
  version: 1;
  /** The services that stacks live in, each with one budget of requests for all workers. */
  services?: Record<PlainName, ServiceBlock>;
  /** Who shares the workers, and in which proportion. */
  tenants?: Record<PlainName, TenantBlock>;
  /** What a stack has when it does not say otherwise. */
  defaults?: Common;
  /** When plans may be applied. A deny window wins; a stack with allow windows is applied in them alone. */
  windows?: WindowBlock[];
  /** Who is told what. */
  notify?: NotifyBlock[];
  /** How long runs are kept. */
  history?: HistoryBlock;
  /** One project in one environment each. */
  stacks?: Record<PlainName, StackBlock>;
  sign_in?: SignInBlock;
  /** Where this file is kept: the workers follow it there, and what leaves waits for a person. */
  follow?: FollowBlock;
  /** A stack for every folder that fits. */
  generate?: GenerateBlock[];
}

/** How people sign in to the pages, by OpenID Connect. Left out: with tokens of reconcile fleet token. */
export interface SignInBlock {
  /** The address of the provider, from which /.well-known/openid-configuration leads on. */
  issuer: Url;
  /** What the provider calls these pages. */
  client_id: SomeText;
  client_secret?: SecretSource;
  /** Where people reach these pages. The provider has to permit URL/sign-in/done. */
  url: Url;
  /** What is asked of the provider beside openid; profile and email when left out. */
  scopes?: OneWord[];
  /** An e-mail address counts although the provider never says that it was verified: only where nobody can register one that is not theirs. */
  accept_unverified_email?: boolean;
  /** The claim by which a person is known in the history; email (or sub) when left out. */
  name?: SomeText;
  /** Who may do what. Every line that fits a person counts. @minItems 1 */
  roles: RoleBlock[];
}

/** How long a failed round waits before it is tried again; the pause doubles each time. */
export interface Retry {
  /** The first pause; 30s when left out. */
  first?: PlainDuration;
  /** The longest pause; 1h when left out. */
  max?: PlainDuration;
  /** After so many failures in a row the stack is stalled, until a push, a trigger or the longest pause; 8 when left out. @min 1 @max 1000 */
  give_up_after?: Whole;
}

/** Where a secret is: it is never written into this file. @merge */
export type SecretSource =
  | {
      /** The environment variable of the worker that holds it. */
      readonly env: Variable;
    }
  | {
      /** A program and its arguments that print it. @minItems 1 */
      readonly command: readonly string[];
    };

/** An address, or where it is: an environment variable of the workers, or a program that prints it. @one */
export type SecretAddress = SmtpUrl | SecretSource;

/** Where the files come from. @minProperties 1 */
export interface SourceBlock extends GitBlock {
  /** A folder that every worker sees; a relative one is relative to this file. */
  folder?: SomeText;
  /** The address of a tar.gz file. */
  artifact?: Url;
  /** What the artifact must hash to: sha256:HEX. @pattern ^sha256:[0-9a-f]{64}$ */
  digest?: string;
}

/** Pull requests (GitLab: merge requests) into this branch are planned. @one */
export type PullRequests = boolean | PullSettings;

export interface PullSettings {
  token?: SecretSource;
  /** The host's API, where it is not the usual one: https://HOST/api/v3 or https://HOST/api/v4. */
  api?: Url;
  /** Who may approve a plan there, by their names at the host; nobody when left out. */
  approvers?: SomeText[];
}

/** What the fleet does by itself: never (it only looks), plan (each plan is approved), safe (what loses nothing and opens nothing to the world), auto (everything that the listed consents permit). */
export type Approve = "never" | "plan" | "safe" | "auto";

export type StandingConsent = "data_loss" | "flush" | "removal" | "recreate" | "empty" | "open_world";

/** With approve: auto, what is permitted without a person. @unique */
export type Consents = StandingConsent[];

/** How many people have to approve a plan. Left out: 1. @min 1 @max 20 */
export type Approvers = Whole;

/** Whoever wrote one of the commits that a plan carries out may not approve it. It needs files from a Git repository. */
export type NotTheAuthor = boolean;

/** With approve: safe, and with auto without open_world, a plan that admits this share of the internet waits for a person: /8 is as many addresses as a /8 of IPv4, or as large a part of the routed IPv6. Left out: /3. @pattern ^/([0-9]|[12][0-9]|3[0-2])$ */
export type OpensAt = string;

/** One deployment of the service. */
export interface ServiceBlock {
  /** Its address, or embedded. */
  base_url: SomeText;
  /** The dialect: a name that comes with the package, or a file beside this one. */
  dialect?: string;
  /** How many requests all workers together may send. */
  budget?: {
    /** The rate. @min 0.01 @max 100000 */
    requests_per_second: number;
    /** So many at once after a pause; the rate of one second when left out. @min 1 @max 100000 */
    burst?: Whole;
  };
  /** How many rounds run at once against this service, in all workers. @min 1 @max 10000 */
  concurrency?: Whole;
  credential?: SecretSource;
  /** Permits plain http to another host. */
  insecure_http?: boolean;
  /** Of the embedded service: how many times faster it is. @min 0 */
  time_scale?: number;
}

/** One tenant. */
export interface TenantBlock {
  /** Its share against the others'; 1 when left out. @max 1000 @more 0 */
  weight?: number;
  /** How many of its stacks run at once, in all workers. @min 1 @max 10000 */
  max_running?: Whole;
  /** In a fleet of several tenants: its files may name programs, and addresses that get a credential. Left out: false. */
  trusted?: boolean;
  /** What its stacks may read beside the states of its own stacks: names of other tenants' stacks, with * for any text, and addresses (with ://) of other states. */
  may_read?: SomeText[];
}

/** A stretch of time that begins by a schedule. */
export interface WindowBlock {
  /** Whether plans may be applied in it. */
  kind: "allow" | "deny";
  /** When it begins: five fields as in cron (minute hour day month weekday). @minLength 9 */
  schedule: string;
  /** Whose clock the schedule means; UTC when left out. */
  time_zone?: string;
  /** How long it lasts. 1d ends at the same time of the next day, also where the clocks change. @pattern ^([0-9]+(\.[0-9]+)?(ms|s|m|h)|[1-9][0-9]{0,2}d)$ */
  duration: string;
  /** Which stacks: names, with * for any text. All when left out. @minItems 1 */
  stacks?: SomeText[];
  /** What it is about: apply (also of approved plans), look (rounds at all). apply when left out. @minItems 1 */
  actions?: ("apply" | "look")[];
}

/** One receiver. */
export interface NotifyBlock {
  /** What is told. @minItems 1 */
  on: ("ready" | "applied" | "failed" | "stalled" | "drifted" | "drift_corrected" | "awaiting_approval" | "blocked")[];
  /** Of which stacks: names, with * for any text. All when left out. @minItems 1 */
  stacks?: SomeText[];
  to: ReceiverBlock;
}

/** One stack. */
export type StackBlock = { source: SourceBlock } & Common &
  Environment & {
    /** Files of variables, relative to the source's folder. */
    var_files?: SomeText[];
    /** Variables that come from other stacks' outputs: ${stack.NAME.outputs.OUTPUT}. */
    inputs?: Record<string, string>;
    /** Stacks that must have been applied before. @unique */
    depends_on?: PlainName[];
    /** When the stack leaves this file, everything it made is to be deleted, after an approval. */
    destroy?: boolean;
    /** The stack is not looked at. */
    paused?: boolean;
  };

/** Stacks made from the folders of a repository or of this machine. */
export type GenerateBlock = GitBlock & {
  /** In place of git: a folder that every worker sees. */
  folder?: SomeText;
  /** Which files make a stack of their folder: a path with *. */
  folders: SomeText;
  /** The stack's name; ${folder} is the last part of the folder (in the root of a repository: its name), ${path} all of it with - for /. */
  stack?: string;
} & Common &
  Environment;
