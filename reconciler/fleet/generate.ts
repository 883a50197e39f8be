/** The stacks that generators stand for: one for each folder that has a file of the given name. */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { withoutUsers } from "../core/text/outside-policy";
import { refuseSharedStates, StacksRefused } from "./may-read";
import { type Fleet, fits, type Generator, type Source, type StackSpec } from "./model";
import type { Freshness } from "./sources/git";
import { checkOut } from "./sources/source";

/**
 * The declared stacks, and one for each folder that fits a generator; a declared stack takes precedence over a
 * generated one.
 */
export async function allStacks(
  fleet: Pick<Fleet, "stacks" | "generators">,
  cache: string,
  freshness: Freshness = {},
): Promise<StackSpec[]> {
  const declared = new Set(fleet.stacks.map(({ name }) => name));
  const made = new Map<string, { readonly spec: StackSpec; readonly by: string }>();
  for (const generator of fleet.generators)
    for (const spec of await generated(generator, cache, freshness)) {
      if (declared.has(spec.name)) continue;
      const by = `${placeText(spec.source)} (folders: ${generator.folders})`;
      const before = made.get(spec.name);
      if (before !== undefined) throw madeTwice(spec.name, before.by, by);
      made.set(spec.name, { spec, by });
    }
  const all = [...fleet.stacks, ...[...made.values()].map(({ spec }) => spec)];
  refuseSharedStates(all);
  return all;
}

/** As the fleet's file may write one: it becomes a part of the address of the stack's state, and of those of pages. */
const stackName = /^[A-Za-z0-9][A-Za-z0-9_.-]*$/;

const badName = (name: string, place: string): StacksRefused =>
  new StacksRefused([
    {
      severity: "error",
      code: "fleet/bad-name",
      summary: `${place} would make a stack named ${JSON.stringify(name)}, which is no name of a stack`,
      fix: "rename the folder: a name has letters, digits, dots, - and _, and begins with a letter or a digit",
    },
  ]);

/** Which of the two is meant is nobody's to guess: the other one would be left out without a word. */
const madeTwice = (name: string, one: string, other: string): StacksRefused =>
  new StacksRefused([
    {
      severity: "error",
      code: "fleet/twice",
      summary: `the stack ${name} is generated twice: by ${one} and by ${other}`,
      fix: 'write stack: "${path}", which is the whole path of the folder, or give the stacks of each generator names of their own',
    },
  ]);

const placeText = (source: Source): string =>
  source.kind === "folder" ? source.folder : `${source.path || "the root"} of ${withoutUsers(source.url)}`;

async function generated(
  { source, folders, stack, template }: Generator,
  cache: string,
  freshness: Freshness,
): Promise<StackSpec[]> {
  const root = (await checkOut(source, cache, freshness)).folder;
  return filesBelow(root, "")
    .filter((file) => fitsPath(folders, file))
    .map((file) => {
      const folder = dirname(file) === "." ? "" : dirname(file);
      const name = stack
        .replaceAll("${folder}", basename(folder) || ownName(source))
        .replaceAll("${path}", folder.replaceAll("/", "-"));
      if (!stackName.test(name)) throw badName(name, placeText(within(source, folder)));
      return { ...template, name, source: within(source, folder), state: template.state.replaceAll("${stack}", name) };
    });
}

/** What a generator looks into, by a name that each commit and each worker has: the files themselves are in a cache. */
const ownName = (source: Source): string =>
  source.kind === "folder"
    ? basename(source.folder)
    : source.path === ""
      ? (/([^/:]+?)(?:\.git)?\/*$/.exec(source.url)?.[1] ?? "")
      : basename(source.path);

/** A star stands for one folder's name, not for several. */
const fitsPath = (pattern: string, path: string): boolean => {
  const [wanted, parts] = [pattern.split("/"), path.split("/")];
  return wanted.length === parts.length && wanted.every((one, index) => fits(one, parts[index] ?? ""));
};

function within(source: Source, folder: string): Source {
  if (source.kind === "folder") return { ...source, folder: join(source.folder, folder) };
  return { ...source, path: [source.path, folder].filter((part) => part !== "").join("/") };
}

const filesBelow = (root: string, below: string): string[] =>
  readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith(".") || entry.name === "node_modules") return [];
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
