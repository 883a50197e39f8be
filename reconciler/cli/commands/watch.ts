/**
 * `reconcile watch`: looks again and again, and with --apply corrects under the same consents as apply. The files are
 * read anew each round, so that it follows a checkout that changes. With --apply one watcher at a time holds the state;
 * the others stand by.
 */

import { type Address, inAddressOrder } from "../../core/model/address";
import { errorsAmong } from "../../core/model/diagnostic";
import { type Consent, type Grants, missingConsents } from "../../core/plan/consent";
import type { LookMemory } from "../../core/plan/memory";
import { countChanges, type Plan } from "../../core/plan/plan";
import { nothingSwept, seenSince, without } from "../../core/plan/sweep";
import { unseenTexts } from "../../core/plan/unseen";
import { seenAfter } from "../../core/state/fold";
import { fewParts } from "../../core/text/list-text";
import { hasNothingToDo } from "../../engine/apply";
import { findDrift } from "../../engine/drift";
import type { EngineEvent } from "../../engine/events";
import type { Prepared } from "../../engine/plan";
import { isStateError } from "../../engine/recorder";
import { notSeenIn, type RunReport } from "../../engine/run-plan";
import { ScopeRefused } from "../../engine/scope";
import { isWorthSpreading, sweepDuring } from "../../engine/sweep";
import { type Observation, type RoundResult, watch } from "../../engine/watch";
import { countOpenPorts, exposureOf } from "../../kinds/group/exposure/exposure";
import { judgeReachability } from "../../kinds/group/reachability/findings";
import { todayUtc } from "../../outside/clock";
import { mostOfGiven, readPlainFile } from "../../outside/files";
import { notSeenLines } from "../../report/plan-outline";
import {
  afterStep,
  placedTexts,
  roundEvent,
  roundLine,
  startStatus,
  statusAfterRound,
} from "../../report/watch-status";
import { withStop } from "../../store/patience";
import { LeaseLost, StateLocked, type StateSession, type StateStore } from "../../store/store";
import { command, type Invocation } from "../command";
import {
  commandHolder,
  fail,
  openWorkspaceService,
  readDurationFlag,
  type Service,
  stateLocation,
  systemClock,
} from "../compose";
import { grantsInFlags } from "../consent";
import { asDiagnostics } from "../crash";
import { projectOfSession } from "../externals";
import { commonFlags, consentFlags } from "../flags";
import { planOptions } from "../plan-options";
import { carryOutPlan, prepareBeside } from "../planning";
import { reviewPlan } from "../review";
import type { Session } from "../session";
import { startStatusServer } from "../status-server";
import { readWhenStill } from "../still-files";
import { listenForStop } from "../stop-signals";
import { openLocatedStore } from "../with-session";
import { withRoundTrace } from "../with-trace";
import { filesOfFlags, pathsOf, readWorkspace, type Workspace } from "../workspace";

