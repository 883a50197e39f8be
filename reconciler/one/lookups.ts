/** Looks up, by name or id, what a program does not manage, and lists it. */
import { canonicalLiveRule } from "../core/canonical/rules";
import type { CatalogueEntry, LiveGroup, LiveVm, LiveVolume } from "../core/model/live";
import { accepted, failureText, type Outcome, valueIn } from "../core/model/outcome";
import { nearestText } from "../core/text/nearest";
import { patternFits } from "../core/text/pattern";
import { ruleAsProperties, ruleProperties } from "../kinds/group/one-rule-properties";
import type { ServiceReader } from "../service/client";
import { failure, type HandlerFailure, type HandlerService, type Property, type Props } from "./handler";
import { plain } from "./one-run";

export interface Lookup {
  readonly name: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, Property>>;
  readonly outputs: Readonly<Record<string, Property>>;
  look(service: HandlerService, inputs: Props): Promise<Props>;
}

type Properties = Readonly<Record<string, Property>>;

const text = (description: string): Property => ({ type: "string", description });
const requiredText = (description: string): Property => ({ type: "string", description, required: true });
const texts = (description: string, of: string): Property => ({ type: "array", description, items: text(of) });

/** What a program may ask of one sort of thing. */
interface Sort<T> {
  readonly what: string;
  /** The property of a list function's answer. */
  readonly plural: string;
  readonly list: (client: ServiceReader) => Promise<Outcome<readonly T[]>>;
  /** Reads one by its id where there is no list to find it in. */
  readonly readsOne?: (client: ServiceReader, id: string) => Promise<Outcome<T>> | undefined;
  /** What each record shows. */
  readonly outputs: Properties;
  readonly show: (one: T) => Props;
  /** What takes another request, so that only a look at one of them tells it. */
  readonly alone?: { readonly outputs: Properties; readonly show: (one: T, client: ServiceReader) => Promise<Props> };
  /** The outputs by whose value a list can be narrowed. */
  readonly filters: readonly string[];
}

type Named = { readonly id: string; readonly name?: string };

const ownOutputs: Properties = { id: requiredText("Its id."), name: text("Its name.") };
const article = (what: string): string => (/^[aeio]/.test(what) ? "an" : "a");

/** Looks up one by its name or id. */
function one<T extends Named>(name: string, sort: Sort<T>): Lookup {
  const { what, list, show, alone } = sort;
  return {
    name,
    description: `Looks up ${article(what)} ${what} by its name or its id. It is an error when there is none, or when several have the name.`,
    inputs: { name: text("Its name."), id: text("Its id; instead of the name.") },
    outputs: { ...ownOutputs, ...sort.outputs, ...alone?.outputs },
    async look(service, { id, name: wanted }) {
      if ((id === undefined) === (wanted === undefined)) throw lookupFailure(`${name}: give either name or id`, "");
      const client = service.looks?.recent ?? service.client;
      const read = id === undefined ? undefined : sort.readsOne?.(client, String(id));
      const found =
        read === undefined ? find(answered(await list(client), name), wanted, id) : answered(await read, name);
      return plain({ id: found.id, name: found.name, ...show(found), ...(await alone?.show(found, client)) });
    },
  };

  function find(listed: readonly T[], wanted: unknown, id: unknown): T {
    const found = listed.filter((one) => (id === undefined ? same(one.name, wanted) : one.id === id));
    const [first] = found;
    if (first === undefined) {
      const names = listed.flatMap(({ name }) => name ?? []);
      const asked = String(wanted ?? id);
      throw lookupFailure(
        `there is no ${what} ${asked}`,
        nearestText(asked, names, (near) => `did you mean ${near}?`) ?? "",
      );
    }
    if (found.length > 1)
      throw lookupFailure(
        `${found.length} are named ${String(wanted)}`,
        `give one of their ids: ${found.map((one) => one.id).join(", ")}`,
      );
    return first;
  }
}

/** Lists all that fit, in an order that does not change with the service's. */
function several<T extends Named>(name: string, sort: Sort<T>): Lookup {
  const { what, plural, list, show } = sort;
  const outputs = { ...ownOutputs, ...sort.outputs };
  return {
    name,
    description: `Lists the ${what}s that the service shows, all or those that fit, sorted by name. None is no error.`,
    inputs: {
      name: text("Only those whose name fits, in either case; * stands for anything, as in web-*."),
      ...Object.fromEntries(sort.filters.map((filter) => [filter, text(`Only those with this value of ${filter}.`)])),
      newestFirst: {
        type: "boolean",
        description:
          "Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first.",
      },
    },
    outputs: {
      [plural]: {
        type: "array",
        required: true,
        description: `The ${what}s that fit.`,
        items: { type: "object", description: `One ${what}.`, properties: outputs },
      },
      ids: { ...texts("The ids, in the same order.", "An id."), required: true },
    },
    async look(service, { name: pattern, newestFirst, ...filters }) {
      const unknown = Object.keys(filters).filter((filter) => !sort.filters.includes(filter));
      if (unknown.length > 0)
        throw lookupFailure(
          `${name}: there is no ${unknown.join(", ")}`,
          `give name, ${[...sort.filters, "newestFirst"].join(", ")}`,
        );
      const client = service.looks?.recent ?? service.client;
      const shown = answered(await list(client), name)
        .filter((one) => pattern === undefined || patternFits(one.name ?? "", String(pattern)))
        .map((one): Props => plain({ id: one.id, name: one.name, ...show(one) }))
        .filter((one) => Object.entries(filters).every(([filter, wanted]) => same(one[filter], wanted)))
        .toSorted(byName);
      if (newestFirst === true) shown.reverse();
      return { [plural]: shown, ids: shown.map(({ id }) => id) };
    },
  };
}

