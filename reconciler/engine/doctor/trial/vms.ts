/** The life of the trial's VM: ready, stopped, started, resized and back. */
import type { VmPhase } from "../../../core/model/live";
import { deepEqual } from "../../../core/text/deep-equal";
import { pathWithId } from "../enter";
import { refusedAs, type Stage, type TrialAct, trialAct } from "./act";
import { noteDisks, tellTrialDisks } from "./disks";
import { isListed } from "./lists";
import { isHidden, lookAt, settle, type TrialLook, until } from "./rest";
import { secondsOf, stateWords, wordsOf } from "./say";
import { persist } from "./send";
import type { Trial } from "./watch";
import { isSaidMissing, tryWrites } from "./writes";

export const wakingActs: readonly TrialAct[] = [
  trialAct(["vm"], async (stage, { vm }) => {
    const made = await becomesReady(stage, vm);
    if (made !== undefined) await stopsAndStarts(stage, vm, made);
  }),
  trialAct(["vm"], async ({ trial }, { vm }) => {
    await refusedAs(trial, "invalid_state", {
      operation: "vm.start",
      method: "POST",
      path: pathWithId("vm.start", vm),
    });
  }),
];

export const resizingActs: readonly TrialAct[] = [
  trialAct(["vm"], async (stage, { vm }) => {
    const { otherFlavor, vm: wanted } = stage.wish;
    if (otherFlavor !== undefined && wanted?.flavor !== undefined) await resizes(stage, vm, wanted.flavor, otherFlavor);
  }),
];

const isSettledVm = ({ live }: TrialLook<"vm">): boolean => live.phase === "running" || live.phase === "failed";

/** In this phase, and by another word than before: a dialect that does not know the word may take one for the other. */
export const showsItself =
  (phase: VmPhase, before: string | undefined) =>
  ({ live, word }: Pick<TrialLook<"vm">, "live" | "word">): boolean =>
    live.phase === phase && word !== before;

/** After a resize was sent: it shows what it showed before, and nothing else told the two apart. */
export const keepsItsWord = ({ word }: Pick<TrialLook, "word">, before: string | undefined, isTold: boolean): boolean =>
  word === before && !isTold;

/** The words until it ran; `undefined`: it failed. */
async function becomesReady(stage: Stage, id: string): Promise<readonly string[] | undefined> {
  const { trial } = stage;
  const { quietCreateMs } = trial.ports.timing;
  const made = await settle(trial, "vm", id, isSettledVm, quietCreateMs, async () =>
    trial.keepBuilding((await trial.shownNow("vm", id)).record),
  );
  await trial.lookAtHanging(id);
  const shown = await lookAt(trial, "vm", id);
  await tellTrialDisks(trial, shown?.live);
  await noteDisks(trial, shown?.live);
  if (made.last?.live.phase === "failed") {
    trial.lack("vm", `the VM was made and failed (${made.last.word ?? "no word"})`);
    stage.failed.add("vm");
    return undefined;
  }
  const { status } = trial.report.dialect.records.vm;
  await trial.keep("running", id);
  stage.running = trial.wordFor("running") ?? made.last?.word;
  trial.say(`A VM was there after ${secondsOf(made.ms)}, by way of ${stateWords(made.words)}.`);
  // What was seen at another place is no word of the one that tells it now.
  return deepEqual(status, trial.report.dialect.records.vm.status) ? made.words : [];
}

