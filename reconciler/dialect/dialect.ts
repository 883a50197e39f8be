/**
 * What one deployment of the service has where the contract is silent, in the shape users write it (read-dialect.ts
 * merges their file over built-in.ts). The service's client reads it; the planner asks it which operations exist.
 */
import type { ObservedFields, vmFields } from "../core/model/fields";
import type { AssumedOperation, ListOperation, Method } from "../core/model/operation";
import type { Condition } from "../core/model/outcome";

/** A JSON pointer (RFC 6901); the empty one is the whole value. */
export type Pointer = string;
export type Pointers = readonly Pointer[];

export interface Route {
  readonly method: Method;
  /** Below the base URL, with `{id}` and, for one rule, `{rule_id}`. */
  readonly path: string;
}

export interface ListRoute extends Route {
  /** Pointers into the payload; the first that finds an array wins. */
  readonly items: Pointers;
}

/** `null`: this service does not have the operation. */
export type AssumedRoutes = {
  readonly [O in AssumedOperation]: (O extends ListOperation ? ListRoute : Route) | null;
};

export interface Records {
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
    readonly failed: readonly string[];
    /** It is listed still, and it is not there any more. */
    readonly gone: readonly string[];
  };
  readonly volume: {
    /** Once one is named, every other word that has no meaning here counts as changing. */
    readonly ready: readonly string[];
    readonly changing: readonly string[];
    readonly failed: readonly string[];
    readonly gone: readonly string[];
  };
  /** Anything else is an image that is still being made. */
  readonly image: { readonly ready: readonly string[]; readonly failed: readonly string[] };
}

export interface ErrorRule {
  readonly is: Condition;
  readonly status?: number;
  /** Found anywhere in the message, in either case; `*` stands for anything. */
  readonly message?: string;
}

export interface Dialect {
  readonly operations: AssumedRoutes;
  readonly records: Records;
  readonly states: States;
  readonly pagination: {
    readonly next: Pointers;
    readonly param: string;
    /** A header that leads on; of Link, what has rel="next". */
    readonly next_header: string | null;
    /** Pointers into the body, and names of headers, that look like pages and say nothing about them. */
    readonly ignore: readonly string[];
  };
  /** `port_range`: how a range is written in dst_port, e.g. `{min}-{max}`; `null`: ranges are refused. */
  readonly rules: { readonly port_range: string | null };
  readonly authorization: { readonly header: string; readonly command: readonly string[] | null };
  /** Tried in order, before the defaults of conditions.ts. */
  readonly errors: readonly ErrorRule[];
}
