/** Sends messages to the engine, which shows them beside their resource. */
import { EngineClient, engines, grpc } from "./sdk";

/** A property bag may be larger than the 4 MB that gRPC allows by default. */
const mostLogBytes = 512 * 1024 * 1024;
export const channelOptions = {
  "grpc.max_receive_message_length": mostLogBytes,
  "grpc.max_send_message_length": mostLogBytes,
};

export type Log = (severity: "info" | "warning", urn: string, message: string) => void;

/** `lost`: called when the engine could not be reached. */
export function engineLog(address: string) {
  const client = new EngineClient(address, grpc.credentials.createInsecure(), channelOptions);
  return (severity: "info" | "warning", urn: string, message: string, lost?: () => void): void => {
    const request = new engines.LogRequest();
    request.setSeverity(severity === "warning" ? engines.LogSeverity.WARNING : engines.LogSeverity.INFO);
    request.setUrn(urn);
    request.setMessage(message);
    // Progress is shown in the status column and kept nowhere.
    request.setEphemeral(severity === "info");
    client.log(request, (error) => {
      if (error !== null) lost?.();
    });
  };
}
