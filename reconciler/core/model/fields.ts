/**
 * The one table of the fields of each kind. Everything about a field stands in its row: its name in the file, what it
 * holds, what it is when it is left out, what a change of it leads to, where it is compared, recorded, observed and
 * sent. The types of what is desired, recorded and observed, the reader of files, the checks of states and plans, the
 * schemas and the documents are made from these rows.
 *
 * The script that writes the schemas reads it without a build, and whatever it imports with it: keep that little.
 */
import { keysOf } from "../text/objects";
import type { Kind } from "./address";
import type { Text } from "./computed";
import type { GuestCommand } from "./guest";
import { perKind } from "./kinds";
import type { FlushPolicy, Reference } from "./reference";
import type { Rule } from "./rule";

export type FieldEffect =
  /** The service changes the field in place. */
  | "in_place"
  /** The service cannot change it: a new resource takes its place. */
  | "replace"
  /** lifecycle.on_image_change decides what a change leads to. */
  | "image"
  /** The field says how this tool behaves; nothing in the service changes with it. */
  | "none";

/** What a field may hold, beside one of some words. */
interface Shapes {
  text: string;
  /** Text that may have several lines, or none. */
  remark: string;
  name: string;
  /** Whole GB. */
  size: number;
  flag: boolean;
  reference: Reference;
  flush: FlushPolicy;
  /** A command that is owed after something happened. */
  command: GuestCommand;
  rules: readonly Rule[];
}

export type FieldType = keyof Shapes | readonly string[];

/** What a field is when the file leaves it out. */
type WhenAbsent =
  /** The field is required. */
  | "missing"
  /** The value at the top of the file (`project`, `region`). */
  | "inherited"
  /** The key of the block. */
  | "key"
  /** Not asked for, which is `undefined`. */
  | "unset"
  /** The field's own reader decides. */
  | "usual"
  | { readonly value: string | number | boolean };

export interface FieldRow {
  /** The name in the file, in messages and in JSON. */
  readonly field: string;
  readonly type: FieldType;
  /** One or two sentences for the schemas and the reference. */
  readonly about: string;
  readonly absent: WhenAbsent;
  /** An example for the hint where the field is missing. */
  readonly hint?: string;
  readonly effect: FieldEffect;
  /** The verb that the plan shows for a change. */
  readonly verb: string;
  /** The consequence of a change, as people read it before they make it. */
  readonly costs: string;
  /**
   * plain: differs when the value that is observed, or else recorded, is another one.
   * own: the diff of its kind has a comparison for it.
   */
  readonly compare: "plain" | "own" | "never";
  /** Whether a record holds the field under the same key, and whether always: an import does not know every field. */
  readonly recorded: "always" | "known" | "never";
  /** The keys under which a record keeps the field, if not under its own key alone. */
  readonly recordKeys?: readonly string[];
  /** Whether the service's records may show the field: it is then observed under the same key. */
  readonly observed?: true;
  /** The field's name in the body of the create, where it is sent unchanged (a size as text). */
  readonly sentAs?: string;
}

export type Rows = Readonly<Record<string, FieldRow>>;

