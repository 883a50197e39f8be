/** Opens the store that `--state` names; the code of a store is loaded when it is used. */

import { dirname, isAbsolute, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { errorMessage } from "../core/text/errors";
import { listText } from "../core/text/list-text";
import { isUrl, unlikelyPlace, withoutPassword } from "../core/text/outside-policy";
import { protectStore } from "./encrypted";
import { createFileStore, pathsOfState } from "./file";
import { createHttpStore } from "./http";
import { type StateNote, withMemory } from "./memory-of-states";
import { createPostgresStore } from "./postgres";
import { readOnce } from "./read-once";
import { createS3Store } from "./s3";
import { stateNote, statesIn } from "./state-note";
import { type LeaseTimes, type StateStore, StoreFailed } from "./store";

export interface OpenOptions {
  readonly times?: LeaseTimes;
  /** Many states of this process are in the same place, so they share their connections. */
  readonly shared?: boolean;
  /** Permits plain http to another host. */
  readonly insecureHttp?: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder of the project, where a note says what was seen of the state last. Absent: only this process remembers. */
  readonly folder?: string;
  /** What is there now is the state, whatever was seen of it before. */
  readonly acceptsNew?: boolean;
  /** It is not the state that is worked on, but another one: only these are accepted so. */
  readonly acceptsNewOf?: readonly string[];
  /** Who remembers what was seen of the state, in place of a note in a folder. */
  readonly note?: StateNote;
}

interface StoreKind {
  /** The schemes of its locations; files have none as well. */
  readonly schemes: readonly string[];
  /** A location as help shows it. */
  readonly shown: string;
  open(location: string, options: OpenOptions): StateStore;
}

/** Of the location of a file. A URL has many spellings of one path, so that nothing but its path is judged. */
export function filePathOf(location: string): string {
  if (!/^file:/i.test(location)) return location;
  try {
    return fileURLToPath(location);
  } catch (error) {
    throw new StoreFailed(`the state ${withoutPassword(location)} is no file of this machine: ${errorMessage(error)}`);
  }
}

/** All that is read or written of a state in a file: the one that is named, those beside it, and what was seen of it. */
export function filesOfState(location: string): readonly string[] {
  const path = filePathOf(location);
  return [path, ...Object.values(pathsOfState(path)), statesIn(dirname(resolve(path)))];
}

/** Every kind of store there is. */
const storeKinds: readonly StoreKind[] = [
  {
    schemes: ["file"],
    shown: "a file",
    open: (location, { times }) => createFileStore(filePathOf(location), times),
  },
  { schemes: ["https", "http"], shown: "https://…", open: (location, options) => createHttpStore(location, options) },
  { schemes: ["s3"], shown: "s3://bucket/key", open: (location, { times }) => createS3Store(location, times) },
  {
    schemes: ["postgres", "postgresql"],
    shown: "postgres://…",
    open: (location, { times, shared = false }) => createPostgresStore(location, times, { shared }),
  },
];

export const shownLocations = (): readonly string[] => storeKinds.map(({ shown }) => shown);

export const schemeOf = (location: string): string =>
  /^([a-z][a-z0-9+.-]*):\/\//i.exec(location)?.[1]?.toLowerCase() ?? "file";

export function openStateStore(location: string, options: OpenOptions): StateStore {
  const scheme = schemeOf(location);
  const kind = storeKinds.find(({ schemes }) => schemes.includes(scheme));
  if (kind === undefined)
    throw new StoreFailed(
      `--state ${scheme}://… is of no kind this version knows; it knows ${listText(shownLocations())}`,
    );
  return readOnce(kind.open(location, options));
}

export const isFile = (location: string): boolean => !isUrl(location) || /^file:/i.test(location);

/** The store, with its state encrypted if a key is given, and held against what was seen of it before. */
export function openProtectedStore(location: string, options: OpenOptions): StateStore {
  const { environment, folder, acceptsNewOf } = options;
  const store = protectStore(openStateStore(location, options), environment);
  const isNamed = acceptsNewOf?.some((one) => one === location || one === store.location);
  // What was seen of a file lies beside it: it goes where the file's folder goes, whoever reads it from where.
  const place = folder === undefined || !isFile(location) ? folder : dirname(resolve(filePathOf(location)));
  const note = options.note ?? (place === undefined ? undefined : stateNote(place, location, environment));
  return withMemory(store, {
    acceptsNew: isNamed ?? options.acceptsNew,
    acceptedBy: acceptsNewOf === undefined ? undefined : `--new-state-of ${store.location}`,
    note,
  });
}

/** A path is relative to the folder. */
export function locationBeside(folder: string, location: string): string {
  const unlikely = unlikelyPlace(location);
  if (unlikely !== undefined) throw new StoreFailed(`${unlikely.summary}: ${unlikely.fix}`);
  return isUrl(location) || isAbsolute(location) ? location : resolve(folder, location);
}

/** Opens states of others by their locations. */
export const storesFrom =
  (folder: string, { insecureHttp, acceptsNewOf = [] }: Pick<OpenOptions, "insecureHttp" | "acceptsNewOf">) =>
  (location: string): StateStore =>
    openProtectedStore(locationBeside(folder, location), {
      environment: process.env,
      insecureHttp,
      acceptsNewOf,
      folder,
    });
