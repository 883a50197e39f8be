/** A resource as the service shows it, for a refresh, an import or a look-up. */
import { stillUnseen } from "../core/diff/effect";
import type { Kind } from "../core/model/address";
import { sight } from "../core/model/live";
import { desiredAsRecorded } from "../core/plan/as-recorded";
import { cannotBeLookedAt, keptUnseen } from "./guards";
import { type Found, throwErrors } from "./handler";
import { sightById } from "./looking";
import { asProperty } from "./one-desired";
import { type Asking, changeOf, type OfOne, plain, planAsObserved, stateOf } from "./one-run";
import { newOwner } from "./ownership";
import { type Of, recordedKey, rememberedIn, type Shape, withLeft, withoutOutputs } from "./shape";

export async function readByIdAlone<K extends Kind>(
  shape: Shape<K>,
  of: Asking,
  id: string,
): Promise<Found | undefined> {
  const { address, live, sighting } = await sightById(shape, of, id);
  if (sighting.seen === "gone") return undefined;
  if (sighting.seen === "unobserved") throw cannotBeLookedAt(`${shape.kind} ${id}`, sighting);
  const record = shape.recordOfLive(address, sighting.value, live);
  const inputs = plain(shape.inputsOf(record));
  return {
    id,
    inputs,
    outputs: plain({
      ...inputs,
      ...shape.outputsOf(record, sighting.value),
      [recordedKey]: { owner: newOwner(), scope: { origin: of.service.client.origin }, record, imported: true },
    }),
  };
}

export async function readAgain<K extends Kind>(shape: Shape<K>, of: OfOne, record: Of<K>): Promise<Found | undefined> {
  const { id, before } = of;
  const { log, notes } = of.context;
  const { address } = record;
  const remembered = rememberedIn(before);
  const state = stateOf(address, { ...remembered, record: withLeft(shape, record, notes?.findLeft(id)) });
  const asRecorded = desiredAsRecorded(state);
  const desired = shape.asManaged?.(asRecorded, before) ?? asRecorded;
  const planned = await planAsObserved(of, desired, state, "recent");
  throwErrors(planned.plan.diagnostics.filter(({ code }) => code.startsWith("service/")));
  const sighting = sight(planned.live, shape.kind, id);
  const inputs: Record<string, unknown> = { ...withoutOutputs(shape, before) };
  if (sighting.seen === "gone") {
    const owed = changeOf(planned)?.losses ?? [];
    if (owed.length > 0) {
      log(
        "warning",
        `${shape.kind} ${String(before["name"])} (${id}) is gone, and stays in the state until the next update or destroy has done the rest of its delete: ${owed.map(({ detail }) => detail).join("; ")}`,
      );
      return { id, inputs, outputs: before };
    }
    const lost = shape.lostWith?.(record) ?? "";
    log(
      "warning",
      `${shape.kind} ${String(before["name"])} (${id}) is gone: ${sighting.because}; the next update makes a new one${lost}`,
    );
    return undefined;
  }
  if (sighting.seen === "unobserved") {
    log("warning", keptUnseen(`${shape.kind} ${id}`, sighting));
    return { id, inputs, outputs: before };
  }
  const change = changeOf(planned);
  const drifted = change === undefined ? record : shape.drifted(record, sighting.value, change, before);
  // Who refreshes has looked: what was sent and shows otherwise is a difference that the next preview tells.
  const unseen = drifted.unseen && stillUnseen(drifted.unseen, sighting.value, true);
  const next = unseen === undefined ? drifted : { ...drifted, unseen };
  const shown = shape.inputsOf(next);
  for (const field of change?.fields ?? []) {
    const property = asProperty(field.field);
    if (Object.hasOwn(shape.inputs, property)) inputs[property] = shown[property];
  }
  return {
    id,
    inputs: plain(inputs),
    outputs: plain({
      ...inputs,
      ...shape.outputsOf(next, sighting.value),
      [recordedKey]: { ...remembered, record: next },
    }),
  };
}
