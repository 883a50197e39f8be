/** Opens the store that `--state` names; the code of a store is loaded when it is used. */

import { isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { protectStore } from "./encrypted";
import { createFileStore } from "./file";
import { createHttpStore } from "./http";
import { createPostgresStore } from "./postgres";
import { createS3Store } from "./s3";
import { type LeaseTimes, type StateStore, StoreFailed } from "./store";

export interface OpenOptions {
  readonly times?: LeaseTimes;
  /** Many states of this process are in the same place, so they share their connections. */
  readonly shared?: boolean;
  /** Permits plain http to another host. */
  readonly insecureHttp?: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function openStateStore(location: string, options: OpenOptions): StateStore {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(location)?.[1]?.toLowerCase();
  switch (scheme) {
    case undefined:
    case "file": {
      return createFileStore(scheme === undefined ? location : fileURLToPath(location), options.times);
    }
    case "http":
    case "https": {
      return createHttpStore(location, options);
    }
    case "s3": {
      return createS3Store(location, options.times);
    }
    case "postgres":
    case "postgresql": {
      return createPostgresStore(location, options.times, { shared: options.shared === true });
    }
    default:
      throw new StoreFailed(
        `--state ${scheme}://… is of no kind this version knows; it knows files, https://, s3:// and postgres://`,
      );
  }
}

/** The store, with its state encrypted if a key is given. */
export function openProtectedStore(location: string, options: OpenOptions): StateStore {
  return protectStore(openStateStore(location, options), options.environment);
}

/** Opens states by their locations. A path is relative to the folder. */
export const storesFrom =
  (folder: string, insecureHttp: boolean) =>
  (location: string): StateStore => {
    const isUrl = /^[a-z][a-z0-9+.-]*:\/\//i.test(location);
    const from = isUrl || isAbsolute(location) ? location : resolve(folder, location);
    return openProtectedStore(from, { environment: process.env, insecureHttp });
  };
