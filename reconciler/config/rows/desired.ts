/**
 * The fields of a desired state, each said once: schemas/desired-state.schema.json, its validator, docs/reference.md and
 * `explain` are made from these types (scripts/schema-rows.mjs).
 */

import type { Defaults, GroupBlock, Ssh, VmBlock, VolumeBlock } from "./kinds";
import type { Assertion } from "./reachability";
import type {
  ChecksBlock,
  ImportBlock,
  LookupBlock,
  MovedBlock,
  PolicyBlock,
  Prices,
  ReadBlock,
  RemovedBlock,
  RolloutBlock,
} from "./sections";
import type { Duration, Flag, ForEach, Key, Text } from "./values";

/** Virtual machines, volumes and security groups as they should be. Wherever a value is expected, text with ${var.name}, ${each} or ${each.value} may stand; $${ is a literal ${. */
export type DesiredFile = {
  /** The version of this format: 1. */
  version?: 1;
  /** The project of every VM that names none itself. */
  project?: Text;
  /** The region of every VM that names none itself. */
  region?: Text;
  /** Which service this is for. Environment variables and flags win. */
  service?: Service;
  /** A file, https://…, s3://… or postgres://…, without a password. --state and RECONCILE_STATE win. */
  state?: Text;
  /** How VMs are reached by SSH, for every VM that says nothing else. */
  ssh?: Ssh;
  /** A price list, or its file. --prices and RECONCILE_PRICES win. */
  prices?: Prices;
  /** The environments this file is for; --env NAME chooses one, and ${env} is its name. */
  environments?: Record<Key, OneEnvironment> | null;
  /** Variables, used as ${var.name}; set with --var name=value, --var-file, or RECONCILE_VAR_name. */
  vars?: Record<Key, OneVariable> | null;
  /** Values for every VM, volume and group that does not say otherwise. Maps are merged, lists replaced. */
  defaults?: Defaults;
  /** Parts that are used more than once, by key; their addresses are KEY/vm.web. */
  components?: Record<Key, ComponentUse> | null;
  /** Virtual machines by key; the key is the last part of the address vm.KEY. */
  vms?: Record<Key, VmBlock> | null;
  /** Volumes by key; the key is the last part of the address volume.KEY. */
  volumes?: Record<Key, VolumeBlock> | null;
  /** Security groups by key; the key is the last part of the address group.KEY. */
  groups?: Record<Key, GroupBlock> | null;
  /** Outputs of other projects, by a name of your own: ${read.NAME.OUTPUT}. */
  reads?: Record<string, ReadBlock> | null;
  /** What exists and is not managed here, by a name of your own: ${lookup.NAME.id}. */
  lookups?: Record<string, LookupBlock> | null;
  /** What the project hands out, by name: a value, or a map with value, description and sensitive. */
  outputs?: Record<string, unknown> | null;
  /** Existing resources to take over. */
  imports?: ImportBlock[] | null;
  /** Resources that got another address. */
  moved?: MovedBlock[] | null;
  /** Resources that are no longer managed here. */
  removed?: RemovedBlock[] | null;
  /** Codes of findings that refuse a plan (exit 3), like --deny: exposure/open-port, or exposure/*. */
  deny?: string[] | null;
  /** What must hold at every moment of every apply, or the plan is refused (exit 3). */
  reachability?: Assertion[] | null;
  /** Built-in checks: a plan that makes or changes what does not fit is refused (exit 3). */
  checks?: ChecksBlock | null;
  /** A program of yours that reads the plan as JSON and answers with findings. */
  policy?: PolicyBlock | null;
  /** VMs that are changed in waves, by a name of their own. */
  rollout?: Record<Key, RolloutBlock> | null;
} | null;

/** One environment. @inline */
type OneEnvironment = Environment;

/** One variable. @inline */
type OneVariable = ValueType;

/** What a value must be. */
export type ValueType = {
  /** What it is. Left out: what its default is. */
  type?: "text" | "number" | "boolean" | "list" | "map" | "cidr" | "port";
  /** What each item of the list, or each value of the map, is. */
  of?: "text" | "number" | "boolean" | "cidr" | "port";
  /** The values it may have; of a list, those that its items may have. @minItems 1 */
  one_of?: (string | number | boolean)[];
  /** The least number, the fewest items, or the fewest characters. */
  min?: number;
  /** The greatest number, the most items, or the most characters. */
  max?: number;
  /** A regular expression that the whole text must fit; of a list, each item. */
  matches?: string;
  /** Masked wherever it would be shown, and refused where it would be stored in the clear. */
  sensitive?: boolean;
  /** Its value when none is given; may use other variables. */
  default?: unknown;
  /** What it is for. */
  description?: string;
} | null;

/** Which service, how it is spoken to, and how long to wait. */
export type Service = {
  /** 'embedded', or the http(s) URL of the service. RECONCILE_BASE_URL and --base-url win. */
  base_url?: Text;
  /** A file (relative to this one) that says what this deployment has, or its content. */
  dialect?: string | Record<string, unknown>;
  /** How long to wait, and how often to look. */
  timing?: {
    /** Time between two looks at something that is being built. Default: 2s. */
    poll_interval?: Duration;
    /** How long a VM may take to be built. Default: 15m. */
    vm_create_timeout?: Duration;
    /** How long one request may take; a stop blocks for about 20 seconds. Default: 2m. */
    request_timeout?: Duration;
    /** How long a create whose answer was lost is looked for before it counts as not done. Default: 90s. */
    discovery_window?: Duration;
  } | null;
} | null;

/** What one environment says over the rest of the file. */
export type Environment = {
  /** What it is for. */
  description?: string;
  /** The project of every VM that names none itself. */
  project?: Text;
  /** The region of every VM that names none itself. */
  region?: Text;
  /** Which service it is on; goes field by field over the file's. */
  service?: Service;
  /** Where its state lies. Left out: what the file says, else reconcile.NAME.state.json beside it. */
  state?: Text;
  /** How its VMs are reached by SSH; goes field by field over the file's. */
  ssh?: Ssh;
  /** What things cost there; in place of the file's list. */
  prices?: Prices;
  /** true: every resource has prevent_destroy unless its block says otherwise, and the environment's name is typed, not yes. A map: the same, with what is permitted. */
  protect?:
    | boolean
    | {
        /** Changes that protect does not forbid here. What a block itself protects stays protected. */
        allow?: ("rebuild" | "replace" | "resize" | "grow" | "rename" | "stop")[];
      };
  /** Values of variables; --var, --var-file and RECONCILE_VAR_name win. They may use other variables. */
  vars?: Record<string, unknown> | null;
  /** A file with a map of names to values, relative to this one; vars win over it. */
  vars_file?: Text;
  /** Values for every VM, volume and group; go field by field over the file's. */
  defaults?: Defaults;
} | null;

/** A component, used here. */
export interface ComponentUse {
  /** Its file: a path relative to this one, or npm:PACKAGE/FILE of an installed package. */
  from: Text;
  /** One use for each item, as for_each of a VM. Addresses are then KEY[a]/vm.web. */
  for_each?: ForEach;
  /** false: as if it were not used. What exists is deleted, with the usual consents. */
  enabled?: Flag;
  /** Values for its parameters, by name. */
  with?: Record<string, unknown> | null;
}
