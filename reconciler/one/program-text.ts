/**
 * A Pulumi program for the resources of a state: each of its resources takes over what exists by its id, so that the
 * first `pulumi up` changes nothing in the service. It also makes the list that `pulumi import` takes, for the plugin.
 */

import { type Address, componentPath } from "../core/model/address";
import type { Desired, DesiredResource, Reference } from "../core/model/desired";
import { recordedAttribute, withReferences } from "../core/model/facts";
import { type AddressOf, addressesByIdentity, identity, lookUpIn } from "../core/model/identity";
import { type Kind, kindRows, ofKind } from "../core/model/kinds";
import type { State } from "../core/model/recorded";
import { desiredAsRecorded } from "../core/plan/as-recorded";
import { mustGet } from "../core/text/invariant";
import { fieldsIn, keysOf, onlyDefined, replacedIn } from "../core/text/objects";
import { printableLines } from "../core/text/printable";
import {
  type DesiredPart,
  isPartReference,
  isPartText,
  type OutputPart,
  type PartReference,
  partsOf,
  resourceOfPart,
} from "./parts";
import { asProperty } from "./words";

export interface ProgramFiles {
  /** The text of each file, by name. */
  readonly [file: string]: string;
}

/** The resources of the state: as the file declares them, and the others as they are recorded. */
export function exportedParts(desired: Desired, state: State): readonly DesiredPart[] {
  const declared = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const addressOf = lookUpIn(addressesByIdentity(state.resources.values()));
  const resources = desiredAsRecorded(state)
    .resources.filter(({ address }) => state.resources.get(address)?.id !== undefined)
    .map((recorded) => declared.get(recorded.address) ?? byAddress(recorded, addressOf));
  const known = new Set(resources.map(({ address }) => address));
  return partsOf({ ...desired, resources }).map((part) => {
    // A resource cannot be declared with a value of its own.
    const isOther = (address: Address): boolean => address !== part.address && known.has(address);
    return { ...part, inputs: fieldsIn(onlyKnown(part.inputs, isOther, state)) };
  });
}

/** A record names other resources by id; a program names them by their variables. */
function byAddress(resource: DesiredResource, addressOf: AddressOf): DesiredResource {
  const named = (reference: Reference, kind: Kind): Reference => {
    const address = "id" in reference ? addressOf(identity(kind, reference.id)) : reference.address;
    return address === undefined ? reference : { address };
  };
  const other = withReferences(resource, named);
  const vm = ofKind(other, "vm");
  const group = ofKind(other, "group");
  // Only the file says how a resize is decided.
  if (vm !== undefined) return { ...vm, lifecycle: { ...vm.lifecycle, ignoreChanges: [], verifyResize: usualVerify } };
  return group === undefined ? other : { ...group, lifecycle: { ...group.lifecycle, ignoreChanges: [] } };
}

const usualVerify = { confirm: "auto", timeoutMs: 120_000, onFailure: "revert" } as const;

/** A resource that is declared but was never applied has no id to refer to. */
const onlyKnown = (value: unknown, isKnown: (address: Address) => boolean, state: State): unknown =>
  replacedIn(value, (part) => (isPartReference(part) && !isKnown(part.part) ? recordedOrAddress(part, state) : part));

/** A property of a resource that is not in the program: its recorded value. */
function recordedOrAddress({ part, property }: PartReference, state: State): string {
  const record = state.resources.get(part);
  if (record === undefined) return part;
  const attribute = keysOf(kindRows[record.kind].attributes).find((one) => asProperty(one) === property);
  return recordedAttribute(record, attribute ?? "id") ?? part;
}

