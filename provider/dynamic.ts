/**
 * The handlers as Pulumi's dynamic providers. The text in captured.ts loads this file in the process that serves
 * dynamic resources: the file needs nothing of Pulumi's at run time, captures nothing and keeps no credential.
 */
import type { dynamic } from "@pulumi/pulumi";
import {
  type Connection,
  type Former,
  findForEngine,
  type Handler,
  type HandlerContext,
  noteRemoved,
  openConnection,
} from "../reconciler/for-provider";
import { PartialFailure, type Props } from "../reconciler/index";
import {
  capturedKey,
  isNamedByItself,
  madeUpName,
  type ProgramNote,
  packageName,
  programKey,
  programNote,
} from "./captured";
import { engineAddress, isEngineThere } from "./engine";
import { otherEnginesOf } from "./processes";
import { type Hide, hiding, wrapSecret } from "./secrets";
import { readSettings } from "./settings";
import { isToldToReplace } from "./told-to-replace";

/** A property that tells the state of a managed resource from the inputs of a look-up. */
const managedKey = "__managed";

type Inputs = Record<string, unknown>;

/** States name the path of this module, this function and its argument, so none of the three may ever change. */
export function provider(type: string): dynamic.ResourceProvider<Inputs, Inputs> {
  const found = findForEngine(type);
  if (found === undefined)
    throw new Error(
      `${packageName}: this version of the package has no resource type ${type}; install the one the state was made with, or a later one`,
    );
  const handler: Handler = found;
  let config: dynamic.Config | undefined;
  /** What the state has of a URN already: a create of the same URN is a replacement. */
  const known = new Map<string, Former>();

  const context = (raw: Inputs = {}, hide: Hide = (text) => text): HandlerContext => ({
    ...notesFor(raw),
    service: () => connectionFor(config).service(),
    // Nobody can cancel a call of a dynamic provider.
    signal: new AbortController().signal,
    log: (severity, message) => say(severity, programNote(raw)?.of, hide(message)),
  });
  const notesFor = (raw: Inputs): Pick<HandlerContext, "notes" | "isInState"> => {
    const of = programNote(raw)?.of;
    return of === undefined
      ? {}
      : {
          notes: connectionFor(config).notesOf(of, otherEnginesOf(of)),
          isInState: known.has(of) || isToldToReplace(of),
        };
  };
  const kept = (raw: Inputs, outputs: Props): Inputs => ({
    ...clean(outputs),
    [capturedKey]: raw[capturedKey],
    ...noteIn(raw),
    [managedKey]: true,
  });

  /** Beside a resource that failed, the engine leaves out what that would have told. */
  const isWhole = (inputs: Props): boolean =>
    Object.entries(handler.inputs).every(([name, { required }]) => required !== true || inputs[name] !== undefined);

  return {
    // Takes effect at once and never throws: the provider is used before this promise would be awaited.
    async configure(request) {
      config = request.config;
    },
    async check(before, raw) {
      const exists = Object.keys(own(before)).length > 0;
      const same = sameName(type, before, raw);
      const { inputs, failures, warnings } = handler.check({ ...own(raw), ...same }, exists);
      const hide = hidingIn(raw, before);
      for (const warning of warnings) context(raw, hide).log("warning", warning);
      const found = failures.map(({ property, reason }) => ({ property, reason: hide(reason) }));
      const { of: urn, removed } = programNote(raw) ?? {};
      if (removed !== undefined) await noteRemoved(removed.component, removed.removed);
      if (urn !== undefined && exists) known.set(urn, known.get(urn) ?? "unasked");
      else if (urn !== undefined && found.length === 0 && isWhole(inputs)) {
        // Pulumi has no call for the preview of a create, so the check reports what the create would be refused for.
        const refused = await handler.preview(context(raw, hide), inputs, known.get(urn)).then(
          (warnings) => void warnings.forEach((warning) => void context(raw, hide).log("warning", warning)),
          (error: unknown) => asPlainError(error, hide).message,
        );
        if (refused !== undefined) found.push({ property: "", reason: refused });
      }
      const checked = { ...clean(inputs), ...noteIn(raw) };
      // A name that stays is as secret as it was.
      const isSecretName = Object.hasOwn(same, "name") && programNote(before)?.secrets?.includes("name") === true;
      return { inputs: isSecretName ? withSecretName(checked) : checked, failures: found };
    },
    async diff(id, before, raw) {
      const hide = hidingIn(raw, before);
      const { changes, replaces, deleteBeforeReplace, warnings } = await guarded(hide, () =>
        handler.diff(context(raw, hide), id, own(before), own(raw)),
      );
      for (const warning of warnings) context(raw, hide).log("warning", warning);
      const urn = programNote(raw)?.of;
      if (urn !== undefined) known.set(urn, replaces.length > 0 ? "told" : "there");
      // The plugin's state lacks what a read and a delete are served by: an update writes it, and sends nothing.
      const isOfPlugin = before[capturedKey] === undefined;
      return { changes: changes.length > 0 || isOfPlugin, replaces: [...replaces], deleteBeforeReplace };
    },
    async create(raw) {
      const hide = hidingIn(raw);
      try {
        const made = await busy(() => handler.create(context(raw, hide), own(raw)));
        return { id: made.id, outs: kept(withName(raw), made.outputs) };
      } catch (error) {
        throw asDynamicFailure(error, withName(raw), kept, hide);
      }
    },
    async read(id, props = {}) {
      const managed = props[managedKey] !== undefined;
      const hide = hidingIn(props);
      const seen = await guarded(hide, () => handler.read(context(props, hide), id, managed ? own(props) : undefined));
      if (seen === undefined) {
        // A blank id means that the resource was deleted; a look-up would count it as found.
        if (managed) return {};
        throw new Error(`${type} ${id} does not exist`);
      }
      return {
        id: seen.id,
        props: kept(props, seen.outputs),
        ...(managed ? { inputs: inputsShown(props, seen.inputs) } : {}),
      };
    },
    async update(id, before, raw) {
      const hide = hidingIn(raw, before);
      try {
        const { outputs } = await busy(() => handler.update(context(raw, hide), id, own(before), own(raw)));
        return { outs: kept(withName(raw), outputs) };
      } catch (error) {
        throw asDynamicFailure(error, withName(raw), kept, hide);
      }
    },
    async delete(id, props) {
      const hide = hidingIn(props);
      await guarded(hide, () => handler.delete(context(props, hide), id, own(props)));
    },
  };
}

