/** The package's version, from the sources and from the build alike. */
function readVersion(): string {
  for (const path of ["../package.json", "../../package.json"]) {
    try {
      return (require(path) as { version: string }).version;
    } catch {
      // One folder further up in the build.
    }
  }
  return "unknown";
}

export const version = readVersion();
