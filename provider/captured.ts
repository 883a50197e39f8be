import type { Removal } from "../reconciler/for-provider";

/**
 * What a dynamic resource carries into the state in the place of serialised code: a constant text that requires this
 * package. The process that serves dynamic resources only runs this text and calls its handler, so nothing is captured:
 * no credential can be in it, another release of the package is no difference, and the installed package decides what
 * runs, for a delete too. The states of earlier releases name the path and the function, so neither may ever change.
 */
export const capturedProvider = (type: string): string =>
  `exports.handler = () => require("reconcile-cloud/pulumi/dynamic").provider(${JSON.stringify(type)});\n`;

/** The property of a dynamic resource that holds the text. */
export const capturedKey = "__provider";

/**
 * What a program tells the provider beside the properties. The engine neither compares nor shows properties that begin
 * with two underscores.
 */
export const programKey = "__program";

export interface ProgramNote {
  /** The URN of the resource. */
  readonly of: string;
  /** The resource has its name from the program's name for it, and not from a property. */
  readonly named?: boolean;
  /** The name at the last `up`, because a refresh may show another one. Added by the provider. */
  readonly name?: string;
  /** Properties whose values are secrets. */
  readonly secrets?: readonly string[];
  /** What the files of its component take out of the program. Not kept in the state. */
  readonly removed?: RemovedByFiles;
}

export interface RemovedByFiles {
  /** The URN of the component. */
  readonly component: string;
  readonly removed: readonly Removal[];
}

/** The function of the plugin by which a component tells it that. It is no part of the schema. */
export const noteRemovedFunction = "noteRemoved";

export function programNote(raw: Readonly<Record<string, unknown>>): ProgramNote | undefined {
  const note = raw[programKey];
  // Only this package writes under this key, and every note that it writes has `of`.
  return typeof note === "object" && note !== null && "of" in note && typeof note.of === "string"
    ? (note as ProgramNote)
    : undefined;
}

/**
 * Whether the resource still has the name that it has in the program: neither a property nor a transform gives another.
 */
export function isNamedByItself(raw: Readonly<Record<string, unknown>>): boolean {
  const note = programNote(raw);
  return note?.named === true && raw["name"] === nameIn(note.of);
}

export const nameIn = (urn: string): string => urn.split("::").slice(3).join("::");

/** The shortest name that the service takes for a VM or a group. */
const shortest = 3;

/** The name in the service of what a program leaves unnamed: the program's own name for it, made long enough. */
export const madeUpName = (type: string, name: string): string =>
  (type === "Vm" || type === "SecurityGroup") && name.length < shortest ? `${name}-1` : name;

/** What was made up for inputs that no program gave: as long as the service shows others, and of parts of components. */
export const madeUpAsKey = "__madeUpAs";

/** Kinds of which two with the same name, or the same place, cannot exist at the same time. */
export const namesAreUnique: ReadonlySet<string> = new Set(["Vm", "SecurityGroup", "VolumeAttachment"]);

export const packageName = "reconcile-cloud";
/** Where Pulumi downloads the plugin from when it is not installed. */
export const pluginDownloadUrl = "github://api.github.com/reconcile-cloud/reconcile-cloud";

export const dynamicToken = (type: string): string => `pulumi-nodejs:dynamic/${packageName}:${type}`;
export const pluginToken = (type: string): string => `${packageName}:index:${type}`;
