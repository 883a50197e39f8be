/** Makes what a trial works on, each thing written down before it is asked for. */
import type { NewVm } from "../../../core/model/desired";
import { kindRows } from "../../../core/model/kinds";
import { operations, rowOf } from "../../../core/model/operation";
import type { Outcome } from "../../../core/model/outcome";
import { keysOf, onlyDefined } from "../../../core/text/objects";
import { leavesOf } from "../../../dialect/learn/values";
import { compilePointers, findText } from "../../../dialect/pointers";
import { nobody, nowhere, saidOf } from "../enter";
import { look } from "../look";
import { isGivenRoute, showsNoRecords } from "../report";
import { partName, type Stage, type TrialAct, type TrialPart, trialAct } from "./act";
import { takeAwayOne } from "./away";
import { idIn, isOwnId } from "./ids";
import { learnJob } from "./jobs";
import { canList, findTrialThings, leaveOutList, listedOf } from "./lists";
import type { TrialThing } from "./notes";
import { nounOf, wordsOf } from "./say";
import type { Trial } from "./watch";
import { askPerson } from "./writes";

export const makingActs: readonly TrialAct[] = [
  trialAct([], async (stage) => {
    const { trial } = stage;
    const first = await makePart(stage, "group", (name) => makeGroup(trial, name));
    const isFound = first?.id !== undefined || canList(trial, "group");
    if (first !== undefined && isFound) await makePart(stage, "namingGroup", (name) => makeGroup(trial, name));
    else if (first !== undefined)
      trial.lack(
        "group",
        "one group alone was made, which nothing finds: no answer to its create tells its id, and no list does (show the list with --curl group.list='curl …')",
      );
  }),
  trialAct([], makeVolumeAndVm),
  trialAct(["group"], async (stage) => {
    await makePart(stage, "thirdGroup", (name) => makeGroup(stage.trial, name));
    await findTrialThings(stage.trial);
  }),
  trialAct(["volume"], async (stage) => {
    await makePart(stage, "secondVolume", (name) => makeVolume(stage.trial, name));
    await findTrialThings(stage.trial);
  }),
  trialAct([], ({ trial }) => leaveOutPartialLists(trial)),
  trialAct([], ({ trial }) => tellOtherNames(trial)),
];

/**
 * Makes it. Where the answer was lost, it is made once more under another name, if a list that is whole shows nothing that
 * came since: then it was not made, or it bears the trial's name and is taken away with the rest.
 */
async function makePart(
  stage: Stage,
  role: TrialPart,
  once: (name: string) => Promise<TrialThing | undefined>,
): Promise<TrialThing | undefined> {
  const { trial } = stage;
  const thing = await once(partName(stage, role));
  if (thing === undefined || thing.id !== undefined || thing.isTaken === true) return thing;
  await findTrialThings(trial);
  const found = trial.thing(partName(stage, role));
  if (found?.id !== undefined || (await isAnyNew(trial, thing.kind))) return found;
  stage.again.add(role);
  return once(partName(stage, role));
}

/**
 * A list that does not show what was made, for as long as a lost create is looked for, is one of some things alone, such
 * as those of a name that stood in the request as it was copied: by it, what exists would be made once more.
 */
export async function leaveOutPartialLists(trial: Trial): Promise<void> {
  const { clock, timing } = trial.ports;
  for (const kind of keysOf(kindRows)) {
    const own = trial.notes.made.filter(
      ({ kind: other, id }) => other === kind && id !== undefined && !trial.isDeleted(kind, id),
    );
    const isHidden = async (): Promise<boolean> => {
      const listed = canList(trial, kind) ? await listedOf(trial, kind) : undefined;
      return listed !== undefined && own.some(({ id }) => listed.every((one) => one.id !== id));
    };
    const lastAsked = Math.max(0, ...own.map(({ askedAt }) => askedAt));
    let hidden = await isHidden();
    for (; hidden && clock.now() - lastAsked <= timing.discoveryMs; hidden = await isHidden()) await trial.wait();
    if (hidden) leaveOutList(trial, kind, "was just made");
  }
}

