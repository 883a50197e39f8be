/** The stacks that generators stand for: one for each folder that has a file of the given name. */
import { readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { sharedStates } from "./may-read";
import { type Fleet, fits, type Generator, type Source, type StackSpec } from "./model";
import { SourceFailed } from "./sources/checkout";
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
  const stacks = new Map(fleet.stacks.map((stack) => [stack.name, stack]));
  for (const generator of fleet.generators)
    for (const stack of await generated(generator, cache, freshness))
      if (!stacks.has(stack.name)) stacks.set(stack.name, stack);
  const all = [...stacks.values()];
  const [shared] = sharedStates(all);
  if (shared !== undefined)
    throw new SourceFailed(
      `the stacks ${shared.slice(0, 2).join(" and ")} have one state, and each would take away what the other one makes: \${stack} in its place is the stack's name`,
    );
  return all;
}

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
        .replaceAll("${folder}", basename(folder) || basename(root))
        .replaceAll("${path}", folder.replaceAll("/", "-"));
      return {
        ...template,
        name,
        source: within(source, folder),
        state: template.state.replaceAll("${stack}", name),
      };
    });
}

/** A star stands for one folder's name, not for several. */
const fitsPath = (pattern: string, path: string): boolean => {
  const [wanted, parts] = [pattern.split("/"), path.split("/")];
  return wanted.length === parts.length && wanted.every((one, index) => fits(one, parts[index] ?? ""));
};

function within(source: Source, folder: string): Source {
  if (source.kind === "folder") return { ...source, folder: join(source.folder, folder) };
  return { ...source, path: [source.path, folder].filter((part) => part !== "").join("/") };
}

function filesBelow(root: string, below: string): string[] {
  return readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    if (entry.name.startsWith(".") || entry.name === "node_modules") return [];
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    return entry.isDirectory() ? filesBelow(root, path) : [path];
  });
}
