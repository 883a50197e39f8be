/** What a trial needs, in this process: it may die at any of its requests, and then it neither sends nor writes any more. */
import type { Dialect } from "../../../reconciler/dialect/dialect";
import type { DoctorPorts } from "../../../reconciler/engine/doctor/look";
import type { Notebook, TrialNotes } from "../../../reconciler/engine/doctor/trial/notes";
import type { TrialPorts } from "../../../reconciler/engine/doctor/trial/ports";
import type { ServiceClient } from "../../../reconciler/service/client";
import type { HttpServiceClient } from "../../../reconciler/service/http-client";
import { clientAt, doctorPortsAt } from "./doctor-here";

/** What the process is when it dies. */
export class Killed extends Error {}

export interface Death {
  /** The request at which it dies. */
  readonly at: number;
  /** Whether the request still has its effect. */
  readonly after: boolean;
}

export interface TrialStage {
  readonly ports: Omit<TrialPorts, "doctor">;
  doctorIn(dialect: Dialect): DoctorPorts;
  asked(): number;
}

/** Counts what is sent, and ends it all at one of the requests, or when it is told to. */
export function mortality(death?: Death) {
  let asked = 0;
  let isDead = false;
  return {
    asked: () => asked,
    isDead: () => isDead,
    die(): void {
      isDead = true;
    },
    async send<T>(send: () => Promise<T>): Promise<T> {
      if (isDead) throw new Killed();
      const isLast = asked++ === death?.at;
      if (isLast) isDead = true;
      if (isLast && death?.after !== true) throw new Killed();
      const answer = await send();
      if (isDead) throw new Killed();
      return answer;
    },
  };
}

/** `closers`: what ends when the test ends. */
export function trialStage(
  { url, notes }: { readonly url: string; readonly notes: { kept: TrialNotes | undefined } },
  closers: (() => Promise<void>)[],
  mortal = mortality(),
): TrialStage {
  const clientIn = (dialect: Dialect): HttpServiceClient => {
    const client = clientAt(url, dialect);
    closers.push(() => client.close());
    return client;
  };
  const notebook: Notebook = {
    service: url,
    read: () => notes.kept,
    write(kept) {
      if (mortal.isDead()) throw new Killed();
      notes.kept = structuredClone(kept);
    },
    remove() {
      if (mortal.isDead()) throw new Killed();
      notes.kept = undefined;
    },
  };
  return {
    doctorIn: (dialect) => doctorPortsAt(url, dialect, clientIn, mortal.send),
    asked: mortal.asked,
    ports: {
      clientIn: (dialect) => mortalClient(clientIn(dialect), mortal.send),
      notebook,
      clock: { now: () => Date.now(), sleep: (ms) => new Promise((done) => setTimeout(done, ms)) },
      timing: { pollMs: 4, quietMs: 100, quietCreateMs: 250, mostMs: 3000, discoveryMs: 120 },
      say: () => {},
      signal: new AbortController().signal,
    },
  };
}

export const mortalClient = (
  client: ServiceClient,
  mortal: (send: () => Promise<unknown>) => Promise<unknown>,
): ServiceClient =>
  new Proxy<ServiceClient>(client, {
    get(_, name: keyof ServiceClient) {
      const member = client[name];
      return typeof member === "function"
        ? (...args: unknown[]) => mortal(async () => Reflect.apply(member, client, args))
        : member;
    },
  });
