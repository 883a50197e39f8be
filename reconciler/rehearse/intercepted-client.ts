/** The service's client with a function around each call: to collect refusals, and to kill a run anywhere. */
import { type Operation, operationNames, operations, rowOf } from "../core/model/operation";
import type { Outcome } from "../core/model/outcome";
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

/** What becomes of a call; `send` sends it. */
type AroundCall = (operation: Operation, send: () => Promise<Outcome<unknown>>) => Promise<Outcome<unknown>>;

export const interceptClient = (client: ServiceClient, around: AroundCall): ServiceClient =>
  new Proxy(client, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      const operation = operationOf.get(key);
      return typeof value !== "function" || operation === undefined
        ? value
        : (...args: unknown[]) => around(operation, async () => Reflect.apply(value, target, args));
    },
  });
