/**
 * The world the user asked for, after interpolation, defaults, for_each and canonical form. Every value here is
 * already what will be compared and sent; `undefined` means "not asked for" and nothing else.
 */
import { invariant } from "../text/invariant";
import { type Address, namesOf } from "./address";
import type { Assertion, RulePlace } from "./assertion";
import type { Text } from "./computed";
import type { SourcePosition } from "./diagnostic";
import type { External } from "./external";
import type { DesiredFields, groupFields, SentFields, vmFields, volumeFields } from "./fields";
import type { Duty } from "./guest";
import type { Kind } from "./kinds";
import type { DesiredOutput } from "./output";
import type { Amount, Checks, Policy } from "./policy";
import type { Prices } from "./prices";
import type { Command } from "./reference";

export type { GuestCommand } from "./guest";
export type { Command, FlushCommand, FlushPolicy, Reference } from "./reference";

export type SnapshotReason = "rebuild" | "resize" | "delete";

export type HealthCheck<T extends Text = Text> =
  | { readonly kind: "tcp"; readonly port: number }
  | { readonly kind: "http"; readonly url: T }
  | ({ readonly kind: "command" } & Command<T>);

export interface VerifyResize {
  readonly confirm: "auto" | "manual";
  readonly check?: HealthCheck;
  readonly timeoutMs: number;
  readonly onFailure: "revert" | "leave";
}

export interface VmLifecycle {
  readonly preventDestroy: boolean;
  readonly ignoreChanges: readonly string[];
  readonly onImageChange: "rebuild" | "replace" | "ignore";
  readonly snapshotBefore: readonly SnapshotReason[];
  readonly deleteFloatingIp?: boolean;
  readonly preservedVolumes: "retain" | "delete";
  readonly verifyResize: VerifyResize;
}

/**
 * Changes that the protection of an environment may permit. Those that prevent_destroy never forbids may be listed, too:
 * a file says what is usual there.
 */
export const permittedByProtect = ["rebuild", "replace", "resize", "grow", "rename", "stop"] as const;

/** `protect:` of the chosen environment. */
export interface Protection {
  readonly allow: readonly (typeof permittedByProtect)[number][];
  readonly source: SourcePosition;
}

interface OfBlock {
  /** Where the block, or a default, says `prevent_destroy`. Absent: the environment protects it, or nothing does. */
  readonly protectedAt?: SourcePosition;
  /**
   * Nobody wrote the name: it is the key, or one that lifecycle.ignore_changes leaves alone. A new one gets it; of one
   * that exists already and does not show its name it is a label, and is never sent.
   */
  readonly nameUnsaid?: true;
}

/**
 * The fields whose value does not stand in the block, each with the place where it does: in the defaults, or where the
 * variable got its value that the field names (`by`). Absent: none.
 */
export type Inherited = Readonly<Record<string, SourcePosition & { readonly by?: string }>>;

/** The files that name commands of a resource, by the field: paths in a command are relative to its file. */
export type CommandFiles = Readonly<Partial<Record<"flush" | Duty, string>>>;

/** What every resource of a file has. */
interface DesiredAny extends OfBlock {
  readonly address: Address;
  readonly source: SourcePosition;
  readonly inherited?: Inherited;
}

/** Flavor, image and owner as they are written: names or ids, a username or an e-mail. */
export interface DesiredVm extends DesiredFields<typeof vmFields>, DesiredAny {
  readonly kind: "vm";
  readonly lifecycle: VmLifecycle;
  /** The file of the check's command: paths in it are relative to that file. */
  readonly commandFile?: string;
  /** The files of its other commands, each by its field. */
  readonly commandFiles?: CommandFiles;
}

/** What the file says, unless it leaves the power to others. */
export const powerDeclared = ({ power, lifecycle }: DesiredVm): DesiredVm["power"] =>
  lifecycle.ignoreChanges.includes("power") ? undefined : power;

/** The fields that the file leaves to others: an image of which no change is followed is one of them. */
export const leftToOthers = ({ lifecycle }: DesiredResource): readonly string[] =>
  "onImageChange" in lifecycle && lifecycle.onImageChange === "ignore"
    ? [...lifecycle.ignoreChanges, "image_id"]
    : lifecycle.ignoreChanges;

/** What the create of a VM sends: flavor and image as the service takes them. */
export type NewVm = SentFields<typeof vmFields>;

export interface DesiredVolume extends DesiredFields<typeof volumeFields>, DesiredAny {
  readonly kind: "volume";
  /** The place of the flush command, which may be a file of defaults. */
  readonly commandFile?: string;
  readonly commandFiles?: CommandFiles;
  readonly lifecycle: { readonly preventDestroy: boolean; readonly ignoreChanges: readonly string[] };
}

/** The rules are sorted by their canonical key; no two rules have the same key. */
export interface DesiredGroup extends DesiredFields<typeof groupFields>, DesiredAny {
  readonly kind: "group";
  readonly lifecycle: {
    readonly preventDestroy: boolean;
    readonly ignoreChanges: readonly string[];
    readonly onRuleRemoval: "replace" | "keep";
  };
  /** Where each rule is written, by its place among `rules`. Only in a file with assertions, whose findings name it. */
  readonly rulePlaces?: readonly RulePlace[];
}

export interface DesiredByKind {
  readonly vm: DesiredVm;
  readonly volume: DesiredVolume;
  readonly group: DesiredGroup;
}

