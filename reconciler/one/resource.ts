/** The handler of one kind of resource: what a program asks of it. */

import type { Kind } from "../core/model/address";
import { changedInputs } from "./differences";
import { holding } from "./exclusion";
import { assertSameService, keptAlive } from "./guards";
import { type Handler, type HandlerContext, type HandlerService, isPending, type Props } from "./handler";
import { lookAtAll } from "./looking";
import { saidOf } from "./made-here";
import { checkInputs } from "./one-desired";
import { type OfOne, type Remembered, stateOf } from "./one-run";
import { claimSeen, staysWithAnother, thingAt, thingOf } from "./ownership";
import { pendingDifference, readPending } from "./pending";
import { NotedMeanwhile } from "./program-notes";
import { readAgain, readByIdAlone } from "./reading";
import { differenceOf, previewOf } from "./resource-difference";
import { clientForRemoval, flushStated, resourcePlans, whatOf } from "./resource-plans";
import { writesOf } from "./resource-writes";
import { ownRecordOf, recordedKey, recordedProperty, recordIn, rememberedIn, type Shape } from "./shape";
import { noteRecorded } from "./witnesses";

export function createHandler<K extends Kind>(shape: Shape<K>): Handler {
  const { kind } = shape;
  const plans = resourcePlans(shape);
  const tellDifference = differenceOf(shape, plans);
  const { create, update, remove } = writesOf(shape, plans);
  const thing = (id: string): string => thingOf(kind, id);

  async function callOn(context: HandlerContext, id: string, given: Props): Promise<OfOne> {
    return {
      context,
      service: await context.service(),
      signal: context.signal,
      id,
      before: ownRecordOf(shape, id, given),
    };
  }

  /** Pulumi's state has the outcome of the create, so that the note about it is no longer needed. */
  async function noteInState({ context: { notes }, service, id }: OfOne, remembered: Remembered): Promise<void> {
    await notes?.isInState(thingAt(service, thing(id)), remembered.intent?.sentAt);
    const { record } = remembered;
    if (record === undefined) return;
    const isGoing = notes?.findLeft(id) !== undefined;
    const known = isGoing ? { ...remembered, record: { ...record, deleting: true as const } } : remembered;
    noteRecorded(service, stateOf(record.address, known));
  }

  async function exclusively<T>(
    { service, signal, id, before }: OfOne,
    client: HandlerService["client"],
    call: () => Promise<T>,
  ): Promise<T> {
    if (isPending(id)) return call();
    return holding(service, `${kind}:${id}`, async () => {
      const record = recordIn(shape, before);
      if (shape.hangsOn === undefined || record === undefined) return call();
      const live = await lookAtAll(shape, client, record, id, signal);
      const host = live === undefined ? undefined : shape.hangsOn(live);
      return host === undefined ? call() : holding(service, `vm:${host}`, call);
    });
  }

  return {
    type: shape.type,
    description: shape.description,
    inputs: shape.inputs,
    outputs: { ...shape.outputs, [recordedKey]: recordedProperty },
    stables: Object.entries(shape.inputs).flatMap(([name, property]) => (property.replaces === true ? [name] : [])),

    check: (inputs, exists = false) => checkInputs(shape.inputs, inputs, shape.write, exists),

    async diff(context, id, given, inputs) {
      const of = await callOn(context, id, given);
      const { service, before } = of;
      const remembered = rememberedIn(before);
      assertSameService(service, remembered, String(inputs["name"]));
      if (!isPending(id)) await claimSeen(service, thing(id), remembered, context.notes);
      await noteInState(of, remembered);
      const { changes: stated, known } = changedInputs(shape, service.client.can, remembered, before, inputs);
      return isPending(id) ? pendingDifference(shape, of, known, stated) : tellDifference(of, inputs, stated, known);
    },

    preview: (context, inputs, former) => previewOf(shape, plans, context, inputs, former),

    async create(context, inputs) {
      for (;;)
        try {
          return await create(context, inputs);
        } catch (error) {
          if (!(error instanceof NotedMeanwhile)) throw error;
        }
    },

    async read(context, id, given) {
      const { signal } = context;
      if (given === undefined)
        return isPending(id) ? undefined : readByIdAlone(shape, { service: await context.service(), signal }, id);
      const of = await callOn(context, id, given);
      await noteInState(of, rememberedIn(of.before));
      if (isPending(id)) return readPending(shape, of);
      const record = recordIn(shape, of.before);
      return record === undefined ? readByIdAlone(shape, of, id) : readAgain(shape, of, record);
    },

    async update(context, id, given, inputs) {
      const of = await callOn(context, id, given);
      const remembered = rememberedIn(of.before);
      assertSameService(of.service, remembered, String(inputs["name"]));
      await noteInState(of, remembered);
      context.notes?.forgetLeaving();
      return exclusively(of, of.service.client, () => update(of, inputs));
    },

    async delete(context, id, given) {
      const of = await callOn(context, id, given);
      const { service, before } = of;
      const remembered = rememberedIn(before);
      assertSameService(service, remembered, String(before["name"]));
      await noteInState(of, remembered);
      await context.notes?.formerGoes();
      const what = whatOf(kind, of);
      if (context.notes?.staysAlive() === true) return context.log("warning", keptAlive(what));
      await exclusively(of, clientForRemoval(service), async () => {
        const stays = isPending(id)
          ? undefined
          : staysWithAnother(service, thing(id), remembered.owner, context.notes, what);
        if (stays !== undefined) return context.log("warning", stays);
        const isFlushed = flushStated(before) || flushStated(saidOf(service, thing(id)) ?? {});
        await remove({ ...of, before: { ...before, flushConfirmed: isFlushed } });
      });
    },
  };
}
