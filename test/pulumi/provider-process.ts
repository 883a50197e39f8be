/**
 * A provider as a process, spoken to as Pulumi's engine speaks to it: the SDK's own server for dynamic resources, or
 * the plugin. Answers come back as plain values.
 */
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startWarm, type WarmRun } from "../support/cli-process";

/*
 * Which SDK and which Node the programs and providers of a test run on: this repository's, or the ones that
 * test/pulumi/matrix.mjs names.
 */

const root = resolve(__dirname, "../..");
const chosen = process.env["PULUMI_SDK_FOLDER"];
const modules = join(chosen ?? root, "node_modules");

export const node = process.env["PULUMI_SDK_NODE"] ?? process.execPath;
export const fromProgram = createRequire(join(chosen ?? root, "program.js"));
/** What the SDK brings with it is found from where the SDK is. */
export const fromSdk = createRequire(fromProgram.resolve("@pulumi/pulumi"));
export const grpc = fromSdk("@grpc/grpc-js") as typeof import("@grpc/grpc-js");
export const { Struct } = fromSdk(
  "google-protobuf/google/protobuf/struct_pb.js",
) as typeof import("google-protobuf/google/protobuf/struct_pb");
export const { Empty } = fromSdk(
  "google-protobuf/google/protobuf/empty_pb.js",
) as typeof import("google-protobuf/google/protobuf/empty_pb");
export const packageFolder = chosen === undefined ? root : join(modules, "reconcile-cloud");

/** A folder from which this package and the SDK resolve, as from a program that depends on them. */
export function makeProgramFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "reconcile-program-"));
  linkModules(folder);
  return folder;
}

export function linkModules(folder: string): void {
  mkdirSync(join(folder, "node_modules"), { recursive: true });
  symlinkSync(packageFolder, join(folder, "node_modules/reconcile-cloud"));
  symlinkSync(join(modules, "@pulumi"), join(folder, "node_modules/@pulumi"));
  // For programs in TypeScript.
  symlinkSync(join(root, "node_modules/@types"), join(folder, "node_modules/@types"));
}

/** For a process that loads the SDK: it compiles only what none before it compiled, and loads only what it uses. */
export const quickStart = `${process.env["NODE_OPTIONS"] ?? ""} --require=${join(__dirname, "quick-start.cjs")}`.trim();

const messages = fromSdk("@pulumi/pulumi/proto/provider_pb") as Record<string, new () => Message>;
const statuses = fromSdk("@pulumi/pulumi/proto/status_pb") as {
  Status: {
    deserializeBinary(bytes: Uint8Array): {
      getDetailsList(): { getTypeName(): string; getValue_asU8(): Uint8Array }[];
    };
  };
};
const { ResourceProviderClient } = fromSdk("@pulumi/pulumi/proto/provider_grpc_pb") as {
  ResourceProviderClient: new (address: string, credentials: unknown) => Record<string, Call> & { close(): void };
};

type Values = Record<string, unknown>;
type Call = (request: unknown, done: (error: GrpcError | null, response: Message) => void) => void;
type Message = Record<string, (...args: unknown[]) => unknown>;
type GrpcError = Error & { details?: string; metadata?: { get(key: string): Uint8Array[] } };

export const unknownText = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
export const secret = (value: unknown): Values => ({
  "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
  value,
});

/** The resource was created and is not ready. */
export class InitFailed extends Error {
  constructor(
    message: string,
    readonly id: string,
    readonly properties: Values,
    readonly reasons: readonly string[],
  ) {
    super(message);
  }
}

/** What the engine makes of `pulumi:autonaming`. */
export interface Autonaming {
  readonly proposedName: string;
  readonly mode: "propose" | "enforce" | "disable";
}

const namingModes: readonly Autonaming["mode"][] = ["propose", "enforce", "disable"];

