/**
 * The memory of a machine: `.reconcile/states/HASH.json` beside the project, one file for each state, private, with the
 * lineage and serial that were seen last. The address is in the name as a hash alone, for it may hold a credential.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { ifPossible } from "../core/text/errors";
import { fieldsOfJson } from "../core/text/objects";
import { isUrl } from "../core/text/outside-policy";
import { listIfThere, removeIfPossible } from "./durable-file";
import type { StateNote } from "./memory-of-states";

/** One state, whatever its address is spelt like: without user and password, and with the server that a bucket is on. */
function addressNoted(location: string, environment: Readonly<Record<string, string | undefined>>): string {
  if (!isUrl(location)) return resolve(location);
  if (!URL.canParse(location)) return location;
  const url = new URL(location);
  url.username = "";
  url.password = "";
  const server = url.protocol === "s3:" ? (environment["AWS_ENDPOINT_URL_S3"] ?? environment["AWS_ENDPOINT_URL"]) : "";
  return `${server ?? ""} ${url.toString()}`;
}

const isDatabase = (location: string): boolean => /^postgres(ql)?:/i.test(location);

/**
 * The address of a state as far as it may be written down: of a database without its password, and of a server of the
 * HTTP protocol without its query, which may hold a credential.
 */
export function addressKept(location: string): string {
  if (!URL.canParse(location)) return location;
  const url = new URL(location);
  if (/^https?:$/.test(url.protocol)) return `${url.origin}${url.pathname}${url.search === "" ? "" : "?…"}`;
  if (!isDatabase(location)) return location;
  url.password = "";
  url.searchParams.delete("password");
  return url.toString();
}

export const statesIn = (folder: string): string => join(folder, ".reconcile", "states");

const nameOfNote = (location: string, environment: Readonly<Record<string, string | undefined>>): string =>
  `${createHash("sha256").update(addressNoted(location, environment)).digest("hex").slice(0, 16)}.json`;

/** What a note has. A fresh checkout has none, and a note that cannot be read is none. */
const noted = (path: string): Readonly<Record<string, unknown>> =>
  fieldsOfJson(ifPossible(() => readFileSync(path, "utf8")) ?? "");

export interface NotedState {
  readonly location: string;
  /** False: a part of its address was not kept, so that this location leads to another state. */
  readonly isWhole: boolean;
}

/** The other states that were seen from a folder: URLs without a password, and files in it. */
export function otherStatesNoted(
  folder: string,
  present: string,
  environment: Readonly<Record<string, string | undefined>>,
): readonly NotedState[] {
  const states = statesIn(folder);
  const notes = listIfThere(states).filter((name) => name.endsWith(".json"));
  return notes.flatMap((name): NotedState[] => {
    const { state } = noted(join(states, name));
    if (typeof state !== "string" || name === nameOfNote(present, environment)) return [];
    if (!isUrl(state)) return [{ location: join(folder, basename(state)), isWhole: true }];
    // What is not kept of a database's address says who asks, and not which state it is.
    return [{ location: state, isWhole: isDatabase(state) || name === nameOfNote(state, environment) }];
  });
}

export function stateNote(
  folder: string,
  location: string,
  environment: Readonly<Record<string, string | undefined>>,
): StateNote {
  const states = statesIn(folder);
  const path = join(states, nameOfNote(location, environment));
  return {
    read() {
      const { lineage, serial, at } = noted(path);
      if (typeof lineage !== "string" || typeof serial !== "number" || !Number.isSafeInteger(serial)) return undefined;
      return { lineage, serial, at: typeof at === "string" ? at : undefined };
    },
    write({ lineage, serial }) {
      const temporary = `${path}.${process.pid}.tmp`;
      try {
        mkdirSync(states, { recursive: true, mode: 0o700 });
        const text = JSON.stringify({ state: addressKept(location), lineage, serial, at: new Date().toISOString() });
        writeFileSync(temporary, `${text}\n`, { mode: 0o600 });
        renameSync(temporary, path);
      } catch {
        // Where nothing can be written, as in a read-only checkout, the state is read without a memory.
        removeIfPossible(temporary);
      }
    },
    forget() {
      // Where it stays, the next state that is read takes its place.
      removeIfPossible(path);
    },
  };
}