export function pulumiProgram(
  project: string,
  parts: readonly DesiredPart[],
  state: State,
  outputs: readonly OutputPart[] = [],
): ProgramFiles {
  const components = componentsOf(parts);
  const types = [...new Set(parts.map(({ type }) => type))].sort();
  const taken = new Set([...types, ...namesInUse]);
  const names = variableNames([...components, ...parts.map(({ address }) => address)], taken);
  const lines = [
    ...components.map((component) => componentText(component, names)),
    ...parts.map((part) => resourceText(part, names, state)),
  ];
  const handed = outputs.map(({ name, value, sensitive }) => {
    const named = onlyKnown(value, (address) => names.has(address), state);
    const text = literal(named, names, "");
    return `export const ${nameNotIn(taken, name.replaceAll("-", "_"))} = ${sensitive ? `pulumi.secret(${text})` : text};`;
  });
  const code = printableLines([...lines, ...(handed.length === 0 ? [] : [handed.join("\n")])].join("\n\n"));
  const shows = code.includes("shown(");
  const imports = /\bpulumi\./.test(code) ? ['import * as pulumi from "@pulumi/pulumi";'] : [];
  const body = shows ? `${shownHelper}\n\n${code}` : code;
  const name = project.replace(/[^A-Za-z0-9_.-]/g, "-") || "exported";
  return {
    "index.ts": `// Takes over what exists: \`pulumi up\` changes nothing in the service, and \`adopt\` may be removed afterwards.
// With the provider plugin instead: leave \`adopt\` out, give each resource a \`provider\`, and run
// \`pulumi import --file import.json\` before the first \`pulumi up\`.
${[...imports, `import { ${types.join(", ")} } from "reconcile-cloud/pulumi";`].join("\n")}

${body}
`,
    "import.json": `${JSON.stringify({ resources: importList(parts, state) }, undefined, 2)}\n`,
    "Pulumi.yaml": `name: ${name}\nruntime: nodejs\n`,
    "package.json": `${JSON.stringify({ name, private: true, dependencies: { "@pulumi/pulumi": "^3.216.0", "reconcile-cloud": "*" } }, undefined, 2)}\n`,
  };
}

const componentType = "reconcile-cloud:index:Component";

/** The components of the parts, each once. What a part of a resource belongs to is none. */
const componentsOf = (parts: readonly DesiredPart[]): readonly string[] => [
  ...new Set(parts.flatMap(({ address }) => componentPath(resourceOfPart(address)))),
];

/** The name of a component in the program: its key, as in the file. */
const componentName = (component: string): string => component.slice(0, -1);

const parentOf = (address: Address, names: ReadonlyMap<string, string>): Raw | undefined => {
  const parent = componentPath(address.endsWith("/") ? address.slice(0, -1) : address).at(-1);
  return parent === undefined ? undefined : new Raw(mustGet(names, parent));
};

function componentText(component: string, names: ReadonlyMap<string, string>): string {
  const parent = parentOf(component, names);
  const options = parent === undefined ? "" : `, {}, ${literal({ parent }, names, "")}`;
  return `const ${names.get(component)} = new pulumi.ComponentResource(${JSON.stringify(componentType)}, ${JSON.stringify(componentName(component))}${options});`;
}

const adoptable = new Set(["Vm", "Volume", "SecurityGroup"]);

function resourceText(part: DesiredPart, names: ReadonlyMap<string, string>, state: State): string {
  const id = adoptable.has(part.type) ? state.resources.get(part.address)?.id : undefined;
  const inputs = id === undefined ? part.inputs : { ...part.inputs, adopt: id };
  const parent = parentOf(resourceOfPart(part.address), names);
  const options = onlyDefined({
    parent,
    protect: part.protect ? true : undefined,
    ignoreChanges: part.ignoreChanges.length === 0 ? undefined : part.ignoreChanges,
    deletedWith: part.deletedWith === undefined ? undefined : new Raw(mustGet(names, part.deletedWith)),
  });
  const more = Object.keys(options).length === 0 ? "" : `, ${literal(options, names, "")}`;
  return `const ${names.get(part.address)} = new ${part.type}(${JSON.stringify(part.address)}, ${literal(inputs, names, "")}${more});`;
}

