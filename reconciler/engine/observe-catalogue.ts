/** Reads of the catalogue (flavors, images, regions) the lists in which something has to be looked up, and no others. */

import { isUuid } from "../core/canonical/catalogue";
import type { Desired, DesiredVm } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import type { Sighting } from "../core/model/evidence";
import { ofKind } from "../core/model/kinds";
import type { Catalogue, CatalogueEntry, LiveVm } from "../core/model/live";
import type { Outcome } from "../core/model/outcome";
import type { State } from "../core/model/recorded";
import type { ServiceClient } from "../service/client";
import { readFailed } from "./read-failed";

/** Only the lists in which two spellings of one thing are looked up; a list that cannot be read counts as not there. */
export const observeCatalogue = (
  client: ServiceClient,
  desired: Desired,
  state: State,
  signal?: AbortSignal,
): Promise<Catalogue> =>
  readCatalogue(client, desired, state, undefined, new Map(), [], signal === undefined ? {} : { signal });

type Options = { readonly signal?: AbortSignal };

export async function readCatalogue(
  client: ServiceClient,
  desired: Desired,
  state: State,
  vms: readonly LiveVm[] | undefined,
  vmById: ReadonlyMap<string, Sighting<LiveVm>>,
  findings: Diagnostic[],
  options: Options,
): Promise<Catalogue> {
  const wants = catalogueNeeds(desired, state, vms, vmById);
  const read = async (
    wanted: boolean,
    isListed: boolean,
    what: string,
    list: () => Promise<Outcome<readonly CatalogueEntry[]>>,
  ) => {
    if (!wanted || !isListed) return undefined;
    const outcome = await list();
    if (outcome.status === "accepted") return outcome.value;
    findings.push({
      ...readFailed(`the list of ${what}`, outcome),
      severity: "warning",
      fix: "names are compared as they were applied last",
    });
    return undefined;
  };
  const [flavors, images, regions] = await Promise.all([
    read(wants.flavors, client.can.listsFlavors, "flavors", () => client.listFlavors(options)),
    read(wants.images, client.can.listsImages, "images", () => client.listImages(options)),
    read(wants.regions, client.can.listsRegions, "regions", () => client.listRegions(options)),
  ]);
  return { flavors, images, regions };
}

/** A list is needed for a VM to be created, and where two spellings might be one thing. */
function catalogueNeeds(
  desired: Desired,
  state: State,
  vms: readonly LiveVm[] | undefined,
  vmById: ReadonlyMap<string, Sighting<LiveVm>>,
) {
  // What an open create made is known by its flavor and image, whether or not it is still wanted.
  const isOpen = [...state.intents.values()].some(({ operation }) => operation === "vm.create");
  const needs = { flavors: isOpen, images: isOpen, regions: false };
  for (const resource of desired.resources) {
    if (resource.kind !== "vm") continue;
    const vm: DesiredVm = resource;
    const recorded = ofKind(state.resources.get(vm.address), "vm");
    const sighting = recorded?.id === undefined ? undefined : vmById.get(recorded.id);
    const live = sighting?.seen === "yes" ? sighting.value : undefined;
    const creates = recorded === undefined || (live === undefined && vms !== undefined) || live?.phase === "failed";
    if (creates) return { flavors: true, images: true, regions: true };
    if (vm.flavor !== (live?.flavor ?? recorded?.flavor)) needs.flavors = true;
    if (!isUuid(vm.image) || (live?.image !== undefined && !isUuid(live.image))) needs.images = true;
    if (recorded?.region !== undefined && recorded.region !== vm.region)
      return { flavors: true, images: true, regions: true };
  }
  return needs;
}
