/**
 * The one way into a project: the command, `watch`, MCP, a round of a fleet and a program open theirs here. What differs
 * is given: whose files they are, where the state lies, which states of others may be read, who asks. The same files and
 * the same world give the same plan through each of them.
 */
import { randomUUID } from "node:crypto";
import type { PlanOptions } from "./core/diff/context";
import type { Closed } from "./core/model/desired";
import type { Diagnostic } from "./core/model/diagnostic";
import type { Read } from "./core/model/external";
import type { Grants } from "./core/plan/consent";
import { type ApplyInput, applyPlan } from "./engine/apply";
import { awaitInterrupted } from "./engine/await-interrupted";
import type { EngineEvent } from "./engine/events";
import { closeDesired, type Elsewhere, type ReadFiles } from "./engine/externals";
import { type Prepared, type PreparePlan, preparePlan } from "./engine/plan";
import type { RunReport } from "./engine/run-plan";
import { type OpenedService, portsOf, withFlushFolders } from "./open-service";
import { Refused } from "./refused";
import type { StateStore } from "./store/store";

export interface ProjectSetting {
  /** What the files say, and how they are read again with what is found elsewhere. */
  readonly files: ReadFiles;
  /** Where commands run that no file names. */
  readonly folder: string;
  readonly service: OpenedService;
  readonly store: StateStore;
  /** Opens the state of another project that the files read; throws where that may not be. */
  readonly openRead: Elsewhere["open"];
  /** Why a state may not be read, asked of all of them before any is opened. Absent: all may be. */
  readonly refusedRead?: (read: Read) => Diagnostic | undefined;
}

/** How a plan is made beside its options: what is known already, and who listens. */
export interface ProjectPlanning extends Partial<Pick<PreparePlan, "emit" | "signal" | "letGo" | "memory" | "swept">> {
  /** False: no request is sent, and everything counts as recorded. */
  readonly observe?: boolean;
  /** What is wished in place of the files. */
  readonly desired?: Closed;
}

export interface Running extends Pick<ApplyInput, "holder" | "stop" | "planId" | "commit"> {
  readonly grants: Grants;
  readonly emit: (event: EngineEvent) => void;
}

export interface Project {
  /** What the files say, with what they take from elsewhere. Throws Refused when something of it is not there. */
  close(options?: Pick<PlanOptions, "destroy">): Promise<Closed>;
  /** Waits until lists show what a run that was cut off may have made. */
  settle(signal: AbortSignal): Promise<void>;
  /** Looks at the service and plans: sends only reads and writes nothing. */
  plan(options: PlanOptions, planning?: ProjectPlanning): Promise<Prepared>;
  /** Throws ConsentMissing before anything is locked or sent when the plan needs more than the grants give. */
  apply(prepared: Prepared, running: Running): Promise<RunReport>;
}

export function openProject(setting: ProjectSetting): Project {
  const { files, folder, service, store, openRead, refusedRead } = setting;
  const ports = portsOf(service, folder, files.desired);
  const close = async ({ destroy = false }: Pick<PlanOptions, "destroy"> = {}): Promise<Closed> => {
    const refused = (files.desired.external?.reads ?? []).flatMap((read) => refusedRead?.(read) ?? []);
    if (refused.length > 0) throw new Refused(refused);
    const closed = await closeDesired(files, { client: service.client, open: openRead }, { destroy });
    if ("problems" in closed) throw new Refused(closed.problems);
    return withFlushFolders(closed.desired, folder);
  };
  return {
    close,
    settle: (signal) => awaitInterrupted(store, service.client, ports, randomUUID(), signal),
    plan: async (options, { observe = true, desired, ...planning } = {}) =>
      preparePlan({
        ...planning,
        desired: desired ?? (await close(options)),
        store,
        client: service.client,
        options,
        clock: ports.clock,
        lineage: randomUUID(),
        observe,
        discoveryWindowMs: service.timing.discoveryWindowMs,
      }),
    apply: (prepared, { emit, ...running }) => applyPlan({ ...running, prepared, store, ports: { ...ports, emit } }),
  };
}
