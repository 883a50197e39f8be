/** The sections that say which plans are carried out, and what is taken from elsewhere. */
import type { Kind } from "../../core/model/address";
import type { CheckBlock } from "./kinds";
import type {
  Address,
  Argv,
  Duration,
  Flag,
  Lines,
  Price,
  ShareOfAny,
  ShareOfSome,
  Text,
  Variables,
  Whole,
} from "./values";

/** @one id name */
export interface ImportBlock {
  /** The declared resource that takes it over. */
  to: Address;
  /** The id of the existing resource. */
  id?: Text;
  /** The name of an existing VM, instead of its id. */
  name?: Text;
}

export interface MovedBlock {
  /** The address it had: of an instance, or of a whole block. */
  from: Address;
  /** The address it has now. */
  to: Address;
}

export interface RemovedBlock {
  /** The address it had, of an instance or a whole block; no longer declared. */
  from: Address;
  /** true: delete it. false (default): forget it and leave it alive. */
  destroy?: Flag;
}

/** Another project. @inline */
export interface ReadBlock {
  /** Where its state lies: a file, https://…, s3://… or postgres://… */
  state: Text;
}

/** One of vm, volume, group, image and flavor. @inline @each By its id or its name. @one vm volume group image flavor */
export type LookupBlock = { [K in "vm" | "volume" | "group" | "image" | "flavor"]?: LookupBy };

/** @one id name */
interface LookupBy {
  /** Its id. */
  id?: Text;
  /** Its name; several of that name are an error. */
  name?: Text;
}

export interface ChecksBlock {
  /** The flavors that VMs may have, as they are written. */
  flavors?: Lines;
  /** The images that VMs may have, as they are written. */
  images?: Lines;
  /** The regions that VMs may be in. */
  regions?: Lines;
  /** By kind, a regular expression that the whole name fits. @each A regular expression. */
  names?: { [K in Kind]?: Text } | null;
  /** Fields that each resource of a kind must have. */
  lifecycle?: {
    /** What each must have. */
    vm?:
      | (KindGuard & {
          /** Each VM takes a snapshot before these. */
          snapshot_before?: ("rebuild" | "resize" | "delete")[];
        })
      | null;
    /** What each must have. */
    volume?: KindGuard | null;
    /** What each must have. */
    group?: KindGuard | null;
  } | null;
  /** How much one plan may do. */
  at_most?: {
    /** How many resources may be removed, or which share of those in the state: 2, or 10%. */
    remove?: ShareOfAny;
    /** How many VMs may be down, or which share of those in the file: 2, or 25%. */
    stop?: ShareOfAny;
    /** What a month may cost after a plan that makes it dearer. */
    monthly_cost?: Price;
    /** By how much one plan may raise the cost of a month. */
    monthly_increase?: Price;
  } | null;
  /** When plans are carried out, in UTC. */
  hours?: {
    /** Left out: every day. */
    days?: ("mon" | "tue" | "wed" | "thu" | "fri" | "sat" | "sun")[];
    /** "08:00", in quotes. */
    from: Text;
    /** "18:00"; earlier than from: over midnight. */
    to: Text;
  } | null;
}

interface KindGuard {
  /** Each must have prevent_destroy. */
  prevent_destroy?: boolean;
}

export interface PolicyBlock {
  /** The program and its arguments; it runs in the folder of this file. */
  command: Argv;
  env?: Variables;
  /** Default: 60s. */
  timeout?: Duration;
}

/** One rollout. @inline */
export interface RolloutBlock {
  /** The VMs, in their order: blocks (vm.web) or single ones (vm.web[a]). */
  of: Text | Text[];
  /** How many may be down at a time, or which share of all. Default: 1. */
  max_unavailable?: ShareOfSome;
  /** So many go first, before the others. @min 1 */
  canary?: Whole;
  /** What each has to pass before the next wave: tcp, http or command, as for a resize. */
  check?: CheckBlock;
  /** How long the check may take. Default: 2m. */
  timeout?: Duration;
  /** What becomes of a VM that fails the check: stop leaves it as it is; revert reverts a resize (never a rebuild or a replacement). @default stop */
  on_failure?: "stop" | "revert";
}

/** What things cost: a file (relative to this one), or the list itself. What has no price is named and never counted as nothing. */
export type Prices = Text | PriceList;

export interface PriceList {
  /** Such as EUR. */
  currency: Text;
  /** What an amount is for. A month has 730 hours. @default month */
  per?: "month" | "hour";
  /** By the name or id of a flavor: a VM without its disks and its floating IP. */
  vm?: Record<string, Price>;
  /** A GB of a volume, and of a VM's root disk and data volume. */
  volume_gb?: Price;
  /** A floating IP. */
  floating_ip?: Price;
  /** A GB of an image that a snapshot left behind. */
  image_gb?: Price;
}