export const watchCommand = command({
  usage: "watch [FILE|DIR]… [--interval 10m] [--apply] [--listen HOST:PORT]",
  summary: "looks again and again; corrects with --apply; health and metrics",
  section: "From a file to the service",
  examples: [
    ["reconcile watch --interval 10m", "looks every ten minutes, until it is stopped"],
    ["reconcile watch --refresh=changed --max-age 2h", "in each round at what changed, and at its share of the rest"],
  ],
  longRunning: true,
  flags: [
    "file",
    "interval",
    "apply",
    "listen",
    "refresh",
    "max-age",
    "adopt",
    "accept-service",
    "deny",
    "strict",
    ...consentFlags,
    "allow-empty",
    ...commonFlags,
  ],
  async run(invocation) {
    const { flags, output } = invocation;
    const intervalMs = readDurationFlag(flags.interval ?? "10m", "--interval");
    if (flags.refresh === "none")
      throw fail("cli/bad-flag", "a watch that looks at nothing watches nothing", "--refresh=changed, or leave it out");
    // Errors in the files end the command at its start, not in its first round.
    const first = readWorkspace(invocation);
    const stop = listenForStop(output);
    const store = withStop(openLocatedStore(invocation, first), stop.soft, stop.atOnce);
    const place = stateLocation(first, flags);
    const lease = flags.apply === true ? createLease(store, invocation) : undefined;
    let present = startStatus(systemClock.now(), intervalMs);
    let asked = invocation;
    const memory = rememberRounds(invocation, intervalMs, stop.soft);
    const listen = flags.listen ?? "127.0.0.1:9464";
    const server = listen === "none" ? undefined : await startStatusServer(listen, () => present);
    const what = flags.apply === true ? "correcting" : "looking only; --apply corrects";
    output.note(
      `Watching every ${flags.interval ?? "10m"}, ${what}${server === undefined ? "" : `; ${server.url}/metrics`}`,
    );
    try {
      await watch({
        intervalMs,
        clock: systemClock,
        random: Math.random,
        signal: stop.soft,
        round: async () => {
          const ended = await withRoundTrace(
            "reconcile watch round",
            () =>
              watchRound(asked, { store, place }, lease, memory, stop, (event) => {
                if (event.type === "step") present = afterStep(present, event);
              }),
            ({ result }) => result,
          );
          // The state has the service by now. What it does not show later is not gone because of a flag of long ago.
          if (flags.apply === true && (ended.result.end === "applied" || ended.result.end === "in_sync"))
            asked = { ...invocation, flags: { ...flags, "accept-service": undefined } };
          return ended;
        },
        ended(round, nextInMs) {
          present = statusAfterRound(present, round, nextInMs);
          if (stop.soft.aborted && round.result.end === "failed") return;
          output.event(roundEvent(round, nextInMs));
          output.print(roundLine(round, nextInMs));
        },
        between: memory.between,
      });
    } finally {
      try {
        await lease?.letGo();
      } finally {
        await server?.close();
        stop.close();
      }
    }
    return output.finish({ exitCode: 0 });
  },
});

type RoundEnded = { readonly result: RoundResult; readonly seen?: Observation };
type StopListener = ReturnType<typeof listenForStop>;

/** A file that stays the same for this long is taken for whole. */
const stillMs = 500;

type Listener = (event: EngineEvent) => void;

async function watchRound(
  invocation: Invocation,
  { store, place }: { readonly store: StateStore; readonly place: string },
  lease: Lease | undefined,
  memory: RoundMemory,
  stop: StopListener,
  listen: Listener,
): Promise<RoundEnded> {
  try {
    const held = lease === undefined ? store : await lease.hold();
    const workspace = await readWhenStill((): Workspace => readWorkspace(invocation), {
      named: () => namedFiles(invocation),
      textOf: textIfPlain,
      pause: () => systemClock.sleep(stillMs, stop.soft),
    });
    if (stateLocation(workspace, invocation.flags) !== place)
      return { result: { end: "failed", why: elsewhere(store) } };
    const service = await openWorkspaceService(workspace, invocation);
    try {
      const session = { invocation, workspace, service, store: held, signal: stop.soft };
      return await lookAtService(session, memory, stop, listen);
    } finally {
      await service.close();
    }
  } catch (error) {
    if (error instanceof StateLocked) return { result: { end: "standby", why: error.message } };
    if (error instanceof ScopeRefused) {
      const why = error.diagnostics.map(({ summary, fix }) => `${summary}: ${fix}`).join("; ");
      return { result: { end: "blocked", why } };
    }
    if (isStateError(error)) lease?.failed(error);
    const diagnostics = asDiagnostics(error);
    if (diagnostics === undefined) throw error;
    return { result: { end: "failed", why: placedTexts(diagnostics) } };
  }
}

/** The files of the desired state, and those that the command line or the environment names beside them. */
const namedFiles = (invocation: Invocation): readonly string[] => [
  ...new Set([...pathsOf(invocation), ...filesOfFlags(invocation.flags)]),
];

function textIfPlain(file: string): string | undefined {
  const read = readPlainFile(file, mostOfGiven);
  return "text" in read ? read.text : undefined;
}

/** What others make meanwhile is recorded in the other place: a round on this one would make it a second time. */
const elsewhere = ({ location }: StateStore): string =>
  `the files name another state than ${location}, with which this watch began; nothing was looked at: start the watch again`;

