/**
 * The memory of a machine: `.reconcile/states/HASH.json` beside the project, one file for each state, private, with the
 * lineage and serial that were seen last. The address is in the name as a hash alone, for it may hold a credential.
 */

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { fieldsOfJson } from "../core/text/objects";
import { isUrl } from "../core/text/outside-policy";
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

const statesIn = (folder: string): string => join(folder, ".reconcile", "states");

/** What a note has. A fresh checkout has none, and a note that cannot be read is none. */
function noted(path: string): Readonly<Record<string, unknown>> {
  try {
    return fieldsOfJson(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}

/** The states that were seen from a folder: URLs without a password, and files in it. */
export function statesNoted(folder: string): readonly string[] {
  const states = statesIn(folder);
  const notes = existsSync(states) ? readdirSync(states).filter((name) => name.endsWith(".json")) : [];
  return notes.flatMap((name) => {
    const { state } = noted(join(states, name));
    if (typeof state !== "string") return [];
    return isUrl(state) ? state : join(folder, basename(state));
  });
}

export function stateNote(
  folder: string,
  location: string,
  shown: string,
  environment: Readonly<Record<string, string | undefined>>,
): StateNote {
  const states = statesIn(folder);
  const path = join(
    states,
    `${createHash("sha256").update(addressNoted(location, environment)).digest("hex").slice(0, 16)}.json`,
  );
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
        const text = JSON.stringify({ state: shown, lineage, serial, at: new Date().toISOString() });
        writeFileSync(temporary, `${text}\n`, { mode: 0o600 });
        renameSync(temporary, path);
      } catch {
        // Where nothing can be written, as in a read-only checkout, the state is read without a memory.
        rmSync(temporary, { force: true });
      }
    },
    forget() {
      try {
        rmSync(path, { force: true });
      } catch {
        // The next state that is read takes its place.
      }
    },
  };
}
