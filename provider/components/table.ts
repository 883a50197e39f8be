/** The components that the plugin makes for programs in every language. */
import {
  fieldsIn,
  findHandler,
  type Handler,
  holdsUnknown,
  isObject,
  isUnknown,
  listIn,
  nobody,
  onlyDefined,
  replacedIn,
  unknownYet,
} from "../../reconciler/for-provider";
import {
  type DesiredPart,
  groupSetParts,
  isPartReference,
  isPartText,
  type Property,
  type Props,
  unknownValue,
} from "../../reconciler/index";
import { madeUpAsKey } from "../captured";
import { detaches, type FileSettings, partsOfFiles } from "./desired-files";
import type { Component, Parts } from "./parts";

const text = (description: string): Property => ({ type: "string", description });
const mapOf = (description: string, mapOf: Property): Property => ({ type: "object", description, mapOf });
const anything = (description: string): Property => ({ type: "object", description });

const handler = (type: string): Handler => {
  const found = findHandler(type);
  if (found === undefined) throw new Error(`there is no resource type ${type}`);
  return found;
};

const flushConfirmed: Property = {
  type: "boolean",
  description: "You state that volumes are unmounted or synced before a change detaches them.",
};

type Output = Parts["outputs"][number];
const output = (name: string, value: unknown): Output => ({ name, value, sensitive: false });

/** The ids of the parts, by key. */
const idsOf = (addresses: Readonly<Record<string, string>>): Props =>
  Object.fromEntries(Object.entries(addresses).map(([key, address]) => [key, { part: address }]));

/** A name that is left out is made of the component's, and stays when the component gets another one. */
const namedAs = (given: unknown, made: string): Props =>
  given === undefined || given === null ? { name: made, [madeUpAsKey]: { name: made } } : { name: given };

// `assertInputs` has held both to their shape.
const isKnownMap = (value: unknown): value is Readonly<Record<string, Props>> =>
  !isUnknown(value) && !Object.values(fieldsIn(value)).some(isUnknown);
const isKnownList = (value: unknown): boolean => !isUnknown(value) && !listIn(value).some(isUnknown);

export const desiredState: Component = {
  type: "DesiredState",
  description:
    "The files of a desired state (reconcile.yaml) as one component, with a resource for each of their addresses.",
  inputs: {
    files: {
      type: "array",
      required: true,
      items: text("A file, relative to the program."),
      description: "The files. Several are one desired state.",
    },
    env: text("Of files that declare environments, the one that is meant."),
    vars: mapOf("Values for the files' vars.", text("A value.")),
    reads: anything("What the files' reads give: by the name of each, the outputs of that project."),
    lookups: anything("What the files' lookups find: by the name of each, its id, name and addresses."),
    flushConfirmed,
  },
  outputs: {
    ids: { ...mapOf("The ids, by address: vm.web[a], volume.data, group.web.", text("An id.")), required: true },
    addresses: {
      ...mapOf("The VMs' addresses, by the address of each.", {
        type: "object",
        description: "Where a VM is reached.",
        properties: { floatingIp: text("Its public address."), privateIp: text("Its address in the private network.") },
      }),
      required: true,
    },
    outputs: { ...mapOf("What the files hand out, by name.", anything("A value.")), required: true },
  },
  partsOf(_name, { files, flushConfirmed: stated, ...settings }) {
    const found = partsKnown({ files, ...settings });
    if (found === undefined) return undefined;
    const { parts, outputs, warnings, removed } = found;
    const vms = parts.filter(({ type }) => type === "Vm");
    const addressesOf = ({ address }: DesiredPart): [string, Props] => [
      address,
      { floatingIp: { part: address, property: "floatingIp" }, privateIp: { part: address, property: "privateIp" } },
    ];
    return {
      parts: stated === true ? parts.map((part) => (detaches(part.type) ? withFlush(part) : part)) : parts,
      warnings,
      ...(removed === undefined ? {} : { removed }),
      outputs: [
        output("ids", idsOf(Object.fromEntries(parts.map(({ address }) => [address, address])))),
        output("addresses", Object.fromEntries(vms.map(addressesOf))),
        {
          name: "outputs",
          value: Object.fromEntries(outputs.map(({ name, value }) => [name, value])),
          sensitive: outputs.some(({ sensitive }) => sensitive),
        },
      ],
    };
  },
};