function withNaming(request: Message, { proposedName, mode }: Autonaming): Message {
  const { AutonamingOptions } = messages["CheckRequest"] as unknown as { AutonamingOptions: new () => Message };
  const options = new AutonamingOptions();
  options["setProposedName"]!(proposedName);
  options["setMode"]!(namingModes.indexOf(mode));
  request["setAutonaming"]!(options);
  return request;
}

export interface ProviderProcess {
  readonly acceptsSecrets: boolean;
  readonly supportsPreview: boolean;
  check(
    urn: string,
    olds: Values,
    news: Values,
    autonaming?: Autonaming,
  ): Promise<{ inputs: Values; failures: { property: string; reason: string }[] }>;
  diff(
    id: string,
    urn: string,
    olds: Values,
    news: Values,
    oldInputs?: Values,
  ): Promise<{
    changes: "unknown" | "none" | "some";
    replaces: string[];
    deleteBeforeReplace: boolean;
    /** Each path behind what becomes of it: + - ~ */
    detailed: string[];
  }>;
  create(
    urn: string,
    properties: Values,
    options?: { preview?: boolean; timeout?: number },
  ): Promise<{ id: string; outs: Values }>;
  read(
    id: string,
    urn: string,
    properties?: Values,
    inputs?: Values,
  ): Promise<{ id: string; outs?: Values; inputs?: Values }>;
  update(id: string, urn: string, olds: Values, news: Values): Promise<Values>;
  delete(id: string, urn: string, properties: Values): Promise<void>;
  invoke(tok: string, args: Values): Promise<void>;
  schema(): Promise<Values>;
  checkConfig(news: Values): Promise<{ inputs: Values; failures: { property: string; reason: string }[] }>;
  /** The settings for which everything is made anew. */
  diffConfig(oldInputs: Values, news: Values): Promise<string[]>;
  cancel(): Promise<void>;
  stop(): Promise<void>;
}

export interface ProcessOptions {
  readonly kind: "dynamic" | "plugin";
  readonly config: Values;
  readonly folder?: string;
  readonly environment?: NodeJS.ProcessEnv;
}

