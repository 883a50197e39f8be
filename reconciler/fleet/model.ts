/** A fleet as values: what fleet.yaml says, with every default filled in. Workers get it from the database, not from the file. */

import type { Approve, SecretAddress, SecretSource, StandingConsent } from "./read/rows";

export type { Approve, SecretAddress, SecretSource, StandingConsent };

export interface FleetService {
  readonly name: string;
  readonly baseUrl: string;
  readonly dialect?: string;
  /** In place of `dialect`: a file of the repository that the fleet's own file is in. */
  readonly dialectIn?: { readonly url: string; readonly commit: string; readonly path: string };
  readonly budget?: { readonly perSecond: number; readonly burst: number };
  readonly concurrency?: number;
  readonly credential?: SecretSource;
  readonly insecureHttp: boolean;
  readonly timeScale?: number;
}

export interface Tenant {
  readonly name: string;
  readonly weight: number;
  readonly maxRunning?: number;
  /** In a fleet of several tenants: its files may name programs and addresses. */
  readonly trusted?: true;
  /**
   * What its stacks may read beside the states of its own stacks: names of stacks, with `*`, and places of states.
   * Absent: nothing.
   */
  readonly mayRead?: readonly string[];
}

/** The pull requests of a repository are planned, and told there. */
export interface PullSetting {
  /** Absent: GITHUB_TOKEN or GITLAB_TOKEN of the worker. */
  readonly token?: SecretSource;
  /** The host's API, where it is not the usual one. */
  readonly api?: string;
  /** Who may approve by a comment, by their names at the host. */
  readonly approvers: readonly string[];
}

export type Source =
  | {
      readonly kind: "git";
      readonly url: string;
      readonly ref: string;
      readonly path: string;
      readonly pulls?: PullSetting;
    }
  | { readonly kind: "folder"; readonly folder: string }
  | { readonly kind: "artifact"; readonly url: string; readonly digest: string; readonly path: string };

/** The address of a source without a user, who may be a token, also one in which an @ stands. */
export const withoutItsUser = (url: string): string => url.replace(/^([a-z]+:\/\/)[^/]*@/i, "$1");

export interface Retry {
  readonly firstMs: number;
  readonly maxMs: number;
  readonly giveUpAfter: number;
}

export interface StackSpec {
  readonly name: string;
  readonly source: Source;
  /** Absent: the stack's own file says which service. */
  readonly service?: string;
  readonly tenant: string;
  readonly approve: Approve;
  readonly consents: readonly StandingConsent[];
  /** The share of the internet that counts as the whole world, as the length of a prefix; absent: the usual one. */
  readonly opensAt?: number;
  /** So many people have to approve a plan; absent: one. */
  readonly approvers?: number;
  /** Whoever wrote one of the commits that a plan carries out may not approve it. */
  readonly notTheAuthor?: true;
  readonly intervalMs: number;
  readonly retry: Retry;
  readonly state: string;
  readonly env?: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly varFiles: readonly string[];
  readonly inputs: Readonly<Record<string, OutputReference>>;
  readonly dependsOn: readonly string[];
  readonly destroy: boolean;
  readonly paused: boolean;
}

/** A reference `${stack.NAME.outputs.OUTPUT}`. */
export interface OutputReference {
  readonly stack: string;
  readonly output: string;
}

export interface FleetWindow {
  readonly kind: "allow" | "deny";
  readonly schedule: string;
  readonly timeZone: string;
  readonly durationMs: number;
  /** It ends so many days later by the calendar, whatever hours these days have. Absent: after durationMs. */
  readonly days?: number;
  /** Names with `*`; empty: every stack. */
  readonly stacks: readonly string[];
  readonly actions: readonly WindowAction[];
}
export type WindowAction = "apply" | "look";

export type Occasion =
  | "ready"
  | "applied"
  | "failed"
  | "stalled"
  | "drifted"
  | "drift_corrected"
  | "awaiting_approval"
  | "blocked"
  /** Every receiver is told, without asking for it. */
  | "through_window";
export interface Receiver {
  readonly on: readonly Occasion[];
  readonly stacks: readonly string[];
  readonly webhook: string;
  readonly secret?: SecretSource;
}

