/**
 * The provider as a plugin, for programs in every language: serves the handlers over gRPC on loopback. Its one line on
 * standard output is the port, as the engine expects.
 */
import type { ServerUnaryCall, sendUnaryData } from "@grpc/grpc-js";
import { EngineClient, engines, grpc, ResourceProviderService } from "./plugin/sdk";
import { createService, type Log } from "./plugin/service";

/** A property bag may be large; the usual 4 MB are not enough for it. */
const mostBytes = 512 * 1024 * 1024;
const options = { "grpc.max_receive_message_length": mostBytes, "grpc.max_send_message_length": mostBytes };

type Handle = (request: never) => Promise<unknown>;

export async function main(args: readonly string[]): Promise<void> {
  const service = createService(engineLog(args.find((arg) => !arg.startsWith("-")))) as unknown as Record<
    string,
    Handle
  >;
  const server = new grpc.Server(options);
  const methods = Object.entries(ResourceProviderService as unknown as Record<string, { responseStream: boolean }>).map(
    ([name, { responseStream }]) => [name, responseStream ? refuseStream : answer(name, service[name])] as const,
  );
  server.addService(
    ResourceProviderService as unknown as Parameters<typeof server.addService>[0],
    Object.fromEntries(methods) as unknown as Parameters<typeof server.addService>[1],
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  process.stdout.write(`${port}\n`);
}

function answer(name: string, handle: Handle | undefined) {
  return (call: ServerUnaryCall<never, unknown>, callback: sendUnaryData<unknown>): void => {
    if (handle === undefined) {
      callback({ code: grpc.status.UNIMPLEMENTED, details: `${name} is not implemented` });
      return;
    }
    handle(call.request).then(
      (response) => callback(null, response),
      (error: unknown) => callback(asStatus(error)),
    );
  };
}

const refuseStream = (call: { emit(event: "error", error: object): void }): void => {
  call.emit("error", { code: grpc.status.UNIMPLEMENTED, details: "not implemented" });
};

function asStatus(error: unknown): { readonly code: number; readonly details: string } {
  const known = error as { code?: unknown; details?: unknown; message?: unknown } | undefined;
  if (typeof known?.code === "number" && typeof known.details === "string")
    return known as { code: number; details: string };
  return { code: grpc.status.UNKNOWN, details: error instanceof Error ? error.message : String(error) };
}

/** Messages go to the engine, which shows them beside the resource they belong to. */
function engineLog(address: string | undefined): Log {
  if (address === undefined) return () => undefined;
  const client = new EngineClient(address, grpc.credentials.createInsecure(), options);
  return (severity, urn, message) => {
    const request = new engines.LogRequest();
    request.setSeverity(severity === "warning" ? engines.LogSeverity.WARNING : engines.LogSeverity.INFO);
    request.setUrn(urn);
    request.setMessage(message);
    // What is going on is shown in the status column and kept nowhere.
    request.setEphemeral(severity === "info");
    client.log(request, () => undefined);
  };
}
