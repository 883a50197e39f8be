/**
 * `reconcile watch`: looks again and again, and corrects with --apply under the same consents as apply. The files are
 * read anew each round, so a checkout that moves on is followed. With --apply one watcher at a time holds the state;
 * the others stand by.
 */

import { readFileSync } from "node:fs";
import { parseDuration } from "../../config/durations";
import { countOpenPorts, exposureOf } from "../../core/exposure/exposure";
import { missingConsents } from "../../core/plan/consent";
import { countChanges, sortChanges } from "../../core/plan/plan";
import { judgeReachability } from "../../core/reachability/findings";
import { hasNothingToDo } from "../../engine/apply";
import { awaitInterrupted } from "../../engine/await-interrupted";
import { findDrift } from "../../engine/drift";
import type { Prepared } from "../../engine/plan";
import type { RunReport } from "../../engine/run-plan";
import { ScopeRefused } from "../../engine/scope";
import { type Observation, type RoundResult, watch } from "../../engine/watch";
import { todayUtc } from "../../outside/clock";
import { afterRound, afterStep, roundEvent, roundLine, startStatus } from "../../report/watch-status";
import { LeaseLost, StateLocked, type StateSession, type StateStore } from "../../store/store";
import { command, type Invocation } from "../command";
import { createPorts, fail, holderOf, newLineage, openService, openStore, systemClock } from "../compose";
import { asDiagnostics } from "../crash";
import { commonFlags, consentFlags } from "../flags";
import { carryOut, grantsOf, planOptions, prepareBeside } from "../planning";
import { reviewPlan } from "../review";
import type { Session } from "../session";
import { startStatusServer } from "../status-server";
import { readWhenStill } from "../still-files";
import { listenForStop } from "../stop-signals";
import { withRoundTrace } from "../with-trace";
import { readWorkspace, type Workspace } from "../workspace";

export const watchCommand = command({
  usage: "watch [FILE|DIR]… [--interval 10m] [--apply] [--listen HOST:PORT]",
  summary: "looks again and again; corrects with --apply; health and metrics",
  section: "From a file to the service",
  examples: [["reconcile watch --interval 10m", "looks every ten minutes, until it is stopped"]],
  longRunning: true,
  flags: [
    "file",
    "interval",
    "apply",
    "listen",
    "adopt",
    "accept-service",
    "deny",
    "strict",
    ...consentFlags,
    "allow-empty",
    ...commonFlags,
  ],
  run,
});

type Ended = { readonly result: RoundResult; readonly seen?: Observation };
type Stop = ReturnType<typeof listenForStop>;

async function run(invocation: Invocation): Promise<number> {
  const { flags, output } = invocation;
  const intervalMs = parseDuration(flags.interval ?? "10m");
  if (intervalMs === undefined)
    throw fail("cli/bad-flag", `--interval ${flags.interval} is no duration`, "--interval 10m (30s, 1h, …)");
  // What is wrong with the files now is told now, not in an hour's log.
  const first = readWorkspace(invocation);
  const store = openStore(first, flags);
  const lease = flags.apply === true ? createLease(store, invocation) : undefined;
  const stop = listenForStop(output);
  let present = startStatus(Date.now(), intervalMs);
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
      round: () =>
        withRoundTrace(
          "reconcile watch round",
          () =>
            oneRound(invocation, store, lease, stop, (event) => {
              if (event.type === "step") present = afterStep(present, event);
            }),
          ({ result }) => result,
        ),
      ended(round, nextInMs) {
        present = afterRound(present, round, nextInMs);
        if (stop.soft.aborted && round.result.end === "failed") return;
        output.event(roundEvent(round, nextInMs));
        output.print(roundLine(round, nextInMs));
      },
    });
  } finally {
    await lease?.letGo();
    await server?.close();
    stop.close();
  }
  return output.finish({ exitCode: 0 });
}

/** A file that stays as it is for so long is taken for whole. */
const stillMs = 500;

