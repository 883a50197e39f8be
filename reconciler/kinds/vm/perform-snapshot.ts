/**
 * Takes the snapshot that a rebuild, a resize or a delete was told to take first, and believes in it only when its image
 * is listed and usable: an acknowledgement alone would let the step go on that the snapshot was to save.
 *
 * It is written down before it is sent and until that step is done, so that a run cut off in between finds it again. One
 * that was accepted is never sent again by itself, even when its image does not show: each run would make one more.
 */
import { toSay } from "../../core/model/fix";
import type { LiveImage } from "../../core/model/live";
import type { Failure, Outcome } from "../../core/model/outcome";
import type { Intent } from "../../core/model/recorded";
import { calendarAge } from "../../core/model/time";
import type { ActionOf, Step } from "../../core/plan/step";
import { isWindowOver, lookedAgain, openWindow } from "../../core/schedule/window";
import { onlyDefined } from "../../core/text/objects";
import { lookWithin } from "../../engine/look-again";
import {
  doneAndSeen,
  doneUnseen,
  failedBy,
  isoNow,
  optionsFor,
  type Run,
  type StepResult,
  stoppedWhile,
  whyUnread,
} from "../../engine/run";
import { type SeenAfterwards, sendAndLook } from "../../engine/send-and-look";
import { waitForVm } from "./watch";

/** A snapshot that is older than this does not hold what is about to be lost. */
const freshMs = 60 * 60_000;

export async function performVmSnapshot(
  step: Step<"vm.snapshot">,
  { name }: ActionOf<"vm.snapshot">,
  id: string,
  run: Run,
): Promise<StepResult> {
  const images = run.ports.client.can.listsImages ? await imagesListed(run) : undefined;
  if (images !== undefined && images.status !== "accepted") return unlistable(images, "nothing was sent");
  const open = run.recorder.state.intents.get(step.address);
  const earlier = open?.operation === "vm.snapshot" ? open : undefined;
  const ended = earlier === undefined ? undefined : await endOfEarlierSnapshot(step, earlier, id, images?.value, run);
  // The note of this snapshot takes the place of the earlier one's, so one with another name is over before.
  if (ended !== undefined && (earlier?.name === name || ended.end !== "done")) return ended;
  if (ended !== undefined) run.progress(step, `the earlier snapshot ${earlier?.name} has ended`);
  return takeSnapshot(step, name, id, images?.value, run);
}

/** How an earlier run's snapshot ends. `undefined`: it was never made or is too old, and another one is taken. */
async function endOfEarlierSnapshot(
  step: Step<"vm.snapshot">,
  earlier: Intent,
  id: string,
  images: readonly LiveImage[] | undefined,
  run: Run,
): Promise<StepResult | undefined> {
  const { clock, timing } = run.ports;
  // A date in the future is of a clock that is wrong, and tells no age.
  const isFresh = (calendarAge(earlier.sentAt, clock.instant()) ?? freshMs) < freshMs;
  if (images === undefined && !isFresh) return undefined;
  if (images === undefined) return earlier.accepted === true ? unlooked(step, id, run) : nobodyCanLook(earlier);
  if (imageOf(earlier, images) !== undefined) return isFresh ? believed(step, earlier, id, run) : undefined;
  // An accepted snapshot is never sent again by itself.
  if (earlier.accepted === true) return believed(step, earlier, id, run);
  if (!isFresh) return undefined;
  // The answer was lost: a list that is behind may still show the snapshot later. When it was sent is a date that another
  // process wrote, so the window is served from here.
  const late = await awaitImage(step, earlier, timing.discoveryWindowMs, run);
  if (late.code === snapshotMissing) return undefined;
  return late.end === "done" ? settled(step, id, run) : late;
}

async function takeSnapshot(
  step: Step<"vm.snapshot">,
  name: string,
  id: string,
  images: readonly LiveImage[] | undefined,
  run: Run,
): Promise<StepResult> {
  const { address } = step;
  const before = images ?? [];
  const idsBefore = before.filter((image) => image.name === name).map((image) => image.id);
  const intent: Intent = { step: step.id, address, operation: "vm.snapshot", name, sentAt: isoNow(run), idsBefore };
  await run.recorder.record([{ type: "intent", address, intent }]);
  const look = async (): Promise<SeenAfterwards> => {
    const now = images === undefined ? undefined : await imagesListed(run);
    if (now?.status !== "accepted") return "cannot-tell";
    return imageOf(intent, now.value) === undefined ? "not-done" : "done";
  };
  const outcome = await sendAndLook(() => run.ports.client.snapshotVm(id, name, optionsFor(step, run)), look, run);
  if (outcome.status !== "accepted") {
    if (outcome.status === "unknown" && images === undefined) return nobodyCanLook(intent);
    if (outcome.status !== "unknown") await run.recorder.record([{ type: "intent", address, intent: null }]);
    return failedBy(outcome);
  }
  // An id that was listed before the request is not the new image's.
  const named = before.some((image) => image.id === outcome.value?.imageId) ? undefined : outcome.value?.imageId;
  const sent: Intent = { ...intent, accepted: true, ...onlyDefined({ image: named }) };
  await run.recorder.record([{ type: "intent", address, intent: sent }]);
  return images === undefined ? unlooked(step, id, run) : believed(step, sent, id, run);
}

const imagesListed = ({ ports: { client }, signal }: Run): Promise<Outcome<readonly LiveImage[]>> =>
  client.listImages({ signal, proves: true });