/**
 * What a preview does not know yet may stand in the files where an address of a VM may, and then in inputs of parts.
 * Elsewhere the files say only with it which parts there are.
 */
function partsKnown(inputs: Props): Parts | undefined {
  const read = ({ files, ...settings }: Props): Parts =>
    // `assertInputs` has held them to their shape.
    partsOfFiles(files as readonly string[], settings as FileSettings);
  if (!holdsUnknown(inputs)) return read(inputs);
  try {
    const { parts, outputs, ...more } = read(fieldsIn(replaced(inputs, isUnknown, unknownYet)));
    return {
      ...more,
      parts: parts.map((part) => ({ ...part, inputs: fieldsIn(replaced(part.inputs, isOpen, unknownValue)) })),
      outputs: outputs.map((one) => ({ ...one, value: replaced(one.value, isOpen, unknownValue) })),
    };
  } catch {
    return undefined;
  }
}

const isOpen = (value: unknown): boolean =>
  (isPartReference(value) && value.part === nobody) || (isPartText(value) && value.pieces.some(isOpen));

const replaced = (value: unknown, isMeant: (value: unknown) => boolean, by: string): unknown =>
  replacedIn(value, (part) => (isMeant(part) ? by : part));

const withFlush = (part: DesiredPart): DesiredPart => ({ ...part, inputs: { ...part.inputs, flushConfirmed: true } });

const plainPart = (type: DesiredPart["type"], address: string, inputs: Props): DesiredPart => ({
  ...{ type, address, inputs },
  ...{ protect: false, ignoreChanges: [] },
});

const vmWithVolumes: Component = {
  type: "VmWithVolumes",
  description:
    "A virtual machine with volumes of its own, which are attached to it and outlive it when it is replaced.",
  inputs: {
    ...handler("Vm").inputs,
    volumes: mapOf("The volumes, by a name each.", {
      type: "object",
      description: "A volume that is attached to the VM.",
      properties: {
        name: text("The volume's name. Left out, the VM's name and the volume's key."),
        size: { type: "integer", required: true, description: "Size in GB." },
        ...flushOf(handler("Volume").inputs),
      },
    }),
  },
  outputs: {
    vmId: { ...text("The VM's id."), required: true },
    floatingIp: text("The public address."),
    privateIp: text("The address in the private network."),
    volumeIds: { ...mapOf("The volumes' ids, by their names.", text("An id.")), required: true },
  },
  partsOf(name, { volumes: keys = {}, ...inputs }) {
    if (!isKnownMap(keys)) return undefined;
    const vm = `vm.${name}`;
    const volumeOf = (key: string): string => `volume.${name}-${key}`;
    const parts = Object.entries(keys).flatMap(
      ([key, { size, name: called, flush, flushConfirmed: stated, ...others }]) => {
        const how = onlyDefined({ flush, flushConfirmed: stated });
        return [
          plainPart("Volume", volumeOf(key), { ...namedAs(called, `${name}-${key}`), size, ...how, ...others }),
          plainPart("VolumeAttachment", `${volumeOf(key)}/attachment`, {
            ...{ vmId: { part: vm }, volumeId: { part: volumeOf(key) } },
            ...how,
          }),
        ];
      },
    );
    return {
      parts: [plainPart("Vm", vm, { ...inputs, ...namedAs(inputs["name"], name) }), ...parts],
      warnings: [],
      outputs: [
        output("vmId", { part: vm }),
        output("floatingIp", { part: vm, property: "floatingIp" }),
        output("privateIp", { part: vm, property: "privateIp" }),
        output("volumeIds", idsOf(Object.fromEntries(Object.keys(keys).map((key) => [key, volumeOf(key)])))),
      ],
    };
  },
};

