/** From what `--state` says to a store; each kind is loaded only when it is used. */
import { fileURLToPath } from "node:url";
import { createFileStore } from "./file";
import { type StateStore, StoreFailed } from "./store";

export function openStateStore(location: string): StateStore {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(location)?.[1]?.toLowerCase();
  switch (scheme) {
    case undefined:
      return createFileStore(location);
    case "file":
      return createFileStore(fileURLToPath(location));
    default:
      throw new StoreFailed(
        `--state ${location.slice(0, location.indexOf("://") + 3)}… is of no kind this version knows; it knows files`,
      );
  }
}
