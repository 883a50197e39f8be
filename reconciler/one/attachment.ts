/** The attachment of a volume as a resource of its own: the engine's volume, of which only the place is managed. */

import { closedWith, type DesiredVolume, type FlushPolicy, nothingDesired } from "../core/model/desired";
import { sight } from "../core/model/live";
import type { RecordedVolume } from "../core/model/recorded";
import { deepEqual } from "../core/text/deep-equal";
import { fieldsIn } from "../core/text/objects";
import { isChanged } from "./changed-volumes";
import { holding } from "./exclusion";
import { assertSameService, notFound, notProvenGone } from "./guards";
import {
  type Handler,
  type HandlerContext,
  HandlerFailure,
  type HandlerService,
  holdsUnknown,
  isUnknown,
  type Property,
  type PropertyChange,
  type Props,
} from "./handler";
import { noteNamed } from "./made-here";
import { type NamedId, refuseUnknownIds } from "./named-ids";
import { checkInputs, desiredOf, type Written } from "./one-desired";
import {
  carryOut,
  changeOf,
  type HowFresh,
  type PlannedOne,
  plain,
  planAsObserved,
  type Remembered,
  stateOf,
} from "./one-run";
import { claimMade, claimSeen, claimTaken, newOwner, releaseClaim, staysWithAnother } from "./ownership";
import { recordedKey, recordedProperty, rememberedIn } from "./shape";
import { flush, flushConfirmed, hostOf, linesFor } from "./shared-properties";

const address = "volume.attachment";

const inputs: Readonly<Record<string, Property>> = {
  vmId: { type: "string", required: true, replaces: true, description: "The id of the VM." },
  volumeId: { type: "string", required: true, replaces: true, description: "The id of the volume." },
  flush,
  flushConfirmed,
};

const write = (props: Props): Written => ({
  kind: "volume",
  lines: [
    { property: "", field: "name", value: "attachment" },
    { property: "", field: "size", value: 1 },
    ...linesFor(props, ["flush"]),
  ],
});

// `write` writes one volume and nothing else.
const flushOf = (props: Props): FlushPolicy => (desiredOf(write(props)).desired.resources[0] as DesiredVolume).flush;

const thing = (id: string): string => `attachment:${id}`;

const idOf = (props: Props): string => `${String(props["vmId"])}/${String(props["volumeId"])}`;

function idsIn(id: string): { readonly vmId: string; readonly volumeId: string } {
  const [vmId, volumeId, ...rest] = id.split("/");
  if (!vmId || !volumeId || rest.length > 0)
    throw new HandlerFailure([
      {
        severity: "error",
        code: "plan/bad-id",
        summary: `${id} is no id of an attachment`,
        fix: "write VM-ID/VOLUME-ID",
      },
    ]);
  return { vmId, volumeId };
}

const namedIn = ({ vmId, volumeId }: { readonly vmId: string; readonly volumeId: string }): readonly NamedId[] => [
  { kind: "vm", id: vmId },
  { kind: "volume", id: volumeId },
];

function plan(
  context: HandlerContext,
  service: Awaited<ReturnType<HandlerContext["service"]>>,
  ids: { readonly vmId: string; readonly volumeId: string },
  policy: FlushPolicy,
  attach: boolean,
  { scope }: Remembered = {},
  look: HowFresh = "fresh",
): Promise<PlannedOne> {
  const record: RecordedVolume = {
    kind: "volume",
    address,
    id: ids.volumeId,
    attachedTo: attach ? undefined : ids.vmId,
    flush: policy,
    preventDestroy: false,
  };
  const volume: DesiredVolume = {
    kind: "volume",
    address,
    name: ids.volumeId,
    sizeGb: 0,
    attachTo: attach ? { id: ids.vmId } : undefined,
    flush: policy,
    lifecycle: { preventDestroy: false, ignoreChanges: ["name", "size"] },
    source: { file: "properties", line: 1 },
  };
  const state = stateOf(address, { record, scope }, [hostOf(ids.vmId)]);
  return planAsObserved(
    service,
    closedWith(nothingDesired, { resources: [volume] }),
    state,
    address,
    context.signal,
    look,
  );
}

/** The VM that a volume hangs on; null: none; `undefined`: the service does not say. */
function hostIn(live: PlannedOne["live"], volumeId: string): string | null | undefined {
  const sighting = sight(live, "volume", volumeId);
  return sighting.seen === "yes" ? sighting.value.attachedTo : undefined;
}

