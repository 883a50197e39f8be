/**
 * Reads the files that a desired state names: relative to the file that names them, or `npm:` in packages installed
 * beside it. Nothing is fetched.
 */

import { existsSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { OpenFile } from "../config/read/desired";
import { withoutUsers } from "../core/text/outside-policy";
import { mostOfNamed, readPlainFile, shownPath } from "./files";
import { refusedPath, type Trust, trustFrom } from "./trust";

/** As far as the environment says that the files are trusted. */
export const openBeside: OpenFile = (path, beside) => openBesideIn(trustFrom())(path, beside);

export const openBesideIn =
  (trust: Trust): OpenFile =>
  (path, beside) => {
    const found = path.startsWith("npm:")
      ? findInPackages(path.slice("npm:".length), beside)
      : besideFile(path, beside);
    if (typeof found !== "string") return found;
    const refused = refusedPath(trust, found);
    if (refused !== undefined) return refused;
    const read = readPlainFile(found, mostOfNamed);
    if ("text" in read) return { source: { file: shownPath(found), text: read.text } };
    return read.isMissing
      ? { problem: `there is no file ${withoutUsers(path)}`, fix: `paths are relative to ${beside}: correct the path` }
      : { problem: `${path} cannot be read: ${read.problem}`, fix: read.fix };
  };

const besideFile = (path: string, beside: string): string =>
  isAbsolute(path) ? path : resolve(dirname(resolve(beside)), path);

/** As Node finds packages: in the `node_modules` of the file's folder and of every folder above it. */
function findInPackages(name: string, beside: string): string | { readonly problem: string; readonly fix: string } {
  const match = /^((?:@[a-z0-9~-][\w.~-]*\/)?[a-z0-9~-][\w.~-]*)\/(.+)$/i.exec(name);
  const [, package_, file] = match ?? [];
  if (package_ === undefined || file === undefined || file.split(/[\\/]/).includes(".."))
    return {
      problem: `npm:${name} names no file of a package`,
      fix: "write npm:PACKAGE/FILE, or npm:@SCOPE/PACKAGE/FILE",
    };
  let isInstalled = false;
  for (let at = dirname(resolve(beside)); ; at = dirname(at)) {
    const folder = join(at, "node_modules", package_);
    if (existsSync(join(folder, file))) return join(folder, file);
    isInstalled ||= existsSync(folder);
    if (dirname(at) === at) break;
  }
  return isInstalled
    ? { problem: `the package ${package_} has no file ${file}`, fix: "look into the package for its name" }
    : { problem: `the package ${package_} is not installed`, fix: `npm install ${package_}` };
}