export async function startProviderProcess({
  kind,
  config,
  folder,
  environment = {},
}: ProcessOptions): Promise<ProviderProcess> {
  const program =
    kind === "dynamic"
      ? fromProgram.resolve("@pulumi/pulumi/cmd/dynamic-provider")
      : join(packageFolder, "bin/pulumi-resource-reconcile-cloud");
  const home = folder ?? makeProgramFolder();
  const { run, port } = await new Promise<{ run: WarmRun; port: number }>((serves, failed) => {
    const run = startWarm(realpathSync(program), ["127.0.0.1:1"], {
      node,
      nodeOptions: quickStart,
      cwd: home,
      env: { ...process.env, ...environment, PULUMI_NODEJS_PROJECT: "demo" },
      onOutput: (text) => text.includes("\n") && serves({ run, port: Number(text.slice(0, text.indexOf("\n"))) }),
    });
    run.finished.then(({ exitCode, stderr }) => failed(new Error(`the provider ended with ${exitCode}: ${stderr}`)));
  });
  let open = 0;
  const client = new ResourceProviderClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  const call = (name: string, request: unknown): Promise<Message> =>
    new Promise((done, failed) => {
      open++;
      client[name]!.call(client, request, (error: GrpcError | null, response: Message) => {
        open--;
        if (error === null) done(response);
        else failed(readError(error));
      });
    });
  const configured = await call("configure", make("ConfigureRequest", { args: config, acceptsecrets: true }));
  const failuresOf = (response: Message) =>
    (response["getFailuresList"]!() as Message[]).map((one) => ({
      property: String(one["getProperty"]!()),
      reason: String(one["getReason"]!()),
    }));
  return {
    acceptsSecrets: configured["getAcceptsecrets"]!() === true,
    supportsPreview: configured["getSupportspreview"]!() === true,
    async check(urn, olds, news, autonaming) {
      const request = make("CheckRequest", { urn, olds, news });
      const response = await call("check", autonaming === undefined ? request : withNaming(request, autonaming));
      return { inputs: valuesOf(response, "getInputs")!, failures: failuresOf(response) };
    },
    async diff(id, urn, olds, news, oldInputs) {
      const response = await call("diff", make("DiffRequest", { id, urn, olds, news, oldInputs }));
      const detailed: string[] = [];
      const map = response["getDetaileddiffMap"]!() as { forEach(use: (value: Message, key: string) => void): void };
      map.forEach((value, key) => {
        detailed.push(`${"++--~~"[Number(value["getKind"]!())]}${key}`);
      });
      return {
        changes: (["unknown", "none", "some"] as const)[response["getChanges"]!() as 0 | 1 | 2],
        replaces: response["getReplacesList"]!() as string[],
        deleteBeforeReplace: response["getDeletebeforereplace"]!() === true,
        detailed,
      };
    },
    async create(urn, properties, { preview = false, timeout = 0 } = {}) {
      const response = await call("create", make("CreateRequest", { urn, properties, preview, timeout }));
      return { id: String(response["getId"]!()), outs: valuesOf(response, "getProperties") ?? {} };
    },
    async read(id, urn, properties, inputs) {
      const response = await call("read", make("ReadRequest", { id, urn, properties, inputs }));
      const outs = valuesOf(response, "getProperties");
      const seen = valuesOf(response, "getInputs");
      return { id: String(response["getId"]!()), ...(outs ? { outs } : {}), ...(seen ? { inputs: seen } : {}) };
    },
    async update(id, urn, olds, news) {
      return valuesOf(await call("update", make("UpdateRequest", { id, urn, olds, news })), "getProperties") ?? {};
    },
    async delete(id, urn, properties) {
      await call("delete", make("DeleteRequest", { id, urn, properties }));
    },
    async invoke(tok, args) {
      await call("invoke", make("InvokeRequest", { tok, args }));
    },
    async schema() {
      return JSON.parse(String((await call("getSchema", make("GetSchemaRequest", {})))["getSchema"]!())) as Values;
    },
    async checkConfig(news) {
      const response = await call("checkConfig", make("CheckRequest", { urn: "", olds: {}, news }));
      return { inputs: valuesOf(response, "getInputs")!, failures: failuresOf(response) };
    },
    async diffConfig(oldInputs, news) {
      const response = await call("diffConfig", make("DiffRequest", { urn: "", olds: {}, news, oldInputs }));
      return response["getReplacesList"]!() as string[];
    },
    async cancel() {
      await call("cancel", new Empty());
    },
    async stop() {
      client.close();
      // What it was asked and has not answered would go on.
      await (open > 0 ? run.kill() : run.stop());
    },
  };
}

function make(name: string, fields: Values): Message {
  const message = new messages[name]!();
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue;
    const isMap = typeof value === "object" && value !== null;
    const wire = isMap ? Struct.fromJavaScript(JSON.parse(JSON.stringify(value))) : value;
    message[`set${field.charAt(0).toUpperCase()}${field.slice(1)}`]!(wire);
  }
  return message;
}

const valuesOf = (message: Message, getter: string): Values | undefined =>
  (message[getter]!() as { toJavaScript(): unknown } | undefined)?.toJavaScript() as Values | undefined;

/** As the engine reads an error that carries a resource. */
function readError(error: GrpcError): Error {
  const bytes = error.metadata?.get("grpc-status-details-bin")[0];
  const details = bytes === undefined ? [] : statuses.Status.deserializeBinary(bytes).getDetailsList();
  for (const detail of details) {
    if (!detail.getTypeName().endsWith("ErrorResourceInitFailed")) continue;
    const type = messages["ErrorResourceInitFailed"] as unknown as { deserializeBinary(bytes: Uint8Array): Message };
    const failed = type.deserializeBinary(detail.getValue_asU8());
    return new InitFailed(
      error.details ?? error.message,
      String(failed["getId"]!()),
      valuesOf(failed, "getProperties") ?? {},
      failed["getReasonsList"]!() as string[],
    );
  }
  return new Error(error.details ?? error.message);
}