/**
 * Shows a message beside its resource where the engine can be reached; else on standard error of this process, and then
 * without progress, which would be a line for each step.
 */
function say(severity: "info" | "warning", urn: string | undefined, message: string): void {
  const plainly = (): void => {
    if (severity === "warning") console.log(`warning: ${message}`);
  };
  const address = engineAddress();
  if (urn === undefined || address === undefined) plainly();
  else {
    // The SDK's own modules, which this process has loaded anyway: required when there is a message.
    const { engineLog }: EngineLog = require("./plugin/engine-log");
    engine ??= engineLog(address);
    engine(severity, urn, message, plainly);
  }
}

type EngineLog = typeof import("./plugin/engine-log");
let engine: ReturnType<EngineLog["engineLog"]> | undefined;

/** One connection for all resource types of a process, because they have one configuration. */
let connection: Connection | undefined;

function connectionFor(config: dynamic.Config | undefined): Connection {
  if (connection === undefined) {
    connection = openConnection(readSettings((name) => config?.get(`${packageName}:${name}`)));
    if (engineAddress() !== undefined) {
      void endWithEngine();
      setInterval(() => void endWithEngine(), lookAfterEngineMs).unref();
    }
  }
  return connection;
}

/** The program does not say any more that the name is a secret. */
function withSecretName(inputs: Inputs): Inputs {
  const note = programNote(inputs);
  const secrets = [...(note?.secrets ?? []), "name"];
  return { ...inputs, name: wrapSecret(inputs["name"]), [programKey]: { ...note, secrets } };
}

const nameToKeep = (note: ProgramNote | undefined, name: string | undefined) =>
  note?.secrets?.includes("name") === true ? wrapSecret(name) : name;

