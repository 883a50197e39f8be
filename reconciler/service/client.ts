/**
 * The service as the engine sees it: one typed method an operation, each ending in one of the four outcomes.
 * `can` tells what this deployment is able to; calling an operation it lacks ends as rejected/unsupported without a request.
 * Reads and deletes are repeated inside (they are safe); every other write is sent once, except after an answer that
 * proves nothing was done (429, connection refused), and its outcome is the caller's to judge.
 */

import type { Abilities } from "../core/model/abilities";
import type { Kind } from "../core/model/address";
import type { NewVm } from "../core/model/desired";
import type { ListCost } from "../core/model/list-cost";
import type { CatalogueEntry, LiveGroup, LiveImage, LiveRule, LiveVm, LiveVolume } from "../core/model/live";
import type { NameProblem } from "../core/model/name-rule";
import type { CallsById, Method, Operation } from "../core/model/operation";
import type { Outcome } from "../core/model/outcome";
import type { ImportReport } from "../dialect/reports";

export interface RuleInput {
  readonly direction: "ingress" | "egress";
  readonly ethertype: "IPv4" | "IPv6";
  readonly protocol?: string;
  readonly portMin?: number;
  readonly portMax?: number;
  readonly remoteIp?: string;
  readonly remoteGroupId?: string;
  readonly description?: string;
}

export interface DeletedVm {
  /** `undefined`: the answer was lost (a repeated delete found nothing), so what was left behind is not known. */
  readonly preservedVolumes: readonly string[] | undefined;
}

export interface RequestOptions {
  /** Ends waiting for a slot and, for reads, the request itself. A write in flight is never cut off by it. */
  readonly signal?: AbortSignal;
  /** When slots are short, the request with the larger number goes first. */
  readonly priority?: number;
  /** Called each time before a write is sent, when it has its slot. */
  readonly mayWrite?: () => Promise<boolean>;
  /**
   * True: a resource that this list does not show will count as not existing. Pages of which the list says nothing are
   * then asked for too.
   */
  readonly proves?: boolean;
  /**
   * True: this look only makes sure of what was seen a moment ago, so that an answer of the last seconds will do, if
   * nothing was sent since about what it shows.
   */
  readonly makesSure?: boolean;
  /** True: others may ask the same of others at the same time, so that a list may tell all of them. */
  readonly amongOthers?: boolean;
}

/** The operations whose rows say that they send an id alone. */
export type Acknowledged = {
  -readonly [C in keyof CallsById]: (id: string, options?: RequestOptions) => Promise<Outcome<void>>;
};

/** What a look may use. Whatever is handed this alone cannot write: refresh, plan, drift, pull, the doctor's reading part. */
export interface ServiceReader {
  readonly can: Abilities;
  /** The measured cost of a list of a kind. Absent: nothing is measured. */
  readonly listCost?: (kind: Kind) => ListCost;
  /** Which service it is, as a state remembers it: the base URL, or `embedded`. */
  readonly origin: string;
  /** A mark of whom the credential speaks for, once it was used. Absent, or `undefined`: it does not say it. */
  readonly subject?: () => string | undefined;
  /** Whether the dialect says how a range of ports is written; without it, a rule with one cannot be sent. */
  readonly takesPortRanges: boolean;
  /** By the dialect's rules for names, beyond the contract. */
  readonly nameProblem?: NameProblem;
  /** The kinds of which the service refuses a second one of the same name. */
  readonly unique?: readonly Kind[];
  /**
   * False: the dialect knows no state in which a volume is in transition, so its operations are done when they are
   * answered.
   */
  readonly volumesChange?: boolean;

  listVms(options?: RequestOptions): Promise<Outcome<readonly LiveVm[]>>;
  getVm(id: string, options?: RequestOptions): Promise<Outcome<LiveVm>>;
  listVolumes(options?: RequestOptions): Promise<Outcome<readonly LiveVolume[]>>;
  getVolume(id: string, options?: RequestOptions): Promise<Outcome<LiveVolume>>;
  listGroups(options?: RequestOptions): Promise<Outcome<readonly LiveGroup[]>>;
  getGroup(id: string, options?: RequestOptions): Promise<Outcome<LiveGroup>>;
  listRules(groupId: string, options?: RequestOptions): Promise<Outcome<readonly LiveRule[]>>;
  listFlavors(options?: RequestOptions): Promise<Outcome<readonly CatalogueEntry[]>>;
  listImages(options?: RequestOptions): Promise<Outcome<readonly LiveImage[]>>;
  listRegions(options?: RequestOptions): Promise<Outcome<readonly CatalogueEntry[]>>;
}

/** What changes the service. Only what carries a permitted step out is handed this. */
export interface ServiceWriter extends Acknowledged {
  createVm(input: NewVm, options?: RequestOptions): Promise<Outcome<void>>;
  renameVm(id: string, name: string, options?: RequestOptions): Promise<Outcome<void>>;
  rebuildVm(id: string, image: string, options?: RequestOptions): Promise<Outcome<void>>;
  resizeVm(id: string, flavor: string, options?: RequestOptions): Promise<Outcome<void>>;
  /** Ends with the new image's id where the answer shows one. */
  snapshotVm(id: string, name: string, options?: RequestOptions): Promise<Outcome<{ readonly imageId?: string }>>;
  deleteVm(id: string, deleteFloatingIp: boolean | undefined, options?: RequestOptions): Promise<Outcome<DeletedVm>>;

  createVolume(name: string, sizeGb: number, options?: RequestOptions): Promise<Outcome<LiveVolume>>;
  attachVolume(volumeId: string, vmId: string, options?: RequestOptions): Promise<Outcome<void>>;
  detachVolume(
    volumeId: string,
    vmId: string,
    flushConfirmed: boolean,
    options?: RequestOptions,
  ): Promise<Outcome<void>>;
  resizeVolume(id: string, sizeGb: number, options?: RequestOptions): Promise<Outcome<void>>;

  createGroup(
    input: { readonly name: string; readonly description?: string; readonly rules: readonly RuleInput[] },
    options?: RequestOptions,
  ): Promise<Outcome<LiveGroup>>;
  updateGroup(
    id: string,
    changes: { readonly name?: string; readonly description?: string },
    options?: RequestOptions,
  ): Promise<Outcome<void>>;
  createRule(groupId: string, rule: RuleInput, options?: RequestOptions): Promise<Outcome<LiveRule>>;
  deleteRule(groupId: string, ruleId: string, options?: RequestOptions): Promise<Outcome<void>>;
  /** Sends the listing as it is; the report comes back as the service wrote it, checked for shape. */
  importGroups(listing: unknown, options?: RequestOptions): Promise<Outcome<ImportReport>>;
}

/** A call of a kind without calls of its own, as its row says it. */
export type RowCall = (
  ids: Readonly<Record<string, string>>,
  body: unknown,
  options?: RequestOptions,
) => Promise<Outcome<unknown>>;

export const rowCall =
  (client: ServiceWriter, call: string): RowCall =>
  // Every operation of the table has its call; what has no method of its own was made from its row (calls.ts).
  (...given) =>
    Reflect.get(client, call).call(client, ...given);

/** One request as it is, for the doctor. */
export interface ProbeRequest {
  readonly operation: Operation;
  /** GET, unless the dialect itself reads a list in another way, or a trial changes what it made. */
  readonly method: Method;
  /** Below the base URL. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface ServiceClient extends ServiceReader, ServiceWriter {
  close(): Promise<void>;
}