async function stopsAndStarts({ trial, running }: Stage, id: string, seen: readonly string[]): Promise<void> {
  const stop = await persist(trial, () => trial.client.stopVm(id));
  const stopped = await settle(trial, "vm", id, showsItself("stopped", running));
  if (stop.status === "accepted" && (await isHidden(trial, "vm", id, "is stopped")) && stopped.last === undefined) {
    // Nothing shows it until it runs again.
    await persist(trial, () => trial.client.startVm(id));
    await until(trial, async () => (await isListed(trial, "vm", id)) === true);
    return;
  }
  const rest = [running, stopped.last?.word];
  trial.onTheWay("vm", [...seen, ...stopped.words], rest);
  // What became of it may be told by its word alone: an answer or a job that was lost is sent again, and refused then.
  const isStopped = stop.status === "accepted" || stopped.last?.word !== running;
  if (!isStopped || !(await trial.keep("stopped", id))) {
    trial.open.push(
      `states.vm: stopped could not be told from ${running ?? "what it showed before"} (${wordsOf(stop)})`,
    );
    return;
  }
  const blocks = stopped.words.length < 2 ? "blocks until it has stopped" : "answers before it has stopped";
  trial.say(`Stopped it shows ${trial.wordFor("stopped")}; the call ${blocks}.`);
  await persist(trial, () => trial.client.startVm(id));
  const started = await settle(trial, "vm", id, ({ word }) => word === trial.wordFor("running"));
  trial.onTheWay("vm", started.words, [...rest, trial.wordFor("running"), trial.wordFor("stopped")]);
}

/** A word at which one rests whose resize waits, and that stood on its way as well: a person has a question. */
function askIfPassing(trial: Trial, word: string | undefined): void {
  if (word !== undefined && trial.isPassing(word))
    trial.open.push(
      `states.vm: a VM that is built shows ${word}, as one whose resize waits, and nothing in its list's record tells the two apart`,
    );
}

async function resizes(stage: Stage, id: string, flavor: string, other: string): Promise<void> {
  const { trial } = stage;
  let isWaiting = false;
  /** The flavor before it was resized. */
  let was: string | undefined;
  // How it shows itself at rest tells it from one whose resize waits.
  await trial.keep("running", id);
  for (const operation of ["vm.resize.revert", "vm.resize.confirm"] as const) {
    trial.goOn();
    const running = trial.wordFor("running") ?? stage.running;
    // Where the first was not found, the resize waits still, and the other one is tried on it.
    if (!isWaiting) was = await flavorShown(trial, id);
    const resize = isWaiting
      ? ({ status: "accepted", value: undefined } as const)
      : await persist(trial, () => trial.client.resizeVm(id, other));
    if (resize.status === "rejected") {
      trial.open.push(`${operation}: a resize to ${other} was refused: ${resize.message}`);
      return;
    }
    if (!isWaiting) await trial.keepBusy(id);
    const waiting = await settle(trial, "vm", id, showsItself("verify_resize", running));
    const isTold = waiting.last !== undefined && (await trial.keep("verify_resize", id));
    if (waiting.last === undefined || keepsItsWord(waiting.last, running, isTold)) {
      trial.say(`A resize is not waited with: the VM shows ${running ?? "no word"} again by itself.`);
      return;
    }
    if (isTold) {
      trial.tellFlavor();
      askIfPassing(trial, trial.wordFor("verify_resize"));
    } else trial.open.push("states.vm: a resize that waits could not be told from what it showed before");
    const verify = trial.wordFor("verify_resize") ?? waiting.last.word;
    trial.onTheWay("vm", waiting.words, [running, verify, waiting.last.word]);
    const route = await tryWrites(trial, operation, "vm", { id }, async () => {
      const after = await settle(trial, "vm", id, ({ word }) => word === trial.wordFor("running"));
      if (after.last?.word !== trial.wordFor("running")) return false;
      // A request that ends the wait may do the opposite of what it is taken for.
      const isMeant = async () => {
        const shows = was === undefined ? undefined : await flavorShown(trial, id);
        return shows === undefined || (shows === was) === (operation === "vm.resize.revert");
      };
      return until(trial, isMeant);
    });
    isWaiting = route === undefined;
    if (isWaiting && !isSaidMissing(trial, operation))
      trial.open.push(
        `${operation}: a resize waits, and no request that was tried ends it so; show the one that does (--curl ${operation}='curl …'), or say that there is none (--none ${operation})`,
      );
    const shown = isWaiting ? undefined : await flavorShown(trial, id);
    if (shown !== undefined)
      trial.say(`After ${operation} the VM shows the flavor ${shown}${shown === flavor ? ", as before" : ""}.`);
    if (isWaiting && (await lookAt(trial, "vm", id))?.word !== verify) return;
  }
}

const flavorShown = async (trial: Trial, id: string): Promise<string | undefined> =>
  (await lookAt(trial, "vm", id))?.live.flavor;
