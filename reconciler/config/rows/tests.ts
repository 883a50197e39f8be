/**
 * The fields of a file of tests, each said once: schemas/tests.schema.json and its validator are made from these types
 * (scripts/schema-rows.mjs).
 */

import type { Json } from "../../core/model/output";

/** What `reconcile test` runs: what is given is applied to an embedded service, what is wanted is planned, held against what is expected, and applied too. */
export interface TestsFile {
  /** The tests, in the order in which they are told. */
  tests: TestBlock[];
}

/** @def */
export interface TestBlock {
  /** What the test shows, in a sentence. @minLength 1 */
  name: string;
  /** What is there already: it is applied first. Default: nothing. */
  given?: SideBlock;
  /** What is planned. Default: reconcile.yaml. */
  when?: SideBlock;
  /** Variables for what is given and what is wanted. */
  vars?: Vars;
  /** The environment of both. */
  env?: Env;
  reads?: Reads;
  lookups?: Lookups;
  /** Plan what `reconcile destroy` would do. */
  destroy?: boolean | null;
  /** Addresses that are made anew, as with --replace. */
  replace?: TextOrNothing | string[];
  expect?: ExpectBlock;
}

/** @def */
export type SideBlock = FileOrNothing | Files | SideMap;

/** A file beside the test, or `nothing`. @inline */
type FileOrNothing = string | null;
type TextOrNothing = string | null;

export interface SideMap {
  /** Files beside the test, which are one desired state together. Default: reconcile.yaml, or none with inline. */
  files?: string | Files;
  /** A desired state, written out. */
  inline?: Record<string, unknown>;
  /** What goes over the first of the files, key by key; null takes a key away. */
  set?: Record<string, unknown>;
  vars?: Vars;
  env?: Env;
  reads?: Reads;
  lookups?: Lookups;
}

/** Files beside the test, which are one desired state together. @minItems 1 */
export type Files = string[];

/** Values of variables by name, as --var gives them. */
export type Vars = Record<string, unknown> | null;

/** The environment, as --env gives it. */
export type Env = string;

/** What is expected of the plan. What is left out may be anything. */
export type ExpectBlock = {
  /** Exactly what is done, by address. */
  changes?: Record<string, "create" | "update" | "replace" | "delete" | "import" | "forget"> | null;
  /** Exactly the steps, in their order: the operation and the address, as `volume.detach volume.data`. */
  steps?: null | Step | Step[];
  /** Exactly the consents that the plan needs: the kind, or the kind and the address. */
  consents?: null | Consent | Consent[];
  /** Exactly the codes of errors and warnings, as `reachability/violated`. */
  findings?: null | Code | Code[];
  /** Exactly the resources whose commands would be owed, by address. */
  owed?: null | string | string[];
  /** Outputs after the apply, by name; those that are not named may be anything. */
  outputs?: Record<string, Json>;
  /** The worst verdict on the assertions of the file. */
  reachability?: "holds" | "unproven" | "violated";
  /** Of the plan: 0 (the default), 1 with errors, 3 when it is refused. */
  exit_code?: 0 | 1 | 3;
  /** Applied, everything is done and a second plan changes nothing (the default), or not. */
  converges?: boolean;
} | null;

/** @def @pattern ^[a-z.]+ +[^ ]+$ */
export type Step = string;

/** @def @pattern ^(?:data_loss|flush|prevent_destroy|empty|removal|recreate)(?: +[^ ]+)?$ */
export type Consent = string;

/** @def */
export type Code = string;

/** What the projects that are read hand out: by the name of the read, outputs by name. */
export type Reads = Record<string, Record<string, Json>> | null;

/** What lookups find: by the name of the lookup, attributes by name. What is left out is made up. */
export type Lookups = Record<string, Record<string, Json>> | null;
