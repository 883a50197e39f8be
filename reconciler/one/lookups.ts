/** Looks up, by name or id, what a program does not manage. */
import type { CatalogueEntry, LiveGroup, LiveVm, LiveVolume } from "../core/model/live";
import type { Outcome } from "../core/model/outcome";
import { nearestName } from "../core/text/nearest";
import type { ServiceClient } from "../service/client";
import { HandlerFailure, type HandlerService, type Property, type Props } from "./handler";
import { plain } from "./one-run";

export interface Lookup {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, Property>>;
  readonly outputs: Readonly<Record<string, Property>>;
  look(service: HandlerService, inputs: Props): Promise<Props>;
}

const text = (description: string): Property => ({ type: "string", description });
const requiredText = (description: string): Property => ({ type: "string", description, required: true });
const texts = (description: string, of: string): Property => ({ type: "array", description, items: text(of) });

interface Kind<T> {
  readonly what: string;
  readonly list: (client: ServiceClient) => Promise<Outcome<readonly T[]>>;
  /** `client`: to look up what only another list shows. */
  readonly show: (one: T, client: ServiceClient) => Props | Promise<Props>;
  readonly outputs: Readonly<Record<string, Property>>;
}

function lookup<T extends { readonly id: string; readonly name?: string }>(name: string, kind: Kind<T>): Lookup {
  const { what, list, show } = kind;
  return {
    name,
    description: `Looks up ${what === "image" ? "an" : "a"} ${what} by its name or its id. It is an error when there is none, or when several have the name.`,
    inputs: { name: text("Its name."), id: text("Its id; instead of the name.") },
    outputs: { id: requiredText("Its id."), name: text("Its name."), ...kind.outputs },
    async look(service, { id, name: wanted }) {
      if ((id === undefined) === (wanted === undefined)) throw fail(`${name}: give either name or id`, "");
      const client = service.looks?.recent ?? service.client;
      const listed = await list(client);
      if (listed.status !== "accepted") {
        const reason = listed.status === "rejected" ? listed.message : listed.reason;
        throw fail(`${name}: the list to find it in cannot be read: ${reason}`, "");
      }
      const found = listed.value.filter((one) => (id === undefined ? same(one.name, wanted) : one.id === id));
      const [first] = found;
      if (first === undefined) {
        const near = nearestName(
          String(wanted ?? id),
          listed.value.flatMap((one) => one.name ?? []),
        );
        throw fail(`there is no ${what} ${String(wanted ?? id)}`, near === undefined ? "" : `did you mean ${near}?`);
      }
      if (found.length > 1)
        throw fail(
          `${found.length} are named ${String(wanted)}`,
          `give one of their ids: ${found.map((one) => one.id).join(", ")}`,
        );
      return plain({ id: first.id, name: first.name, ...(await show(first, client)) });
    },
  };
}

const same = (name: string | undefined, wanted: unknown): boolean =>
  name !== undefined && name.toLowerCase() === String(wanted).toLowerCase();

const fail = (summary: string, fix: string): HandlerFailure =>
  new HandlerFailure([{ severity: "error", code: "plan/import-not-found", summary, ...(fix === "" ? {} : { fix }) }]);

/** A size that cannot be seen fails nothing. */
async function sizeOf(id: string, client: ServiceClient): Promise<number | undefined> {
  const listed = await client.listVolumes();
  return listed.status === "accepted" ? listed.value.find((one) => one.id === id)?.sizeGb : undefined;
}

const entry = (what: string, list: Kind<CatalogueEntry>["list"]): Kind<CatalogueEntry> => ({
  what,
  list,
  outputs: {},
  show: () => ({}),
});

export const lookups: readonly Lookup[] = [
  lookup(
    "getFlavor",
    entry("flavor", (client) => client.listFlavors()),
  ),
  lookup(
    "getImage",
    entry("image", (client) => client.listImages()),
  ),
  lookup(
    "getRegion",
    entry("region", (client) => client.listRegions()),
  ),
  lookup<LiveVm>("getVm", {
    what: "VM",
    list: (client) => client.listVms(),
    outputs: {
      status: text("Its state, in the service's own word."),
      flavorId: text("Its flavor."),
      imageId: text("Its image."),
      owner: text("Its owner."),
      floatingIp: text("Its public address."),
      privateIp: text("Its address in the private network."),
      volumeIds: texts("All its volumes, the root disk among them.", "The id of a volume."),
      rootVolumeId: text("The root disk, where the service shows which of the volumes it is."),
      rootSize: { type: "integer", description: "Its size in GB, where the service lists volumes." },
    },
    async show(vm, client) {
      const rootVolumeId = vm.volumes?.find(({ root }) => root === true)?.id;
      return {
        ...{ status: vm.status, flavorId: vm.flavor, imageId: vm.image, owner: vm.owner },
        ...{ floatingIp: vm.floatingIp, privateIp: vm.privateIp, rootVolumeId },
        volumeIds: vm.volumes?.map(({ id }) => id),
        rootSize: rootVolumeId === undefined ? undefined : await sizeOf(rootVolumeId, client),
      };
    },
  }),
  lookup<LiveVolume>("getVolume", {
    what: "volume",
    list: (client) => client.listVolumes(),
    outputs: {
      size: { type: "integer", description: "Its size in GB." },
      status: text("Its state, in the service's own word."),
      vmId: text("The VM that it is attached to."),
    },
    show: (volume) => ({ size: volume.sizeGb, status: volume.status, vmId: volume.attachedTo ?? undefined }),
  }),
  lookup<LiveGroup>("getSecurityGroup", {
    what: "security group",
    list: (client) => client.listGroups(),
    outputs: { description: text("Its description.") },
    show: ({ description }) => ({ description }),
  }),
];
