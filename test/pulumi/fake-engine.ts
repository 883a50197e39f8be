/**
 * Enough of Pulumi's engine for whole programs, in this process: check, diff, then same, update, replace or create;
 * previews with unknowns, secrets kept, failed creates kept, look-ups, imports, refresh, destroy, and the cascade of a
 * delete before a replace. A model: that the real engine agrees is what `npm run test:pulumi` is for.
 */
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { startWarm } from "../support/cli-process";
import {
  Empty,
  fromProgram,
  fromSdk,
  grpc,
  InitFailed,
  node,
  type ProviderProcess,
  quickStart,
  Struct,
  startProviderProcess,
  unknownText,
} from "./provider-process";

const signature = "4dabf18193072939515e22adb298388d";

export interface EngineResource {
  readonly urn: string;
  readonly type: string;
  readonly registration: Registration;
  id: string;
  inputs: Values;
  outputs: Values;
  initErrors?: readonly string[];
  external?: boolean;
  /** Already deleted, before its replacement is made. */
  replaced?: boolean;
}

export interface EngineRun {
  readonly ok: boolean;
  readonly errors: readonly string[];
  /** Such as `create Vm db-1`. */
  readonly steps: readonly string[];
  readonly outputs: Values;
}

export interface FakeEngine {
  readonly state: Map<string, EngineResource>;
  /** Settings of the stack, changed between runs. */
  readonly config: Record<string, string>;
  /** A provider that is running now: to cancel it. */
  providers(): Promise<readonly ProviderProcess[]>;
  preview(): Promise<EngineRun>;
  up(): Promise<EngineRun>;
  refresh(): Promise<EngineRun>;
  destroy(): Promise<EngineRun>;
}

export interface FakeEngineOptions {
  readonly folder: string;
  readonly main?: string;
  readonly typescript?: boolean;
  readonly config?: Readonly<Record<string, string>>;
  /** What only the provider processes see. */
  readonly environment?: NodeJS.ProcessEnv;
}

