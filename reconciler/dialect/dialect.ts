/**
 * What one deployment of the service has where the contract is silent: the fields of a dialect as they are written
 * (rows.ts), every default filled in, and a list where one value may be written for it. read-dialect.ts merges a user's
 * file over built-in.ts. The service's client reads it; the planner asks it which operations exist.
 */

import type { NameRules } from "../core/model/name-rule";
import type { AssumedOperation, ListOperation, Operation } from "../core/model/operation";
import type {
  AuthorizationRows,
  DialectFile,
  EnvelopeRows,
  ErrorRule,
  FingerprintRows,
  LimitRows,
  Pagination,
  Place,
  RecordRows,
  Scalar,
  Selector,
  StateRows,
  WaitRoute,
  Words,
  AttachmentRoute as WrittenAttachmentRoute,
  ListRoute as WrittenListRoute,
  Pointers as WrittenPlaces,
  Route as WrittenRoute,
} from "./rows";

export type { ErrorRule, Pointer, Scalar, Selector } from "./rows";
export type SizeUnit = NonNullable<Selector["unit"]>;
/** A place that a bare pointer cannot name is a selector, read from left to right (places.ts). */
export type RecordPlace = Place;
export type Pointers = readonly RecordPlace[];

/** Every key is there, and what may be written as one value or several is a list. */
type Filled<T> = { readonly [K in keyof T]-?: FilledValue<NonNullable<T[K]>> };
type FilledValue<V> = [WrittenPlaces] extends [V] ? Pointers : [Words] extends [V] ? readonly string[] : Filled<V>;

/**
 * `{id}`, for one rule `{rule_id}`, and the names of `values` may stand in path, query, headers and body.
 */
export type Route = Readonly<Omit<NonNullable<WrittenRoute>, "item">> & {
  readonly item?: Pointers;
  /** Routes that come before this one, each for the rules that its `when` names. */
  readonly alternatives?: readonly Route[];
};

export type ListRoute = Route & {
  /** Places in the payload; the first that finds an array wins. */
  readonly items: Pointers;
  readonly pagination?: Partial<Paging>;
  readonly for_each?: NonNullable<WrittenListRoute>["for_each"];
};

type JobLists = "id" | "status" | "done" | "failed" | "message" | "error";
export type JobRoute = Readonly<Omit<NonNullable<WaitRoute>, JobLists>> &
  Filled<Pick<NonNullable<WaitRoute>, JobLists>>;

/** A list of what hangs on what, apart from the records of volumes. */
export type AttachmentRoute = ListRoute & Filled<Pick<NonNullable<WrittenAttachmentRoute>, "vm" | "volume">>;

type PagingLists = "next" | "marker" | "ignore";
export type Paging = Readonly<Omit<Pagination, PagingLists | "next_header" | "param">> &
  Readonly<Required<Pick<Pagination, "next_header" | "param" | "ignore">>> & {
    readonly next: Pointers;
    readonly marker?: Pointers;
  };

/** `null`: this service does not have the operation. */
export type AssumedRoutes = {
  readonly [O in AssumedOperation]: (O extends ListOperation ? ListRoute : Route) | null;
};

export type RecordPlaces = Filled<RecordRows>;
export type CatalogueRecord = RecordPlaces["flavor"];
export type States = Filled<StateRows>;
/** Without places for a message it is the contract's envelope. */
export type Envelope = Filled<Pick<EnvelopeRows, "data" | "error">> & Readonly<Pick<EnvelopeRows, "success">>;
/** What this deployment bears, and what it refuses by itself. */
export type Limits = Readonly<LimitRows> & Readonly<Required<Pick<LimitRows, "unique">>>;
export type WaitPlace = NonNullable<DialectFile["retry_after"]>;

export interface Dialect {
  readonly operations: AssumedRoutes;
  /** `operations.wait`; left out: what is accepted is not waited for by itself. */
  readonly wait?: JobRoute;
  /** `operations.attachments`; left out: the records of volumes say what they hang on, or nothing does. */
  readonly attachments?: AttachmentRoute;
  readonly records: RecordPlaces;
  readonly states: States;
  readonly pagination: Paging;
  readonly rules: Readonly<Required<NonNullable<DialectFile["rules"]>>>;
  readonly authorization: Readonly<
    Required<Pick<AuthorizationRows, "name" | "header" | "command">> & Pick<AuthorizationRows, "env">
  >;
  /** Where the record is in the answers of documented operations. */
  readonly answers: Readonly<Partial<Record<Operation, { readonly item: Pointers }>>>;
  readonly envelope: Envelope;
  readonly names: NameRules;
  readonly limits: Limits;
  readonly values: Readonly<Record<string, Scalar>>;
  readonly headers: Readonly<Record<string, string>>;
  /** A version that writes have to send, and where the record shows it. */
  readonly fingerprint?: { readonly from: Pointers; readonly header?: string } & Readonly<
    Pick<FingerprintRows, "send">
  >;
  readonly retry_after: WaitPlace | null;
  /** Tried in order, before the defaults of conditions.ts. */
  readonly errors: readonly ErrorRule[];
}