/** What earlier rounds saw, so that a round need not look at everything. */
interface RoundMemory {
  readonly now: () => Pick<Session, "memory" | "swept">;
  noteRound(session: Session, prepared: Prepared, drifted: readonly Address[]): void;
  /** These resources were changed, so what was seen of them no longer holds. */
  forget(changed: ReadonlySet<Address>): void;
  readonly between: (pauseMs: number) => Promise<void>;
}

function rememberRounds(invocation: Invocation, intervalMs: number, signal: AbortSignal): RoundMemory {
  const { maxAgeMs } = planOptions(invocation.flags);
  if (maxAgeMs !== undefined) return rememberShares(maxAgeMs, intervalMs, signal);
  return invocation.flags.refresh === undefined && isWorthSpreading(intervalMs)
    ? sweepBetween(invocation, intervalMs, signal)
    : rememberNothing(signal);
}

const rememberNothing = (signal: AbortSignal): RoundMemory => ({
  now: () => ({}),
  noteRound: () => undefined,
  forget: () => undefined,
  between: (ms) => systemClock.sleep(ms, signal),
});

/**
 * Each round looks at its share of the resources, so that all of them are seen once within `maxAgeMs` and no round has
 * a peak of requests.
 */
function rememberShares(maxAgeMs: number, intervalMs: number, signal: AbortSignal): RoundMemory {
  let memory: LookMemory = { seen: undefined, again: new Set(), share: Math.min(1, intervalMs / maxAgeMs) };
  return {
    ...rememberNothing(signal),
    now: () => ({ memory }),
    noteRound(_, { sightings, plan }, drifted) {
      const seen = sightings === undefined ? memory.seen : seenAfter(memory.seen, sightings);
      // A resource that differs is looked at in every round until it no longer differs.
      memory = { ...memory, seen, again: new Set([...drifted, ...plan.changes.map(({ address }) => address)]) };
    },
  };
}

/** How many intervals a sighting may be old before a round looks at everything by itself. */
const slack = 1.5;

/**
 * The first round looks at everything at once. Later the look is spread over the pauses between rounds, and a round
 * itself looks only at what it touches.
 */
function sweepBetween(invocation: Invocation, intervalMs: number, signal: AbortSignal): RoundMemory {
  let swept = nothingSwept;
  let last: Pick<Prepared, "desired" | "state"> | undefined;
  let workspace: Workspace | undefined;
  return {
    now: () => ({ swept }),
    noteRound(session, prepared) {
      swept = prepared.swept ?? nothingSwept;
      last = prepared;
      workspace = session.workspace;
    },
    forget(changed) {
      if (last !== undefined) swept = without(swept, last.state, changed);
    },
    async between(pauseMs) {
      const [known, opened] = [last, workspace];
      last = undefined;
      if (known === undefined || opened === undefined) {
        swept = nothingSwept;
        return systemClock.sleep(pauseMs, signal);
      }
      let service: Service | undefined;
      try {
        const client = async () => {
          service = await openWorkspaceService(opened, invocation);
          return service.client;
        };
        const now = systemClock.now();
        swept = await sweepDuring({ ...known, swept, client, clock: systemClock, pauseMs, signal });
        swept = seenSince(swept, known.state, now - (slack - 1) * intervalMs);
      } catch (error) {
        // The round meets the same error and reports it.
        if (asDiagnostics(error) === undefined) throw error;
        swept = nothingSwept;
      } finally {
        await service?.close();
      }
    },
  };
}