export const vmFields = {
  name: {
    field: "name",
    type: "name",
    about: "The name in the service: one word of a-z, 0-9 and hyphen, 3 to 50 long; upper case is lower-cased.",
    absent: "key",
    effect: "in_place",
    verb: "rename",
    costs: "renamed in place",
    compare: "own",
    recorded: "always",
    sentAs: "name",
  },
  flavor: {
    field: "flavor_id",
    type: "text",
    about: "Flavor name or flavor id.",
    absent: "missing",
    effect: "in_place",
    verb: "resize",
    costs: "resized in place: a short outage, then checked and confirmed or taken back",
    compare: "own",
    recorded: "known",
    observed: true,
    sentAs: "flavor_id",
  },
  image: {
    field: "image_id",
    type: "text",
    about: "Image id, or an image name that the image list resolves.",
    absent: "missing",
    effect: "image",
    verb: "rebuild",
    costs: "lifecycle.on_image_change decides; by default rebuilt: it wipes the root disk",
    compare: "own",
    recorded: "known",
    recordKeys: ["image", "imageId"],
    observed: true,
    sentAs: "image_id",
  },
  owner: {
    field: "owner",
    type: "text",
    about: "Username or e-mail address; the service stores the e-mail.",
    absent: "missing",
    effect: "replace",
    verb: "replace",
    costs: "replaced: new id, new address, a new root disk; its volumes are attached again",
    compare: "own",
    recorded: "known",
    observed: true,
    sentAs: "owner",
  },
  userId: {
    field: "user_id",
    type: "text",
    about: "The caller's user id, sent as id when the VM is created. Write it in quotes.",
    absent: "missing",
    effect: "replace",
    verb: "replace",
    costs: "replaced: new id, new address, a new root disk; its volumes are attached again",
    compare: "plain",
    recorded: "known",
    sentAs: "id",
  },
  project: {
    field: "project",
    type: "text",
    about: "The project to build in.",
    absent: "inherited",
    effect: "replace",
    verb: "replace",
    costs: "replaced: new id, new address, a new root disk; its volumes are attached again",
    compare: "plain",
    recorded: "known",
    sentAs: "project",
  },
  region: {
    field: "region",
    type: "text",
    about: "The region to build in.",
    absent: "inherited",
    effect: "replace",
    verb: "replace",
    costs: "replaced: new id, new address, a new root disk; its volumes are attached again",
    compare: "plain",
    recorded: "known",
    sentAs: "region",
  },
  rootSizeGb: {
    field: "root_size",
    type: "size",
    about: "Root volume size in GB. Create only.",
    absent: { value: 50 },
    effect: "replace",
    verb: "replace",
    costs: "replaced: new id, new address, a new root disk; its volumes are attached again",
    compare: "plain",
    recorded: "known",
    sentAs: "root_size",
  },
  sizeGb: {
    field: "size",
    type: "size",
    about: "Size in GB of the data volume made with the VM, at least 1.",
    absent: "missing",
    hint: "GB of the data volume, at least 1",
    effect: "in_place",
    verb: "grow",
    costs: "grows in place; never shrinks; what is attached comes off first and needs a flush",
    compare: "own",
    recorded: "known",
    sentAs: "size",
  },
  skipFloatingIp: {
    field: "skip_floating_ip",
    type: "flag",
    about: "true: no public IP, only a private address.",
    absent: { value: false },
    effect: "replace",
    verb: "replace",
    costs: "replaced: new id, new address, a new root disk; its volumes are attached again",
    compare: "plain",
    recorded: "known",
    sentAs: "skip_floating_ip",
  },
  power: {
    field: "power",
    type: ["running", "stopped"],
    about: "The power state to keep. Left out: not managed.",
    absent: "unset",
    effect: "in_place",
    verb: "power",
    costs: "started or stopped",
    compare: "own",
    recorded: "known",
  },
  flush: {
    field: "flush",
    type: "flush",
    about: "What may stand behind flush_confirmed: true when the VM's own data volume must be detached.",
    absent: "unset",
    effect: "none",
    verb: "",
    costs: "nothing in the service",
    compare: "never",
    recorded: "never",
  },
  afterReady: {
    field: "after_ready",
    type: "command",
    about: "A command that is owed after the VM was made, replaced or rebuilt, until it ended with 0.",
    absent: "unset",
    effect: "none",
    verb: "",
    costs: "nothing in the service",
    compare: "never",
    recorded: "known",
  },
  afterAttach: {
    field: "after_attach",
    type: "command",
    about: "A command that is owed after the VM's own data volume was attached or grew, until it ended with 0.",
    absent: "unset",
    effect: "none",
    verb: "",
    costs: "nothing in the service",
    compare: "never",
    recorded: "known",
  },
} as const satisfies Rows;

export const volumeFields = {
  name: {
    field: "name",
    type: "text",
    about: "The volume's name in the service.",
    absent: "key",
    effect: "replace",
    verb: "replace",
    costs: "replaced by an empty volume: its data is lost",
    compare: "own",
    recorded: "known",
    sentAs: "name",
  },
  sizeGb: {
    field: "size",
    type: "size",
    about: "Size in GB. Grows in place; shrinking is refused.",
    absent: "missing",
    hint: "in GB",
    effect: "in_place",
    verb: "grow",
    costs: "grows in place; never shrinks; what is attached comes off first and needs a flush",
    compare: "own",
    recorded: "known",
    sentAs: "size",
  },
  attachTo: {
    field: "attach_to",
    type: "reference",
    about: "The VM it is attached to: its key, key[each], its address, or {id: …} for one that is not managed here.",
    absent: "unset",
    effect: "in_place",
    verb: "attach",
    costs: "attached, moved or detached; coming off a running VM needs a flush",
    compare: "own",
    recorded: "never",
    recordKeys: ["attachedTo"],
  },
  flush: {
    field: "flush",
    type: "flush",
    about: "What may stand behind flush_confirmed: true when this volume must be detached.",
    absent: "usual",
    effect: "none",
    verb: "",
    costs: "nothing in the service",
    compare: "never",
    recorded: "always",
  },
  afterAttach: {
    field: "after_attach",
    type: "command",
    about: "A command that is owed after the volume was attached, moved or grew, until it ended with 0.",
    absent: "unset",
    effect: "none",
    verb: "",
    costs: "nothing in the service",
    compare: "never",
    recorded: "known",
  },
} as const satisfies Rows;