/** An address that the service does not show must not become a rule without an address, which would admit everybody. */
const shownHelper = `function shown<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(\`the service does not show \${what}\`);
  return value;
}`;

function propertyText({ part, property }: PartReference, names: ReadonlyMap<string, string>): string {
  const name = names.get(part);
  if (property === undefined) return `${name}.id`;
  if (property === "size") return `pulumi.concat(${name}.size)`;
  if (property === "name") return `${name}.name`;
  return `${name}.${property}.apply((value) => shown(value, ${JSON.stringify(`the ${property} of ${part}`)}))`;
}

/** Code that is written as it stands, in contrast to a text. */
class Raw {
  constructor(readonly code: string) {}
}

function literal(value: unknown, names: ReadonlyMap<string, string>, indent: string): string {
  if (value instanceof Raw) return value.code;
  if (isPartReference(value)) return propertyText(value, names);
  if (isPartText(value))
    return `pulumi.concat(${value.pieces.map((piece) => literal(piece, names, indent)).join(", ")})`;
  const inner = `${indent}  `;
  if (Array.isArray(value))
    return value.length === 0
      ? "[]"
      : `[\n${value.map((item) => `${inner}${literal(item, names, inner)},`).join("\n")}\n${indent}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return `{\n${entries.map(([key, item]) => `${inner}${propertyName(key)}: ${literal(item, names, inner)},`).join("\n")}\n${indent}}`;
}

/** A key of an output's value is any text. */
const propertyName = (key: string): string => (/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key));

/** Words that no constant of a module may have as its name. */
const reserved = new Set(
  "arguments await break case catch class const continue debugger default delete do else enum eval export extends false finally for function if implements import in instanceof interface let new null package private protected public return static super switch this throw true try typeof var void while with yield".split(
    " ",
  ),
);

/** What the program uses by these names, and what Node gives each module. */
const namesInUse = ["pulumi", "shown", "Error", "undefined", "exports", "module", "require"];

/** Where something else has the name already, or the language has it, a number makes it another one. */
function nameNotIn(taken: Set<string>, text: string): string {
  const base = text.replace(/^(?=\d)/, "_");
  let name = base;
  for (let number = 2; taken.has(name) || reserved.has(name); number++) name = `${base}${number}`;
  taken.add(name);
  return name;
}

/** `volume.db-data/attachment` is volumeDbDataAttachment; two addresses that give the same name get a number. */
function variableNames(addresses: readonly Address[], taken: Set<string>): Map<string, string> {
  const names = new Map<string, string>();
  for (const address of addresses) {
    const words = address.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
    const base = words
      .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
      .join("");
    names.set(address, nameNotIn(taken, base));
  }
  return names;
}

/** Rules of their own are left out: the state does not know their ids, and creating them finds them. */
function importList(parts: readonly DesiredPart[], state: State): object[] {
  const idOf = (value: unknown): string | undefined =>
    isPartReference(value) ? state.resources.get(value.part)?.id : typeof value === "string" ? value : undefined;
  const parentIn = (address: Address): { readonly parent?: string } => {
    const parent = componentPath(address).at(-1);
    return parent === undefined ? {} : { parent: componentName(parent) };
  };
  const boxes = componentsOf(parts).map((component) => ({
    type: componentType,
    name: componentName(component),
    component: true,
    ...parentIn(componentName(component)),
  }));
  const resources = parts.flatMap((part) => {
    const id =
      part.type === "VolumeAttachment"
        ? `${idOf(part.inputs["vmId"])}/${idOf(part.inputs["volumeId"])}`
        : state.resources.get(part.address)?.id;
    return id === undefined || part.type === "SecurityGroupRule"
      ? []
      : [
          {
            type: `reconcile-cloud:index:${part.type}`,
            name: part.address,
            id,
            ...parentIn(resourceOfPart(part.address)),
          },
        ];
  });
  return [...boxes, ...resources];
}