/** No run finds what it made under a name that is not the one it sent, in whatever letters. */
async function tellOtherNames(trial: Trial): Promise<void> {
  for (const kind of keysOf(kindRows)) {
    const listed = await listedOf(trial, kind);
    for (const { kind: other, id, name } of trial.notes.made) {
      const shown = other === kind ? listed?.find((one) => one.id === id)?.name : undefined;
      if (name === undefined || shown === undefined || shown.toLowerCase() === name) continue;
      trial.open.push(
        `names.${kind}: the service calls ${shown} what was made as ${name}; a plan looks for the name that the file gives, and takes this one for another`,
      );
      break;
    }
  }
}

/** Whether there is anything of the kind that was not there before, or nobody can tell. */
async function isAnyNew(trial: Trial, kind: TrialThing["kind"]): Promise<boolean> {
  const listed = await listedOf(trial, kind, { proves: true });
  return listed?.every(({ id }) => trial.isOfOthers(kind, id) || trial.isNoted(kind, id)) !== true;
}

async function makeVolumeAndVm(stage: Stage): Promise<void> {
  const { trial, wish } = stage;
  const { vm, keepVolume } = wish;
  const isKnown = await isDeleteKnown(trial);
  if (!isKnown && keepVolume !== true)
    trial.lack(
      "volume",
      "no volume was made: no way to delete one is known (show it with --curl volume.delete='curl …'; --allow-trial …,keep-volume permits one that stays)",
    );
  const isTried = isKnown || keepVolume === true;
  const canDelete = isTried && ((await canDeleteVolumes(stage)) || keepVolume === true);
  if (canDelete) await makePart(stage, "volume", (name) => makeVolume(trial, name));
  if (vm !== undefined && !canDelete)
    trial.lack("vm", "no VM was made: the data volume that comes with it could not be deleted again");
  else if (vm !== undefined && (!(await isFoundByList(trial)) || trial.report.operations.some(showsNoRecords)))
    trial.lack("vm", "no VM was made: no answer to a create tells its id, and no list does");
  else if (vm !== undefined) {
    const [image, open] = [imageCalled(trial, vm.image), trial.open.length];
    const makeWith = (from: string) => makePart(stage, "vm", (name) => makeVm(trial, { ...vm, image: from, name }));
    const made = await makeWith(image);
    // Of two ids the list may have shown the other one.
    const isOther = made === undefined && image !== vm.image && (await makeWith(vm.image)) !== undefined;
    if (isOther) trial.open.splice(open, 1);
  }
  await findTrialThings(trial);
  const own = trial.thing(partName(stage, "vm"));
  if (own !== undefined && own.id === undefined)
    trial.lack("vm", "the VM was asked for and did not appear in the list");
}

/** A list that cannot be read, or not as a whole, might not show the VM. */
const isFoundByList = async (trial: Trial): Promise<boolean> =>
  canList(trial, "vm") && (await listedOf(trial, "vm")) !== undefined;

export const groupDescription = "made by reconcile doctor --trial";

const makeGroup = (trial: Trial, name: string): Promise<TrialThing | undefined> =>
  askFor(trial, "group", name, { name, description: groupDescription, rules: [] });

const makeVolume = (trial: Trial, name: string): Promise<TrialThing | undefined> =>
  askFor(trial, "volume", name, { name, size: "1" });

const makeVm = (trial: Trial, vm: NewVm): Promise<TrialThing | undefined> =>
  make(trial, { kind: "vm", name: vm.name, askedAt: trial.ports.clock.now() }, () => trial.client.createVm(vm));