export const groupFields = {
  name: {
    field: "name",
    type: "name",
    about: "The name in the service: one word of a-z, 0-9 and hyphen, 3 to 50 long; upper case is lower-cased.",
    absent: "key",
    effect: "in_place",
    verb: "rename",
    costs: "renamed in place",
    compare: "own",
    recorded: "known",
  },
  description: {
    field: "description",
    type: "remark",
    about: "Free text.",
    absent: "unset",
    effect: "in_place",
    verb: "update",
    costs: "updated in place",
    compare: "own",
    recorded: "known",
  },
  rulesMode: {
    field: "rules_mode",
    type: ["authoritative", "additive"],
    about: "authoritative: rules that are not declared are removed. additive: they are left alone.",
    absent: { value: "authoritative" },
    effect: "none",
    verb: "",
    costs: "nothing in the service",
    compare: "never",
    recorded: "never",
  },
  rules: {
    field: "rules",
    type: "rules",
    about: "The group's rules, in any order.",
    absent: "usual",
    effect: "in_place",
    verb: "update",
    costs: "rules are added in place; removing one needs group.rule.delete, or replaces the group without a gap",
    compare: "own",
    recorded: "always",
  },
} as const satisfies Rows;

export const fieldsOf = { vm: vmFields, volume: volumeFields, group: groupFields } satisfies Record<Kind, Rows>;

/** In a file, a remark may hold what only the service knows; what is recorded and observed is text. */
interface DesiredShapes extends Omit<Shapes, "remark"> {
  remark: Text;
}

type ValueOf<T extends FieldType, S extends Shapes | DesiredShapes = Shapes> = T extends keyof S
  ? S[T]
  : T extends readonly string[]
    ? T[number]
    : never;

export type KeysWith<F extends Rows, M> = { [K in keyof F]: F[K] extends M ? K : never }[keyof F] & string;

/** Shows in an editor, and in what the compiler says, as one plain object. */
type Simplify<T> = { [K in keyof T]: T[K] } & {};

/** What a file asks for. */
export type DesiredFields<F extends Rows> = Simplify<
  { readonly [K in keyof F as F[K]["absent"] extends "unset" ? never : K]: ValueOf<F[K]["type"], DesiredShapes> } & {
    readonly [K in KeysWith<F, { absent: "unset" }>]?: ValueOf<F[K]["type"], DesiredShapes>;
  }
>;

/** What a record knows of a resource, under the same keys. */
export type RecordedFields<F extends Rows> = Simplify<
  { readonly [K in KeysWith<F, { recorded: "always" }>]: ValueOf<F[K]["type"]> } & {
    readonly [K in KeysWith<F, { recorded: "known" }>]?: ValueOf<F[K]["type"]>;
  }
>;

/** What the service's records may show of a resource. */
export type ObservedFields<F extends Rows> = {
  readonly [K in KeysWith<F, { observed: true }>]?: ValueOf<F[K]["type"]>;
};

/** What the create sends unchanged. The service has its own default for a field that may be left out. */
export type SentFields<F extends Rows> = Simplify<
  {
    readonly [K in KeysWith<F, { sentAs: string; absent: "missing" | "inherited" | "key" }>]: ValueOf<F[K]["type"]>;
  } & {
    readonly [K in KeysWith<F, { sentAs: string; absent: "unset" | object }>]?: ValueOf<F[K]["type"]>;
  }
>;

const fits = (row: FieldRow, match: Partial<FieldRow>): boolean =>
  keysOf(match).every((part) => row[part] === match[part]);

/** The keys of the rows that fit a condition, in the order of the table. */
export const keysWith = <const F extends Rows, const M extends Partial<FieldRow>>(
  rows: F,
  match: M,
): readonly KeysWith<F, M>[] =>
  Object.entries(rows)
    .filter(([, row]) => fits(row, match))
    // The filter is the type's condition.
    .map(([key]) => key as KeysWith<F, M>);

/** The keys of the rows that say something of the service. */
type KeysOfService<F extends Rows> = { [K in keyof F]: F[K] extends { effect: "none" } ? never : K }[keyof F] & string;

/** The fields of a VM that say something of the service, in the order of the table. */
export const vmServiceFields = keysOf(vmFields).filter(
  (key): key is KeysOfService<typeof vmFields> => vmFields[key].effect !== "none",
);

/** The fields of a VM that its record in the service shows, as they are. */
export const observedVmFields = keysWith(vmFields, { observed: true });

/** Whether names of this kind are one word in lower case; others are any text. */
export const hasPlainNames = perKind((kind) => fieldsOf[kind].name.type === "name");

const namesIgnorable = (rows: Rows): string[] =>
  Object.values(rows)
    .filter(({ effect }) => effect !== "none")
    .map(({ field }) => field);

/** What lifecycle.ignore_changes may name: every field that says something of the service. */
export const ignorable = perKind((kind): readonly string[] => namesIgnorable(fieldsOf[kind]));