/** Finds the image by the id that the answer named, or else the new one with the name. */
const imageOf = ({ name, image, idsBefore }: Intent, images: readonly LiveImage[]): LiveImage | undefined =>
  images.find(({ id }) => id === image) ?? images.find((one) => one.name === name && !idsBefore.includes(one.id));

async function believed(step: Step<"vm.snapshot">, intent: Intent, id: string, run: Run): Promise<StepResult> {
  const shown = await awaitImage(step, intent, run.ports.timing.discoveryWindowMs, run);
  if (shown.end !== "done") return shown;
  const result = await settled(step, id, run);
  return result.end === "done" ? { ...shown, ...result } : result;
}

async function unlooked(step: Step<"vm.snapshot">, id: string, run: Run): Promise<StepResult> {
  const result = await settled(step, id, run);
  if (result.end !== "done") return result;
  const said = `the image of the snapshot ${step.action.name}`;
  const blind = "this service has no list of images (operations.image.list)";
  return doneUnseen({ kind: "vm", id, field: "snapshot", value: step.action.name, said, blind });
}

async function settled(step: Step, id: string, run: Run): Promise<StepResult> {
  const { vm: _, ...result } = await waitForVm(step, run, id, { for: "steady" });
  return result;
}

const snapshotMissing = "apply/snapshot-missing";

/**
 * Waits until the image is listed (for `withinMs`) and then until it is usable, which may take as long as a VM's
 * create.
 */
async function awaitImage(step: Step<"vm.snapshot">, intent: Intent, withinMs: number, run: Run): Promise<StepResult> {
  const { clock, timing } = run.ports;
  const started = clock.now();
  let usable = openWindow(timing.vmCreateTimeoutMs, started);
  let shown: string | undefined;
  const ended = await lookWithin<StepResult>(run, withinMs, async (isOver, askedAt) => {
    usable = lookedAgain(usable, askedAt);
    const images = await imagesListed(run);
    if (images.status !== "accepted") return unlistable(images, "what the snapshot was to save is not touched");
    const image = imageOf(intent, images.value);
    if (image === undefined) return isOver ? unlisted(step, intent, clock.now() - started) : undefined;
    if (image.phase === undefined || image.phase === "ready") return { ...doneAndSeen, message: `image ${image.id}` };
    if (image.phase === "failed") return failedImage(step, image);
    if (image.status !== undefined && image.status !== shown) {
      shown = image.status;
      run.progress(step, `image ${image.id}: ${shown}`);
    }
    return isWindowOver(usable) ? unfinished(image, clock.now() - started) : undefined;
  });
  run.waited(step, clock.now() - started);
  return ended ?? stoppedWhile(`waiting for the image ${intent.name}`);
}

const inSeconds = (ms: number): string => `${Math.round(ms / 1000)} s`;

const unlistable = (failure: Failure, consequence: string): StepResult => ({
  ...failedBy(failure),
  end: "failed",
  message: `the list of images could not be read, so ${consequence}: ${whyUnread(failure)}`,
});

/** What a program's state keeps of a change that failed has no snapshot in it. */
const anotherOne =
  "look in the service whether the image is there by now: the next update or destroy takes another snapshot";

/** The step bears the name of the snapshot that it would take, which may be another one than an earlier run's. */
const unlisted = ({ address, action }: Step<"vm.snapshot">, { name }: Intent, waitedMs: number): StepResult => ({
  end: "failed",
  code: snapshotMissing,
  message: `${action.name === name ? "the snapshot" : "a snapshot that an earlier run took"} was accepted, and no image named ${name} is listed after ${inSeconds(waitedMs)}; what the snapshot was to save is not touched`,
  fix: [
    toSay(
      [
        "run the same command again: it looks for the image and takes no second one. If it was never made: ",
        ["state resolve", address, "--not-created"],
      ],
      anotherOne,
    ),
  ],
});

/** Without a list, sending it again may make one more. */
const nobodyCanLook = ({ address, name, sentAt }: Intent): StepResult => ({
  end: "unknown",
  code: "apply/outcome-unknown",
  message: `outcome unknown: the snapshot ${name} was sent at ${sentAt} and its answer was lost, and this service has no list of images (operations.image.list); repeating it could make a second one`,
  fix: [
    toSay(
      [
        "look for the image in the service's console; if it was never made: ",
        ["state resolve", address, "--not-created"],
        ", and run the same command again",
      ],
      "look for the image in the service's console",
    ),
  ],
});

const failedImage = ({ address }: Step, { id, status }: LiveImage): StepResult => ({
  end: "failed",
  code: "apply/snapshot-failed",
  message: `the image ${id} of the snapshot is in the failed state ${status ?? ""}; what the snapshot was to save is not touched`,
  fix: [
    toSay(
      [
        "delete the image in the service, then run: ",
        ["state resolve", address, "--not-created"],
        ", and run the same command again: it takes another one",
      ],
      "delete the image in the service, and run the same command again",
    ),
  ],
});

const unfinished = ({ id, status }: LiveImage, waitedMs: number): StepResult => ({
  end: "failed",
  code: "apply/timeout",
  message: `the image ${id} of the snapshot is still ${status ?? "being made"} after ${inSeconds(waitedMs)}; what the snapshot was to save is not touched`,
  fix: [
    toSay(
      [`run the same command again: it goes on waiting. ${usableIf(status)}`],
      `${anotherOne}. ${usableIf(status)}`,
    ),
  ],
});

const usableIf = (status: string | undefined): string =>
  `If ${status ?? "this state"} means that it can be used, say so in the dialect: states: { image: { ready: [${status ?? "…"}] } }`;