/** Whether the volume hangs on the VM, as the volume's own record or else the VM's shows; `undefined`: neither does. */
function isAttached(live: PlannedOne["live"], ids: { readonly vmId: string; readonly volumeId: string }) {
  const host = hostIn(live, ids.volumeId);
  if (host !== undefined) return host === ids.vmId;
  const vm = sight(live, "vm", ids.vmId);
  if (vm.seen === "gone") return false;
  return vm.seen === "yes" ? vm.value.volumes?.some((disk) => disk.id === ids.volumeId) : undefined;
}

/** Messages name the volume by its id: its name belongs to another resource, for which it may be a secret. */
function byId({ live }: PlannedOne, volumeId: string): (text: string) => string {
  const sighting = sight(live, "volume", volumeId);
  const name = sighting.seen === "yes" ? sighting.value.name : undefined;
  return (text) => (name === undefined ? text : text.replaceAll(`volume ${name}`, `volume ${volumeId}`));
}

async function planAndCarryOut(
  context: HandlerContext,
  service: HandlerService,
  planned: PlannedOne,
  volumeId: string,
  flushConfirmed: boolean,
): Promise<void> {
  const named = byId(planned, volumeId);
  const log: HandlerContext["log"] = (severity, message) => context.log(severity, named(message));
  try {
    const { problems } = await carryOut({ ...context, log }, service, planned, flushConfirmed);
    if (problems.length > 0) throw new HandlerFailure(problems);
  } catch (error) {
    if (error instanceof HandlerFailure) error.message = named(error.message);
    throw error;
  }
}

const exclusively = <T>(service: HandlerService, ids: { vmId: string; volumeId: string }, call: () => Promise<T>) =>
  holding(service, `volume:${ids.volumeId}`, () => holding(service, `vm:${ids.vmId}`, call));

const flushMissing = (id: string): HandlerFailure =>
  new HandlerFailure([
    {
      severity: "error",
      code: "consent/flush",
      summary: `volume ${idsIn(id).volumeId} has to be detached, and nothing confirms that it is flushed`,
    },
  ]);

const takesOver = ({ vmId, volumeId }: { vmId: string; volumeId: string }): string =>
  `volume ${volumeId} is attached to ${vmId} already: nothing is attached, and it is managed here from now on. Where another resource of this program goes that named the same two, the two are one attachment, which stays; aliases: [{ name: "<its former name>" }] keeps it the same resource`;

const attachedElsewhere = (volumeId: string, vmId: string): HandlerFailure =>
  new HandlerFailure([
    {
      severity: "error",
      code: "plan/attached-elsewhere",
      summary: `volume ${volumeId} is attached to ${vmId}`,
      fix: "remove that attachment first",
    },
  ]);

const asksForFlush = (props: Props): boolean =>
  props["flushConfirmed"] !== true && (fieldsIn(props["flush"])["via"] ?? "ask") === "ask";

