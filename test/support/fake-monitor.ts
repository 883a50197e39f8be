/**
 * The program's side of Pulumi's engine: the two gRPC services that a program speaks to, on loopback, and the program
 * itself, run by the SDK's own launcher. What a registration means is the engine's to decide.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Empty, fromProgram, fromSdk, grpc, node, quickStart, Struct } from "./pulumi-sdk";
import { startWarm } from "./warm-process";

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
