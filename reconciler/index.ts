/**
 * The public API: read a desired state, connect to a service, plan, apply, and handle single resources. Everything
 * behind it is loaded when it is first called.
 */
import type { ReadOptions, ReadResult } from "./config/read-desired";
import type { ConfigSource } from "./config/yaml-file";
import type { Connection, Settings } from "./connect";
import type { Desired } from "./core/model/desired";
import type { Plan, PlanInput } from "./core/plan/plan";
import type { ReadDialect } from "./dialect/read-dialect";
import type { ApplyInput } from "./engine/apply";
import type { Prepared, PreparePlan } from "./engine/plan";
import type { RunReport } from "./engine/run-plan";
import type { Handler } from "./handlers/handler";
import type { HandlerType } from "./handlers/table";
import type { StateStore } from "./store/store";

export type { Connection, Settings } from "./connect";
export type { Change, FieldChange } from "./core/diff/changes";
export type { PlanOptions } from "./core/diff/context";
export type { Desired, DesiredGroup, DesiredResource, DesiredVm, DesiredVolume } from "./core/model/desired";
export type { Diagnostic, Severity, SourcePosition } from "./core/model/diagnostic";
export type { Rule } from "./core/model/rule";
export type { Plan } from "./core/plan/plan";
export type { Step } from "./core/plan/step";
export type { Dialect } from "./dialect/dialect";
export type { EngineEvent } from "./engine/events";
export type { Prepared } from "./engine/plan";
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
  PartialFailure,
  Property,
  PropertyChange,
  Props,
} from "./handlers/handler";
export type { DesiredPart, DesiredParts } from "./handlers/parts";
export type { HandlerType } from "./handlers/table";
export type { StateStore } from "./store/store";
export { version } from "./version";

/** YAML text to the desired state, with everything that is wrong with it. */
export function readDesired(sources: readonly ConfigSource[], options: ReadOptions = {}): ReadResult {
  return (require("./config/read-desired") as typeof import("./config/read-desired")).readDesired(sources, options);
}

/** A dialect's text over the built-in dialect, with everything that is wrong with it. */
export function readDialect(text: string, file: string): ReadDialect {
  return (require("./dialect/read-dialect") as typeof import("./dialect/read-dialect")).readDialectText(text, file);
}

/** A client and everything else the engine needs, opened when first used. */
export function connect(settings: Settings, folder: string = process.cwd()): Connection {
  return (require("./connect") as typeof import("./connect")).connect(settings, folder);
}

/** A state by its location: a path or a URL; encrypted when the environment holds a key. */
export function openState(location: string): StateStore {
  return (require("./store/open") as typeof import("./store/open")).openProtectedStore(location, {
    environment: process.env,
  });
}

/** Looks at the service and plans: sends only reads and writes nothing. */
export function preparePlan(input: PreparePlan): Promise<Prepared> {
  return (require("./engine/plan") as typeof import("./engine/plan")).preparePlan(input);
}

/** Plans from values alone. */
export function makePlan(input: PlanInput): Plan {
  return (require("./core/plan/plan") as typeof import("./core/plan/plan")).makePlan(input);
}

/** Carries a prepared plan out. */
export function applyPlan(input: ApplyInput): Promise<RunReport> {
  return (require("./engine/apply") as typeof import("./engine/apply")).applyPlan(input);
}

/** Single resources: check, diff, create, read, update, delete over plain values. */
export function handlerOf(type: string): Handler | undefined {
  const { handlers } = require("./handlers/table") as typeof import("./handlers/table");
  return Object.hasOwn(handlers, type) ? handlers[type as HandlerType] : undefined;
}

export function listHandlers(): readonly Handler[] {
  return Object.values((require("./handlers/table") as typeof import("./handlers/table")).handlers);
}

/** The module with the failures that handlers end in, and with what stands for a value that is not known yet. */
export function handlerModule(): typeof import("./handlers/handler") {
  return require("./handlers/handler") as typeof import("./handlers/handler");
}

/** A whole desired state as single resources, in an order in which they can be made. */
export function partsOf(desired: Desired): import("./handlers/parts").DesiredParts {
  return (require("./handlers/parts") as typeof import("./handlers/parts")).partsOf(desired);
}