export const attachmentHandler: Handler = {
  type: "VolumeAttachment",
  description: "A volume attached to a VM. Detaching it needs a confirmed flush.",
  inputs,
  outputs: { [recordedKey]: recordedProperty },
  stables: ["vmId", "volumeId"],

  check: (raw) => checkInputs(inputs, raw, write),

  async diff(context, id, before, wanted) {
    const service = await context.service();
    const remembered = rememberedIn(before);
    assertSameService(service, remembered, `attachment ${id}`);
    claimSeen(service, thing(id), remembered, context.notes);
    const changes: PropertyChange[] = [];
    for (const [property, { replaces, behaviour }] of Object.entries(inputs)) {
      if (behaviour === true && remembered.imported === true && before[property] === undefined) continue;
      if (holdsUnknown(wanted[property]) || !deepEqual(before[property], wanted[property]))
        changes.push({ property, replaces: replaces === true });
    }
    const replaces = changes.filter((change) => change.replaces).map(({ property }) => property);
    if (replaces.length > 0 && asksForFlush(before)) throw flushMissing(id);
    const deleteBeforeReplace = changes.length > 0;
    const ids = idsIn(id);
    if (changes.length > 0 || !isChanged(service, ids.volumeId))
      return { changes, replaces, deleteBeforeReplace, warnings: [] };
    const isOn = await exclusively(service, ids, async () => {
      const { live } = await plan(context, service, ids, flushOf(before), false, remembered, "recent");
      return isAttached(live, ids) ?? true;
    });
    if (isOn) return { changes, replaces, deleteBeforeReplace, warnings: [] };
    const again = `volume ${ids.volumeId} is off VM ${ids.vmId}: a change of it was cut off, and it is attached again`;
    return { changes: [{ property: recordedKey, replaces: false }], replaces, deleteBeforeReplace, warnings: [again] };
  },

  async preview(context, props) {
    const service = await context.service();
    if (isUnknown(props["vmId"]) || isUnknown(props["volumeId"])) return [];
    const ids = { vmId: String(props["vmId"]), volumeId: String(props["volumeId"]) };
    await refuseUnknownIds(service, namedIn(ids));
    const planned = await plan(context, service, ids, flushOf(props), true, {}, "recent");
    const hangsOn = hostIn(planned.live, ids.volumeId);
    if (hangsOn === ids.vmId) return [takesOver(ids)];
    return typeof hangsOn === "string"
      ? [`volume ${ids.volumeId} is attached to ${hangsOn}, and has to be taken off it before`]
      : [];
  },

  async create(context, props) {
    const service = await context.service();
    const ids = { vmId: String(props["vmId"]), volumeId: String(props["volumeId"]) };
    noteNamed(service, namedIn(ids));
    return exclusively(service, ids, async () => {
      let planned = await plan(context, service, ids, flushOf(props), true, {}, "forCreate");
      // Only "it hangs on nothing" is taken from a look of some seconds ago: the service refuses where that is not so.
      if (hostIn(planned.live, ids.volumeId) !== null)
        planned = await plan(context, service, ids, flushOf(props), true, {}, "fresh");
      const sighting = sight(planned.live, "volume", ids.volumeId);
      if (sighting.seen === "gone") throw notFound(`volume ${ids.volumeId}`);
      const hangsOn = hostIn(planned.live, ids.volumeId);
      if (hangsOn !== undefined && hangsOn !== null && hangsOn !== ids.vmId)
        throw attachedElsewhere(ids.volumeId, hangsOn);
      const id = idOf(props);
      const owner = newOwner();
      // The id names a place: whoever named it before may be deleted after this.
      const claim = claimTaken(service, thing(id), owner, context.notes);
      if (hangsOn === ids.vmId) context.log("warning", takesOver(ids));
      await claim.unlessFailed(() =>
        planAndCarryOut(context, service, planned, ids.volumeId, props["flushConfirmed"] === true),
      );
      return { id, outputs: plain({ ...props, [recordedKey]: { owner, scope: { origin: service.client.origin } } }) };
    });
  },

  async read(context, id, before) {
    const ids = idsIn(id);
    const service = await context.service();
    const policy = before === undefined ? ({ via: "ask" } as const) : flushOf(before);
    const remembered = before === undefined ? undefined : rememberedIn(before);
    const planned = await plan(context, service, ids, policy, false, remembered, "recent");
    const volume = sight(planned.live, "volume", ids.volumeId);
    if (volume.seen === "gone") return undefined;
    if (isAttached(planned.live, ids) === false) return undefined;
    const { [recordedKey]: _recorded, ...declared } = before ?? {};
    const props = plain({ ...declared, ...ids });
    const known = remembered ?? { owner: newOwner(), scope: { origin: service.client.origin }, imported: true };
    return { id, inputs: props, outputs: { ...props, [recordedKey]: plain(known) } };
  },

  async update(context, id, before, props) {
    const service = await context.service();
    const remembered = rememberedIn(before);
    const { owner = newOwner() } = remembered;
    claimMade(service, thing(id), owner);
    const ids = idsIn(id);
    if (isChanged(service, ids.volumeId))
      await exclusively(service, ids, async () => {
        const planned = await plan(context, service, ids, flushOf(props), true, remembered, "fresh");
        const hangsOn = hostIn(planned.live, ids.volumeId);
        if (typeof hangsOn === "string" && hangsOn !== ids.vmId) throw attachedElsewhere(ids.volumeId, hangsOn);
        if (isAttached(planned.live, ids) === false)
          await planAndCarryOut(context, service, planned, ids.volumeId, false);
      });
    return { id, outputs: plain({ ...props, [recordedKey]: { owner, scope: { origin: service.client.origin } } }) };
  },

  async delete(context, id, before) {
    const service = await context.service();
    const ids = idsIn(id);
    const remembered = rememberedIn(before);
    assertSameService(service, remembered, `attachment ${id}`);
    await exclusively(service, ids, async () => {
      const stays = staysWithAnother(service, thing(id), remembered.owner, context.notes, `attachment ${id}`);
      if (stays !== undefined) return context.log("warning", stays);
      const planned = await plan(context, service, ids, flushOf(before), false, remembered, "forRemoval");
      const { live } = planned;
      const sighting = sight(live, "volume", ids.volumeId);
      if (sighting.seen === "unobserved" && (live.doubt !== undefined || sighting.vanished !== undefined))
        throw notProvenGone(`attachment ${id}`, `of its volume, ${sighting.reason}`);
      if (changeOf(planned)?.action !== "create")
        await planAndCarryOut(context, service, planned, ids.volumeId, before["flushConfirmed"] === true);
      releaseClaim(service, thing(id), context.notes);
    });
  },
};