function flushOf({ flush, flushConfirmed: stated }: Readonly<Record<string, Property>>) {
  return onlyDefined({ flush, flushConfirmed: stated });
}

const group = handler("SecurityGroup").inputs;

const securityGroupSet: Component = {
  type: "SecurityGroupSet",
  description: "Security groups that may name each other in their rules, in a circle too.",
  inputs: {
    groups: {
      ...mapOf("The groups, by a key each. A rule's remoteGroup may be the key of another one.", {
        type: "object",
        description: "A group and its rules.",
        properties: {
          name: text("The group's name. Left out, the set's name and the group's key."),
          ...Object.fromEntries(["description", "rules"].flatMap((key) => (group[key] ? [[key, group[key]]] : []))),
        },
      }),
      required: true,
    },
  },
  outputs: { ids: { ...mapOf("The groups' ids, by their keys.", text("An id.")), required: true } },
  partsOf(name, { groups }) {
    if (!isKnownMap(groups) || !Object.values(groups).every(({ rules }) => isKnownList(rules))) return undefined;
    const keys = Object.keys(groups);
    const addressOf = (key: string): string => `group.${name}-${key}`;
    const named = (rule: Props): Props => {
      const key = rule["remoteGroup"];
      return typeof key === "string" && keys.includes(key) ? { ...rule, remoteGroup: addressOf(key) } : rule;
    };
    const parts = groupSetParts(
      Object.fromEntries(
        Object.entries(groups).map(([key, { rules, name: called, ...inputs }]) => [
          addressOf(key),
          { ...namedAs(called, `${name}-${key}`), ...inputs, rules: listIn(rules).map(fieldsIn).map(named) },
        ]),
      ),
    );
    return {
      parts,
      warnings: [],
      outputs: [output("ids", idsOf(Object.fromEntries(keys.map((key) => [key, addressOf(key)]))))],
    };
  },
};

/**
 * Throws with everything that the program gives and that is not as described: no engine holds inputs to the schema, and
 * what has another shape says nothing of which parts there are.
 */
export function assertInputs({ type, inputs }: Component, given: Props): void {
  const problems = [
    ...Object.keys(given)
      .filter((name) => !Object.hasOwn(inputs, name))
      .map((name) => `${name} is not a property of ${type}; there are ${Object.keys(inputs).join(", ")}`),
    ...Object.entries(inputs).flatMap(([name, property]) =>
      // Left out, it is made of the component's.
      name === "name" && given[name] === undefined ? [] : misshapen(name, given[name], property),
    ),
  ];
  if (problems.length > 0) throw new Error(problems.join("\n"));
}

function misshapen(path: string, value: unknown, { type, required, items, mapOf, properties }: Property): string[] {
  if (value === undefined || value === null)
    return required === true ? [`${path} ${value === null ? nullGiven : "is required"}`] : [];
  if (isUnknown(value)) return [];
  if (type === "array") {
    if (!Array.isArray(value)) return [`${path} must be a list`];
    return items === undefined ? [] : value.flatMap((one, at) => misshapen(`${path}[${at}]`, one, asRequired(items)));
  }
  if (type !== "object") return typeof value === "object" ? [`${path} must be ${scalarWords[type]}`] : [];
  if (!isObject(value)) return [`${path} must be a map`];
  const keys =
    mapOf === undefined
      ? Object.entries(properties ?? {})
      : Object.keys(value).map((key) => [key, asRequired(mapOf)] as const);
  return keys.flatMap(([key, one]) => misshapen(`${path}.${key}`, value[key], one));
}

/** What an output without a value gives. The default of a variable is for what the program leaves out. */
const nullGiven = "has no value (null) — give it one, or leave it out";

const scalarWords = { string: "text", integer: "a number", boolean: "true or false" } as const;

/** What stands in a list or in a map has a value. */
const asRequired = (property: Property): Property => ({ ...property, required: true });

export const components: readonly Component[] = [desiredState, vmWithVolumes, securityGroupSet];
