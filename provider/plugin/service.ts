/**
 * The calls of Pulumi's resource provider over the handlers. The SDK's own server for providers cannot be used: it
 * drops the configuration, previews, timeouts and detailed differences.
 */
import type {
  CheckRequest,
  CheckResponse,
  ConstructRequest,
  CreateRequest,
  DeleteRequest,
  DiffRequest,
  ReadRequest,
  UpdateRequest,
} from "@pulumi/pulumi/proto/provider_pb";
import {
  type Connection,
  type Former,
  findForEngine,
  type Handler,
  type HandlerContext,
  lookups,
  noteRemoved,
  openConnection,
  originAt,
} from "../../reconciler/for-provider";
import { PartialFailure, type Props, type Settings, unknownValue, version } from "../../reconciler/index";
import {
  isNamedByItself,
  madeUpAsKey,
  madeUpName,
  nameIn,
  noteRemovedFunction,
  packageName,
  type RemovedByFiles,
} from "../captured";
import { otherEnginesOf } from "../processes";
import { type Hide, hiding, wrapSecret } from "../secrets";
import { readSettings, settingNames, settingsGiven } from "../settings";
import { isToldToReplace } from "../told-to-replace";
import { construct } from "./construct";
import { type DiffKind, pathsBetween } from "./detailed-diff";
import type { Log } from "./engine-log";
import { progressOf } from "./progress";
import { packageSchema } from "./schema";
import { Any, Empty, grpc, messages, plugins, statuses } from "./sdk";
import { anySecret, isInClear, ownProps, readStruct, secretsIn, unwrap, unwrapAll, writeStruct } from "./wire";

const changesOf = { none: 1, some: 2 } as const;
const detailOf = {
  add: { update: 0, replace: 1 },
  delete: { update: 2, replace: 3 },
  update: { update: 4, replace: 5 },
} as const satisfies Record<DiffKind, Readonly<Record<"update" | "replace", number>>>;
/** Of CheckRequest.AutonamingOptions.Mode. */
const namingDisabled = 2;
const credentials: readonly string[] = ["token", "authorization"];
const writtenAnew =
  "the state has a secret of it in the clear: this update writes it as a secret, for which nothing changes in the service. Copies of the state that were made before keep it, so change the secret where that matters";
/** Where providers keep the names of inputs that no program gave. */
const madeUpKey = "__defaults";
const madeUpAs = (inputs: Record<string, unknown>): Props => ownProps({ ...(unwrap(inputs[madeUpAsKey]) ?? {}) });
const stringsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
/** The engine adds these to a provider's configuration by itself. */
const foreignSettings = ["version", "pluginDownloadURL", "__internal"];

