/** Saved plans as files: where a plan file lies, what it was made from, and how it is sealed. */

import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { findingAsDiagnostic } from "../core/findings/finding";
import type { Diagnostic } from "../core/model/diagnostic";
import { WrittenByNewer } from "../core/state/newer";
import { canonicalJson } from "../core/text/canonical-json";
import { inShell } from "../core/text/in-shell";
import { fieldsOfJson, onlyDefined } from "../core/text/objects";
import { isUrl } from "../core/text/outside-policy";
import type { Prepared } from "../engine/plan";
import { setting } from "../outside/environment";
import { isNameOfHandedOver, mostOfGiven, readPlainFile } from "../outside/files";
import { writePrivately } from "../outside/private-file";
import { sha256 } from "../outside/sha256";
import { planFormat, readSaved, type SavedPlan, savePlan } from "../saved-plan";
import { isSealed, readKeys, sealFile, unsealFile } from "../store/seal";
import { fail } from "./compose";
import type { Flags } from "./flags";
import type { Review } from "./review";
import type { Session } from "./session";
import type { Workspace } from "./workspace";

/** How a plan names its state, so that another checkout finds the same one. */
export function nameState(location: string, { desired, folder }: Workspace, flags: Flags): string {
  const given = flags.state ?? setting("RECONCILE_STATE") ?? desired.state?.location;
  if (given !== undefined && (isUrl(given) || isAbsolute(given))) return location;
  return relative(folder, resolve(location));
}

/**
 * The folder of the files that the plan was made from: as it lay relative to the plan file, or to the working folder.
 */
export function findFolder(saved: SavedPlan, planFile: string): string {
  const candidates = [
    resolve(dirname(resolve(planFile)), saved.folder),
    resolve(process.cwd(), saved.folder_from_working_folder),
  ] as const;
  const first = saved.desired.files.find((file) => !isNameOfHandedOver(file));
  const [beside] = candidates;
  if (first === undefined) return beside;
  const found = candidates.find((one) => existsSync(join(one, basename(first))));
  if (found !== undefined) return found;
  throw fail(
    "plan/no-checkout",
    `the files this plan was made from are not here (${basename(first)} in ${[...new Set(candidates)].join(" or ")})`,
    "apply it in a checkout, from the folder it was made in",
  );
}

/**
 * A warning when the files have changed since. The plan is still what was reviewed, but it does not bring the new
 * changes.
 */
export function checkoutDiffers({ files = [] }: Pick<SavedPlan, "files">, folder: string): Diagnostic | undefined {
  const others = files.flatMap(({ file, sha256: then }) => {
    const path = join(folder, file);
    const now = readPlainFile(path, mostOfGiven);
    if ("text" in now) return sha256(now.text) === then ? [] : [file];
    return [now.isMissing ? `${file} (not there)` : file];
  });
  if (others.length === 0) return undefined;
  return {
    severity: "warning",
    code: "plan/checkout-differs",
    summary: `the files here are not the ones this plan was made from: ${others.join(", ")}`,
    detail: "the plan is applied as it was reviewed; later changes of the files are not applied",
    fix: "plan again to see what is left, now or after this apply",
  };
}

/** Writes the plan of `--out F`, and says how it is applied. `sources`: the files that it is made from. */
export function keepPlan(
  { invocation: { flags, output }, service, store, workspace }: Session,
  { plan, desired }: Prepared,
  { findings }: Pick<Review, "findings">,
  planFile: string,
  sources = workspace.sources,
): void {
  const { baseUrl, dialect } = service;
  const state = nameState(store.location, workspace, flags);
  const { folder, sensitive } = workspace;
  const origin = {
    folder,
    sources,
    planFile,
    baseUrl,
    dialect,
    state,
    findings: findings.map(findingAsDiagnostic),
    ...onlyDefined({ sensitive }),
  };
  writePlan(planFile, savePlan(plan, desired, origin), (text) => output.masked(text));
  output.note(`Saved the plan: reconcile apply ${inShell(planFile)}`);
  // Whoever applies it has seen what it loses. Whether something is flushed by then is not known now.
  const later = (["confirm-flush", "unprotect"] as const).filter((name) => flags[name] !== undefined);
  if (later.length > 0) output.note(`A saved plan does not hold this: give --${later.join(", --")} to apply as well.`);
}

/** With a key for the state, the plan file is encrypted as well: it names the same resources. */
function writePlan(path: string, saved: SavedPlan, masked: (text: string) => string): void {
  const text = `${canonicalJson(saved, 1)}\n`;
  const keys = readKeys(process.env);
  const sealed = sealFile(keys, "plan", text);
  if (sealed === text && masked(text) !== text)
    throw fail(
      "config/sensitive",
      `${path} would hold a sensitive value in the clear`,
      "set RECONCILE_STATE_KEY, and the plan is sealed with it; or apply without saving the plan",
    );
  refuseSealedNewer(path);
  writePrivately(path, sealed);
}

/** Of which version a sealed plan is, only its key shows. One that does not open is written over, as any other plan. */
function refuseSealedNewer(path: string): void {
  try {
    if (isPlanFile(path)) readPlan(path);
  } catch (error) {
    if (error instanceof WrittenByNewer) throw error;
  }
}

/** `undefined`: the file is no plan, so it is read as a file of the desired state. */
export function readPlan(path: string): SavedPlan | undefined {
  if (!isPlanFile(path)) return undefined;
  const read = readPlainFile(path, mostOfGiven);
  return "text" in read ? readSaved(path, unsealFile(readKeys(process.env), "plan", path, read.text)) : undefined;
}

/** No plan does, whose keys are in the order of the alphabet. */
const beginsWithVersion = /^(?:[\s{]|#.*\n)*["']?version["']?\s*:/;

/**
 * A plan may have any name; what is JSON by its name is one, unless it has the version of a desired state at its top. A
 * desired state is read as YAML, so that it may have comments, and the mark that Windows puts before a text.
 */
export function isPlanFile(path: string): boolean {
  const read = readPlainFile(path, mostOfGiven);
  if (path.endsWith(".json")) {
    const text = "text" in read ? read.text.replace(/^\uFEFF/, "") : "";
    const { version, format } = fieldsOfJson(text);
    return format !== undefined || (version === undefined && !beginsWithVersion.test(text));
  }
  if ("problem" in read) return false;
  // The keys of a plan are in the order of the alphabet, so that its format stands far behind its beginning.
  return isSealed(read.text) || (read.text.startsWith("{") && read.text.includes(`\n "format": "${planFormat}"`));
}