function textNow(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

type Listener = Parameters<typeof createPorts>[2];

async function oneRound(
  invocation: Invocation,
  store: StateStore,
  lease: Lease | undefined,
  stop: Stop,
  listen: Listener,
): Promise<Ended> {
  try {
    const held = lease === undefined ? store : await lease.hold();
    const workspace = await readWhenStill((): Workspace => readWorkspace(invocation), {
      textOf: textNow,
      pause: () => systemClock.sleep(stillMs, stop.soft),
    });
    const service = await openService(workspace, invocation);
    try {
      return await look({ invocation, workspace, service, store: held, signal: stop.soft }, stop, listen);
    } finally {
      await service.close();
    }
  } catch (error) {
    if (error instanceof StateLocked) return { result: { end: "standby", why: error.message } };
    if (error instanceof ScopeRefused) {
      const why = error.diagnostics.map(({ summary, fix }) => `${summary}: ${fix}`).join("; ");
      return { result: { end: "blocked", why } };
    }
    if (error instanceof LeaseLost) lease?.lost();
    const diagnostics = asDiagnostics(error);
    if (diagnostics === undefined) throw error;
    return { result: { end: "failed", why: diagnostics.map(({ summary }) => summary).join("; ") } };
  }
}

async function look(session: Session, stop: Stop, listen: Listener): Promise<Ended> {
  const { invocation, store, service, workspace } = session;
  const applies = invocation.flags.apply === true;
  if (applies) {
    const ports = createPorts(service, workspace, () => undefined);
    await awaitInterrupted(store, service.client, ports, newLineage(), stop.soft);
  }
  const prepared = await prepareBeside(session, planOptions(invocation.flags));
  const drift = await findDrift(service.client, prepared.state, prepared.plan.options);
  const seen = observation(
    prepared,
    drift.drifts.map(({ address }) => address),
  );
  const review = await reviewPlan(session, prepared);
  const problems = review.diagnostics.filter(({ severity }) => severity === "error");
  if (review.exitCode === 1)
    return { result: { end: "failed", why: problems.map(({ summary }) => summary).join("; ") }, seen };
  const { plan } = prepared;
  if (hasNothingToDo(plan, prepared) || (!applies && plan.steps.length === 0 && drift.drifts.length === 0))
    return { result: { end: drift.drifts.length === 0 ? "in_sync" : "pending" }, seen };
  if (!applies) return { result: { end: "pending" }, seen };
  if (review.exitCode === 3)
    return {
      result: { end: "blocked", why: problems.map(({ summary, detail }) => [summary, detail].join(": ")).join("; ") },
      seen,
    };
  const grants = grantsOf(invocation.flags);
  const missing = missingConsents(plan.consents, grants);
  if (missing.length > 0)
    return {
      result: { end: "blocked", why: missing.map(({ detail, grant }) => `${detail}: ${grant}`).join("; ") },
      seen,
    };
  return { result: resultOf(await carryOut(session, prepared, grants, stop, listen)), seen };
}

function resultOf({ broken, unclosed, counts, interrupted, steps }: RunReport): RoundResult {
  const stateFailure = broken ?? unclosed;
  if (stateFailure !== undefined) throw stateFailure;
  const said = (end: string): string =>
    steps
      .flatMap(({ step, result }) => (result.end === end ? `${step.address}: ${result.message ?? end}` : []))
      .join("; ");
  if (counts.failed > 0) return { end: "failed", why: said("failed") || said("unknown") };
  if (interrupted) return { end: "failed", why: "stopped before it was done" };
  return counts.waiting > 0 ? { end: "blocked", why: said("waiting") } : { end: "applied" };
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
    differs: sortChanges(prepared.plan.changes).map(({ address, action, fields }) =>
      action === "update" && fields.length > 0
        ? `${address} (${[...new Set(fields.map(({ field }) => field))].join(", ")})`
        : `${address} (${action})`,
    ),
    resources: prepared.state.resources.size,
    ...(verdicts.length === 0
      ? {}
      : { assertions: verdicts.map(({ assertion, verdict }) => ({ label: assertion.label, verdict })) }),
    ...(worldOpenPorts === undefined ? {} : { worldOpenPorts }),
  };
}

interface Lease {
  /** The store, as whoever holds its lock sees it. Rejects with StateLocked while somebody else does. */
  hold(): Promise<StateStore>;
  lost(): void;
  letGo(): Promise<void>;
}

/** One lock for all rounds: every run in them writes under it. */
function createLease(store: StateStore, invocation: Invocation): Lease {
  let session: StateSession | undefined;
  return {
    async hold() {
      session ??= await store.lock(holderOf(invocation.command));
      const mine = session;
      return { ...store, read: () => mine.read(), lock: async () => ({ ...mine, release: async () => undefined }) };
    },
    lost() {
      session = undefined;
    },
    async letGo() {
      await session?.release();
      session = undefined;
    },
  };
}
