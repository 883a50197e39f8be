/**
 * What `--json` prints: one value a line, with keys and an order of keys that other people's scripts depend on. A key
 * of the fixed format is always there, and is `null` where it has no value; `jsonLine` writes the value as one line.
 */
import type { Change } from "../core/diff/changes";
import type { Finding } from "../core/findings/finding";
import { inAddressOrder } from "../core/model/address";
import type { Diagnostic, SourcePosition } from "../core/model/diagnostic";
import type { Orphan } from "../core/model/recorded";
import { countChanges, type Plan } from "../core/plan/plan";
import type { Step } from "../core/plan/step";
import { printable } from "../core/text/printable";
import type { StepEvent } from "../engine/events";
import type { RunReport } from "../engine/run-plan";
import type { Owed } from "../kinds/vm/guest-steps";
import { costForPrograms } from "./cost-text";
import { outputsForPrograms } from "./output-lines";
import { owedForPrograms } from "./owed-text";
import { isUnfinished, resourceStandings } from "./run-standing";

/**
 * Control characters and direction marks are written as escapes: the value is the same, and a terminal does not act on
 * it.
 */
export const jsonLine = (value: object): string => `${printable(JSON.stringify(value))}\n`;

export const changeEvents = (plan: Plan): object[] => inAddressOrder(plan.changes).map(changeEvent);

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
  moved_from: change.movedFrom,
  file: change.source?.file ?? null,
  line: change.source?.line ?? null,
});

/** The steps that will be sent, in an order that keeps every `needs`. */
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

/** The resources whose last sighting the plan uses, where it did not look at everything. */
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

export const findingEntry = (finding: Finding): object => ({
  code: finding.code,
  severity: finding.severity,
  ...placeForPrograms(finding),
  summary: finding.summary,
  detail: finding.detail ?? null,
  fix: finding.fix ?? null,
  refused: finding.refused ?? null,
  counterexample: finding.counterexample,
});

const placeForPrograms = ({ address, source }: Pick<Diagnostic, "address" | "source">): object => ({
  address: address ?? null,
  file: source?.file ?? null,
  line: source?.line ?? null,
});

export const stepEvent = (event: StepEvent): object => ({
  type: "step",
  status: event.status,
  step: event.step,
  address: event.address,
  operation: event.operation,
  attempt: event.attempt,
  elapsed_ms: Math.round(event.elapsedMs),
  message: event.message,
  accepted: event.accepted,
  effect: event.effect,
  waiting_ms: event.waitingMs === undefined ? undefined : Math.round(event.waitingMs),
});

/** The service, project, environment and state that a command works on. */
export interface Where {
  /** Absent: the command asks none, and nothing here names one. */
  readonly service?: string;
  readonly project?: string;
  readonly environment?: string;
  readonly state: string;
  /** The commit that is checked out where the files are. */
  readonly commit?: string;
  /** The files that are not as they were committed; the commit ends in `-dirty` then. */
  readonly uncommitted?: readonly string[];
}

export interface SummaryInput {
  readonly command: string;
  readonly exitCode: number;
  /**
   * Left out: true, unless the exit code is 1 (failed) or 3 (blocked). Pending changes (2) and waits (4) are no
   * failure.
   */
  readonly ok?: boolean;
  readonly plan?: Plan;
  readonly run?: RunReport;
  readonly diagnostics: readonly Diagnostic[];
  readonly orphans: readonly Orphan[];
  readonly durationMs: number;
  readonly findings?: readonly Finding[];
  /** What the command works on; absent where it opened neither a service nor a state. */
  readonly where?: Where;
  /** Commands that are owed when the command ends. Absent: as the run or the plan has them. */
  readonly owed?: readonly Owed[];
  /** Keys that one command adds to the common ones. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

export function summaryLine(input: SummaryInput): object {
  const { command, exitCode, plan, run, where } = input;
  // What failed, waits or lacks a consent is about what a line of the files declares.
  const declared = new Map<string | undefined, SourcePosition | undefined>(
    plan?.changes.map(({ address, source }) => [address, source]),
  );
  const told = (key: Exclude<keyof NonNullable<typeof where>, "uncommitted">) => where?.[key] ?? null;
  return {
    type: "summary",
    command,
    ok: input.ok ?? (exitCode !== 1 && exitCode !== 3),
    exit_code: exitCode,
    changes: countChanges(plan?.changes ?? []),
    steps: stepCounts(run),
    diagnostics: input.diagnostics.map((one) =>
      diagnosticEntry({ ...one, source: one.source ?? declared.get(one.address) }),
    ),
    orphans: input.orphans.map(({ kind, id, name, reason, missingSince }) => ({
      kind,
      id,
      name,
      reason,
      missing_since: missingSince,
    })),
    duration_ms: Math.round(input.durationMs),
    service: told("service"),
    project: told("project"),
    environment: told("environment"),
    state: told("state"),
    commit: told("commit"),
    uncommitted: where?.uncommitted,
    outputs: outputsForPrograms(plan, run),
    findings: (input.findings ?? []).map(findingEntry),
    unseen: unseenSteps(run),
    owed: owedForPrograms(input.owed ?? run?.owed ?? (run === undefined ? plan?.owed : undefined) ?? []),
    resources:
      plan === undefined || run === undefined || !isUnfinished(run)
        ? undefined
        : resourceStandings(run, plan).map(({ address, standing, waitsFor }) => ({
            address,
            standing,
            waits_for: waitsFor ?? null,
          })),
    cost: plan?.cost === undefined ? undefined : costForPrograms(plan.cost),
    ...input.extra,
  };
}

const unseenSteps = (run: RunReport | undefined): number =>
  (run?.steps ?? []).filter(({ result }) => "unseen" in result && result.unseen !== undefined).length;

const stepCounts = (run: RunReport | undefined): object => {
  const { done, failed, skipped, waiting } = run?.counts ?? { done: 0, failed: 0, skipped: 0, waiting: 0 };
  return { done, failed, skipped, waiting };
};

const diagnosticEntry = ({ severity, summary, code, detail, fix, ...place }: Diagnostic): object => ({
  severity,
  summary,
  ...placeForPrograms(place),
  code,
  detail,
  fix,
});
