/** The service's client with somebody looking over its shoulder: for what was refused, and for killing a run anywhere. */
import { type Operation, operationNames, operations, rowOf } from "../core/model/operation";
import type { Failure, Outcome } from "../core/model/outcome";
import type { ServiceClient } from "../service/client";

type Calls = Exclude<
  keyof ServiceClient,
  "can" | "origin" | "takesPortRanges" | "volumesChange" | "names" | "listCost" | "close"
>;
type CallOf = { readonly [O in Operation]: (typeof operations)[O]["call"] };
// Every operation has its call, and every call its operation.
operations satisfies { readonly [O in Operation]: { readonly call: Calls } };
type Uncalled = Exclude<Calls, CallOf[Operation]>;
true satisfies Uncalled extends never ? true : Uncalled;

const operationOf: ReadonlyMap<PropertyKey, Operation> = new Map(
  operationNames.map((operation) => [rowOf(operation).call, operation]),
);

export interface Interception {
  /** Answers in the service's place; `undefined` lets the request through. */
  before?(operation: Operation): Failure | undefined;
  /** Sees every outcome, and may put another in its place. */
  after?(operation: Operation, outcome: Outcome<unknown>): Outcome<unknown>;
}

type AnyCall = (...args: unknown[]) => Promise<Outcome<unknown>>;

export function interceptClient(client: ServiceClient, { before, after }: Interception): ServiceClient {
  return new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      const operation = operationOf.get(key);
      if (typeof value !== "function" || operation === undefined) return value;
      return async (...args: unknown[]) => {
        const refused = before?.(operation);
        if (refused !== undefined) return refused;
        // Every method of the client ends in an outcome.
        const outcome = await (value as AnyCall).apply(target, args);
        return after === undefined ? outcome : after(operation, outcome);
      };
    },
  });
}
