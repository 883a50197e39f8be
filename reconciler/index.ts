/**
 * The public API: read a desired state, connect to a service, plan, apply, and handle single resources. Every example
 * below is run by a test, in a folder with no file but the program, and so is docs/embedding.md.
 */

import { resolve } from "node:path";
import { type Cloud, openCloud } from "./cloud";
import type { Settings } from "./connect";
import type { Diagnostic } from "./core/model/diagnostic";
import { errorCode } from "./core/text/errors";
import { isExplained } from "./report/explanations";
import {
  type Handler,
  type HandlerDescription,
  type HandlerType,
  handlerDescriptions,
  handlerNamed,
  type Lookup,
  typedLookups,
} from "./resources";
import { openProtectedStore } from "./store/open";
import type { StateStore } from "./store/store";

export type {
  ApplyRequest,
  Cloud,
  CloudPlan,
  Drifted,
  KeptPlan,
  LeftOver,
  PlanRequest,
  RehearseRequest,
  Run,
  StatePlace,
} from "./cloud";
export type { OpenFile } from "./config/read/desired";
/**
 * YAML text to the desired state, with everything that is wrong with it. `desired` is absent when there is an error.
 *
 * @example
 * import { readDesired } from "reconcile-cloud";
 *
 * const { desired, diagnostics } = readDesired([{ file: "reconcile.yaml", text: "version: 1\nvolumes: { data: { size: 0 } }" }]);
 * console.log(desired, diagnostics.map(({ code, source }) => `${source?.file}:${source?.line} ${code}`));
 */
export { readDesired } from "./config/read/desired";
export type { ConfigSource } from "./config/yaml/file";
export type { Settings } from "./connect";
export type { Change, FieldChange } from "./core/diff/changes";
export type { PlanOptions } from "./core/diff/context";
export type { Address, Kind } from "./core/model/address";
export type { Desired, DesiredGroup, DesiredResource, DesiredVm, DesiredVolume, Timing } from "./core/model/desired";
export type { Diagnostic, Severity, SourcePosition } from "./core/model/diagnostic";
export type { DiagnosticCode } from "./core/model/diagnostic-code";
export type { External, ExternalValues } from "./core/model/external";
export type { Loss } from "./core/model/loss";
export type { DesiredOutput, Json, Outputs } from "./core/model/output";
export type { Orphan } from "./core/model/recorded";
export type { Rule } from "./core/model/rule";
export type { Consent, ConsentKind, Grants } from "./core/plan/consent";
/**
 * Nothing that needs a consent, and whatever a consent can permit.
 *
 * @example
 * import { everyGrant, noGrants } from "reconcile-cloud";
 *
 * const grants = { ...noGrants, confirmFlush: ["volume.data"] };
 * console.log(grants.allowDataLoss, everyGrant.allowDataLoss);
 */
export { everyGrant, noGrants } from "./core/plan/consent";
export type { PlannedOutput } from "./core/plan/outputs";
/**
 * The plan needs consents that `apply` was not granted; nothing was sent and nothing was written.
 *
 * @example
 * import { ConsentMissing, connect, readDesired } from "reconcile-cloud";
 *
 * const cloud = connect({ baseUrl: "embedded" });
 * const state = "consents.state.json";
 * const read = (text = "") => {
 *   const { desired } = readDesired([{ file: "reconcile.yaml", text }]);
 *   if (desired === undefined) throw new Error("the file has errors");
 *   return desired;
 * };
 * await cloud.apply(await cloud.plan(read("version: 1\nvolumes: { logs: { name: logs, size: 10 } }"), { state }));
 * const plan = await cloud.plan(read("version: 1"), { state });
 * try {
 *   await cloud.apply(plan);
 * } catch (error) {
 *   if (!(error instanceof ConsentMissing)) throw error;
 *   for (const { kind, detail } of error.missing) console.log(kind, detail);
 * }
 * await cloud.apply(plan, { grants: { allowDataLoss: true, allowEmpty: true } });
 * await cloud.close();
 */
export { ConsentMissing } from "./core/plan/permitted";
export type { Plan } from "./core/plan/plan";
export type { Step, StepAction } from "./core/plan/step";
export type { Dialect } from "./dialect/dialect";
/**
 * A dialect's text over the built-in dialect, with everything that is wrong with it.
 *
 * @example
 * import { readDialect } from "reconcile-cloud";
 *
 * const { dialect, diagnostics } = readDialect("version: 1\nerrors: {}\n", "my.dialect.yaml");
 * console.log(Object.keys(dialect), diagnostics);
 */
