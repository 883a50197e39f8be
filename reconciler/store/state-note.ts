/**
 * The memory of a machine: `.reconcile/states/HASH.json` beside the project, one file for each state, private, with the
 * lineage and serial that were seen last. The address is in the name as a hash alone, for it may hold a credential.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
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

export function stateNote(
  folder: string,
  location: string,
  shown: string,
  environment: Readonly<Record<string, string | undefined>>,
): StateNote {
  const states = join(folder, ".reconcile", "states");
  const path = join(
    states,
    `${createHash("sha256").update(addressNoted(location, environment)).digest("hex").slice(0, 16)}.json`,
  );
  return {
    read() {
      try {
        const { lineage, serial, at } = fieldsOfJson(readFileSync(path, "utf8"));
        if (typeof lineage !== "string" || typeof serial !== "number" || !Number.isSafeInteger(serial))
          return undefined;
        return { lineage, serial, at: typeof at === "string" ? at : undefined };
      } catch {
        // A fresh checkout has none, and a note that cannot be read is none.
        return undefined;
      }
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
