/** A doctor at a deployment: the client it looks through, and its world behind the front. */
import type { Dialect } from "../../../reconciler/dialect/dialect";
import type { DoctorPorts } from "../../../reconciler/engine/doctor/look";
import { Credential } from "../../../reconciler/service/credential";
import { createServiceClient, type HttpServiceClient } from "../../../reconciler/service/http-client";
import { type BenchOptions, type BenchWorld, startBenchWorld, token } from "../bench-world";
import { connectionsHere } from "../in-memory";
import { everything } from "../stories";
import { type Deployment, openFront, type RunningFront, startFront } from "./front";

/** The service in the words of the deployment, in front of a whole emulated one. */
export async function worldBehind(
  deployment: Deployment,
  options: BenchOptions = {},
): Promise<{ readonly world: BenchWorld; readonly front: RunningFront }> {
  const fronts: RunningFront[] = [];
  const world = await startBenchWorld({
    with: everything,
    pageSize: 500,
    ...options,
    front: async (emulator) => {
      const front = options.reach === "here" ? openFront(deployment, emulator) : await startFront(deployment, emulator);
      fronts.push(front);
      return front;
    },
  });
  return { world, front: fronts[0]! };
}

/** Whoever asks for it closes it. */
export const clientAt = (baseUrl: string, dialect: Dialect): HttpServiceClient =>
  createServiceClient({
    baseUrl,
    dialect,
    credential: new Credential(dialect.authorization.header.replace("{token}", token), { kind: "fixed" }),
    timing: { requestTimeoutMs: 5000 },
    connections: connectionsHere(baseUrl),
  });

/** `around`: what every request of the doctor goes through. */
export function doctorPortsAt(
  baseUrl: string,
  dialect: Dialect,
  clientIn: (dialect: Dialect) => HttpServiceClient,
  around: <T>(send: () => Promise<T>) => Promise<T> = (send) => send(),
): DoctorPorts {
  const client = clientIn(dialect);
  return {
    probe: (request) => around(() => client.probe(request)),
    baseUrl,
    pause: (ms) => new Promise((done) => setTimeout(done, ms)),
    withAuthorization: (name, header) => {
      const authorization = { ...dialect.authorization, name, header };
      return doctorPortsAt(baseUrl, { ...dialect, authorization }, clientIn, around);
    },
  };
}
