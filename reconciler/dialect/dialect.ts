/**
 * What one deployment of the service has where the contract is silent, in the shape users write it (read-dialect.ts
 * merges their file over built-in.ts). The service's client reads it; the planner asks it which operations exist.
 */

import type { ObservedFields, vmFields } from "../core/model/fields";
import type { Kind } from "../core/model/kinds";
import type { NameRules } from "../core/model/name-rule";
import type { AssumedOperation, ListOperation, Method, Operation } from "../core/model/operation";
import type { Condition } from "../core/model/outcome";
import type { WaitAs } from "../core/text/retry-after";

/** A JSON pointer (RFC 6901); the empty one is the whole value. */
export type Pointer = string;

export type Scalar = string | number | boolean;

export type SizeUnit = "B" | "KB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB";

/** A place that a bare pointer cannot name; read from left to right (places.ts). */
export interface Selector {
  /** With `*` for every member; an array is opened to its items. */
  readonly in?: Pointer;
  /** A map: its members are the items, each with its key under this name. */
  readonly keys?: string;
  readonly where?: Readonly<Record<string, Scalar | readonly Scalar[]>>;
  readonly value?: Pointer;
  readonly join?: readonly Pointer[];
  /** The text around the value, with `{value}` in its place. */
  readonly cut?: string;
  readonly is?: Scalar | readonly Scalar[];
  readonly unit?: SizeUnit;
  readonly absent?: "none";
  /** The text that means that there is nothing. */
  readonly none?: Scalar | readonly Scalar[];
  /** For the VM that a volume hangs on: the value is its name, and not its id. */
  readonly by?: "name";
}

export type RecordPlace = Pointer | Selector;
export type Pointers = readonly RecordPlace[];

export interface Route {
  readonly method: Method;
  /**
   * The path below the base URL. `{id}`, for one rule `{rule_id}`, and the names of `values` may stand in path, query,
   * headers and body.
   */
  readonly path: string;
  readonly query?: Readonly<Record<string, Scalar>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Where the record is within the payload. */
  readonly item?: Pointers;
  /** Of several routes for one operation: the rules for which this one is. */
  readonly when?: { readonly direction: "ingress" | "egress" };
  /** Routes that come before this one, each for the rules that its `when` names. */
  readonly alternatives?: readonly Route[];
}

export interface ListRoute extends Route {
  /** Places in the payload; the first that finds an array wins. */
  readonly items: Pointers;
  readonly pagination?: Partial<Paging>;
}

/** How the job is asked for with which a service answers an accepted write. */
export interface JobRoute extends Omit<Route, "item"> {
  /** Where the answer to a write names its job; an answer that names none is done. */
  readonly id: Pointers;
  readonly status: Pointers;
  readonly done: readonly string[];
  readonly failed: readonly string[];
  readonly message: Pointers;
}

/** How a list goes on. */
export interface Paging {
  readonly next: Pointers;
  /** A header that leads to the next page; of Link, the entry with rel="next". */
  readonly next_header: string | null;
  readonly as?: "token" | "link";
  readonly links?: "rewritten";
  /** The name of a parameter, or a pointer into the body. */
  readonly param: string;
  readonly marker?: Pointers;
  readonly number?: 0 | 1;
  readonly offset?: true;
  /** How many items a page is asked to show, and the name of the parameter, or a pointer into the body. */
  readonly size?: number;
  readonly size_param?: string;
  /** Pointers into the body, and names of headers, that look like pages and say nothing about them. */
  readonly ignore: readonly string[];
}

/** `null`: this service does not have the operation. */
export type AssumedRoutes = {
  readonly [O in AssumedOperation]: (O extends ListOperation ? ListRoute : Route) | null;
};

