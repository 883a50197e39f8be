/** Where an observation says what became of one id. */
import type { Live, LiveGroup, LiveVm, LiveVolume, Sighting } from "../core/model/live";

const notLookedAt = (what: string) => ({
  seen: "unobserved" as const,
  reason: `this service has no way to look at ${what}`,
});

export const sightVmIn = (live: Live, id: string): Sighting<LiveVm> =>
  live.vmById.get(id) ?? (live.vms === undefined ? notLookedAt("VMs") : { seen: "gone" });

export const sightVolumeIn = (live: Live, id: string): Sighting<LiveVolume> =>
  live.volumes.get(id) ?? (live.volumesListed ? { seen: "gone" } : notLookedAt("this volume"));

export const sightGroupIn = (live: Live, id: string): Sighting<LiveGroup> =>
  live.groups.get(id) ?? (live.groupsListed ? { seen: "gone" } : notLookedAt("this group"));
