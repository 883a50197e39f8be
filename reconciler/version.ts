/** The package's folder and version, from the sources, the build and the bundled command line alike. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

export const packageFolder: string = findUp(__dirname);

function findUp(folder: string): string {
  const above = dirname(folder);
  return above === folder || existsSync(join(folder, "package.json")) ? folder : findUp(above);
}

export const version: string = readVersion();

function readVersion(): string {
  try {
    return (require(join(packageFolder, "package.json")) as { version: string }).version;
  } catch {
    return "unknown";
  }
}