export { readDialectText as readDialect } from "./dialect/read-dialect";
/**
 * The state was changed by somebody else since the plan was made; nothing was sent. Plan again.
 *
 * @example
 * import { StateMovedOn, connect, readDesired } from "reconcile-cloud";
 *
 * const cloud = connect({ baseUrl: "embedded" });
 * const { desired } = readDesired([{ file: "reconcile.yaml", text: "version: 1\nvolumes: { twice: { name: twice, size: 10 } }" }]);
 * if (desired === undefined) throw new Error("the file has errors");
 * const plan = await cloud.plan(desired, { state: "moved.state.json" });
 * await cloud.apply(plan);
 * await cloud.apply(plan).catch((error) => console.log(error instanceof StateMovedOn, error.code));
 * await cloud.close();
 */
export { StateMovedOn } from "./engine/apply";
export type { Drift } from "./engine/drift";
export type { EngineEvent, OrphanEvent, RefreshEvent, StepEvent } from "./engine/events";
export type { StepResult } from "./engine/run";
export type { RunReport, StepReport } from "./engine/run-plan";
/**
 * The writes of a run that the service accepted and no look has shown. `notSeenIn` leaves out those that nobody can
 * look at: a run with one of the others is not done.
 *
 * @example
 * import { connect, notSeenIn, readDesired, unseenIn } from "reconcile-cloud";
 *
 * const cloud = connect({ baseUrl: "embedded" });
 * const { desired } = readDesired([{ file: "reconcile.yaml", text: "version: 1\nvolumes: { seen: { name: seen, size: 10 } }" }]);
 * if (desired === undefined) throw new Error("the file has errors");
 * const report = await cloud.apply(await cloud.plan(desired, { state: "seen.state.json" }));
 * console.log(unseenIn(report).length, notSeenIn(report).map(({ address, said }) => `${address}: ${said}`));
 * await cloud.close();
 */
export { notSeenIn, unseenIn } from "./engine/run-plan";
export type { InputsOf, OutputsOf } from "./one/generated/resources";
export type { CheckFailure, Difference, Property, PropertyChange, Props } from "./one/handler";
/**
 * The failure that a handler ends in when a part was done: what is there is in `kept`, to go on from. And what stands
 * for a value that is not known yet, anywhere in the inputs of check and diff.
 *
 * @example
 * import { handlerOf, PartialFailure, unknownValue } from "reconcile-cloud";
 *
 * const attachment = handlerOf("VolumeAttachment");
 * console.log(attachment.check({ volumeId: unknownValue, vmId: unknownValue }).failures);
 * console.log(PartialFailure.prototype instanceof Error);
 */
export { PartialFailure, unknownValue } from "./one/handler";
export type { DesiredPart, DesiredParts, OutputPart, PartReference, PartText } from "./one/parts";
/**
 * A whole desired state as single resources, in an order in which they can be made.
 *
 * @example
 * import { partsOf, readDesired } from "reconcile-cloud";
 *
 * const { desired } = readDesired([{ file: "reconcile.yaml", text: "version: 1\nvolumes: { data: { size: 10 } }" }]);
 * if (desired === undefined) throw new Error("the file has errors");
 * for (const { address, type, inputs } of partsOf(desired)) console.log(address, type, inputs);
 */
export { groupSetParts, isPartReference, isPartText, outputPartsOf, partsOf } from "./one/parts";
/**
 * Reads the files that a desired state names, relative to the file that names them: variables, components, packages.
 *
 * @example
 * import { openBeside, readDesired } from "reconcile-cloud";
 *
 * const text = "version: 1\ncomponents: { shop: { from: ./web-tier.yaml } }";
 * const { diagnostics } = readDesired([{ file: "reconcile.yaml", text }], { open: openBeside });
 * console.log(diagnostics.map(({ summary }) => summary));
 */
export { openBeside } from "./outside/beside";
/**
 * Settings or a plan that cannot be used, with every problem in `diagnostics`; nothing was sent.
 *
 * @example
 * import { connect, Refused } from "reconcile-cloud";
 *
 * const cloud = connect({ baseUrl: "http://cloud.example", token: "t" });
 * await cloud.service().catch((error) => {
 *   if (!(error instanceof Refused)) throw error;
 *   for (const { code, fix } of error.diagnostics) console.log(code, fix);
 * });
 */
