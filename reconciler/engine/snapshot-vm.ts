/**
 * Takes the snapshot that a rebuild, a resize or a delete was told to take first. It is written down before it is sent
 * and until that step is done, so that a run cut off in between finds it again instead of taking a second one.
 */
import type { CatalogueEntry } from "../core/model/live";
import type { Intent } from "../core/model/recorded";
import type { Step, StepAction } from "../core/plan/step";
import { failedBy, isoNow, optionsFor, type Run, type Seen, type StepResult, sendAndLook } from "./perform";
import { waitForVm } from "./watch-vm";

type Snapshot = Extract<StepAction, { operation: "vm.snapshot" }>;

/** An older one no longer shows what is about to be lost. */
const freshMs = 60 * 60_000;

export async function snapshotVm(step: Step, action: Snapshot, id: string, run: Run): Promise<StepResult> {
  const { address } = step;
  const { name } = action;
  const earlier = run.recorder.state.intents.get(address);
  const isFresh =
    earlier?.operation === "vm.snapshot" &&
    earlier.name === name &&
    run.ports.clock.now() - Date.parse(earlier.sentAt) < freshMs;
  const present = await imagesNamed(name, run);
  if (isFresh && present?.some((image) => !earlier.idsBefore.includes(image.id)) === true)
    return settled(step, id, run);
  // Without a list nobody can tell what a lost answer made; one image too many does no harm.
  const idsBefore = (present ?? []).map((image) => image.id);
  const intent: Intent = { step: step.id, address, operation: "vm.snapshot", name, sentAt: isoNow(run), idsBefore };
  if (present !== undefined) await run.recorder.record([{ type: "intent", address, intent }]);
  const look = async (): Promise<Seen> => {
    const images = await imagesNamed(name, run);
    if (images === undefined) return "cannot-tell";
    return images.some((image) => !idsBefore.includes(image.id)) ? "done" : "not-done";
  };
  const outcome = await sendAndLook(() => run.ports.client.snapshotVm(id, name, optionsFor(step, run)), look, run);
  if (outcome.status === "accepted") {
    const result = await settled(step, id, run);
    const image = outcome.value?.imageId;
    return result.end === "done" && image !== undefined ? { ...result, message: `image ${image}` } : result;
  }
  if (outcome.status !== "unknown") await run.recorder.record([{ type: "intent", address, intent: null }]);
  return failedBy(outcome);
}

async function settled(step: Step, id: string, run: Run): Promise<StepResult> {
  const { vm: _, ...result } = await waitForVm(step, run, id, { for: "steady" });
  return result;
}

/** `undefined`: nobody can tell. */
async function imagesNamed(name: string, run: Run): Promise<readonly CatalogueEntry[] | undefined> {
  const { client } = run.ports;
  if (!client.has("image.list")) return undefined;
  const images = await client.listImages({ signal: run.signal });
  return images.status === "accepted" ? images.value.filter((image) => image.name === name) : undefined;
}