/** Asks for a volume or a group, and learns its id, its record and its job from the answer. */
async function askFor(
  trial: Trial,
  kind: "volume" | "group",
  name: string,
  body: object,
): Promise<TrialThing | undefined> {
  const operation = `${kind}.create` as const;
  const askedAt = trial.ports.clock.now();
  let shown: unknown;
  const made = await make(trial, { kind, name, askedAt }, async () => {
    const { path } = operations[operation];
    const { outcome, body: said } = await look(trial.ports.doctor, { operation, method: "POST", path, body });
    if (outcome.status === "accepted") shown = said;
    return outcome;
  });
  if (made === undefined || made.id !== undefined || shown === undefined) return made;
  await learnJob(trial, shown, (id) => isOwnId(trial, kind, id, name));
  const id = await idIn(trial, kind, shown, name, askedAt);
  if (id === undefined) return made;
  trial.answers.set(operation, { body: shown, id });
  if (operation === "volume.create") trial.made.sizes.set(id, 1);
  return trial.notes.note(made, { id });
}

async function make(
  trial: Trial,
  thing: TrialThing,
  send: () => Promise<Outcome<unknown>>,
): Promise<TrialThing | undefined> {
  trial.goOn();
  trial.notes.add(thing);
  let outcome = await send();
  // It came to nothing, and comes again after a while.
  for (let again = 0; again < 3 && outcome.status === "unavailable"; again++) {
    await trial.wait(2 ** again);
    outcome = await send();
  }
  if (outcome.status === "rejected" || outcome.status === "unavailable") {
    trial.notes.drop(thing, "was refused");
    trial.lack(thing.kind, `a ${nounOf(thing.kind)} could not be made: ${wordsOf(outcome)}`);
    return undefined;
  }
  const isTaken = outcome.status === "accepted" || outcome.accepted === true;
  if (!isTaken) return thing;
  const id = outcome.status === "accepted" && hasId(outcome.value) ? outcome.value.id : undefined;
  return trial.notes.note(thing, { isTaken: true, ...onlyDefined({ id }) });
}

/**
 * The trial first makes one volume of 1 GB: if it cannot be deleted, the trial makes no more, because somebody pays for
 * them.
 */
async function canDeleteVolumes(stage: Stage): Promise<boolean> {
  const { trial } = stage;
  if ((await makePart(stage, "firstVolume", (name) => makeVolume(trial, name))) === undefined) return false;
  await findTrialThings(trial);
  const name = partName(stage, "firstVolume");
  const thing = trial.thing(name);
  if (thing?.id === undefined) return false;
  await takeAwayOne(trial, thing);
  return trial.thing(name) === undefined;
}

/**
 * Where nothing is known of volumes but the built-in request that deletes one, it has to be there: an answer for an id
 * that nobody has, which is the same at a path that no service has, says that it is not.
 */
async function isDeleteLikely({ report, ports }: Trial): Promise<boolean> {
  const isListToBeLearnt = report.operations.some(
    ({ operation, verdict, isLikely }) => operation === "volume.list" && verdict !== "found" && isLikely !== true,
  );
  if (isGivenRoute(report, "volume.delete") || !isListToBeLearnt) return true;
  const { method, path } = rowOf("volume.delete");
  const ask = async (at: string): Promise<string> =>
    saidOf(at, await look(ports.doctor, { operation: "volume.delete", method, path: at }));
  return (await ask(path.replace("{id}", nobody))) !== (await ask(nowhere));
}

/** A person who watches is asked before one is made. */
async function isDeleteKnown(trial: Trial): Promise<boolean> {
  if (trial.report.dialect.operations["volume.delete"] !== null && (await isDeleteLikely(trial))) return true;
  const told = await askPerson(trial, "volume.delete");
  if (told !== undefined) trial.learnRoute("volume.delete", told);
  return told !== undefined;
}

/** Images are asked for by their ids: a name that the list shows is looked up. */
function imageCalled({ report }: Trial, image: string): string {
  const places = compilePointers(report.dialect.records.image.id);
  const named = report.samples.get("image")?.find((record) => leavesOf(record).some(({ value }) => value === image));
  return findText(named, places) ?? image;
}

const hasId = (value: unknown): value is { readonly id: string } =>
  typeof value === "object" && value !== null && "id" in value && typeof value.id === "string";
