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
  /** For `unreadable`: the pointers tried, the keys found, and the dialect line that would fix it. */
  readonly hint?: string;
}

export interface Unavailable {
  readonly status: "unavailable";
  readonly reason: string;
  readonly httpStatus?: number;
  readonly retryAfterMs?: number;
  /** What makes it available; given where trying again does not. */
  readonly fix?: string;
}

export interface Unknown {
  readonly status: "unknown";
  readonly reason: string;
  readonly httpStatus?: number;
}

export interface Accepted<T> {
  readonly status: "accepted";
  readonly value: T;
}

export type Outcome<T> = Accepted<T> | Rejection | Unavailable | Unknown;
export type Failure = Exclude<Outcome<never>, Accepted<never>>;

/** Why a request that waited for its turn was given up: the run was stopped, or its state is no longer its own. */
export const notSent = "cancelled before it was sent";

/** The service knows no such thing. */
export const isGone = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "rejected" && (outcome.condition === "not_found" || outcome.condition === "invalid_id");

export const accepted = <T>(value: T): Accepted<T> => ({ status: "accepted", value });