/** One method for each call of the protocol, under its name; each answers with a message or throws. */
export function createService(log: Log) {
  /** The calls under way. */
  const running = new Set<AbortController>();
  /** What the state has of a URN already: a create of the same URN is a replacement. */
  const known = new Map<string, Former>();
  let cancelled = false;
  let settings: Settings = {};
  let connection: Connection | undefined;

  // The engine writes every URN as urn:pulumi:stack::project::types::name, and the last type as package:module:Type.
  const typeOf = (urn: string): string => urn.split("::")[2]!.split("$").at(-1)!.split(":")[2]!;
  /**
   * A name that is left out stays what it was, whatever the program calls the resource now. A new one is what the stack's
   * `pulumi:autonaming` makes of it (mostly with a random end, so that a replacement can be made before its former
   * version is deleted), or else the program's own.
   */
  function nameFor(request: CheckRequest, before: Props, raw: Record<string, unknown>): Props {
    const given = isNamedByItself(raw) ? undefined : raw["name"];
    // A transform may have given another one.
    const isMadeUp = given !== undefined && given === madeUpAs(raw)["name"];
    if (given !== undefined && given !== null && !isMadeUp) return {};
    if (typeof before["name"] === "string") return { name: before["name"] };
    // Of a part of a component: made up of the component's name, as the part's own name in the program is.
    if (typeof given === "string") return { name: madeUpName(typeOf(request.getUrn()), given) };
    // Older stubs do not know it.
    const naming = (request as { getAutonaming?: CheckRequest["getAutonaming"] }).getAutonaming?.();
    if (naming?.getMode() === namingDisabled) return {};
    const proposed = naming?.getProposedName() ?? "";
    const urn = request.getUrn();
    return { name: proposed === "" ? madeUpName(typeOf(urn), nameIn(urn)) : proposed };
  }

  function handlerFor(urn: string): Handler {
    const handler = findForEngine(typeOf(urn));
    if (handler === undefined) throw new Error(`${packageName} ${version} has no resource type ${typeOf(urn)}`);
    return handler;
  }

  function connected(): Connection {
    connection ??= openConnection(settings);
    return connection;
  }

  const warn = (urn: string, hide: Hide, warnings: readonly string[]): void => {
    for (const warning of warnings) log("warning", urn, hide(warning));
  };

  const context = (urn: string, signal: AbortSignal, hide: Hide, tell: (message: string) => void): HandlerContext => ({
    service: () => connected().service(),
    signal,
    notes: connected().notesOf(urn, otherEnginesOf(urn)),
    isInState: known.has(urn) || isToldToReplace(urn),
    log: (severity, message) => (severity === "info" ? tell(hide(message)) : log(severity, urn, hide(message))),
  });

  /** Ends early when the engine cancels, or after the resource's own custom timeout. */
  async function within<T>(
    urn: string,
    seconds: number,
    hide: Hide,
    call: (context: HandlerContext) => Promise<T>,
  ): Promise<T> {
    const own = new AbortController();
    if (cancelled) own.abort();
    running.add(own);
    const timer = seconds > 0 ? setTimeout(() => own.abort(), seconds * 1000) : undefined;
    const progress = progressOf((message) => log("info", urn, message));
    try {
      return await withHidden(hide, () => call(context(urn, own.signal, hide, progress.tell)));
    } finally {
      clearTimeout(timer);
      progress.end();
      running.delete(own);
    }
  }

  return {
    /** Whether no call is under way. */
    isIdle: () => running.size === 0,
    async getPluginInfo() {
      const info = new plugins.PluginInfo();
      info.setVersion(version);
      return info;
    },
    async getSchema() {
      const response = new messages.GetSchemaResponse();
      response.setSchema(JSON.stringify(packageSchema()));
      return response;
    },
    async invoke(request: InstanceType<typeof messages.InvokeRequest>) {
      const name = request.getTok().split(":").at(-1);
      const raw = readStruct(request.getArgs());
      const args = ownProps(raw);
      const response = new messages.InvokeResponse();
      if (name === noteRemovedFunction) {
        // Only the component of this package calls it.
        const { component, removed } = args as unknown as RemovedByFiles;
        await noteRemoved(component, removed);
        return response;
      }
      const lookup = lookups.find((one) => one.name === name);
      if (lookup === undefined) throw new Error(`${packageName} ${version} has no function ${request.getTok()}`);
      const found = await withHidden(hidingInBags(raw), async () => lookup.look(await connected().service(), args));
      response.setReturn(writeStruct(found));
      return response;
    },
    async construct(request: ConstructRequest) {
      const hide = hidingInBags(readStruct(request.getInputs()));
      return withHidden(hide, () => construct(request, (severity, urn, message) => log(severity, urn, hide(message))));
    },
    attach: async () => new Empty(),
    async cancel() {
      cancelled = true;
      for (const one of running) one.abort();
      return new Empty();
    },
    async checkConfig(request: CheckRequest) {
      const raw = readStruct(request.getNews());
      const response = new messages.CheckResponse();
      const unknown = Object.keys(raw)
        .filter((key) => !foreignSettings.includes(key) && !settingNames.some((name) => name === key))
        .map((property) => ({ property, reason: `is no setting; there are ${settingNames.join(", ")}` }));
      const plain = unwrapAll(raw);
      const { problems } = settingsGiven((name) => (plain[name] === unknownValue ? undefined : plain[name]));
      checkFailures(response, [...unknown, ...problems]);
      for (const name of credentials) if (raw[name] !== undefined) raw[name] = wrapSecret(raw[name]);
      response.setInputs(writeStruct(raw));
      return response;
    },
    /**
     * Another service has nothing of what the state knows, so everything is made anew there, unless the service has
     * only moved.
     */
    async diffConfig(request: DiffRequest) {
      const response = new messages.DiffResponse();
      const before = unwrapAll(readStruct(request.getOldInputs()));
      const after = unwrapAll(readStruct(request.getNews()));
      const differs = settingNames.some((name) => before[name] !== after[name]);
      response.setChanges(differs ? changesOf.some : changesOf.none);
      // An address that is not known yet may be another one: the preview shows the most that the update may do.
      const [was, is] = [before["baseUrl"], after["baseUrl"]];
      const isElsewhere = typeof was === "string" && typeof is === "string" && originAt(was) !== originAt(is);
      if (isElsewhere && String(after["acceptService"]) !== "true") response.setReplacesList(["baseUrl"]);
      return response;
    },
    async configure(request: InstanceType<typeof messages.ConfigureRequest>) {
      const plain = unwrapAll(readStruct(request.getArgs()));
      settings = readSettings((name) => plain[name]);
      const response = new messages.ConfigureResponse();
      response.setAcceptsecrets(true);
      response.setSupportspreview(true);
      // Older stubs do not know it.
      (response as Partial<typeof response>).setSupportsAutonamingConfiguration?.(true);
      return response;
    },
    async check(request: CheckRequest) {
      const urn = request.getUrn();
      const handler = handlerFor(urn);
      const raw = readStruct(request.getNews());
      const olds = readStruct(request.getOlds());
      const before = { ...ownProps(olds), ...madeUpAs(olds) };
      const exists = Object.keys(before).length > 0;
      if (exists) known.set(urn, known.get(urn) ?? "unasked");
      const named = Object.hasOwn(handler.inputs, "name") ? nameFor(request, before, raw) : {};
      const { inputs, failures, warnings } = handler.check({ ...ownProps(raw), ...named }, exists);
      const hide = hidingInBags(olds, raw);
      warn(urn, hide, warnings);
      const response = new messages.CheckResponse();
      // A name that stays is as secret as it was.
      const from = { ...raw, ...Object.fromEntries(Object.keys(named).map((name) => [name, olds[name]])) };
      response.setInputs(writeStruct({ ...inputs, ...madeUpNames(Object.keys(named)) }, from));
      checkFailures(
        response,
        failures.map(({ property, reason }) => ({ property, reason: hide(reason) })),
      );
      return response;
    },
    async diff(request: DiffRequest) {
      const urn = request.getUrn();
      const handler = handlerFor(urn);
      const { olds, oldInputs, before } = beforeIn(handler, request);
      const news = readStruct(request.getNews());
      const inputs = ownProps(news);
      const hide = hidingInBags(oldInputs, olds, news);
      const found = await within(urn, 0, hide, (context) => handler.diff(context, request.getId(), before, inputs));
      const isWrittenAnew = isInClear(olds, news);
      warn(urn, hide, [...found.warnings, ...(isWrittenAnew ? [writtenAnew] : [])]);
      const changes = isWrittenAnew ? [...found.changes, { property: "recorded", replaces: false }] : found.changes;
      const response = new messages.DiffResponse();
      response.setChanges(changes.length > 0 ? changesOf.some : changesOf.none);
      response.setDiffsList(changes.map(({ property }) => property));
      response.setReplacesList([...found.replaces]);
      response.setDeletebeforereplace(found.deleteBeforeReplace);
      response.setStablesList([...handler.stables]);
      response.setHasdetaileddiff(true);
      for (const { property, replaces } of changes) {
        // A difference that only the service shows is reported at the property, and so is one of the record, which no
        // program gives: the engine would show it as taken out.
        const isGiven = Object.hasOwn(handler.inputs, property);
        const between = isGiven ? pathsBetween(property, before[property], inputs[property]) : [];
        for (const [path, kind] of between.length === 0 ? [[property, "update"] as const] : between) {
          const detail = new messages.PropertyDiff();
          detail.setKind(detailOf[kind][replaces ? "replace" : "update"]);
          detail.setInputdiff(true);
          response.getDetaileddiffMap().set(path, detail);
        }
      }
      known.set(urn, found.replaces.length > 0 ? "told" : "there");
      return response;
    },
    async create(request: CreateRequest) {
      const urn = request.getUrn();
      const handler = handlerFor(urn);
      const raw = readStruct(request.getProperties());
      const inputs = ownProps(raw);
      const hide = hidingInBags(raw);
      const response = new messages.CreateResponse();
      if (request.getPreview()) {
        const warnings = await within(urn, 0, hide, (context) => handler.preview(context, inputs, known.get(urn)));
        warn(urn, hide, warnings);
        const computed = Object.keys(handler.outputs)
          .filter((name) => name !== "recorded" && !(name === "floatingIp" && inputs["skipFloatingIp"] === true))
          .map((name) => [name, unknownValue]);
        response.setProperties(writeStruct({ ...inputs, ...Object.fromEntries(computed) }, raw));
        return response;
      }
      const kept = await keeping(inputs, raw, anySecret(raw), () =>
        within(urn, request.getTimeout(), hide, (context) => handler.create(context, inputs)),
      );
      response.setId(kept.id);
      response.setProperties(writeStruct(kept.outputs, raw));
      return response;
    },
    async read(request: ReadRequest) {
      const urn = request.getUrn();
      const handler = handlerFor(urn);
      const rawInputs = readStruct(request.getInputs());
      const rawOutputs = readStruct(request.getProperties());
      const raw = { ...rawOutputs, ...rawInputs };
      const props = ownProps({ ...raw, ...shownFor(rawInputs, rawOutputs) });
      // Older stubs have no timeout for a read.
      const timeout = (request as { getTimeout?: () => number }).getTimeout?.() ?? 0;
      const known = Object.keys(props).length > 0 ? props : undefined;
      const isImport = Object.keys(rawInputs).length === 0;
      const seen = await within(urn, timeout, hidingInBags(rawInputs, rawOutputs), (context) =>
        handler.read(context, request.getId(), known),
      );
      const response = new messages.ReadResponse();
      // No id and no properties mean that the resource is gone, or never existed.
      if (seen === undefined) return response;
      response.setId(seen.id);
      const declared = isImport ? seen.inputs : declaredOf(seen.inputs, props, rawInputs);
      const from = { ...raw, [madeUpAsKey]: stringsIn(rawInputs[madeUpKey]).map((name) => raw[name]) };
      response.setInputs(writeStruct({ ...declared, ...madeUpIn(rawInputs, seen.inputs) }, from));
      response.setProperties(writeStruct(seen.outputs, raw));
      return response;
    },
    async update(request: UpdateRequest) {
      const urn = request.getUrn();
      const handler = handlerFor(urn);
      const raw = readStruct(request.getNews());
      const inputs = ownProps(raw);
      const { olds, oldInputs, before } = beforeIn(handler, request);
      // The record may repeat former inputs, so their secrets count as well.
      const repeatsSecrets = anySecret(raw, olds, oldInputs);
      const response = new messages.UpdateResponse();
      if (request.getPreview()) {
        const kept = Object.entries(before).filter(([name]) => Object.hasOwn(handler.outputs, name));
        response.setProperties(writeStruct({ ...Object.fromEntries(kept), ...inputs }, raw, repeatsSecrets));
        return response;
      }
      const kept = await keeping(inputs, raw, repeatsSecrets, () =>
        within(urn, request.getTimeout(), hidingInBags(olds, raw), (context) =>
          handler.update(context, request.getId(), before, inputs),
        ),
      );
      response.setProperties(writeStruct(kept.outputs, raw, repeatsSecrets));
      return response;
    },
    async delete(request: DeleteRequest) {
      const urn = request.getUrn();
      const [outputs, oldInputs] = [readStruct(request.getProperties()), readStruct(request.getOldInputs())];
      const handler = handlerFor(urn);
      const before = beforeFrom(handler, ownProps(outputs), ownProps(oldInputs));
      const hide = hidingInBags(oldInputs, outputs);
      await within(urn, request.getTimeout(), hide, (context) => handler.delete(context, request.getId(), before));
      return new Empty();
    },
  };
}

