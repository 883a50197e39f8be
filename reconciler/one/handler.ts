/**
 * One resource at a time, over plain values: what a program that manages single resources (a Pulumi provider) needs of
 * the engine. A handler checks, compares, creates, reads, updates and deletes one resource of its kind, and knows
 * nothing of its caller. Every decision is made by the functions that `reconcile apply` uses.
 */

import { type Diagnostic, errorsAmong } from "../core/model/diagnostic";
import { adviceInProgram } from "../core/model/fix";
import { plainValuesIn } from "../core/text/objects";
import type { Poller } from "../engine/poller";
import type { Ports } from "../engine/ports";
import { Refused, sentenceOf } from "../refused";
import type { ProgramNotes } from "./program-notes";
import type { SharedLooks } from "./shared-looks";
import { inProgramWords } from "./words";

/** Properties as a program writes them: the service's field names in camelCase, JSON values only. */
export type Props = Readonly<Record<string, unknown>>;

export type PropertyType = "string" | "integer" | "boolean" | "array" | "object";

/** The meaning of one property. Schemas, typed arguments, previews and documents are made from it. */
export interface Property {
  readonly type: PropertyType;
  readonly description: string;
  readonly required?: true;
  /** A create needs the property, and no service shows it: an existing resource may go without it. */
  readonly onlyToCreate?: true;
  /** A change of the property makes a new resource. */
  readonly replaces?: true;
  /** The property says how changes are carried out; the service does not know the property. */
  readonly behaviour?: true;
  readonly values?: readonly string[];
  readonly items?: Property;
  readonly properties?: Readonly<Record<string, Property>>;
  /** The value is a map whose values are all described by this property. */
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
  /** Holds also where only the program's user wants the replacement. */
  readonly deleteBeforeReplace: boolean;
  /** What the change loses, and what will stand in its way. */
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
  /** Opens the service at its first use: a check or a diff that asks nothing sends nothing. */
  readonly service: () => Promise<HandlerService>;
  readonly signal: AbortSignal;
  readonly log: (severity: "info" | "warning", message: string) => void;
  /** Whether the program's state has this resource, as far as the engine has said. */
  readonly isInState?: boolean;
  /** What other processes of the program wrote down about this resource and about things that it may name. */
  readonly notes?: ProgramNotes;
}

/** The ports of the engine without the stream of events, which belongs to each call. */
export interface HandlerService extends Omit<Ports, "emit"> {
  /** The program says that its state is of this service, project and credential. */
  readonly acceptService?: boolean;
  /** The same client, with answers that other resources asked for a moment ago. */
  readonly looks?: SharedLooks;
  /** One poll for everything that waits for VMs. */
  readonly poller?: Poller;
}

/**
 * The older version of a resource that is replaced. `told`: a difference has told the user what is lost with it.
 * `unasked`: it was made by another provider, maybe in another service, and this one was asked for no difference.
 */
export type Former = "unasked" | "there" | "told";

export interface Handler {
  readonly type: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, Property>>;
  /** Properties that are known after the create. */
  readonly outputs: Readonly<Record<string, Property>>;
  /** Properties that never change while the resource lives. */
  readonly stables: readonly string[];
  /** `exists`: the resource is there already, made by the program or imported. */
  check(inputs: Props, exists?: boolean): Checked;
  diff(context: HandlerContext, id: string, before: Props, inputs: Props): Promise<Difference>;
  /**
   * Fails as the create would fail, and ends with what the create would warn of. `former`: an older version of this
   * resource has its name and stays until the new one is made.
   */
  preview(context: HandlerContext, inputs: Props, former?: Former): Promise<readonly string[]>;
  create(context: HandlerContext, inputs: Props): Promise<Kept>;
  /**
   * `undefined` when the resource is gone. Without `before` it is looked up by its id alone. An open create may come
   * back with the id of what it made.
   */
  read(context: HandlerContext, id: string, before?: Props): Promise<Found | undefined>;
  update(context: HandlerContext, id: string, before: Props, inputs: Props): Promise<Kept>;
  delete(context: HandlerContext, id: string, before: Props): Promise<void>;
}

/** Stands for a value that is not known yet, anywhere in the inputs of check and diff. */
export const unknownValue = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const isUnknown = (value: unknown): boolean => value === unknownValue;

export const holdsUnknown = (value: unknown): boolean => plainValuesIn(value).some(isUnknown);

/** The id of a create whose outcome is open. */
export const pendingId = (owner: string): string => `pending:${owner}`;
export const isPending = (id: string): boolean => id.startsWith("pending:");

/** A problem for the user, in words that say what to do. */
export class HandlerFailure extends Refused {
  override readonly name: string = "HandlerFailure";
  constructor(diagnostics: readonly Diagnostic[]) {
    super(diagnostics, sentence);
  }
}

export function throwErrors(diagnostics: readonly Diagnostic[]): void {
  const errors = errorsAmong(diagnostics);
  if (errors.length > 0) throw new HandlerFailure(errors);
}

export const failure = (code: Diagnostic["code"], summary: string, fix?: string, detail?: string): HandlerFailure =>
  new HandlerFailure([{ severity: "error", code, summary, fix, detail }]);

/**
 * The resource exists, or may exist, and is not as asked for: the caller keeps it, and the next call goes on from
 * there.
 */
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
  'pulumi refresh looks for it; if it exists and is not found, set adopt: "<its id>"; if it does not exist, set adopt: "none" (or forget it with pulumi state delete), and the next update makes it';

const ofTakenName =
  'adopt: "<its id>" takes it over; where it is this very resource, which is being replaced, the option deleteBeforeReplace lets it go first; or choose another name';

/** The fixes of messages for the command line, in words for a program. */
const fixes: Readonly<Record<string, string>> = {
  "plan/name-taken": ofTakenName,
  "service/name_taken": ofTakenName,
  "plan/name-ambiguous": 'adopt: "<id>" says which one it is',
  "plan/gone": "if it still exists, check the credential's project and rights",
  "consent/flush":
    "set flushConfirmed: true once it is unmounted or synced, or a flush of via: command or via: stop, and update once before the change that detaches",
  "apply/id-unknown":
    'look for it in the service\'s console: if it exists, set adopt: "<its id>"; if it does not, set adopt: "none", and the next update makes it',
  "apply/outcome-unknown": ofOpenCreate,
  "plan/outcome-unknown": ofOpenCreate,
  "apply/not-seen":
    "look in the service's console, then run the update again: it sends again what is still missing; after pulumi refresh it makes anew what was never made",
  "apply/not-listed": "run the update again: it looks for it first",
  "apply/flush-failed":
    "nothing was detached; repair the command, or flush by hand, leave flush out and set flushConfirmed: true",
  "consent/recreate": "where it is really gone: pulumi state delete, with its URN, and the next update makes it anew",
  "service/insecure-http": "use https, or permit it with insecureHttp: true",
};

/** A program's state knows no command, and has no addresses. */
export const fixInProgram = ({ fix, fixParts }: Pick<Diagnostic, "fix" | "fixParts">): string | undefined =>
  fixParts === undefined ? fix : adviceInProgram(fixParts);

export function sentence(diagnostic: Diagnostic): string {
  const fix = fixes[diagnostic.code] ?? fixInProgram(diagnostic);
  return inProgramWords(sentenceOf({ ...diagnostic, fix }));
}
