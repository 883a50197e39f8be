/**
 * The package's folder, version and public address, from the sources, the build, the bundled command line and the single
 * executable alike.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

export const packageFolder: string = findUp(__dirname);

function findUp(folder: string): string {
  const above = dirname(folder);
  return above === folder || existsSync(join(folder, "package.json")) ? folder : findUp(above);
}

interface PackageFile {
  readonly name: string;
  readonly version: string;
}

export const version: string = readPackage()?.version ?? "unknown";

export function isSingleExecutable(): boolean {
  try {
    return (require("node:sea") as typeof import("node:sea")).isSea();
  } catch {
    // This Node has no single executables.
    return false;
  }
}

/** A single executable carries its package file inside; whatever lies beside the executable is somebody else's. */
function readPackage(): PackageFile | undefined {
  try {
    if (isSingleExecutable()) {
      const { getAsset } = require("node:sea") as typeof import("node:sea");
      // The build put this package's own package.json there.
      return JSON.parse(getAsset("package.json", "utf8"));
    }
  } catch {
    // Made without one.
  }
  try {
    // This package's own package.json.
    return require(join(packageFolder, "package.json"));
  } catch {
    return undefined;
  }
}

/** Where an editor finds a schema of this version when the package is not installed beside the file. */
export const publicSchema = (name: string): string =>
  `https://raw.githubusercontent.com/reconcile-cloud/reconcile-cloud/v${version}/schemas/${name}.schema.json`;