export { Refused } from "./refused";
export type { Rehearsal, RehearsedRefusal, RehearsedStep } from "./rehearse/rehearsal";
export type { Admitted, ShownDirection, ShownExposure } from "./report/exposure-text";
export type {
  Checked,
  Found,
  Handler,
  HandlerContext,
  HandlerDescription,
  HandlerType,
  Kept,
  Lookup,
  OrUnknown,
  Service,
} from "./resources";
export type { StateStore } from "./store/store";
/**
 * The version of this package.
 *
 * @example
 * import { version } from "reconcile-cloud";
 *
 * console.log(version);
 */
export { version } from "./version";

/**
 * A service by its settings; what they leave out comes from RECONCILE_BASE_URL, RECONCILE_DIALECT, RECONCILE_TOKEN or
 * RECONCILE_AUTHORIZATION. Nothing is opened before the first request. `folder` is where relative paths and the
 * embedded world are.
 *
 * @example
 * import { connect, readDesired } from "reconcile-cloud";
 *
 * const { desired, diagnostics } = readDesired([
 *   { file: "reconcile.yaml", text: "version: 1\nvolumes: { data: { name: data, size: 20 } }" },
 * ]);
 * if (desired === undefined) throw new Error(diagnostics.map(({ summary }) => summary).join("\n"));
 * const cloud = connect({ baseUrl: "embedded" });
 * const plan = await cloud.plan(desired, { state: "reconcile.state.json" });
 * for (const { address, action, because } of plan.changes) console.log(action, address, because);
 * const report = await cloud.apply(plan, { onEvent: (event) => event.type === "step" && console.log(event.title) });
 * console.log(report.counts);
 * await cloud.close();
 */
export const connect = (settings: Settings, folder: string = process.cwd()): Cloud =>
  openCloud(settings, resolve(folder));

/**
 * A state by its location: a path or a URL; encrypted when the environment holds a key.
 *
 * @example
 * import { openState } from "reconcile-cloud";
 *
 * const store = openState("other.state.json");
 * const { snapshot } = await store.read();
 * console.log(store.location, snapshot === undefined ? "is new" : "is there");
 */
export const openState = (location: string): StateStore => openProtectedStore(location, { environment: process.env });

/**
 * A resource of its own: check, diff, create, read, update, delete over plain values. The name decides which inputs
 * compile.
 *
 * @example
 * import { connect, handlerOf } from "reconcile-cloud";
 *
 * const cloud = connect({ baseUrl: "embedded" });
 * const volumes = handlerOf("Volume");
 * const { inputs, failures } = volumes.check({ name: "single", size: 10 });
 * if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join("\n"));
 * const context = { service: () => cloud.service(), signal: new AbortController().signal, log: console.log };
 * const { id, outputs } = await volumes.create(context, inputs);
 * await volumes.delete(context, id, outputs);
 * await cloud.close();
 */
export const handlerOf = <T extends HandlerType>(type: T): Handler<T> => handlerNamed(type);

/**
 * What there are handlers for, one for each type of resource.
 *
 * @example
 * import { handlerOf, listHandlers } from "reconcile-cloud";
 *
 * for (const { type, description } of listHandlers()) console.log(type, description, handlerOf(type).stables);
 */
export const listHandlers = (): readonly HandlerDescription[] => handlerDescriptions;

/**
 * The look-ups there are, for what a program does not manage.
 *
 * @example
 * import { connect, listLookups } from "reconcile-cloud";
 *
 * const cloud = connect({ baseUrl: "embedded" });
 * const getFlavor = listLookups().find(({ name }) => name === "getFlavor");
 * console.log(await getFlavor?.look(await cloud.service(), { name: "m1.small" }));
 * await cloud.close();
 */
export const listLookups = (): readonly Lookup[] => typedLookups;

/**
 * The code of an error of this package, whatever its class; `undefined` for every other error. `reconcile explain CODE`
 * says more.
 *
 * @example
 * import { codeOf, connect } from "reconcile-cloud";
 *
 * const cloud = connect({ baseUrl: "http://cloud.example", token: "t" });
 * await cloud.service().catch((error) => {
 *   if (codeOf(error) === "service/insecure-http") console.log("https, or insecureHttp: true");
 * });
 */
export function codeOf(error: unknown): Diagnostic["code"] | undefined {
  const code = errorCode(error);
  return isExplained(code) ? code : undefined;
}