export interface RecordPlaces {
  readonly vm: Readonly<Record<keyof ObservedFields<typeof vmFields>, Pointers>> & {
    readonly id: Pointers;
    readonly name: Pointers;
    readonly status: Pointers;
    readonly floating_ip: Pointers;
    readonly private_ip: Pointers;
    readonly volumes: Pointers;
    readonly volume_entry: { readonly id: Pointers; readonly root: Pointers };
  };
  readonly volume: {
    readonly id: Pointers;
    readonly name: Pointers;
    readonly size: Pointers;
    readonly status: Pointers;
    readonly attached_to: Pointers;
  };
  readonly group: {
    readonly id: Pointers;
    readonly name: Pointers;
    readonly description: Pointers;
    readonly rules: Pointers;
  };
  readonly flavor: CatalogueRecord;
  readonly image: CatalogueRecord & { readonly status: Pointers };
  readonly region: CatalogueRecord;
  readonly snapshot: { readonly image: Pointers };
}

export interface CatalogueRecord {
  readonly id: Pointers;
  readonly name: Pointers;
}

export interface States {
  readonly vm: {
    readonly running: readonly string[];
    readonly stopped: readonly string[];
    readonly verify_resize: readonly string[];
    /** The VM is settled, for a service that does not show whether it runs: it counts as running. */
    readonly ready: readonly string[];
    /** The VM is in transition. Every word that is listed nowhere here means the same. */
    readonly changing: readonly string[];
    readonly failed: readonly string[];
    /** The resource is still listed, and does not exist any more. */
    readonly gone: readonly string[];
  };
  readonly volume: {
    /** Once one is named, every other word that has no meaning here counts as changing. */
    readonly ready: readonly string[];
    readonly changing: readonly string[];
    readonly failed: readonly string[];
    readonly gone: readonly string[];
  };
  /** Any other word means that the image is still being made. */
  readonly image: { readonly ready: readonly string[]; readonly failed: readonly string[] };
}

export interface Envelope {
  /** Empty: the payload is in `data`, where the body has that and no id of its own. */
  readonly data: Pointers;
  /** No places for a message: the contract's envelope. */
  readonly error: { readonly code: Pointers; readonly message: Pointers };
  readonly success?: { readonly value: Pointer; readonly is: Scalar | readonly Scalar[] };
}

export interface ErrorRule {
  readonly is: Condition | "throttled";
  readonly status?: number;
  /** The service's own; `*` stands for anything. */
  readonly code?: Scalar;
  /** A text anywhere in the message, in upper or lower case; `*` stands for anything. */
  readonly message?: string;
  /** The media type of the answer, without its parameters; `*` stands for anything. */
  readonly type?: string;
  /** A text anywhere in the place that the answer redirects to; `*` stands for anything. */
  readonly location?: string;
}

/** What this deployment bears, and what it refuses by itself. */
export interface Limits {
  /** How many requests may be under way at once, whatever --parallelism says. */
  readonly connections?: number;
  readonly requests_per_second?: number;
  /** The kinds of which the service refuses a second one of the same name. */
  readonly unique: readonly Kind[];
  /**
   * A group is not deleted while rules of other groups name it: it stays, or the delete is refused. Left out: nobody
   * knows, and the service may take those rules away with it.
   */
  readonly named_groups?: "kept" | "refused";
}

/** A header or a pointer into the body; or a header with what stands there. */
export type WaitPlace = string | { readonly header: string; readonly as?: WaitAs };

export interface Dialect {
  readonly operations: AssumedRoutes;
  /** `operations.wait`; left out: what is accepted is not waited for by itself. */
  readonly wait?: JobRoute;
  readonly records: RecordPlaces;
  readonly states: States;
  readonly pagination: Paging;
  /** `port_range`: how a range is written in dst_port, e.g. `{min}-{max}`; `null`: ranges are refused. */
  readonly rules: { readonly port_range: string | null };
  readonly authorization: {
    /** The header that carries the credential. */
    readonly name: string;
    readonly header: string;
    readonly command: readonly string[] | null;
    /** The variables that the command may see beside the usual ones. */
    readonly env?: readonly string[];
  };
  /** Where the record is in the answers of documented operations. */
  readonly answers: Readonly<Partial<Record<Operation, { readonly item: Pointers }>>>;
  readonly envelope: Envelope;
  /** Rules for names that are narrower than the contract's. */
  readonly names: NameRules;
  readonly limits: Limits;
  readonly values: Readonly<Record<string, Scalar>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly retry_after: WaitPlace | null;
  /** Tried in order, before the defaults of conditions.ts. */
  readonly errors: readonly ErrorRule[];
}