async function withHidden<T>(hide: Hide, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Error) error.message = hide(error.message);
    throw error;
  }
}

/** The resource was created but is not ready: the engine keeps it, and the next update goes on from there. */
function initFailed(failure: PartialFailure, inputs: Props, raw: Props, repeatsSecrets: boolean) {
  const detail = new messages.ErrorResourceInitFailed();
  detail.setId(failure.kept.id);
  detail.setProperties(writeStruct(failure.kept.outputs, raw, repeatsSecrets));
  detail.setInputs(writeStruct(inputs, raw));
  detail.setReasonsList([failure.message]);
  const any = new Any();
  any.pack(detail.serializeBinary(), "pulumirpc.ErrorResourceInitFailed");
  const status = new statuses.Status();
  status.setCode(grpc.status.UNKNOWN);
  status.setMessage(failure.message);
  status.addDetails(any);
  const metadata = new grpc.Metadata();
  metadata.add("grpc-status-details-bin", Buffer.from(status.serializeBinary()));
  return Object.assign(new Error(failure.message), { code: grpc.status.UNKNOWN, details: failure.message, metadata });
}

async function keeping<T>(inputs: Props, raw: Props, repeatsSecrets: boolean, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof PartialFailure ? initFailed(error, inputs, raw, repeatsSecrets) : error;
  }
}

