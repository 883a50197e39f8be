/**
 * Single resources as a program meets them: a handler is asked for by its name and knows its own inputs, so that a
 * misspelt one does not compile. What the engine needs of an open service is closed to programs.
 */
import { keysOf } from "./core/text/objects";
import type { InputsOf, OutputsOf } from "./one/generated/resources";
import type { CheckFailure, Difference, Handler as EngineHandler, Property, Props, unknownValue } from "./one/handler";
import { type Lookup as EngineLookup, lookups } from "./one/lookups";
import { findHandler, handlers } from "./one/table";

export type HandlerType = keyof InputsOf;

declare const closed: unique symbol;

/** A service that is open: `cloud.service()` opens it, and handlers and look-ups are given it. */
export interface Service {
  readonly [closed]: "service";
}

/** A value, or what stands for one that is not known yet, anywhere within. */
export type OrUnknown<T> =
  | (T extends readonly (infer One)[]
      ? readonly OrUnknown<One>[]
      : T extends object
        ? { readonly [K in keyof T]: OrUnknown<T[K]> }
        : T)
  | typeof unknownValue;

export interface HandlerContext {
  /** Opens the service at its first use: a check or a diff that asks nothing sends nothing. */
  readonly service: () => Promise<Service>;
  readonly signal: AbortSignal;
  readonly log: (severity: "info" | "warning", message: string) => void;
}

export interface Checked<T extends HandlerType = HandlerType> {
  /** In the form that is compared and stored; whole where there are no failures. */
  readonly inputs: InputsOf[T];
  readonly failures: readonly CheckFailure[];
  readonly warnings: readonly string[];
}

/** What a program keeps of a resource: its id, and values that can be kept as JSON. */
export interface Kept<T extends HandlerType = HandlerType> {
  readonly id: string;
  readonly outputs: OutputsOf[T];
}

export interface Found<T extends HandlerType = HandlerType> extends Kept<T> {
  readonly inputs: InputsOf[T];
}

export interface HandlerDescription<T extends HandlerType = HandlerType> {
  readonly type: T;
  readonly description: string;
  readonly inputs: Readonly<Record<string, Property>>;
  /** Properties that are known after the create. */
  readonly outputs: Readonly<Record<string, Property>>;
  /** Properties that never change while the resource lives. */
  readonly stables: readonly string[];
}

/** `before`: the outputs that were kept of the resource. */
export interface Handler<T extends HandlerType = HandlerType> extends HandlerDescription<T> {
  /** `exists`: the resource is there already, made by the program or imported. */
  check(inputs: OrUnknown<InputsOf[T]>, exists?: boolean): Checked<T>;
  diff(context: HandlerContext, id: string, before: Props, inputs: OrUnknown<InputsOf[T]>): Promise<Difference>;
  /** Fails as the create would fail, and ends with what the create would warn of. */
  preview(context: HandlerContext, inputs: InputsOf[T]): Promise<readonly string[]>;
  create(context: HandlerContext, inputs: InputsOf[T]): Promise<Kept<T>>;
  /** `undefined` when the resource is gone. Without `before` it is looked up by its id alone. */
  read(context: HandlerContext, id: string, before?: Props): Promise<Found<T> | undefined>;
  update(context: HandlerContext, id: string, before: Props, inputs: InputsOf[T]): Promise<Kept<T>>;
  delete(context: HandlerContext, id: string, before: Props): Promise<void>;
}

export interface Lookup {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, Property>>;
  readonly outputs: Readonly<Record<string, Property>>;
  look(service: Service, inputs: Props): Promise<Props>;
}

// The types of inputs and outputs are generated from the very table, and `Service` is what the engine opens, unnamed.
export const handlerNamed = <T extends HandlerType>(type: T): Handler<T> => asTyped(findHandler(type));
const asTyped = <T extends HandlerType>(handler: EngineHandler | undefined): Handler<T> =>
  handler as unknown as Handler<T>; // see above

export const handlerDescriptions: readonly HandlerDescription[] = keysOf(handlers).map((type) => {
  const { description, inputs, outputs, stables } = handlers[type];
  return { type, description, inputs, outputs, stables };
});

export const typedLookups: readonly Lookup[] =
  lookups satisfies readonly EngineLookup[] as unknown as readonly Lookup[]; // see above
