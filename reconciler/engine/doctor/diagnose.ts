/**
 * Learns what a deployment of the service really has: whether it is there and takes the credential, where the reads
 * beyond the contract are, how their lists go on, where their records show what, and how it says no. Sends reads and
 * nothing else; trial/ makes things as well. What it did not see it does not claim: found, not found where it looked,
 * and not tried are three things. The report is a value; report/doctor-text.ts prints it.
 */
import { kindRows } from "../../core/model/kinds";
import {
  type AssumedOperation,
  assumedOperations,
  type ListOperation,
  type Operation,
  rowOf,
} from "../../core/model/operation";
import { isGone } from "../../core/model/outcome";
import { keysOf, onlyDefined } from "../../core/text/objects";
import type { Dialect } from "../../dialect/dialect";
import { type LearntEnvelope, learnRefusal } from "../../dialect/learn/envelope";
import type { Made } from "../../dialect/learn/place";
import { stylesOfRead } from "../../dialect/learn/where";
import { learnFromAnswer, type ShownAnswer } from "./answers";
import { contractRead, enter, judgeFirst, lookNowhere, nobody, notThisService, nowhere, saidOf } from "./enter";
import { findAttachments } from "./find-attachments";
import { findList } from "./find-list";
import { findOne, readIdsThatArePaths, readRules, tryVolumeRead } from "./find-one";
import { fittingDialect, withRegionFields } from "./fit";
import { Learnings } from "./learnings";
import type { DoctorPorts, SeenAnswer } from "./look";
import { goOnCounted } from "./read-whole";
import {
  type DialectBase,
  type DoctorReport,
  isGivenRoute,
  type KnownIds,
  keptIfGiven,
  notTried,
  saidMissing,
} from "./report";
import { wordsSeen } from "./states";

export interface DiagnoseOptions {
  /** The file from which the doctor starts. */
  readonly base?: DialectBase;
  readonly known?: KnownIds;
  /** Operations that, by a person's word, this service does not have. */
  readonly none?: ReadonlySet<AssumedOperation>;
  /** Bodies of answers that were not asked for here: samples, or what a trial was answered. */
  readonly answers?: ReadonlyMap<Operation, ShownAnswer>;
  /** An operation that was not found is not looked for again. */
  readonly notAgain?: ReadonlySet<AssumedOperation>;
  /** Lists that left out their key in an earlier look. */
  readonly emptied?: ReadonlySet<ListOperation>;
  /** What a trial has made, by which more can be told. */
  readonly made?: Made;
}

export async function diagnoseService(
  given: DoctorPorts,
  dialect: Dialect,
  {
    known = {},
    notAgain = new Set(),
    none = new Set(),
    answers = new Map(),
    base,
    emptied,
    made,
  }: DiagnoseOptions = {},
): Promise<DoctorReport> {
  const { ports, seen, authorization } = await enter(given, dialect.authorization);
  const first = judgeFirst(seen);
  if (!first.reachable || first.credential === "refused")
    return {
      ...first,
      operations: [],
      records: [],
      unknownVmStates: [],
      likelyStates: {},
      open: [],
      dialect,
      given: dialect,
      samples: new Map(),
      emptied: new Set(),
    };
  const learnings = new Learnings(ports, dialect, known, base, made);
  for (const operation of emptied ?? []) learnings.emptied.add(operation);
  learnings.nowhere = await lookNowhere(ports);
  learnings.ofNobody = seen;
  await examine(learnings, (operation) => !notAgain.has(operation), { none, answers });
  // Then what it says of a volume that nobody has means nothing.
  const isSaidOfEverything =
    learnings.nowhere.status !== undefined &&
    saidOf(nowhere, learnings.nowhere) === saidOf(contractRead("volume", nobody).path, seen);
  return reportOf(learnings, first, seen, authorization, isSaidOfEverything);
}

