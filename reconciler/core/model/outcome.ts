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
  /** The answer looks like a not-found, but not in the service's own words: a proxy may have answered. */
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
  /**
   * The line of the dialect that would make the answer readable; for `unreadable` also the pointers tried and the keys
   * found.
   */
  readonly hint?: string;
  /** For `not_found`: the request, such as `GET /api/v1/volume/ID`. */
  readonly asked?: string;
  /** For `not_found`: the state that the service shows, where the dialect calls that gone. */
  readonly word?: string;
  /** For a read: the same read was answered before, so that the refusal may be one false answer. */
  readonly answeredBefore?: true;
}

export interface Unavailable {
  readonly status: "unavailable";
  readonly reason: string;
  readonly httpStatus?: number;
  readonly retryAfterMs?: number;
  /** The service asks for fewer requests, under another status than the usual ones. */
  readonly throttled?: true;
  /** The service has asked for fewer requests until the request was given up. */
  readonly gaveWay?: true;
  /** What to do where trying again does not help. */
  readonly fix?: string;
}

export interface Unknown {
  readonly status: "unknown";
  readonly reason: string;
  readonly httpStatus?: number;
  /** Whatever became of it, the service asks for no request before that. */
  readonly retryAfterMs?: number;
  /** The service answered 2xx with a body that cannot be read: the effect is there, or on its way. */
  readonly accepted?: true;
  /** For such a body: the line of the dialect that would make it readable. */
  readonly hint?: string;
  /** What the answer says, in words that are usually a refusal: what it was if a look shows that nothing was done. */
  readonly refusal?: Rejection;
}

export interface Accepted<T> {
  readonly status: "accepted";
  readonly value: T;
  /** For a list: what it shows in a state that the dialect calls gone, by id with that state. It is not in `value`. */
  readonly goneAs?: ReadonlyMap<string, string>;
  /** For a list that is read region by region: the ids and names of those that the service shows, in lower case. */
  readonly regions?: ReadonlySet<string>;
}

export type Outcome<T> = Accepted<T> | Rejection | Unavailable | Unknown;
export type Failure = Exclude<Outcome<never>, Accepted<never>>;

/** What the service, or the way to it, says of a failure. */
export const failureText = (failure: Failure): string =>
  failure.status === "rejected" ? failure.message : failure.reason;

/** Why a request that waited for its turn was given up: the run was stopped, or its state is no longer its own. */
export const notSent = "cancelled before it was sent";

/**
 * The service itself says that the resource does not exist. Two other conditions prove nothing of that kind:
 * `invalid_id` (the service does not take the text for an id) and `not_proven` (the answer may be a proxy's).
 */
export const isGone = (outcome: Outcome<unknown>): boolean => isRefusedAs(outcome, "not_found");

export const isRefusedAs = <C extends Rejection["condition"]>(
  outcome: Outcome<unknown>,
  condition: C,
): outcome is Rejection & { readonly condition: C } => outcome.status === "rejected" && outcome.condition === condition;

/** Nobody can look here, whoever asks and however often. */
export const isShut = (failure: Failure): boolean =>
  failure.status === "rejected" &&
  failure.answeredBefore !== true &&
  (failure.condition === "forbidden" || failure.condition === "unsupported");

export const accepted = <T>(value: T): Accepted<T> => ({ status: "accepted", value });

/** What was answered; `undefined`: nothing, whatever the failure. */
export const valueIn = <T>(outcome: Outcome<T> | undefined): T | undefined =>
  outcome?.status === "accepted" ? outcome.value : undefined;

export const rejected = (condition: Condition, message: string, hint?: string): Rejection => ({
  status: "rejected",
  condition,
  message,
  hint,
});

/** The one of a list that is meant. `otherwise`: what is said where the list lacks it. */
export function findListed<T>(listed: Outcome<readonly T[]>, isIt: (one: T) => boolean, otherwise: string): Outcome<T> {
  if (listed.status !== "accepted") return listed;
  const found = listed.value.find(isIt);
  return found === undefined ? rejected("not_found", otherwise) : accepted(found);
}
