/** A tar.gz from a web server, checked by its digest: what is unpacked has the digest that was declared. */

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorMessage } from "../../core/text/errors";
import { type Checkout, SourceFailed } from "./checkout";

const mostBytes = 256 * 1024 * 1024;

export async function checkOutArtifact(
  { url, digest, path }: { readonly url: string; readonly digest: string; readonly path: string },
  cache: string,
  signal?: AbortSignal,
): Promise<Checkout> {
  const hex = digest.replace("sha256:", "");
  const root = join(cache, "artifacts", hex);
  if (!existsSync(root)) await unpack(url, hex, root, cache, signal);
  return { folder: path === "" ? root : join(root, path), root, revision: digest, content: digest, copied: true };
}

async function unpack(url: string, hex: string, root: string, cache: string, signal?: AbortSignal): Promise<void> {
  const bytes = await download(url, signal);
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== hex) throw new SourceFailed(`the artifact ${url} has the digest sha256:${found}, not sha256:${hex}`);
  const work = join(cache, "artifacts", `.${hex}-${process.pid}`);
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const file = `${work}.tgz`;
  await writeFile(file, bytes);
  try {
    await promisify(execFile)("tar", ["-xzf", file, "-C", work, "--no-same-owner"]);
    await rename(work, root).catch((error: NodeJS.ErrnoException) => {
      // Another worker of this machine unpacked it first.
      if (!existsSync(root)) throw error;
    });
  } catch (error) {
    throw new SourceFailed(`the artifact ${url} cannot be unpacked: ${errorMessage(error)}`);
  } finally {
    await rm(file, { force: true });
    await rm(work, { recursive: true, force: true });
  }
}

async function download(url: string, signal?: AbortSignal): Promise<Buffer> {
  try {
    const answer = await fetch(url, { redirect: "follow", ...(signal === undefined ? {} : { signal }) });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
    if (Number(answer.headers.get("content-length") ?? 0) > mostBytes) throw new Error("it is larger than 256 MB");
    return Buffer.from(await answer.arrayBuffer());
  } catch (error) {
    throw new SourceFailed(`the artifact ${url} cannot be fetched: ${errorMessage(error)}`);
  }
}
