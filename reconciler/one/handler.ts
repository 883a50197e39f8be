/**
 * One resource at a time, over plain values: what a program that manages single resources (a Pulumi provider) needs
 * of the engine. A handler checks, compares, creates, reads, updates and deletes one resource of its kind; it knows
 * nothing of who calls it. Everything it decides is decided by the same functions as `reconcile apply`.
 */
import type { Diagnostic } from "../core/model/diagnostic";
import type { Poller } from "../engine/poller";
import type { Ports } from "../engine/ports";
import { Refused } from "../refused";
import type { OpenCreateNotes } from "./open-creates";
import type { SharedLooks } from "./shared-looks";
import { inProgramWords } from "./words";

/** Properties as a program writes them: the service's field names in camelCase, JSON values only. */
export type Props = Readonly<Record<string, unknown>>;

export type PropertyType = "string" | "integer" | "boolean" | "array" | "object";

/** What one property means; schemas, typed arguments, previews and documents are made from it. */
export interface Property {
  readonly type: PropertyType;
  readonly description: string;
  readonly required?: true;
  /** Required to make one, and told by no service: what exists already may go without it. */
  readonly onlyToCreate?: true;
  /** A change makes a new resource. */
  readonly replaces?: true;
  /** Says how changes are carried out; nothing in the service. */
  readonly behaviour?: true;
  readonly values?: readonly string[];
  readonly items?: Property;
  readonly properties?: Readonly<Record<string, Property>>;
  /** A map whose values are all of one kind. */
  readonly mapOf?: Property;
  readonly default?: string | number | boolean;
}

export interface CheckFailure {
  readonly property: string;
  readonly reason: string;
}

export interface Checked {
  /** In the form that is compared and stored. */
  readonly inputs: Props;
  readonly failures: readonly CheckFailure[];
  readonly warnings: readonly string[];
}

export interface PropertyChange {
  readonly property: string;
  readonly replaces: boolean;
}

export interface Difference {
  readonly changes: readonly PropertyChange[];
  readonly replaces: readonly string[];
  /** Also where the program alone wants it replaced. */
  readonly deleteBeforeReplace: boolean;
  /** What is lost, and what will be in the way. */
  readonly warnings: readonly string[];
}

/** What is kept of a resource: its inputs, what the service added, and the engine's own record under `recorded`. */
export interface Kept {
  readonly id: string;
  readonly outputs: Props;
}

export interface Found extends Kept {
  readonly inputs: Props;
}

export interface HandlerContext {
  /** Opened when first needed: a check or a diff that asks nothing sends nothing. */
  readonly service: () => Promise<HandlerService>;
  readonly signal: AbortSignal;
  readonly log: (severity: "info" | "warning", message: string) => void;
  /** What earlier processes wrote down about creates of this resource. */
  readonly notes?: OpenCreateNotes;
}

/** The ports of the engine, but for the stream of events, which belongs to each call. */
export interface HandlerService extends Omit<Ports, "emit"> {
  /** The program says that this is the service, project and credential that its state is of. */
  readonly acceptService?: boolean;
  /** The same client with answers that others asked for a moment ago. */
  readonly looks?: SharedLooks;
  /** One poll for all who wait. */
  readonly poller?: Poller;
}

export interface Handler {
  readonly type: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, Property>>;
  /** Known after the create. */
  readonly outputs: Readonly<Record<string, Property>>;
  /** Never changes while the resource lives. */
  readonly stables: readonly string[];
  /** `exists`: it is there already, made by the program or imported. */
  check(inputs: Props, exists?: boolean): Checked;
  diff(context: HandlerContext, id: string, before: Props, inputs: Props): Promise<Difference>;
  /**
   * Fails as the create would fail, and ends with what it would warn of. `former`: one of this resource is there as long
   * as the new one is not made, and bears its name; what is lost with it was told already, or not.
   */
  preview(context: HandlerContext, inputs: Props, former?: "there" | "told"): Promise<readonly string[]>;
  create(context: HandlerContext, inputs: Props): Promise<Kept>;
  /** `undefined`: gone. Without `before` it is looked up by the id alone. An open create may come back with its id. */
  read(context: HandlerContext, id: string, before?: Props): Promise<Found | undefined>;
  update(context: HandlerContext, id: string, before: Props, inputs: Props): Promise<Kept>;
  delete(context: HandlerContext, id: string, before: Props): Promise<void>;
}

/** What a value that is not known yet looks like; it may stand anywhere in the inputs of check and diff. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const isUnknown = (value: unknown): boolean => value === unknownValue;

export function holdsUnknown(value: unknown): boolean {
  if (isUnknown(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsUnknown);
}

/** The user's problem, in words that say what to do. */
export class HandlerFailure extends Refused {
  override readonly name: string = "HandlerFailure";
  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics, sentence);
  }
}

/** The resource exists, or may exist, and is not as asked for: keep it, and go on from here the next time. */
export class PartialFailure extends HandlerFailure {
  override readonly name = "PartialFailure";
  constructor(
    readonly kept: Kept,
    diagnostics: readonly Diagnostic[],
  ) {
    super(diagnostics);
  }
}

const ofOpenCreate =
  'pulumi refresh looks for it; if it exists and is not found, set adopt: "<its id>"; if it does not exist, forget it with pulumi state delete, and the next update makes it';

/** The ways out that a command line has, said for a program. */
const fixes: Readonly<Record<string, string>> = {
  "plan/name-taken": 'adopt: "<its id>" takes it over; or choose another name',
  "plan/name-ambiguous": 'adopt: "<id>" says which one it is',
  "plan/gone": "if it still exists, check the credential's project and rights",
  "consent/flush":
    "set flushConfirmed: true once it is unmounted or synced, or a flush of via: command or via: stop, and update once before the change that detaches",
  "apply/id-unknown": 'find its id in the service\'s console and set adopt: "<id>"',
  "apply/outcome-unknown": ofOpenCreate,
  "plan/outcome-unknown": ofOpenCreate,
  "apply/not-listed": "run the update again: it looks for it first",
};

export function sentence(diagnostic: Diagnostic): string {
  const fix = fixes[diagnostic.code] ?? diagnostic.fix;
  return inProgramWords(
    [
      diagnostic.summary,
      ...(diagnostic.detail === undefined ? [] : [diagnostic.detail]),
      ...(fix === undefined ? [] : [fix]),
    ].join(" — "),
  );
}