function noteIn(raw: Inputs): Inputs {
  const { removed: _removed, ...note } = programNote(raw) ?? {};
  return Object.keys(note).length === 0 ? {} : { [programKey]: note };
}

/**
 * The inputs as the program gave them, with what a refresh shows, which is as secret as it was in the last update. A
 * name that the resource has from the program is noted as it was, where another one is shown.
 */
function inputsShown(props: Inputs, shown: Props): Inputs {
  const note = programNote(props);
  const name = note?.named === true && note.name !== shown["name"] ? note.name : undefined;
  return {
    ...clean({ ...shown, ...Object.fromEntries((note?.secrets ?? []).map((key) => [key, wrapSecret(shown[key])])) }),
    ...(note === undefined ? {} : clean({ [programKey]: { ...note, name: nameToKeep(note, name) } })),
    [capturedKey]: props[capturedKey],
  };
}

/** The inputs with the name that was made up, so that the state keeps it. */
function withName(raw: Inputs): Inputs {
  const note = programNote(raw);
  return note?.named === true && typeof raw["name"] === "string"
    ? { ...raw, [programKey]: { ...note, name: nameToKeep(note, raw["name"]) } }
    : raw;
}

/** A name that is left out stays what it was, whatever the program calls the resource now. */
function sameName(type: string, before: Inputs = {}, raw: Inputs): Inputs {
  if (!isNamedByItself(raw)) return {};
  const name = programNote(before)?.name ?? before["name"];
  return { name: typeof name === "string" ? name : madeUpName(type, String(raw["name"])) };
}

/** The properties without those of Pulumi and of this adapter. */
const own = (raw: Inputs | undefined): Props =>
  Object.fromEntries(
    Object.entries(raw ?? {}).filter(([name, value]) => !name.startsWith("__") && value !== undefined),
  );

/** The wire takes JSON values only. */
const clean = (props: Props): Inputs => JSON.parse(JSON.stringify(props));

/**
 * The resource exists but is not ready: an error with an id keeps the resource in the state, and the next update goes
 * on. The captured provider is kept with it, because later calls could do nothing without it. Any other error with an
 * id would be taken for this one, so other errors leave as texts.
 */
function asDynamicFailure(
  error: unknown,
  raw: Inputs,
  kept: (raw: Inputs, outputs: Props) => Inputs,
  hide: Hide,
): Error {
  const plain = asPlainError(error, hide);
  if (!(error instanceof PartialFailure)) return plain;
  return Object.assign(plain, {
    id: error.kept.id,
    properties: kept(raw, error.kept.outputs),
    reasons: [plain.message],
  });
}

/** Without a stack, which the SDK would print beside the engine's own message. */
const asPlainError = (error: unknown, hide: Hide): Error =>
  Object.assign(new Error(hide(error instanceof Error ? error.message : String(error))), { stack: "" });

let underWay = 0;

async function busy<T>(call: () => Promise<T>): Promise<T> {
  underWay++;
  try {
    return await call();
  } finally {
    underWay--;
  }
}

const lookAfterEngineMs = 5000;
let wasThere = false;
let missedBefore = false;

/**
 * An engine that was killed tells nobody, and the shell of the launcher goes on. Calls under way are brought to their
 * end. The second look without an engine leaves time to note what the engine could not keep.
 */
async function endWithEngine(): Promise<void> {
  const isThere = await isEngineThere();
  wasThere ||= isThere;
  const isMissed = wasThere && !isThere && underWay === 0;
  if (isMissed && missedBefore && underWay === 0) process.exit(0);
  missedBefore = isMissed;
}

async function guarded<T>(hide: Hide, call: () => Promise<T>): Promise<T> {
  try {
    return await busy(call);
  } catch (error) {
    throw asPlainError(error, hide);
  }
}

/** A dynamic provider gets plain values; the program says which of them are secrets, or were in the last update. */
function hidingIn(raw: Inputs, before: Inputs = {}): Hide {
  const [are, were] = [raw, before].map((one) => programNote(one)?.secrets ?? []);
  return hiding([
    ...(are ?? []).flatMap((name) => [raw[name], before[name]]),
    ...(were ?? []).map((name) => before[name]),
  ]);
}