async function lookAtService(
  opened: Session,
  memory: RoundMemory,
  stop: StopListener,
  listen: Listener,
): Promise<RoundEnded> {
  const session = { ...opened, ...memory.now() };
  const { invocation, service } = session;
  const applies = invocation.flags.apply === true;
  if (applies) await projectOfSession(session).settle(stop.soft);
  const prepared = await prepareBeside(session, planOptions(invocation.flags));
  const drift = await findDrift(service.client, prepared.state, prepared.plan.options, prepared.live);
  const drifted = drift.drifts.map(({ address }) => address);
  memory.noteRound(session, prepared, drifted);
  const seen = observation(prepared, drifted);
  const review = await reviewPlan(session, prepared);
  const problems = errorsAmong(review.diagnostics);
  if (review.exitCode === 1) return { result: { end: "failed", why: placedTexts(problems) }, seen };
  const { plan } = prepared;
  if (hasNothingToDo(plan, prepared) || (!applies && plan.steps.length === 0 && drift.drifts.length === 0))
    return { result: drift.drifts.length === 0 ? inSync(plan) : { end: "pending" }, seen };
  if (!applies) return { result: { end: "pending" }, seen };
  if (review.exitCode === 3)
    return {
      result: { end: "blocked", why: problems.map(({ summary, detail }) => [summary, detail].join(": ")).join("; ") },
      seen,
    };
  const grants: Grants = { ...grantsInFlags(invocation.flags), standing: true };
  const missing = missingConsents(plan.consents, grants);
  if (missing.length > 0)
    return { result: { end: "blocked", why: missing.map((one) => `${one.detail}: ${wordFor(one)}`).join("; ") }, seen };
  const result = roundResult(await carryOutPlan(session, prepared, grants, stop, listen));
  memory.forget(new Set([...plan.changes, ...plan.steps].map(({ address }) => address)));
  return { result, seen };
}

function inSync(plan: Plan): RoundResult {
  const notSeen = notSeenLines(plan);
  return { end: "in_sync", ...(notSeen.length > 0 && { why: fewParts(notSeen, 3) }) };
}

/** What was given at the start of a watch does not cover it: a person has to look first. */
const wordFor = ({ grant, unproven }: Consent): string =>
  unproven === true ? `reconcile apply ${grant}, by a person who has looked` : grant;

function roundResult(report: RunReport): RoundResult {
  const { broken, unclosed, counts, interrupted, steps } = report;
  const stateFailure = broken ?? unclosed;
  if (stateFailure !== undefined) throw stateFailure;
  const said = (end: string): string =>
    steps
      .flatMap(({ step, result }) => (result.end === end ? `${step.address}: ${result.message ?? end}` : []))
      .join("; ");
  if (counts.failed > 0) return { end: "failed", why: said("failed") || said("unknown") };
  if (interrupted) return { end: "failed", why: "stopped before it was done" };
  if (counts.waiting > 0) return { end: "blocked", why: said("waiting") };
  const notSeen = notSeenIn(report);
  return notSeen.length > 0 ? { end: "failed", why: unseenTexts(notSeen) } : { end: "applied" };
}

function observation(prepared: Prepared, drifted: readonly string[]): Observation {
  const { verdicts } = judgeReachability(
    { ...prepared, plan: { ...prepared.plan, changes: [], steps: [] } },
    { today: todayUtc(), about: "looked" },
  );
  const worldOpenPorts = countOpenPorts(exposureOf(prepared));
  return {
    drifted,
    pending: countChanges(prepared.plan.changes),
    differs: inAddressOrder(prepared.plan.changes).map(({ address, action, fields }) =>
      action === "update" && fields.length > 0
        ? `${address} (${[...new Set(fields.map(({ field }) => field))].join(", ")})`
        : `${address} (${action})`,
    ),
    resources: prepared.state.resources.size,
    assertions:
      verdicts.length === 0
        ? undefined
        : verdicts.map(({ assertion, verdict }) => ({ label: assertion.label, verdict })),
    worldOpenPorts,
  };
}

interface Lease {
  /**
   * Answers with the store as the holder of its lock sees it. Rejects with StateLocked while another process holds the
   * lock.
   */
  hold(): Promise<StateStore>;
  /** Something was not written, or nobody knows whether it was: the next round locks and reads anew. */
  failed(error: Error): void;
  letGo(): Promise<void>;
}

/** One lock for all rounds: every run in them writes under it. */
function createLease(store: StateStore, invocation: Invocation): Lease {
  let session: StateSession | undefined;
  let isDoubtful = false;
  const letGo = async (): Promise<void> => {
    await session?.release();
    session = undefined;
    isDoubtful = false;
  };
  return {
    async hold() {
      // Kept until its place answers: a lock without a lease stays where nobody lets it go.
      if (isDoubtful) await letGo();
      session ??= await store.lock(commandHolder(invocation.command));
      const mine = session;
      return { ...store, read: () => mine.read(), lock: async () => ({ ...mine, release: async () => undefined }) };
    },
    failed(error) {
      if (error instanceof LeaseLost) session = undefined;
      isDoubtful = session !== undefined;
    },
    letGo,
  };
}
