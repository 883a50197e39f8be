/**
 * A program whose resources are handled in this process on an emulated world, in virtual time: by one "process" after
 * another, or by several at once, each with a client and a name of its own in the program's notes. `test/pulumi` tells the same
 * over real HTTP.
 */
import { refuseWith } from "../../emulator/decision";
import {
  type ActiveFault,
  breakingFault,
  decidedFaults,
  type FaultSpec,
  failVms,
  takeFaults,
} from "../../emulator/faults";
import type { Kind } from "../../reconciler/core/model/kinds";
import { rowOf } from "../../reconciler/core/model/operation";
import { defaultTiming, type Ports } from "../../reconciler/engine/ports";
import type { HandlerContext, HandlerService } from "../../reconciler/one/handler";
import { shareLooks } from "../../reconciler/one/shared-looks";
import type { HandlerType } from "../../reconciler/one/table";
import { inProcessClient } from "../../reconciler/rehearse/in-process-client";
import { virtualClock } from "../../reconciler/rehearse/virtual-clock";
import type { ServiceClient } from "../../reconciler/service/client";
import { createNotebook } from "./notes-in-memory";
import { programProcess } from "./program-process";
import { type Capabilities, capabilities, Dropped, emulatedWorld, withDrops } from "./virtual-world";

export interface ProcessOptions {
  readonly token?: string;
  readonly isInState?: boolean;
  readonly pid?: number;
  /** Left out: answers are shared, as in the plugin. */
  readonly looks?: false;
  /** What the client answers instead. */
  readonly client?: Partial<ServiceClient>;
  readonly service?: Partial<HandlerService>;
  readonly context?: Partial<HandlerContext>;
}

export interface ProgramOptions extends Capabilities {
  readonly unique?: readonly Kind[];
}

/** Ids in the order of their making: #1, #2 … */
export const shortIds = (text: string): string => text.replaceAll(/11111111-1111-4111-8111-0*(\d+)/g, "#$1");

export function startVirtualProgram({ unique = ["group"], ...given }: ProgramOptions = {}) {
  const emulated = emulatedWorld({ strict: true });
  const clock = virtualClock((now) => {
    emulated.nowMs = now;
  });
  const has = capabilities(given);
  const notebook = createNotebook(clock);
  const log: string[] = [];
  /** What was sent that changes something, with how it was answered. */
  const sent: string[] = [];
  let faults: ActiveFault[] = [];
  let processes = 0;

  const clientAs = (as: string, more: Partial<ServiceClient> = {}): ServiceClient => {
    const reached = Object.assign(
      inProcessClient(
        {
          get nowMs() {
            return emulated.nowMs;
          },
          call(operation, body, options = {}) {
            const taken = takeFaults(faults, operation);
            const broken = breakingFault(taken);
            const isRead = rowOf(operation).kind === "read";
            const say = (answer: number | string): void => {
              if (!isRead)
                sent.push(shortIds([operation, options.id ?? "", answer].filter((word) => word !== "").join(" ")));
            };
            if (broken?.kind === "drop-before") {
              say("lost before");
              throw new Dropped();
            }
            if (broken?.kind === "status" && broken.when !== "after") {
              say(broken.code ?? 500);
              return refuseWith(broken.code ?? 500, "said so");
            }
            const { vmFails, ...decided } = decidedFaults(taken);
            const reply = emulated.call(operation, body, { ...options, ...decided, as });
            if (broken?.kind === "drop-after") {
              say("lost after");
              throw new Dropped();
            }
            say(reply.status);
            return vmFails ? failVms(reply) : reply;
          },
        },
        has,
        (until) => clock.sleep(Math.max(0, until - clock.now())),
      ),
      { unique },
    );
    return withDrops(() => reached, more);
  };
  const { runCommand, checkHealth }: Pick<Ports, "runCommand" | "checkHealth"> = {
    runCommand: async () => ({ exitCode: 0, output: "" }),
    checkHealth: async () => true,
  };

  const startProcess = ({
    token = "ops-token",
    isInState = false,
    pid = 0x3fffffff,
    looks: shares,
    client: instead,
    service: more,
    context,
  }: ProcessOptions = {}) => {
    const client = clientAs(token, instead);
    const looks = shares === false ? undefined : shareLooks(client, clock);
    const service: HandlerService = {
      ...{ client: looks?.fresh ?? client, clock, timing: defaultTiming, runCommand, checkHealth },
      ...(looks === undefined ? {} : { looks }),
      ...more,
    };
    const writer = { name: `process-${++processes}`, pid };
    const contextOf = (type: HandlerType, name: string): HandlerContext => ({
      service: async () => service,
      signal: new AbortController().signal,
      log: (severity, message) => void log.push(shortIds(`${severity}: ${message}`)),
      isInState,
      notes: notebook.notesOf(`urn:pulumi:dev::demo::x:index:${type}::${name}`, writer),
      ...context,
    });
    return { contextOf, ...programProcess(contextOf) };
  };
  return {
    emulated,
    clock,
    client: clientAs("ops-token"),
    log,
    sent,
    startProcess,
    setFaults(next: readonly FaultSpec[]) {
      faults = next.map((spec) => ({ spec, seen: 0, hit: 0 }));
    },
    notes: notebook.names,
    dump: () => emulated.dump(),
    volumes: () => emulated.dump().volumes.filter(({ root, name }) => !root && !name.endsWith("-data")),
    vms: () => emulated.dump().vms,
    groups: () => emulated.dump().groups.filter(({ name }) => name !== "default"),
    rules: () => emulated.dump().rules.filter(({ port_range_min }) => port_range_min === 22),
    close: async () => undefined,
  };
}

export type VirtualProgram = ReturnType<typeof startVirtualProgram>;