export function createFakeEngine(options: FakeEngineOptions): FakeEngine {
  const state = new Map<string, EngineResource>();
  const config: Record<string, string> = { ...options.config };
  const processes = new Map<string, Promise<ProviderProcess>>();
  let dryRun = false;
  let seen = new Set<string>();
  let steps: string[] = [];
  let errors: string[] = [];
  let stackOutputs: Values = {};
  const leftovers: EngineResource[] = [];

  const note = (what: string, { urn, type }: Pick<EngineResource, "urn" | "type">): void => {
    steps.push(`${what} ${type.split(":").at(-1)} ${urn.split("::").slice(3).join("::")}`);
  };
  const urnOf = (type: string, name: string, parent: string): string => {
    const above = parent === "" ? "" : parent.split("::")[2]!;
    return `urn:pulumi:dev::demo::${above === "" || above === "pulumi:pulumi:Stack" ? "" : `${above}$`}${type}::${name}`;
  };

  function providerOf(type: string, reference: string): Promise<ProviderProcess> {
    const kind = type.startsWith("pulumi-nodejs:") ? "dynamic" : "plugin";
    const explicit = [...state.values()].find(({ urn, id }) => `${urn}::${id}` === reference);
    const key = explicit === undefined ? kind : reference;
    const known = processes.get(key);
    if (known !== undefined) return known;
    const own = Object.entries(config).filter(([name]) => kind === "dynamic" || name.startsWith("reconcile-cloud:"));
    const settings =
      explicit?.inputs ??
      Object.fromEntries(
        own.map(([name, value]) => [kind === "dynamic" ? name : name.slice("reconcile-cloud:".length), value]),
      );
    const started = startProviderProcess({
      kind,
      config: settings,
      folder: options.folder,
      ...(options.environment === undefined ? {} : { environment: options.environment }),
    });
    processes.set(key, started);
    return started;
  }
  const send = (provider: ProviderProcess, values: Values): Values =>
    provider.acceptsSecrets ? values : (plain(values) as Values);

  async function remove(resource: EngineResource): Promise<void> {
    const { registration } = resource;
    if (!registration.custom || resource.external === true || resource.type.startsWith("pulumi:providers:")) return;
    note("delete", resource);
    if (dryRun) return;
    const provider = await providerOf(resource.type, registration.provider);
    await provider.delete(resource.id, resource.urn, send(provider, resource.outputs));
  }

  /** Who would have to be made again if this one were: its values counted as unknown, their difference asks for it. */
  async function dependents(of: string): Promise<EngineResource[]> {
    const found: EngineResource[] = [];
    for (const resource of [...state.values()]) {
      const touched = Object.entries(resource.registration.dependsOn).filter(([, urns]) => urns.includes(of));
      if (touched.length === 0 || resource.replaced === true || !resource.registration.custom) continue;
      const provider = await providerOf(resource.type, resource.registration.provider);
      const inputs = { ...resource.inputs, ...Object.fromEntries(touched.map(([name]) => [name, unknownText])) };
      const { replaces } = await provider.diff(
        resource.id,
        resource.urn,
        send(provider, resource.outputs),
        send(provider, inputs),
      );
      if (replaces.length > 0) found.push(...(await dependents(resource.urn)), resource);
    }
    return found;
  }

  async function keep(resource: EngineResource, call: () => Promise<void>): Promise<void> {
    try {
      await call();
      delete resource.initErrors;
      state.set(resource.urn, resource);
    } catch (error) {
      if (error instanceof InitFailed) {
        state.set(
          resource.urn,
          Object.assign(resource, { id: error.id, outputs: error.properties, initErrors: error.reasons }),
        );
      }
      throw error;
    }
  }

  async function create(resource: EngineResource, provider: ProviderProcess, what: string): Promise<void> {
    note(what, resource);
    const inputs = send(provider, resource.inputs);
    if (dryRun) {
      resource.outputs = provider.supportsPreview
        ? (await provider.create(resource.urn, inputs, { preview: true })).outs
        : resource.inputs;
      state.set(resource.urn, resource);
      return;
    }
    await keep(resource, async () => {
      const made = await provider.create(resource.urn, inputs);
      if (made.id === "") throw new Error(`${resource.urn}: the provider gave no id`);
      Object.assign(resource, { id: made.id, outputs: sealed(made.outs, resource.inputs) });
    });
  }

  async function register(registration: Registration): Promise<Registered> {
    const { type, name, parent, inputs: raw } = registration;
    const urn = urnOf(type, name, parent);
    seen.add(urn);
    const old = state.get(urn);
    const resource: EngineResource = { urn, type, registration, id: old?.id ?? "", inputs: raw, outputs: raw };
    if (!registration.custom) {
      state.set(urn, resource);
      return resource;
    }
    if (type.startsWith("pulumi:providers:")) {
      resource.id = old?.id ?? randomUUID();
      state.set(urn, resource);
      return resource;
    }
    const provider = await providerOf(type, registration.provider);
    const news = { ...raw };
    for (const property of old === undefined ? [] : registration.ignoreChanges) news[property] = old!.inputs[property];
    const checked = await provider.check(urn, send(provider, old?.inputs ?? {}), send(provider, news));
    if (checked.failures.length > 0)
      throw new Error(
        checked.failures.map(({ property, reason }) => `${name}: property ${property} ${reason}`).join("; "),
      );
    resource.inputs = sealed(checked.inputs, news);
    if (old?.replaced === true) {
      await create(resource, provider, "replace");
      return resource;
    }
    const base = old ?? (await imported(resource, provider));
    if (base === undefined) {
      await create(resource, provider, "create");
      return resource;
    }
    const before = send(provider, base.outputs);
    const wanted = send(provider, resource.inputs);
    const difference = await provider.diff(base.id, urn, before, wanted, send(provider, base.inputs));
    if (difference.changes === "some" && difference.replaces.length > 0) {
      if (difference.deleteBeforeReplace) {
        for (const dependent of await dependents(urn)) {
          await remove(dependent);
          dependent.replaced = true;
        }
        await remove(base);
      } else leftovers.push(base);
      await create(resource, provider, "replace");
      return resource;
    }
    Object.assign(resource, { id: base.id, outputs: base.outputs });
    if (difference.changes === "none" && base.initErrors === undefined) {
      note(base === old ? "same" : "import", resource);
      state.set(urn, resource);
      return resource;
    }
    note("update", resource);
    if (dryRun) {
      resource.outputs = { ...base.outputs, ...resource.inputs };
      state.set(urn, resource);
      return resource;
    }
    await keep(resource, async () => {
      resource.outputs = sealed(await provider.update(base.id, urn, before, wanted), resource.inputs);
    });
    return resource;
  }

  async function imported(resource: EngineResource, provider: ProviderProcess): Promise<EngineResource | undefined> {
    const id = resource.registration.importId;
    if (id === "") return undefined;
    const read = await provider.read(id, resource.urn);
    if (read.id === "" || read.inputs === undefined) throw new Error(`resource '${id}' does not exist`);
    return { ...resource, id, inputs: read.inputs, outputs: read.outs ?? {} };
  }

  async function look(lookup: Lookup): Promise<Registered> {
    const { type, name, parent, id, inputs } = lookup;
    const urn = urnOf(type, name, parent);
    seen.add(urn);
    const provider = await providerOf(type, lookup.provider);
    const read = await provider.read(id, urn, send(provider, inputs), send(provider, inputs));
    if (read.outs === undefined) throw new Error(`resource '${id}' does not exist`);
    const registration: Registration = {
      ...{ type, name, parent, custom: true, provider: lookup.provider, inputs, importId: "", deletedWith: "" },
      ...{ protect: false, ignoreChanges: [], dependsOn: {} },
    };
    const resource: EngineResource = { urn, type, registration, id, inputs, outputs: read.outs, external: true };
    note("read", resource);
    state.set(urn, resource);
    return resource;
  }

  async function session(dry: boolean, work: (address: string) => Promise<void>): Promise<EngineRun> {
    const saved = new Map([...state].map(([urn, resource]) => [urn, { ...resource }]));
    dryRun = dry;
    seen = new Set();
    steps = [];
    errors = [];
    const serving = await serveMonitor({
      register,
      read: look,
      async invoke(tok, reference, args) {
        await (await providerOf(tok, reference)).invoke(tok, args);
      },
      outputs(urn, outputs) {
        if (urn.includes("pulumi:pulumi:Stack")) stackOutputs = outputs;
      },
      log(severity, message) {
        if (severity === "error") errors.push(message);
      },
      failed: (error) => errors.push(error.message),
    });
    try {
      await work(serving.address);
    } catch (error) {
      errors.push((error as Error).message);
    } finally {
      for (const started of processes.values()) await started.then((one) => one.stop()).catch(() => undefined);
      processes.clear();
      serving.close();
      if (dry) {
        state.clear();
        for (const [urn, resource] of saved) state.set(urn, resource);
      }
    }
    return {
      ok: errors.length === 0,
      errors: [...new Set(errors)],
      steps: [...steps],
      outputs: plain(stackOutputs) as Values,
    };
  }

  async function deleteAll(resources: readonly EngineResource[]): Promise<void> {
    const going = new Set(resources.map(({ urn }) => urn));
    for (const resource of [...resources].reverse()) {
      if (resource.registration.protect) throw new Error(`${resource.urn} is protected`);
      if (!going.has(resource.registration.deletedWith)) await remove(resource);
      state.delete(resource.urn);
    }
  }

  const run = (dry: boolean): Promise<EngineRun> =>
    session(dry, async (address) => {
      leftovers.length = 0;
      const { folder, main = ".", typescript = false } = options;
      await runProgram({ folder, main, typescript, config, dryRun: dry, address });
      if (errors.length > 0) return;
      for (const old of leftovers.reverse()) await remove(old);
      await deleteAll([...state.values()].filter(({ urn }) => !seen.has(urn)));
    });

  return {
    state,
    config,
    providers: () => Promise.all(processes.values()),
    preview: () => run(true),
    up: () => run(false),
    destroy: () => session(false, () => deleteAll([...state.values()])),
    refresh: () =>
      session(false, async () => {
        // As the real engine does, which reads many at a time.
        const reads = [...state.values()]
          .filter(({ registration, type }) => registration.custom && !type.startsWith("pulumi:providers:"))
          .map(async (resource) => {
            const provider = await providerOf(resource.type, resource.registration.provider);
            const { id, urn, outputs, inputs } = resource;
            return {
              resource,
              provider,
              read: await provider.read(id, urn, send(provider, outputs), send(provider, inputs)),
            };
          });
        for (const { resource, provider, read } of await Promise.all(reads)) {
          if (read.id === "") {
            note("gone", resource);
            state.delete(resource.urn);
            continue;
          }
          const inputs = read.inputs ?? resource.inputs;
          const outs = read.outs ?? {};
          const before = send(provider, outs);
          const wanted = send(provider, resource.inputs);
          // The real engine asks the provider what the program would have to change after this.
          const sameInputs = async () =>
            isSame(inputs, resource.inputs) ||
            (await provider.diff(read.id, resource.urn, before, wanted, send(provider, inputs))).changes === "none";
          const same = isSame(shown(outs), shown(resource.outputs)) && (await sameInputs());
          note(same ? "same" : "drift", resource);
          Object.assign(resource, { id: read.id, inputs, outputs: outs });
        }
      }),
  };
}

