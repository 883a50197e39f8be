/**
 * What a dynamic resource carries into the state instead of serialised code: a constant text that requires this
 * package. The process that serves dynamic resources only ever runs the text and calls its handler, so nothing has to
 * be captured: no credential can be in it, another release of the package is no difference, and the installed package
 * decides what runs, for a delete too. Old states name the path and the function: neither may ever change.
 */
export const capturedProvider = (type: string): string =>
  `exports.handler = () => require("reconcile-cloud/pulumi/dynamic").provider(${JSON.stringify(type)});\n`;

/** The property of a dynamic resource that holds it. */
export const capturedKey = "__provider";

/** What a program tells the provider beside the properties. The engine neither compares nor shows what begins so. */
export const programKey = "__program";

export interface ProgramNote {
  /** Its URN. */
  readonly of: string;
  /** The name is the resource's own, not one that the program gives. */
  readonly named?: boolean;
  /** That name, when it was last brought up: a refresh may show another one. Added by the provider. */
  readonly name?: string;
  /** Properties whose values are secrets. */
  readonly secrets?: readonly string[];
}

export function programNote(raw: Readonly<Record<string, unknown>>): ProgramNote | undefined {
  const note = raw[programKey];
  // Only this package writes under this key, and every note that it writes has `of`.
  return typeof note === "object" && note !== null && "of" in note && typeof note.of === "string"
    ? (note as ProgramNote)
    : undefined;
}

/** Its name is the one that it has in the program: neither it nor a transform gives another. */
export function isNamedByItself(raw: Readonly<Record<string, unknown>>): boolean {
  const note = programNote(raw);
  return note?.named === true && raw["name"] === nameIn(note.of);
}

export const nameIn = (urn: string): string => urn.split("::").slice(3).join("::");

export const packageName = "reconcile-cloud";
/** Where the engine finds the plugin that it does not have. */
export const pluginDownloadUrl = "github://api.github.com/reconcile-cloud/reconcile-cloud";

export const dynamicToken = (type: string): string => `pulumi-nodejs:dynamic/${packageName}:${type}`;
export const pluginToken = (type: string): string => `${packageName}:index:${type}`;