async function examine(
  learnings: Learnings,
  isLookedFor: (operation: AssumedOperation) => boolean,
  { none, answers }: Required<Pick<DiagnoseOptions, "none" | "answers">>,
): Promise<void> {
  // What a person told of one list tells how the others are written.
  for (const kind of order) {
    const route = learnings.given.operations[`${kind}.list`];
    const { path } = rowOf(`${kind}.list`);
    const isTold = route !== null && (route.path !== path || route.query !== undefined || route.body !== undefined);
    learnings.styles.push(...(isTold ? stylesOfRead(route, kind) : []));
  }
  // Kinds to which others refer come first: the list of flavors tells a VM's flavor.
  for (const kind of ["flavor", "image", "region", ...keysOf(kindRows)] as const) {
    if (!none.has(`${kind}.list`)) await findList(learnings, `${kind}.list`, isLookedFor(`${kind}.list`));
    learnings.learn(kind);
  }
  // What volumes refer to tells which id of a VM counts.
  learnings.learn("vm");
  learnings.goOnAlike();
  learnings.oneOrManyAlike();
  await goOnCounted(learnings);
  await readIdsThatArePaths(learnings);
  for (const operation of ["vm.get", "group.get"] as const)
    if (!none.has(operation)) await findOne(learnings, operation, isLookedFor(operation));
  await tryVolumeRead(learnings);
  await readRules(learnings);
  for (const [operation, answer] of answers) learnFromAnswer(learnings, operation, answer);
  // Once volumes are known, a VM's list of them can be told; and once VMs are, what a volume hangs on.
  for (const kind of keysOf(kindRows)) learnings.learn(kind);
  await findAttachments(learnings);
  for (const operation of none) learnings.findings.set(operation, saidMissing(operation));
  for (const operation of assumedOperations)
    if (!none.has(operation) && rowOf(operation).kind !== "read")
      learnings.findings.set(operation, notTried(withRegionFields(learnings), operation));
}

/** What the dialect understands already is not learnt again. */
function refusalOf({ lists, given }: Learnings, { status, body, outcome }: SeenAnswer): LearntEnvelope | undefined {
  const successes = [...lists.values()].flatMap(({ bodies }) => bodies);
  const refusal = status === undefined ? undefined : learnRefusal({ status, body }, successes);
  if (refusal === undefined) return undefined;
  const { error, success } = refusal.envelope;
  const envelope = onlyDefined({
    error: given.envelope.error.message.length === 0 ? error : undefined,
    success: given.envelope.success === undefined ? success : undefined,
  });
  // In its own envelope a 404 is its own, and without one it may be a proxy's: a line for the status would believe both.
  const isToldByEnvelope = envelope.error !== undefined && (status === 404 || status === 410);
  const errors = isGone(outcome) || isToldByEnvelope ? [] : refusal.errors;
  return errors.length + Object.keys(envelope).length === 0 ? undefined : { ...refusal, envelope, errors };
}

const order = [...keysOf(kindRows), "flavor", "image", "region"] as const;

function reportOf(
  learnings: Learnings,
  first: Pick<DoctorReport, "reachable" | "credential" | "diagnostics">,
  missing: SeenAnswer,
  authorization: DoctorReport["authorization"],
  isSaidOfEverything: boolean,
): DoctorReport {
  const { given, samples, file: base } = learnings;
  const refusal = refusalOf(learnings, missing);
  const findings = assumedOperations.map((operation) =>
    keptIfGiven({ given, base }, learnings.findings.get(operation) ?? notTried(given, operation)),
  );
  const isFound = findings.some(({ verdict }) => verdict === "found");
  // One that a person showed may well be empty, where it is not what the service says of everything.
  const isRead = [...learnings.lists].some(
    ([operation, { items, route, bodies }]) =>
      items.length > 0 ||
      (isGivenRoute({ given, base }, operation) &&
        !learnings.isSaidOfNobody(route.path, { ...missing, body: bodies[0] })),
  );
  const isProven = isSaidOfEverything
    ? first.credential === "accepted" || isRead
    : first.credential === "accepted" || isFound || refusal !== undefined;
  const { unknown, likely } = wordsSeen(learnings);
  return {
    ...first,
    reachable: isProven,
    credential: isProven && isFound ? ("accepted" as const) : first.credential,
    ...onlyDefined({ authorization }),
    operations: isProven ? findings : [],
    records: [...learnings.records.values()].sort(
      (one, other) => order.indexOf(one.record) - order.indexOf(other.record),
    ),
    unknownVmStates: unknown,
    likelyStates: likely,
    ...onlyDefined({ refusal }),
    given,
    ...onlyDefined({ base }),
    dialect: fittingDialect(learnings, findings, likely, refusal, authorization),
    samples,
    emptied: learnings.emptied,
    open: learnings.open,
    diagnostics: isProven
      ? first.diagnostics.filter(({ code }) => code !== "service/not_proven" || refusal === undefined)
      : [notThisService(missing.outcome)],
  };
}