const isSecret = (value: unknown): value is { value: unknown } =>
  typeof value === "object" && value !== null && signature in value;

function plain(value: unknown): unknown {
  if (isSecret(value)) return plain(value.value);
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item)]));
}

/** What a user sees of outputs. */
const shown = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([key]) => key !== "recorded" && !key.startsWith("__")));

/** As deep values: the order of keys means nothing. */
const isSame = (one: Values, other: Values): boolean => isDeepStrictEqual(plain(one), plain(other));

/** What went in secret stays secret, whatever a provider that knows no secrets gives back. */
const sealed = (values: Values, raw: Values): Values =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const wrapped = raw[key];
      return [key, isSecret(wrapped) && !isSecret(value) ? { ...wrapped, value } : value];
    }),
  );

/*
 * The program's side of Pulumi's engine: the two gRPC services that a program speaks to, on loopback, and the program
 * itself, run by the SDK's own launcher. What a registration means is the engine's to decide.
 */

export type Values = Record<string, unknown>;
// biome-ignore lint/suspicious/noExplicitAny: the SDK's stubs are untyped JavaScript
type Message = any;

const resources: Message = fromSdk("@pulumi/pulumi/proto/resource_pb");
const engines: Message = fromSdk("@pulumi/pulumi/proto/engine_pb");
const { ResourceMonitorService }: Message = fromSdk("@pulumi/pulumi/proto/resource_grpc_pb");
const { EngineService }: Message = fromSdk("@pulumi/pulumi/proto/engine_grpc_pb");

