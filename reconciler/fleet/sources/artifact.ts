/** A tar.gz from a web server, checked by its digest: what is unpacked has the digest that was declared. */

import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorMessage } from "../../core/text/errors";
import { type Checkout, mostBytes, NotInSource, SourceFailed } from "./checkout";

/** Unpacking 256 MB takes seconds; more than this is an archive that unpacks without end. */
const unpackMs = 60_000;

export async function checkOutArtifact(
  { url, digest, path }: { readonly url: string; readonly digest: string; readonly path: string },
  cache: string,
  signal?: AbortSignal,
): Promise<Checkout> {
  const hex = digest.replace("sha256:", "");
  const root = join(cache, "artifacts", hex);
  if (!existsSync(root)) await unpack(url, hex, root, cache, signal);
  // What was used lately is not tidied away (tidyTrees).
  const used = new Date();
  await utimes(root, used, used).catch(() => undefined);
  const folder = join(root, path);
  if (!existsSync(folder)) throw new NotInSource(`the artifact ${url} has no folder ${path}`);
  return { folder, root, revision: digest, content: digest, copied: true };
}

async function unpack(url: string, hex: string, root: string, cache: string, signal?: AbortSignal): Promise<void> {
  const bytes = await download(url, signal);
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== hex) throw new NotInSource(`the artifact ${url} has the digest sha256:${found}, not sha256:${hex}`);
  const work = join(cache, "artifacts", `.${hex}-${randomUUID()}`);
  const [archive, files] = [join(work, "archive.tgz"), join(work, "files")];
  try {
    await mkdir(files, { recursive: true });
    await writeFile(archive, bytes);
    // With times of now (m): those in the archive would have it tidied away while it is unpacked.
    await promisify(execFile)("tar", ["-xzmf", archive, "-C", files, "--no-same-owner"], { timeout: unpackMs, signal });
    await rename(files, root).catch((error: NodeJS.ErrnoException) => {
      // Another worker of this machine unpacked it first.
      if (!existsSync(root)) throw error;
    });
  } catch (error) {
    throw new SourceFailed(`the artifact ${url} cannot be unpacked: ${errorMessage(error)}`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** A server that says nothing for so long is given up, before its answer and within it. */
const silentMs = 30_000;

async function download(url: string, signal?: AbortSignal): Promise<Buffer> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), silentMs);
  try {
    const stop = AbortSignal.any([silence.signal, ...(signal === undefined ? [] : [signal])]);
    const answer = await fetch(url, { redirect: "follow", signal: stop });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    const parts: Uint8Array[] = [];
    let size = 0;
    for await (const part of answer.body ?? []) {
      timer.refresh();
      size += part.length;
      if (size > mostBytes) throw new Error("it is larger than 256 MB");
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch (error) {
    const isSilent = silence.signal.aborted;
    const why = isSilent ? `no answer for ${silentMs / 1000} s` : errorMessage(error);
    throw new SourceFailed(`the artifact ${url} cannot be fetched: ${why}`, isSilent);
  } finally {
    clearTimeout(timer);
  }
}
