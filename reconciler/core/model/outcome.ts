/**
 * How one request ended. Policy everywhere is written on these four, never on status codes:
 * accepted (the effect is there), rejected (refused, nothing done), unavailable (nothing done, try later),
 * unknown (the answer was lost; the effect may or may not be there, so look before acting again).
 */
export type Condition =
  | "bad_request"
  | "invalid_id"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  /** It looks like a not-found, but not in the service's own words: something else may have answered for it. */
  | "not_proven"
  | "conflict"
  | "rule_exists"
  | "name_taken"
  | "invalid_state"
  | "flush_not_confirmed"
  | "volume_attached"
  | "group_attached"
  | "root_disk"
  | "unsupported"
  | "unreadable"
  | "refused";

export interface Rejection {
  readonly status: "rejected";
  readonly condition: Condition;
  /** What the service said, cleaned of control characters and shortened. */
  readonly message: string;
  readonly httpStatus?: number;
  /** The dialect line that would settle it; for `unreadable` also the pointers tried and the keys found. */
  readonly hint?: string;
}

export interface Unavailable {
  readonly status: "unavailable";
  readonly reason: string;
  readonly httpStatus?: number;
  readonly retryAfterMs?: number;
  /** The service asks for fewer requests, under another status than the usual ones. */
  readonly throttled?: true;
  /** What makes it available; given where trying again does not. */
  readonly fix?: string;
}

export interface Unknown {
  readonly status: "unknown";
  readonly reason: string;
  readonly httpStatus?: number;
  /** The service said 2xx, and what it said beside that cannot be read: the effect is there, or on its way. */
  readonly accepted?: true;
}

export interface Accepted<T> {
  readonly status: "accepted";
  readonly value: T;
}

export type Outcome<T> = Accepted<T> | Rejection | Unavailable | Unknown;
export type Failure = Exclude<Outcome<never>, Accepted<never>>;

/** Why a request that waited for its turn was given up: the run was stopped, or its state is no longer its own. */
export const notSent = "cancelled before it was sent";

/**
 * The service itself says that it knows no such thing. An id that it does not take for one (`invalid_id`), or that was
 * never sent, says nothing about what was made under it; neither does an answer that may be a proxy's (`not_proven`).
 */
export const isGone = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "rejected" && outcome.condition === "not_found";

export const accepted = <T>(value: T): Accepted<T> => ({ status: "accepted", value });
