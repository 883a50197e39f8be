/**
 * What attachments stand on: the volumes and VMs of the program, as this process saw them compared or made. The
 * attachment is a resource of its own, which does not change when they do. A volume that grows comes off its VM and is
 * attached again; an engine that was killed in between has kept nothing of that, so the attachment of a volume that
 * changes is looked at, and no other. And the guest is to be told of what it does not know yet.
 */
import type { DueReason } from "../core/model/guest";
import { type Identity, identity, identityKey } from "../core/model/identity";
import { onlyDefined } from "../core/text/objects";
import type { HandlerService } from "./handler";
import { perClient } from "./per-client";

/** What a guest notices: the size of a volume, the image of a VM. */
export type Noticed = number | string;

interface Standing {
  /** The program changes it. */
  readonly isChanged: boolean;
  /** As it was recorded before, and as it is wanted. */
  readonly was?: Noticed;
  readonly is?: Noticed;
}

/** What the command of an attachment was last told. */
export interface Told {
  readonly sizeGb?: number;
  readonly image?: string;
}

interface Ids {
  readonly vmId: string;
  readonly volumeId: string;
}

const standings = perClient(() => new Map<string, Standing>());

const standing = (service: HandlerService, one: Identity): Standing =>
  standings(service).get(identityKey(one)) ?? { isChanged: false };

export function noteStanding(service: HandlerService, one: Identity, next: Standing): void {
  const isChanged = next.isChanged || standing(service, one).isChanged;
  standings(service).set(identityKey(one), { ...next, isChanged });
}

const standingsAt = (service: HandlerService, { vmId, volumeId }: Ids): readonly [volume: Standing, vm: Standing] => [
  standing(service, identity("volume", volumeId)),
  standing(service, identity("vm", vmId)),
];

export const isVolumeChanged = (service: HandlerService, ids: Ids): boolean => standingsAt(service, ids)[0].isChanged;

/** What the guest has not been told of. A record of an earlier version does not say what it was told. */
export function untold(service: HandlerService, ids: Ids, told: Told = {}): readonly DueReason[] {
  const [volume, vm] = standingsAt(service, ids);
  const size = told.sizeGb ?? volume.was;
  const image = told.image ?? vm.was;
  const reasons: DueReason[] = [];
  // What is not known is not larger.
  if (Number(volume.is) > Number(size)) reasons.push("grown");
  if (vm.is !== undefined && image !== undefined && vm.is !== image) reasons.push("vm_rebuilt");
  return reasons;
}

/** What a command is told now; of what is not known it was told what it was told before. */
export function toldOf(service: HandlerService, ids: Ids, sizeGb: number | undefined, former?: Told): Told {
  const [{ is: volume }, { is: vm }] = standingsAt(service, ids);
  const sizeNow = sizeGb ?? (typeof volume === "number" ? volume : undefined);
  return { ...former, ...onlyDefined({ sizeGb: sizeNow, image: typeof vm === "string" ? vm : undefined }) };
}
