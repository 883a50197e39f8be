/** What a worker and a process of its own for one stack ask each other for: values alone. */
import type { Diagnostic } from "../../core/model/diagnostic";
import type { Grants } from "../../core/plan/consent";
import type { SeenState } from "../../core/state/identity";
import type { EngineEvent } from "../../engine/events";
import type { MayRead, StackState } from "../../fleet/may-read";
import type { Picture } from "../../fleet/picture";
import type { Applied, Planned, Project, ProjectInput } from "../../fleet/project";
import type { Trust } from "../../outside/trust";
import type { Flags } from "../flags";
import { errorOf, type Thrown } from "./peer";

export interface ReadRequest {
  readonly folder: string;
  readonly flags: Flags;
  readonly trust?: Trust;
}

export interface ReadApart {
  readonly problems: readonly Diagnostic[];
  /**
   * How long reading and judging the files took of a processor, to their end or to what is wrong; absent: the files take
   * something from elsewhere.
   */
  readonly cpuMs?: number;
}

/** A stack as a worker hands it over: without what only the worker can do. */
export interface OpenRequest {
  readonly input: Omit<ProjectInput, "budget" | "ear" | "mayRead" | "siblings" | "sawState" | "signal">;
  readonly cache: string;
  /** Variables that no program of the stack gets. */
  readonly withheld: readonly string[];
}

/** A plan in values alone. */
export interface PlannedApart extends Omit<Planned, "picture" | "apply"> {
  readonly picture: Picture;
  /** How long everything up to this plan took of a processor. */
  readonly cpuMs: number;
}

type Failures = "broken" | "bug" | "unclosed";

export interface AppliedApart extends Omit<Applied, "picture" | "report"> {
  readonly report: Omit<Applied["report"], Failures>;
  readonly failures: Readonly<Partial<Record<Failures, Thrown>>>;
  readonly picture: Picture;
}

/** What a worker asks this process for. */
export type ForChild = {
  readonly turns: (nothing: undefined) => void;
  readonly read: (request: ReadRequest) => ReadApart;
  readonly open: (request: OpenRequest) => Pick<Project, "leases" | "files">;
  readonly plan: (nothing: undefined) => PlannedApart;
  readonly lock: (nothing: undefined) => PlannedApart;
  readonly unlock: (nothing: undefined) => void;
  readonly apply: (grants: Grants) => AppliedApart;
  readonly close: (nothing: undefined) => void;
};

/** What it asks its worker for. */
export type ForWorker = {
  readonly take: (nothing: undefined) => boolean;
  readonly refused: (retryAfterMs: number) => void;
  readonly asked: (nothing: undefined) => void;
  readonly heard: (nothing: undefined) => void;
  readonly mayRead: (location: string) => MayRead;
  readonly siblings: (nothing: undefined) => readonly StackState[];
  readonly sawState: (seen: SeenState) => void;
  readonly happens: (event: EngineEvent) => void;
};

/** The report of a run with its errors as they were. */
export const reportApart = ({ report, failures }: AppliedApart): Applied["report"] => ({
  ...report,
  ...Object.fromEntries(Object.entries(failures).map(([key, thrown]) => [key, errorOf(thrown)])),
});