export interface Registration {
  readonly type: string;
  readonly name: string;
  readonly parent: string;
  readonly custom: boolean;
  readonly provider: string;
  readonly inputs: Values;
  readonly importId: string;
  readonly deletedWith: string;
  readonly protect: boolean;
  readonly ignoreChanges: readonly string[];
  /** Property -> the URNs of what its value comes from. */
  readonly dependsOn: Readonly<Record<string, readonly string[]>>;
}

export interface Lookup {
  readonly type: string;
  readonly name: string;
  readonly parent: string;
  readonly provider: string;
  readonly id: string;
  readonly inputs: Values;
}

export interface Registered {
  readonly urn: string;
  readonly id: string;
  readonly outputs: Values;
}

export interface Monitor {
  register(registration: Registration): Promise<Registered>;
  read(lookup: Lookup): Promise<Registered>;
  invoke(tok: string, provider: string, args: Values): Promise<void>;
  outputs(urn: string, outputs: Values): void;
  log(severity: "debug" | "info" | "warning" | "error", message: string): void;
  failed(error: Error): void;
}

const severities = ["debug", "info", "warning", "error"] as const;
const valuesOf = (struct: Message): Values => (struct?.toJavaScript() ?? {}) as Values;
const structOf = (values: Values): Message => Struct.fromJavaScript(JSON.parse(JSON.stringify(values)));

export interface Serving {
  readonly address: string;
  close(): void;
}

