/** Reads the fleet's files from disk, and finds the stacks that its generators stand for. */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { errorCode, errorMessage } from "../../core/text/errors";
import type { Fleet, Generator, Source, StackSpec } from "../../fleet/model";
import { fits } from "../../fleet/model";
import { readFleet } from "../../fleet/read-fleet";
import { SourceFailed } from "../../fleet/sources/checkout";
import { checkOut } from "../../fleet/sources/source";
import { scheduleProblem } from "../../fleet/windows";
import { fail } from "../compose";
import { CommandFailed } from "../crash";

export function readFleetFiles(paths: readonly string[]): Fleet {
  const files = (paths.length === 0 ? ["fleet.yaml"] : paths).flatMap(expand);
  const sources = files.map((path) => ({ file: relative(process.cwd(), resolve(path)) || path, text: textOf(path) }));
  const { fleet, diagnostics } = readFleet(sources, {
    resolvePath: (file, path) => resolve(dirname(file), path),
    scheduleProblem,
  });
  if (fleet === undefined) throw new CommandFailed(diagnostics);
  return fleet;
}

function expand(path: string): string[] {
  if (!existsSync(path) || !statSync(path).isDirectory()) return [path];
  const files = readdirSync(path)
    .filter((name) => /^[^.].*\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(path, name));
  if (files.length === 0) throw fail("cli/no-files", `the folder ${path} has no .yaml file`, "name a fleet's file");
  return files;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const missing = errorCode(error) === "ENOENT";
    throw fail(
      "cli/file-unreadable",
      missing ? `there is no file ${path}` : `${path} cannot be read: ${errorMessage(error)}`,
      "reconcile fleet sync FILE; docs/fleet.md shows one",
    );
  }
}

/**
 * The declared stacks, and one for each folder that fits a generator; a declared stack takes precedence over a
 * generated one.
 */
export async function allStacks(fleet: Fleet, cache: string): Promise<StackSpec[]> {
  const stacks = new Map(fleet.stacks.map((stack) => [stack.name, stack]));
  for (const generator of fleet.generators)
    for (const stack of await generated(generator, cache)) if (!stacks.has(stack.name)) stacks.set(stack.name, stack);
  return [...stacks.values()];
}

async function generated(generator: Generator, cache: string): Promise<StackSpec[]> {
  const { source, folders, stack, template } = generator;
  let root: string;
  try {
    root = (await checkOut(source, cache)).folder;
  } catch (error) {
    if (!(error instanceof SourceFailed)) throw error;
    throw fail("fleet/source", error.message, "try it by hand from here, and correct the source");
  }
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
