/**
 * Carries out one step: finds who performs its operation. A performer sends the request, judges how it ended, looks
 * before repeating, waits where the service works on, and writes down what became true. Which step comes when is the
 * scheduler's business.
 */
import { toSay } from "../core/model/fix";
import type { Kind } from "../core/model/kinds";
import { stepChangesOf } from "../core/plan/record-patch";
import type { ActionOf, Step, StepAction, StepOperation } from "../core/plan/step";
import { inShell } from "../core/text/in-shell";
import { groupPerformers } from "../kinds/group/perform";
import { performUsual } from "../kinds/usual/perform";
import { vmPerformers } from "../kinds/vm/perform";
import { volumePerformers } from "../kinds/volume/perform";
import { doubtOf } from "./confirm-gone";
import { fillIn, plainText } from "./fill-in";
import { oweFirst, performDuty, stoppedWith, toldBy } from "./guest";
import { doneAndSeen, idOf, isoNow, type Performer, type Performers, type Run, type StepResult } from "./run";

export async function performStep(step: Step, run: Run): Promise<StepResult> {
  const refused = refuseLoss(step, run);
  if (refused !== undefined) return refused;
  const filled = await fillIn(step, run);
  if ("end" in filled) return filled.end;
  const { action } = filled;
  // A kind without performers of its own has requests that the compiler does not know.
  if (!Object.hasOwn(performers, action.operation)) return performUsual(step, run);
  return doubtingNotFound(step, await perform(action.operation, await oweFirst(step, run), action, run), run);
}

/** A not-found of what no look has shown says what may be behind it, as that of its delete does. */
function doubtingNotFound({ address }: Step, result: StepResult, run: Run): StepResult {
  if (result.end !== "failed" || result.code !== "service/not_found" || result.fix !== undefined) return result;
  const record = run.recorder.state.resources.get(address);
  const doubt = record?.id === undefined ? undefined : doubtOf(run, record.kind, record.id, false);
  return doubt === undefined
    ? result
    : { ...result, message: `${result.message}, and ${doubt.because}`, fix: doubt.hint };
}

const perform = <O extends StepOperation>(
  operation: O,
  step: Step<O>,
  action: ActionOf<O>,
  run: Run,
): Promise<StepResult> => performers[operation](step, action, run);

const record: Performer<"record"> = async (_, action, run) => {
  const changes = stepChangesOf(action.changes, isoNow(run));
  await run.recorder.record(changes);
  for (const change of changes)
    if (change.type === "orphan" && change.orphan !== null) run.ports.emit({ type: "orphan", orphan: change.orphan });
  return doneAndSeen;
};

const outside: Performer<"outside"> = async (_, action) => ({
  end: "waiting",
  message: `waits for ${action.waitsFor}`,
  fix: action.command === undefined ? undefined : [toSay([action.command], 'adopt: "<its id>" says which one it is')],
});

/** Out of time, ended by a signal, and what ssh says of a connection that broke. */
const cutOff: ReadonlySet<number> = new Set([124, 128, 255]);

const performFlush: Performer<"flush"> = async (step, action, run) => {
  const result = await run.ports.runCommand(
    { ...action, argv: action.argv.map(plainText) },
    { signal: run.signal, address: step.address },
  );
  if (result.exitCode === 0) return doneAndSeen;
  if (cutOff.has(result.exitCode)) run.flushing.add(step.address);
  if (run.signal.aborted) return stoppedWith("nothing was detached, because the flush command did not end", result);
  return {
    end: "failed",
    code: "apply/flush-failed",
    ...toldBy(`the flush command ended with ${result.exitCode}`, result),
    fix: `nothing was detached; repair the command, or flush by hand, with flush: { via: ask } in the file (where the volume moves, or its block was taken out, apply its block with that first, as it was) and --confirm-flush ${inShell(step.address)}`,
  };
};

const performers: Performers<StepOperation> = {
  ...vmPerformers,
  ...volumePerformers,
  ...groupPerformers,
  record,
  outside,
  flush: performFlush,
  after_ready: performDuty,
  after_attach: performDuty,
};

/**
 * What a step that cannot be undone would destroy. The permission is asked again right before the request, whatever the
 * plan said.
 */
function refuseLoss({ action, address }: Step, run: Run): StepResult | undefined {
  const lost = lossOf(action, run);
  if (lost === undefined) return undefined;
  if (!run.mayEnd(address) && run.recorder.state.resources.get(address)?.preventDestroy === true)
    return {
      end: "failed",
      code: "consent/prevent-destroy",
      message: `nothing was sent: the state says that ${address} has prevent_destroy`,
      fix: `set lifecycle.prevent_destroy: false on ${address} and apply that first`,
    };
  if (lost.disk === undefined || lost.id === undefined || run.mayLose(lost.disk, lost.id)) return undefined;
  return {
    end: "failed",
    code: "consent/unlisted",
    message: `nothing was sent: the plan did not list the loss of ${lost.disk === "root" ? "the root disk of VM" : "volume"} ${lost.id}`,
    fix: "plan again, and look at what it would lose",
  };
}

function lossOf(
  action: StepAction,
  run: Run,
): { readonly disk?: "root" | "volume"; readonly id?: string | undefined } | undefined {
  switch (action.operation) {
    case "vm.delete":
    case "vm.rebuild":
      return { disk: "root", id: idOf(action.vm, run) };
    case "volume.delete":
      return { disk: "volume", id: idOf(action.volume, run) };
    case "group.delete":
      return action.retired ? undefined : {};
    default:
      action.operation satisfies Exclude<StepOperation, `${Kind}.delete`>;
      return undefined;
  }
}
