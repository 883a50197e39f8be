/**
 * The public API: read a desired state, connect to a service, plan, apply, and handle single resources.
 */

import { type Connection, connect as connectIn, type Settings } from "./connect";
import type { Handler } from "./handlers/handler";
import { type HandlerType, handlers } from "./handlers/table";
import { openProtectedStore } from "./store/open";
import type { StateStore } from "./store/store";

/** YAML text to the desired state, with everything that is wrong with it. */
export { readDesired } from "./config/read-desired";
export type { Connection, Settings } from "./connect";
export type { Change, FieldChange } from "./core/diff/changes";
export type { PlanOptions } from "./core/diff/context";
export type { Desired, DesiredGroup, DesiredResource, DesiredVm, DesiredVolume } from "./core/model/desired";
export type { Diagnostic, Severity, SourcePosition } from "./core/model/diagnostic";
export type { Rule } from "./core/model/rule";
export type { Plan } from "./core/plan/plan";
/** Plans from values alone. */
export { makePlan } from "./core/plan/plan";
export type { Step } from "./core/plan/step";
export type { Dialect } from "./dialect/dialect";
/** A dialect's text over the built-in dialect, with everything that is wrong with it. */
export { readDialectText as readDialect } from "./dialect/read-dialect";
/** Carries a prepared plan out. */
export { applyPlan } from "./engine/apply";
export type { EngineEvent } from "./engine/events";
export type { Prepared } from "./engine/plan";
/** Looks at the service and plans: sends only reads and writes nothing. */
export { preparePlan } from "./engine/plan";
export type { Ports } from "./engine/ports";
export type { RunReport } from "./engine/run-plan";
export type {
  Checked,
  CheckFailure,
  Difference,
  Found,
  Handler,
  HandlerContext,
  HandlerService,
  Kept,
  Property,
  PropertyChange,
  Props,
} from "./handlers/handler";
/** The failure that a handler ends in when a part was done, and what stands for a value that is not known yet. */
export { PartialFailure, unknownValue } from "./handlers/handler";
export type { DesiredPart, DesiredParts } from "./handlers/parts";
/** A whole desired state as single resources, in an order in which they can be made. */
export { partsOf } from "./handlers/parts";
export type { HandlerType } from "./handlers/table";
export type { StateStore } from "./store/store";
export { version } from "./version";

/** A client and everything else the engine needs, opened when first used. */
export const connect = (settings: Settings, folder: string = process.cwd()): Connection => connectIn(settings, folder);

/** A state by its location: a path or a URL; encrypted when the environment holds a key. */
export const openState = (location: string): StateStore => openProtectedStore(location, { environment: process.env });

/** Single resources: check, diff, create, read, update, delete over plain values. */
export const handlerOf = (type: string): Handler | undefined =>
  Object.hasOwn(handlers, type) ? handlers[type as HandlerType] : undefined;

export const listHandlers = (): readonly Handler[] => Object.values(handlers);
