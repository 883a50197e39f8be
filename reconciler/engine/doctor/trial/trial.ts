/**
 * `doctor --trial`: makes groups, volumes and a VM, walks them through their life, and takes them away again. It learns
 * what reading alone cannot show: the words for each state, what takes its time, what lingers after it was deleted, how
 * refusals sound, and which operations there are to confirm, to revert and to delete with. What it does is a list of
 * acts. Everything is written down before it is asked for, and nothing else is ever touched.
 */
import { kindRows, runsGuest } from "../../../core/model/kinds";
import { keysOf, onlyDefined, tableOf } from "../../../core/text/objects";
import type { DoctorReport, TrialFindings, Unproven } from "../report";
import { partName, type Stage, type TrialAct, type TrialPart, type TrialWish, trialParts } from "./act";
import { compareWith, listedNow, takeAway } from "./away";
import { groupActs } from "./groups";
import { limitActs } from "./limits";
import { leaveOutList } from "./lists";
import { groupDescription, makingActs } from "./make";
import { trialName } from "./notes";
import type { TrialPorts } from "./ports";
import { Stopped, TrialProblem } from "./say";
import { resizingActs, wakingActs } from "./vms";
import { attachingActs, growingActs } from "./volumes";
import { Trial } from "./watch";

const trialActs: readonly TrialAct[] = [
  ...makingActs,
  ...wakingActs,
  ...attachingActs,
  ...resizingActs,
  ...growingActs,
  ...groupActs,
  ...limitActs,
];

export async function tryOut(
  ports: TrialPorts,
  looked: DoctorReport,
  wish: TrialWish,
): Promise<{ readonly report: DoctorReport; readonly findings: TrialFindings }> {
  const { vm, otherFlavor } = wish;
  const named = {
    flavor: [vm?.flavor, otherFlavor].flatMap((name) => name ?? []),
    image: [vm?.image].flatMap((name) => name ?? []),
  };
  const sent = {
    description: groupDescription,
    ...onlyDefined({ owner: vm?.owner, flavor: vm?.flavor, image: vm?.image }),
  };
  const trial = new Trial(ports, looked, named, sent);
  trial.mayStay = wish.keepVolume === true;
  trial.isOfEarlier = true;
  await takeAway(trial);
  trial.isOfEarlier = false;
  trial.mayStay = false;
  if (trial.left.length > 0) {
    trial.open.push("nothing new was made, since what an earlier trial made is there still");
    return { report: trial.report, findings: trial.findings([]) };
  }
  const before = await listedNow(trial);
  for (const [kind, { ids, disks }] of before) {
    for (const id of ids) trial.others.add(`${kind} ${id}`);
    for (const id of disks) trial.others.add(`volume ${id}`);
  }
  const stage: Stage = { trial, name: trialName(), wish, running: undefined, failed: new Set(), again: new Set() };
  let isStopped = false;
  try {
    for (const one of trialActs) await play(one, stage);
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    isStopped = true;
    trial.open.push("the trial was stopped before its end");
  }
  if (wish.keepVolume === true) trial.mayStay = true;
  await takeAway(trial, stage.name);
  await compareWith(trial, before);
  for (const [kind, how] of trial.hidden) leaveOutList(trial, kind, how);
  return { report: trial.report, findings: trial.findings(unprovenIn(stage, isStopped), isStopped) };
}

/** Of each kind that was wished for, one has to have had an id, and to have lived; where it was stopped, only what failed. */
function unprovenIn(stage: Stage, isStopped: boolean): readonly Unproven[] {
  const { trial, name, wish, failed } = stage;
  const dead = new Set([...failed].map((role) => partName(stage, role)));
  const isOwn = (one = ""): boolean => one.startsWith(name) && !dead.has(one);
  const lived = new Set(trial.notes.fates.flatMap((one) => (one.id !== undefined && isOwn(one.name) ? one.kind : [])));
  return keysOf(kindRows)
    .filter((kind) => !lived.has(kind) && (!runsGuest(kind) || wish.vm !== undefined))
    .filter((kind) => !isStopped || trial.lacks.has(kind))
    .map((kind) => ({ kind, why: trial.lacks.get(kind) ?? "the trial did not come to it" }));
}

/** An act is left out while something that it is about is not there. */
async function play({ of, does }: TrialAct, stage: Stage): Promise<void> {
  stage.trial.goOn();
  const ids = tableOf(keysOf(trialParts), (role) => partId(stage, role) ?? "");
  if (!of.every((role) => ids[role] !== "")) return;
  try {
    await does(stage, ids);
  } catch (error) {
    // What one act cannot read keeps nothing from being taken away, nor the others from being tried.
    if (!(error instanceof TrialProblem)) throw error;
    stage.trial.open.push(error.message);
  }
}

const partId = (stage: Stage, role: TrialPart): string | undefined =>
  stage.failed.has(role) ? undefined : stage.trial.thing(partName(stage, role))?.id;