/** A receiver that wants to hear it in words of its own. */
export type Channel = Pick<Receiver, "on" | "stacks"> & { readonly to: ChannelTarget };
export type ChannelTarget =
  | { readonly kind: "slack" | "teams"; readonly address: SecretAddress }
  | { readonly kind: "email"; readonly to: readonly string[]; readonly from: string; readonly smtp: SecretAddress }
  /** The commit in the repository of the stack; `api` is the host's, where it is not the usual one. */
  | { readonly kind: "commit_status"; readonly token: SecretSource; readonly api?: string };

/** Which people have a role: those with a value of a claim, or everybody who signs in. */
export type RoleRule = {
  readonly role: "viewer" | "approver" | "operator";
  /** Names with `*`; empty: every stack. */
  readonly stacks: readonly string[];
} & ({ readonly claim: string; readonly is: string } | { readonly claim?: undefined; readonly is?: undefined });

/** How people sign in to the pages: by OpenID Connect. */
export interface SignIn {
  readonly issuer: string;
  readonly clientId: string;
  /** Absent: a public client, which has no secret. */
  readonly clientSecret?: SecretSource;
  /** The address of the pages as people use it. */
  readonly url: string;
  readonly scopes: readonly string[];
  /** The claim whose value the history shows as the person's name. */
  readonly nameClaim: string;
  readonly roles: readonly RoleRule[];
  /** An address counts although the provider never says whether it verified it. */
  readonly acceptUnverifiedEmail?: boolean;
}

/** How long runs are kept: those that changed nothing, and all others with their decisions. */
export interface History {
  readonly quietMs: number;
  readonly changesMs: number;
}

const hourMs = 3_600_000;
export const usualHistory: History = { quietMs: 72 * hourMs, changesMs: 400 * 24 * hourMs };

/** Settings that all stacks share: one document in the database. */
export interface FleetSettings {
  readonly services: readonly FleetService[];
  readonly tenants: readonly Tenant[];
  readonly windows: readonly FleetWindow[];
  readonly receivers: readonly Receiver[];
  /** Apart from the receivers, which workers of earlier versions read as well. */
  readonly channels?: readonly Channel[];
  /** Absent: people sign in with tokens, or nobody has to. */
  readonly signIn?: SignIn;
  /** Absent: the defaults. */
  readonly history?: History;
  /** Absent: a person syncs the file. */
  readonly follow?: Follow | undefined;
  /** Absent: an earlier version wrote the settings. */
  readonly generators?: readonly Generator[];
  /** The environment variables with the tokens that stacks name for pull requests. Absent: as above. */
  readonly pullVariables?: readonly string[];
}

/** Where the fleet's own file is kept. */
export interface Follow {
  readonly url: string;
  readonly ref: string;
  /** A file, or a folder of them. */
  readonly path: string;
}

export interface Fleet extends FleetSettings {
  readonly stacks: readonly StackSpec[];
  readonly generators: readonly Generator[];
}

/** Stacks that are found by looking at folders: `stackFor` gives the stack of a folder. */
export interface Generator {
  readonly source: Source;
  /** A path with `*`, including the name of the file. */
  readonly folders: string;
  /** A name with `${folder}` and `${path}`. */
  readonly stack: string;
  readonly template: Omit<StackSpec, "name" | "source" | "state"> & { readonly state: string };
}

export const pullVariablesOf = (of: readonly { readonly source: Source }[]): readonly string[] => [
  ...new Set(
    of.flatMap(({ source }) => {
      const token = source.kind === "git" ? source.pulls?.token : undefined;
      return token !== undefined && "env" in token ? [token.env] : [];
    }),
  ),
];

export const noSettings: FleetSettings = { services: [], tenants: [], windows: [], receivers: [] };

/** Whether a name fits a pattern in which `*` stands for any text. */
export function fits(pattern: string, name: string): boolean {
  const parts = pattern.split("*");
  if (parts.length === 1) return pattern === name;
  const [first = "", last = ""] = [parts[0], parts.at(-1)];
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

/** No pattern means every stack. */
export const fitsAny = (patterns: readonly string[], name: string): boolean =>
  patterns.length === 0 || patterns.some((pattern) => fits(pattern, name));