export type DesiredResource = DesiredByKind[Kind];

/** Take an existing resource over: by id, or a VM by its name. */
export interface ImportRequest {
  readonly to: Address;
  readonly id?: string;
  readonly name?: string;
  /** It was managed at the address before. Where the service has it no more, it is made anew. */
  readonly again?: true;
  readonly source?: SourcePosition;
}

export interface MovedRequest {
  readonly from: Address;
  readonly to: Address;
  readonly source?: SourcePosition;
}

export interface RemovedRequest {
  readonly from: Address;
  /** false: forget it and leave it alive. true: delete it, as leaving the block out would. */
  readonly destroy: boolean;
  readonly source?: SourcePosition;
}

/** Of the removals, by what they are from, the one that means an address that is not declared any more. */
export function removalFor<T>(address: Address, removals: ReadonlyMap<string, T>): T | undefined {
  const name = namesOf(address).find((one) => removals.has(one));
  return name === undefined ? undefined : removals.get(name);
}

export interface Timing {
  readonly pollIntervalMs: number;
  readonly vmCreateTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly discoveryWindowMs: number;
}

export interface ServiceSettings {
  readonly baseUrl?: string;
  /** A path as written (relative to the file that names it) or the dialect itself, unchecked. */
  readonly dialect?:
    | { readonly path: string; readonly source: SourcePosition }
    | { readonly inline: unknown; readonly source: SourcePosition };
  /** Only what the file says: the engine has the defaults. */
  readonly timing: Partial<Timing>;
}

/** VMs that are changed in waves, so that the rest of them serves meanwhile. */
export interface Rollout {
  readonly name: string;
  /** In their order. */
  readonly members: readonly Address[];
  /** How many may be down at a time, of all members. */
  readonly maxUnavailable: Amount;
  /** How many VMs go first, before the others. */
  readonly canary?: number;
  /** The check that each VM has to pass before the next wave begins. */
  readonly check?: HealthCheck;
  readonly timeoutMs: number;
  /** A resize that fails the check is reverted. Absent: it stays as it is. */
  readonly reverts?: true;
  readonly source: SourcePosition;
}

/** A code of findings, or a room of codes (`exposure/*`), that a plan is not carried out with. */
export interface Denial {
  readonly code: string;
  /** The place in the file. Left out: a flag denies it. */
  readonly source?: SourcePosition;
}

export interface Desired {
  readonly project?: string;
  readonly region?: string;
  /** The chosen environment. Absent: the files declare none. */
  readonly environment?: string;
  /** The environment's name is typed before anything is applied. */
  readonly isProtected?: true;
  /** What protects the environment. Absent: nothing does, or a plan of an older version was saved. */
  readonly protection?: Protection;
  /** Where the state lies, as the files say; a path is relative to the file. */
  readonly state?: { readonly location: string; readonly source: SourcePosition };
  readonly service: ServiceSettings;
  /** Sorted by address. */
  readonly resources: readonly DesiredResource[];
  readonly imports: readonly ImportRequest[];
  readonly moved: readonly MovedRequest[];
  readonly removed: readonly RemovedRequest[];
  /** What the file reads from elsewhere. Absent: nothing. */
  readonly external?: External;
  /** The outputs of the project. Absent: it declares none. */
  readonly outputs?: readonly DesiredOutput[];
  /** Codes of findings that keep a plan from being carried out. Absent: the file says nothing of it. */
  readonly deny?: readonly Denial[];
  /** Assertions about the traffic that groups admit. Absent: the file has none. */
  readonly reachability?: readonly Assertion[];
  /** What things cost. Absent: no list was given. */
  readonly prices?: Prices;
  readonly checks?: Checks;
  readonly policy?: Policy;
  /** VMs that are changed in waves. */
  readonly rollouts?: readonly Rollout[];
  /** Blocks of the file that are not meant: what protects them counts all the same. Absent: none. */
  readonly leftOut?: Pick<Desired, "resources" | "moved">;
  /** The files it was read from, as given. */
  readonly files: readonly string[];
}

/**
 * The mark of a desired state that nothing is missing from. It is a private member, which a spread leaves out: what is
 * made of a closed state by hand is no closed state.
 */
declare class NothingMissing {
  private readonly nothingIsMissing: true;
}

/**
 * A desired state whose `reads` and `lookups` were carried out, or that has none. Only such a state can be planned: a
 * value that was not read looks like one that was not written, and a rule without its remote admits everybody. Values
 * of things that are declared here and known after they are made are not missing: they are written down as `Computed`.
 */
export type Closed<T extends Desired = Desired> = T & NothingMissing;

/** Whether the files name values elsewhere that nobody has read. */
export const isOpen = ({ external }: Pick<Desired, "external">): boolean =>
  external !== undefined && external.values === undefined;

/** For those who read files, and for those who fetch what the files name. */
export function asClosed(desired: Desired): Closed {
  invariant(!isOpen(desired), "a desired state was to be planned although its reads and lookups were not carried out");
  // The mark has no value of its own: it stands for the check above.
  return desired as Closed;
}

/** A closed state with other parts, made of records or of other closed states. */
export const closedWith = (desired: Closed, parts: Partial<Omit<Desired, "external">>): Closed =>
  asClosed({ ...desired, ...parts });

export const nothingDesired: Closed = asClosed({
  service: { timing: {} },
  resources: [],
  imports: [],
  moved: [],
  removed: [],
  files: [],
});