/**
 * The program's last inputs take precedence over what was seen, which the outputs repeat: after an import the two
 * differ where nothing was sent, and what the program left out, such as rules, is not its own.
 */
function beforeFrom({ inputs }: Handler, outputs: Props, lastInputs: Props): Props {
  const isSaid = Object.keys(lastInputs).length > 0;
  const seen = Object.entries(outputs).filter(([name]) => !(isSaid && Object.hasOwn(inputs, name)));
  return { ...Object.fromEntries(seen), ...lastInputs };
}

function beforeIn(handler: Handler, request: DiffRequest | UpdateRequest) {
  const [olds, oldInputs] = [readStruct(request.getOlds()), readStruct(request.getOldInputs())];
  return { olds, oldInputs, before: beforeFrom(handler, ownProps(olds), ownProps(oldInputs)) };
}

/** A property that the program never declared is no input while it keeps its value. */
const declaredOf = (inputs: Props, before: Props, declared: Props): Props =>
  Object.fromEntries(
    Object.entries(inputs).filter(
      ([name, value]) => Object.hasOwn(declared, name) || JSON.stringify(value) !== JSON.stringify(before[name]),
    ),
  );

const madeUpNames = (names: readonly string[]): Props => (names.length === 0 ? {} : { [madeUpKey]: [...names] });
/** A name that was made up because the program left it out: a refresh shows the live one, and remembers the first. */
function madeUpIn(inputs: Record<string, unknown>, seen: Props): Props {
  const names = stringsIn(inputs[madeUpKey]);
  const first = { ...ownProps(inputs), ...madeUpAs(inputs) };
  const before = Object.fromEntries(
    names.filter((name) => seen[name] !== first[name]).map((name) => [name, first[name]]),
  );
  return {
    ...madeUpNames(names),
    ...Object.fromEntries(names.map((name) => [name, seen[name]])),
    ...(Object.keys(before).length === 0 ? {} : { [madeUpAsKey]: before }),
  };
}

/** What the last refresh showed in the place of inputs. */
const shownFor = (inputs: Record<string, unknown>, outputs: Record<string, unknown>): Props =>
  Object.fromEntries(
    stringsIn(inputs[madeUpKey]).flatMap((name) => (outputs[name] === undefined ? [] : [[name, outputs[name]]])),
  );

function checkFailures(response: CheckResponse, failures: readonly { property: string; reason: string }[]): void {
  for (const { property, reason } of failures) {
    const failure = new messages.CheckFailure();
    failure.setProperty(property);
    failure.setReason(reason);
    response.addFailures(failure);
  }
}

/** Hides secrets of the state and of the program in every message of the call. */
const hidingInBags = (...bags: Record<string, unknown>[]): Hide => hiding(bags.flatMap(secretsOfInputs));
/** A record is secret for the inputs that it repeats; its other values are none. */
const secretsOfInputs = ({ recorded: _recorded, ...raw }: Record<string, unknown>): unknown[] => secretsIn(raw);
