/**
 * What `--json` prints: values for one line each, whose keys and their order other people's scripts rest on. A key of
 * the fixed format is always there, `null` where there is nothing to say; `jsonLine` writes it as one line.
 */
import type { Change } from "../core/diff/changes";
import type { Finding } from "../core/findings/finding";
import type { Diagnostic } from "../core/model/diagnostic";
import type { Orphan } from "../core/model/recorded";
import { countChanges, type Plan, sortChanges } from "../core/plan/plan";
import type { Step } from "../core/plan/step";
import { printable } from "../core/text/printable";
import type { StepEvent } from "../engine/events";
import type { RunReport } from "../engine/run-plan";
import { outputsForPrograms } from "./output-lines";

/** Control characters and direction marks leave as escapes: the same value to a reader, harmless on a terminal. */
export const jsonLine = (value: object): string => `${printable(JSON.stringify(value))}\n`;

export const changeEvents = (plan: Plan): object[] => sortChanges(plan.changes).map(changeEvent);

const changeEvent = (change: Change): object => ({
  type: "change",
  address: change.address,
  action: change.action,
  fields: change.fields.map(({ field, before, after, forces }) => ({ field, before, after, forces: forces ?? null })),
  id: change.id ?? null,
  name: change.name,
  reason: change.reason,
  because: change.because,
  losses: change.losses.map(({ detail }) => detail),
  lost: change.losses.map(({ disk, id, sizeGb }) => ({ disk, id: id ?? null, size_gb: sizeGb ?? null })),
  ...(change.movedFrom === undefined ? {} : { moved_from: change.movedFrom }),
  file: change.source?.file ?? null,
  line: change.source?.line ?? null,
});

/** What will be sent, in an order that keeps every `needs`. */
export function* plannedStepEvents(steps: readonly Step[]): Generator<object> {
  for (const { id, address, action, needs, downtimeOf, estimateMs } of steps)
    yield {
      type: "step_planned",
      step: id,
      address,
      operation: action.operation,
      needs: needs.map(({ step }) => step),
      downtime_of: downtimeOf ?? null,
      estimate_ms: Math.round(estimateMs),
    };
}

/** What the plan takes as it was seen last, where it did not look at everything. */
export const memoryEvents = ({ fromMemory = [] }: Plan): object[] =>
  fromMemory.length === 0
    ? []
    : [
        {
          type: "from_memory",
          resources: fromMemory.map(({ address, seenAt }) => ({ address, seen_at: seenAt ?? null })),
        },
      ];

export const findingEvent = (finding: Finding): object => ({ type: "finding", ...findingEntry(finding) });

export const findingEntry = ({
  code,
  severity,
  address,
  source,
  summary,
  detail,
  fix,
  refused,
  counterexample,
}: Finding): object => ({
  code,
  severity,
  address: address ?? null,
  file: source?.file ?? null,
  line: source?.line ?? null,
  summary,
  detail: detail ?? null,
  fix: fix ?? null,
  refused: refused ?? null,
  ...(counterexample === undefined ? {} : { counterexample }),
});

export const stepEvent = (event: StepEvent): object => ({
  type: "step",
  status: event.status,
  step: event.step,
  address: event.address,
  operation: event.operation,
  attempt: event.attempt,
  elapsed_ms: Math.round(event.elapsedMs),
  ...(event.message === undefined ? {} : { message: event.message }),
  ...(event.waitingMs === undefined ? {} : { waiting_ms: Math.round(event.waitingMs) }),
});

/** Which service, project, environment and state a command worked on. */
export interface Where {
  readonly service: string;
  readonly project?: string;
  readonly environment?: string;
  readonly state: string;
  /** What is checked out where the files are. */
  readonly commit?: string;
}

export interface SummaryInput {
  readonly command: string;
  readonly exitCode: number;
  /** Left out: true unless it failed (1) or was blocked (3). Pending changes and outside acts are no failure. */
  readonly ok?: boolean;
  readonly plan?: Plan;
  readonly run?: RunReport;
  readonly diagnostics: readonly Diagnostic[];
  readonly orphans: readonly Orphan[];
  readonly durationMs: number;
  readonly findings?: readonly Finding[];
  /** What it worked on; absent where it opened neither. */
  readonly where?: Where;
  /** What one command has to say beyond the common keys. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export function summaryLine(input: SummaryInput): object {
  const { command, exitCode, plan, run, where } = input;
  return {
    type: "summary",
    command,
    ok: input.ok ?? (exitCode !== 1 && exitCode !== 3),
    exit_code: exitCode,
    changes: countChanges(plan?.changes ?? []),
    steps: stepCounts(run),
    diagnostics: input.diagnostics.map(diagnosticEntry),
    orphans: input.orphans.map(({ kind, id, name, reason, missingSince }) => ({
      kind,
      id,
      name,
      reason,
      ...(missingSince === undefined ? {} : { missing_since: missingSince }),
    })),
    duration_ms: Math.round(input.durationMs),
    service: where?.service ?? null,
    project: where?.project ?? null,
    environment: where?.environment ?? null,
    state: where?.state ?? null,
    commit: where?.commit ?? null,
    outputs: outputsForPrograms(plan, run),
    findings: (input.findings ?? []).map(findingEntry),
    ...input.extra,
  };
}

const stepCounts = (run: RunReport | undefined): object => {
  const { done, failed, skipped, waiting } = run?.counts ?? { done: 0, failed: 0, skipped: 0, waiting: 0 };
  return { done, failed, skipped, waiting };
};

const diagnosticEntry = ({ severity, summary, address, source, code, detail, fix }: Diagnostic): object => ({
  severity,
  summary,
  address: address ?? null,
  file: source?.file ?? null,
  line: source?.line ?? null,
  code,
  ...(detail === undefined ? {} : { detail }),
  ...(fix === undefined ? {} : { fix }),
});
