/**
 * What a transition gets and what it answers: the world it may read, the request as values, and an answer with the
 * changes that are its effect. A refusal is an answer without changes, which is also how an atomic create rolls back.
 */
import type { RequestCaller } from "./access";
import type { WorldChange } from "./entities";
import type { World } from "./world";

export interface EmulatorSettings {
  readonly strict: boolean;
  /** How long a second of the service takes here, in milliseconds. */
  readonly secondMs: number;
  readonly pageSize: number;
  /** How a port range is written in dst_port, for example `{min}-{max}`; null: ranges are refused. */
  readonly portRange: string | null;
  readonly autoConfirmResize: boolean;
  /** A group that a rule of another group names is not deleted; otherwise the rule goes with it. */
  readonly keepsNamedGroups: boolean;
  /** Several groups of a project may have one name. */
  readonly groupNamesTwice?: boolean;
}

export interface Request {
  readonly world: World;
  readonly settings: EmulatorSettings;
  readonly caller: RequestCaller;
  readonly params: { readonly [name: string]: string };
  readonly query: URLSearchParams;
  readonly body: unknown;
  readonly now: number;
  readonly newId: () => string;
  /** Lists do not show resources younger than this, in milliseconds: a list that lags behind its creates. */
  readonly staleMs: number;
  /** Each page after the first begins this many entries later, like a list that changes while it is read. */
  readonly pageShift: number;
}

/** The project that the request acts in: operations.ts refuses a caller who belongs to none. */
export const projectOfCaller = ({ caller }: Request): string => there(caller.projectId, "a project");

/** A parameter of the operation's path. */
export const pathPart = ({ params }: Request, name = "id"): string => there(params[name], name);

/** Answers with a value that must exist; a missing one is a bug of this service. */
export function there<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`there is no ${what}`);
  return value;
}

export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly changes: readonly WorldChange[];
  /** The answer leaves no earlier than this moment: a call that blocks. */
  readonly holdUntil?: number;
}

export const answer = (status: number, body: unknown, changes: readonly WorldChange[] = []): Reply => ({
  status,
  body,
  changes,
});

export const acknowledge = (text: string, changes: readonly WorldChange[], status = 200): Reply =>
  answer(status, { data: text }, changes);

export const refuseWith = (status: number, message: string): Reply => answer(status, errorBody(status, message));

export const errorBody = (code: number, message: string) => ({ error: { code, message } });

/** The contract's named conditions, each with one wording. The contract fixes few of the numbers; the rest is assumed. */
export const refusals = {
  badRequest: (problems: readonly string[]) => refuseWith(400, problems.join("; ")),
  invalidId: (what: string) => refuseWith(400, `invalid id: this is not the id of a ${what}`),
  forbidden: (why: string) => refuseWith(403, `not permitted: ${why}`),
  vmNotFound: () => refuseWith(404, "VM not found in this project"),
  volumeNotFound: () => refuseWith(404, "Volume not found in this project"),
  groupNotFound: () => refuseWith(404, "Security group not found in this project"),
  invalidState: (verb: string, status: string) =>
    refuseWith(409, `invalid state transition: cannot ${verb} a VM in state ${status}`),
} as const;
