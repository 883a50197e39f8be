/**
 * The provider as a plugin, for programs in every language: serves the handlers over gRPC on loopback. Its one line on
 * standard output is the port, as the engine expects.
 */
import type { ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { isEngineThere } from "./engine";
import { channelOptions, engineLog, type Log } from "./plugin/engine-log";
import { grpc, ResourceProviderService } from "./plugin/sdk";
import { createService } from "./plugin/service";

type Handle = (request: never) => Promise<unknown>;

export async function main(args: readonly string[]): Promise<void> {
  const { isIdle, ...calls } = createService(logOf(args.find((arg) => !arg.startsWith("-"))));
  // `ResourceProviderService` names the message of each call, and gRPC hands a call that message.
  const service = calls as Record<string, Handle>;
  endWithEngine(isIdle);
  const server = new grpc.Server(channelOptions);
  // The SDK's declarations have no type for the service's table of methods.
  const methods = Object.entries(ResourceProviderService as unknown as Record<string, { responseStream: boolean }>).map(
    ([name, { responseStream }]) => [name, responseStream ? refuseStream : answer(name, service[name])] as const,
  );
  // The table and the methods made of it are of one service, which gRPC's type cannot see.
  const [definition, handlers] = [ResourceProviderService, Object.fromEntries(methods)] as unknown as Parameters<
    typeof server.addService
  >;
  server.addService(definition, handlers);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  process.stdout.write(`${port}\n`);
}

const lookAfterEngineMs = 500;
const lookAtAddressMs = 5000;

/** An engine that was killed tells nobody. Calls under way are brought to their end and noted for the next run. */
function endWithEngine(isIdle: () => boolean): void {
  const engine = process.ppid;
  // On Windows a process keeps the parent that it was started by. There the engine's address is tried, and must fail
  // several times.
  let silent = 0;
  const isAlone = async (): Promise<boolean> => {
    if (process.platform !== "win32") return process.ppid !== engine;
    silent = (await isEngineThere()) ? 0 : silent + 1;
    return silent > 3;
  };
  setInterval(
    () => {
      void isAlone().then((alone) => {
        if (alone && isIdle()) process.exit(0);
      });
    },
    process.platform === "win32" ? lookAtAddressMs : lookAfterEngineMs,
  ).unref();
}

const answer =
  (name: string, handle: Handle | undefined) =>
  (call: ServerUnaryCall<never, unknown>, callback: sendUnaryData<unknown>): void => {
    if (handle === undefined) {
      callback({ code: grpc.status.UNIMPLEMENTED, details: `${name} is not implemented` });
      return;
    }
    handle(call.request).then(
      (response) => callback(null, response),
      (error: unknown) => callback(asStatus(error)),
    );
  };

const refuseStream = (call: { emit(event: "error", error: object): void }): void => {
  call.emit("error", { code: grpc.status.UNIMPLEMENTED, details: "not implemented" });
};

interface Status {
  readonly code: number;
  readonly details: string;
}

const isStatus = (error: unknown): error is Status =>
  typeof error === "object" &&
  error !== null &&
  "code" in error &&
  typeof error.code === "number" &&
  "details" in error &&
  typeof error.details === "string";

/** An error that is a gRPC status already brings its metadata along. */
function asStatus(error: unknown): Status {
  if (isStatus(error)) return error;
  return { code: grpc.status.UNKNOWN, details: error instanceof Error ? error.message : String(error) };
}

const logOf = (address: string | undefined): Log => (address === undefined ? () => undefined : engineLog(address));