const numerically = new Intl.Collator("en", { numeric: true });
const byName = (a: Props, b: Props): number =>
  numerically.compare(String(a["name"] ?? ""), String(b["name"] ?? "")) ||
  numerically.compare(String(a["id"]), String(b["id"]));

const same = (shown: unknown, wanted: unknown): boolean =>
  shown !== undefined && String(shown).toLowerCase() === String(wanted).toLowerCase();

function answered<T>(answer: Outcome<T>, name: string): T {
  if (answer.status === "accepted") return answer.value;
  throw lookupFailure(`${name}: what it asks for cannot be read: ${failureText(answer)}`, "");
}

const lookupFailure = (summary: string, fix: string): HandlerFailure =>
  failure("plan/import-not-found", summary, fix === "" ? undefined : fix);

/** A size that cannot be seen fails nothing. */
async function sizeOf(id: string, client: ServiceReader): Promise<number | undefined> {
  return valueIn(await client.listVolumes())?.find((one) => one.id === id)?.sizeGb;
}

const entries = (what: string, plural: string, list: Sort<CatalogueEntry>["list"]): Sort<CatalogueEntry> => ({
  what,
  plural,
  list,
  outputs: {},
  show: () => ({}),
  filters: [],
});

const flavors = entries("flavor", "flavors", (client) => client.listFlavors());
const images = entries("image", "images", (client) => client.listImages());
const regions = entries("region", "regions", (client) => client.listRegions());

const rootVolume = ({ volumes }: LiveVm): string | undefined => volumes?.find(({ root }) => root === true)?.id;

const vms: Sort<LiveVm> = {
  what: "VM",
  plural: "vms",
  list: (client) => client.listVms(),
  readsOne: (client, id) => (client.can.seesVms === "each" ? client.getVm(id) : undefined),
  outputs: {
    status: text("Its state, in the service's own word."),
    flavorId: text("Its flavor."),
    imageId: text("Its image."),
    owner: text("Its owner."),
    floatingIp: text("Its public address."),
    privateIp: text("Its address in the private network."),
    volumeIds: texts("All its volumes, the root disk among them.", "The id of a volume."),
    rootVolumeId: text("The root disk, where the service shows which of the volumes it is."),
  },
  show: (vm) => ({
    ...{ status: vm.status, flavorId: vm.flavor, imageId: vm.image, owner: vm.owner },
    ...{ floatingIp: vm.floatingIp, privateIp: vm.privateIp, rootVolumeId: rootVolume(vm) },
    volumeIds: vm.volumes?.map(({ id }) => id),
  }),
  alone: {
    outputs: { rootSize: { type: "integer", description: "Its size in GB, where the service lists volumes." } },
    async show(vm, client) {
      const root = rootVolume(vm);
      return { rootSize: root === undefined ? undefined : await sizeOf(root, client) };
    },
  },
  filters: ["status", "flavorId", "imageId", "owner"],
};

const volumes: Sort<LiveVolume> = {
  what: "volume",
  plural: "volumes",
  list: (client) => client.listVolumes(),
  readsOne: (client, id) => (client.can.seesVolumes === "each" ? client.getVolume(id) : undefined),
  outputs: {
    size: { type: "integer", description: "Its size in GB." },
    status: text("Its state, in the service's own word."),
    vmId: text("The VM that it is attached to."),
  },
  show: (volume) => ({ size: volume.sizeGb, status: volume.status, vmId: volume.attachedTo ?? undefined }),
  filters: ["status", "vmId"],
};

const ruleOutputs: Properties = { id: requiredText("Its id in the group."), ...ruleProperties };

async function rulesOf(id: string, client: ServiceReader): Promise<readonly Props[]> {
  const rules = answered(await client.listRules(id), "getSecurityGroup");
  return rules.map((rule) => ({ id: rule.id, ...ruleAsProperties(canonicalLiveRule(rule), id) }));
}

const groups: Sort<LiveGroup> = {
  what: "security group",
  plural: "securityGroups",
  list: (client) => client.listGroups(),
  // Where only rules can be read, the look at them tells that there is such a group.
  readsOne(client, id) {
    if (client.can.seesGroups === "each") return client.getGroup(id);
    return client.can.seesGroups === "rules" ? Promise.resolve(accepted({ kind: "group", id })) : undefined;
  },
  outputs: { description: text("Its description.") },
  show: ({ description }) => ({ description }),
  alone: {
    outputs: {
      rules: {
        type: "array",
        description: "Its rules, those that the service made by itself among them.",
        items: { type: "object", description: "One rule.", properties: ruleOutputs },
      },
    },
    show: async ({ id }, client) => ({ rules: await rulesOf(id, client) }),
  },
  filters: [],
};

export const lookups: readonly Lookup[] = [
  ...[one("getFlavor", flavors), one("getImage", images), one("getRegion", regions)],
  ...[one("getVm", vms), one("getVolume", volumes), one("getSecurityGroup", groups)],
  ...[several("getFlavors", flavors), several("getImages", images), several("getRegions", regions)],
  ...[several("getVms", vms), several("getVolumes", volumes), several("getSecurityGroups", groups)],
];
