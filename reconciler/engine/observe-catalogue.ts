/** Reads of the catalogue (flavors, images, regions) the lists in which something has to be looked up, and no others. */

import { isUuid } from "../core/canonical/catalogue";
import type { Desired, DesiredVm } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import { type Look, type Sighting, valueSeen } from "../core/model/evidence";
import { allOfKind, ofKind } from "../core/model/kinds";
import { type Catalogue, type CatalogueEntry, type LiveVm, notSeen } from "../core/model/live";
import type { Outcome } from "../core/model/outcome";
import type { State } from "../core/model/recorded";
import { lazily } from "../core/text/lazily";
import { listed } from "../core/text/list-text";
import type { ServiceReader } from "../service/client";
import { readFailed } from "./read-failed";

/** The lists of one client, each asked for once at most. */
export interface CatalogueLists {
  readonly flavors?: () => Promise<Outcome<readonly CatalogueEntry[]>>;
  readonly images?: () => Promise<Outcome<readonly CatalogueEntry[]>>;
  readonly regions?: () => Promise<Outcome<readonly CatalogueEntry[]>>;
}

export const catalogueLists = (client: ServiceReader, options: { readonly signal?: AbortSignal }): CatalogueLists => ({
  flavors: client.can.listsFlavors ? lazily(() => client.listFlavors(options)) : undefined,
  images: client.can.listsImages ? lazily(() => client.listImages(options)) : undefined,
  regions: client.can.listsRegions ? lazily(() => client.listRegions(options)) : undefined,
});

/** Only the lists in which two spellings of one thing are looked up; a list that cannot be read counts as not there. */
export const observeCatalogue = (
  client: ServiceReader,
  desired: Desired,
  state: State,
  signal?: AbortSignal,
): Promise<Catalogue> => readCatalogue(catalogueLists(client, { signal }), desired, state, notSeen.of.vm, []);

/** The VMs as a look found them, or as they count after it was weighed. */
export interface VmsFound {
  readonly listed: boolean;
  readonly byId: ReadonlyMap<string, Look<LiveVm> | Sighting<LiveVm>>;
}

/** Asks for what will be needed once the VMs are seen, so that what else is looked at need not be waited for. */
export function askForCatalogueEarly(lists: CatalogueLists, desired: Desired, state: State, vms: VmsFound): void {
  const wants = catalogueNeeds(desired, state, vms);
  // What is wrong with a list is told where it is read.
  for (const what of ["flavors", "images", "regions"] as const) if (wants[what]) lists[what]?.().catch(() => undefined);
}

export async function readCatalogue(
  lists: CatalogueLists,
  desired: Desired,
  state: State,
  vms: VmsFound,
  findings: Diagnostic[],
): Promise<Catalogue> {
  const wants = catalogueNeeds(desired, state, vms);
  const read = async (what: keyof CatalogueLists) => {
    const outcome = wants[what] ? await lists[what]?.() : undefined;
    if (outcome === undefined || outcome.status === "accepted") return outcome?.value;
    findings.push({
      ...readFailed(`the list of ${what}`, outcome),
      severity: "warning",
      fix: "names are compared as they were applied last",
    });
    return undefined;
  };
  const [flavors, images, regions] = await Promise.all([read("flavors"), read("images"), read("regions")]);
  const unlisted = (["flavors", "images", "regions"] as const).filter(
    (what) => wants[what] && lists[what] === undefined,
  );
  // Regions are asked for only where a VM is created.
  if (wants.regions && unlisted.length > 0)
    findings.push({
      severity: "note",
      code: "plan/names-unchecked",
      summary: `this service has no list of ${listed(unlisted, 3)}: nothing checks what a new VM names of them before it is created`,
    });
  return { flavors, images, regions };
}

/**
 * A list is needed for a VM to be created, and where two spellings might be one thing. One line for each such case.
 */
function catalogueNeeds(desired: Desired, state: State, { listed, byId }: VmsFound) {
  // The VM of an open create is recognised by its flavor and image, whether or not the file still wants it.
  const isOpen = [...state.intents.values()].some(({ operation }) => operation === "vm.create");
  const needs = { flavors: isOpen, images: isOpen, regions: false };
  for (const resource of allOfKind(desired.resources, "vm")) {
    const vm: DesiredVm = resource;
    const recorded = ofKind(state.resources.get(vm.address), "vm");
    const live = valueSeen(byId.get(recorded?.id ?? ""));
    const creates = recorded === undefined || (live === undefined && listed) || live?.phase === "failed";
    if (creates) return { flavors: true, images: true, regions: true };
    if (vm.flavor !== (live?.flavor ?? recorded.flavor)) needs.flavors = true;
    if (!isUuid(vm.image) || (live?.image !== undefined && !isUuid(live.image))) needs.images = true;
    if (recorded.region !== undefined && recorded.region !== vm.region)
      return { flavors: true, images: true, regions: true };
  }
  return needs;
}
