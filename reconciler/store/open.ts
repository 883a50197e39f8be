/** From what `--state` says to a store; each kind is loaded only when it is used. */
import { fileURLToPath } from "node:url";
import { type LeaseTimes, type StateStore, StoreFailed } from "./store";

export interface OpenOptions {
  readonly times?: LeaseTimes;
  /** Plain http to a host other than this one. */
  readonly insecureHttp?: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export function openStateStore(location: string, options: OpenOptions): StateStore {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(location)?.[1]?.toLowerCase();
  switch (scheme) {
    case undefined:
    case "file": {
      const { createFileStore } = require("./file") as typeof import("./file");
      return createFileStore(scheme === undefined ? location : fileURLToPath(location), options.times);
    }
    case "http":
    case "https": {
      const { createHttpStore } = require("./http") as typeof import("./http");
      return createHttpStore(location, options);
    }
    case "s3": {
      const { createS3Store } = require("./s3") as typeof import("./s3");
      return createS3Store(location, options.times);
    }
    case "postgres":
    case "postgresql": {
      const { createPostgresStore } = require("./postgres") as typeof import("./postgres");
      return createPostgresStore(location, options.times);
    }
    default:
      throw new StoreFailed(
        `--state ${scheme}://… is of no kind this version knows; it knows files, https://, s3:// and postgres://`,
      );
  }
}

/** The store, with its state encrypted if a key is given. */
export function openProtectedStore(location: string, options: OpenOptions): StateStore {
  const { protectStore } = require("./encrypted") as typeof import("./encrypted");
  return protectStore(openStateStore(location, options), options.environment);
}