export async function serveMonitor(monitor: Monitor): Promise<Serving> {
  const server = new grpc.Server();
  let rootUrn = "";
  const add = (definition: Message, methods: Readonly<Record<string, (request: Message) => unknown>>): void => {
    const handlers = Object.fromEntries(
      Object.keys(definition).map((name) => [
        name,
        (call: { request: Message }, answer: (error: object | null, response?: unknown) => void): void => {
          const method = methods[name];
          if (method === undefined) {
            answer({ code: grpc.status.UNIMPLEMENTED, details: name });
            return;
          }
          Promise.resolve()
            .then(() => method(call.request))
            .then(
              (response) => answer(null, response),
              (error: Error) => {
                monitor.failed(error);
                answer({ code: grpc.status.UNAVAILABLE, details: error.message });
              },
            );
        },
      ]),
    );
    server.addService(definition, handlers as unknown as Parameters<typeof server.addService>[1]);
  };
  add(EngineService, {
    log(request) {
      monitor.log(severities[request.getSeverity() as 0]!, String(request.getMessage()).trim());
      return new Empty();
    },
    setRootResource(request) {
      rootUrn = request.getUrn();
      return new engines.SetRootResourceResponse();
    },
    getRootResource() {
      const response = new engines.GetRootResourceResponse();
      response.setUrn(rootUrn);
      return response;
    },
    requirePulumiVersion: () => new engines.RequirePulumiVersionResponse(),
  });
  add(ResourceMonitorService, {
    supportsFeature(request) {
      const response = new resources.SupportsFeatureResponse();
      response.setHassupport(["secrets", "deletedWith"].includes(request.getId()));
      return response;
    },
    async registerResource(request) {
      const dependsOn: Record<string, readonly string[]> = {};
      request.getPropertydependenciesMap().forEach((value: Message, key: string) => {
        dependsOn[key] = value.getUrnsList();
      });
      const made = await monitor.register({
        type: request.getType(),
        name: request.getName(),
        parent: request.getParent(),
        custom: request.getCustom(),
        provider: request.getProvider(),
        inputs: valuesOf(request.getObject()),
        importId: request.getImportid(),
        deletedWith: request.getDeletedwith(),
        protect: request.getProtect() === true,
        ignoreChanges: request.getIgnorechangesList(),
        dependsOn,
      });
      const response = new resources.RegisterResourceResponse();
      response.setUrn(made.urn);
      response.setId(made.id);
      response.setObject(structOf(made.outputs));
      return response;
    },
    async readResource(request) {
      const found = await monitor.read({
        type: request.getType(),
        name: request.getName(),
        parent: request.getParent(),
        provider: request.getProvider(),
        id: request.getId(),
        inputs: valuesOf(request.getProperties()),
      });
      const response = new resources.ReadResourceResponse();
      response.setUrn(found.urn);
      response.setProperties(structOf(found.outputs));
      return response;
    },
    async invoke(request) {
      await monitor.invoke(request.getTok(), request.getProvider(), valuesOf(request.getArgs()));
      const answered = fromSdk("@pulumi/pulumi/proto/provider_pb") as Message;
      return new answered.InvokeResponse();
    },
    registerResourceOutputs(request) {
      monitor.outputs(request.getUrn(), valuesOf(request.getOutputs()));
      return new Empty();
    },
    registerStackTransform: () => new Empty(),
    registerStackInvokeTransform: () => new Empty(),
    signalAndWaitForShutdown: () => new Empty(),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { address: `127.0.0.1:${port}`, close: () => server.forceShutdown() };
}

export interface ProgramRun {
  readonly folder: string;
  readonly main: string;
  readonly typescript: boolean;
  readonly config: Readonly<Record<string, string>>;
  readonly dryRun: boolean;
  readonly address: string;
}

/** Runs the program to its end; what it prints comes back when it fails. */
export async function runProgram({ folder, main, typescript, config, dryRun, address }: ProgramRun): Promise<void> {
  const settings = Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key.replace(":", ":config:"), value]),
  );
  const { exitCode, stdout, stderr } = await startWarm(
    fromProgram.resolve("@pulumi/pulumi/cmd/run"),
    [
      ...["--monitor", address, "--engine", address, "--project", "demo", "--stack", "dev", "--pwd", folder],
      ...(dryRun ? ["--dry-run"] : []),
      ...["--parallel", "16", main],
    ],
    {
      node,
      nodeOptions: quickStart,
      cwd: folder,
      env: {
        ...process.env,
        PULUMI_CONFIG: JSON.stringify(settings),
        PULUMI_CONFIG_SECRET_KEYS: "[]",
        ...(typescript ? { PULUMI_NODEJS_TYPESCRIPT: "true" } : {}),
      },
      // What is imported as an ES module, and what compiles itself, stays loaded for good.
      alone: typescript || isModule(folder, main),
    },
  ).finished;
  if (exitCode !== 0) throw new Error(`the program ended with ${exitCode}: ${stdout}${stderr}`);
}

const isModule = (folder: string, main: string): boolean =>
  main.endsWith(".mjs") || readFileSync(join(folder, "package.json"), "utf8").includes('"module"');
