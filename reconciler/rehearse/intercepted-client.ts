/** The service's client with a function before and after each call: to collect refusals, and to kill a run anywhere. */
import { type Operation, operationNames, operations, rowOf } from "../core/model/operation";
import type { Failure, Outcome } from "../core/model/outcome";
import type { ServiceClient } from "../service/client";

type InterceptedCalls = Exclude<
  keyof ServiceClient,
  "can" | "origin" | "subject" | "takesPortRanges" | "volumesChange" | "nameProblem" | "unique" | "listCost" | "close"
>;
type CallOf = { readonly [O in Operation]: (typeof operations)[O]["call"] };
// Every operation has a call of the client, and every call has an operation.
operations satisfies { readonly [O in Operation]: { readonly call: InterceptedCalls } };
type Uncalled = Exclude<InterceptedCalls, CallOf[Operation]>;
true satisfies Uncalled extends never ? true : Uncalled;

const operationOf: ReadonlyMap<PropertyKey, Operation> = new Map(
  operationNames.map((operation) => [rowOf(operation).call, operation]),
);

export interface Interception {
  /** Answers in the place of the service; `undefined` sends the request. */
  before?(operation: Operation): Failure | undefined;
  /** Sees every outcome, and may replace it. */
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
