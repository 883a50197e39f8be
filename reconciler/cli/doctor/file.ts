/**
 * The file that the doctor starts from, and the one that it writes: what was given with what was learnt over it, read
 * back, compared with the service and lived through on the embedded one before anybody is told to use it.
 */

import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { parseValue } from "../../config/yaml/reader";
import { type Diagnostic, errorsAmong, hasErrors } from "../../core/model/diagnostic";
import { ifPossible } from "../../core/text/errors";
import { inShell } from "../../core/text/in-shell";
import { listed } from "../../core/text/list-text";
import { onlyDefined } from "../../core/text/objects";
import type { Dialect } from "../../dialect/dialect";
import { dialectText, layOver, saysMore } from "../../dialect/lay-over";
import { readDialectText } from "../../dialect/read-dialect";
import type { DialectBase, DoctorReport } from "../../engine/doctor/report";
import { readyDialectPath } from "../../open-service";
import { setting } from "../../outside/environment";
import { isStream, refuseKept, replaceOwnFile, writePrivately } from "../../outside/private-file";
import { proveDialect } from "../../rehearse/prove";
import { type DialectOrigin, dialectYaml } from "../../report/doctor-text";
import type { Flags } from "../flags";
import type { Workspace } from "../workspace";

export interface StartingFile extends DialectBase {
  readonly text: string;
  /** Where it is; left out: it stands within another file, or comes with the program. */
  readonly path?: string;
}

export interface DoctorStart {
  readonly workspace: Workspace;
  readonly flags: Flags;
  readonly base?: StartingFile;
}

/**
 * What the doctor starts from: the dialect that the flags, the environment or the files name. A file that is named and
 * to be written, and that is not there yet, is no mistake. Where nothing is named, a file that is to be written and is
 * there already is the start.
 */
export function doctorStart(workspace: Workspace, flags: Flags): DoctorStart {
  const named = flags.dialect ?? setting("RECONCILE_DIALECT");
  if (named !== undefined) return { workspace, flags, ...baseIn(named) };
  const given = workspace.desired.service.dialect;
  if (given === undefined) {
    if (flags.out === undefined || !isFileAt(flags.out)) return { workspace, flags };
    return { workspace, flags: { ...flags, dialect: flags.out }, ...baseIn(flags.out) };
  }
  if ("inline" in given) return { workspace, flags, base: baseOf(dialectText(given.inline)) };
  const path = resolve(dirname(given.source.file), given.path);
  if (existsSync(path) || flags.out === undefined || resolve(flags.out) !== path)
    return { workspace, flags, ...baseIn(path) };
  const { dialect: _, ...service } = workspace.desired.service;
  return { workspace: { ...workspace, desired: { ...workspace.desired, service } }, flags };
}

/** Of a pipe there is nothing to be read, and of a folder the writer says what is wrong. */
const isFileAt = (path: string): boolean => !isStream(path) && ifPossible(() => statSync(path))?.isFile() === true;

/** Nothing, where it cannot be read: opening the service says why. */
function baseIn(name: string): { readonly base?: StartingFile } {
  const path = existsSync(name) ? name : undefined;
  const file = path ?? readyDialectPath(name.split("/").at(-1) ?? name);
  if (file === undefined) return {};
  return { base: { ...baseOf(readFileSync(file, "utf8")), ...onlyDefined({ path }) } };
}

const baseOf = (text: string): StartingFile => ({
  text,
  value: parseValue(text),
  dialect: readDialectText(text, "").dialect,
});

/** The whole file: what was given, with what was learnt over it. */
export function doctorFileText(report: DoctorReport, base: StartingFile | undefined, origin?: DialectOrigin): string {
  const learnt = dialectYaml(report, origin);
  return base === undefined ? learnt : layOver(base.text, learnt);
}

export interface WrittenFile {
  readonly diagnostics: readonly Diagnostic[];
  readonly isWritten: boolean;
  /** What it was found to do; left out: it was not found to work. */
  readonly proof?: string;
}

export interface WriteOptions {
  readonly out: string;
  readonly base: StartingFile | undefined;
  /** The lines of the file that do not fit the service, as `doctor --dialect` shows them. */
  misfits(dialect: Dialect): Promise<readonly Diagnostic[]>;
}

export async function writeDialectFile(text: string, { out, base, misfits }: WriteOptions): Promise<WrittenFile> {
  const read = readDialectText(text, out);
  const errors = errorsAmong(read.diagnostics);
  if (errors.length > 0) return { diagnostics: errors, isWritten: false };
  const isThere = isFileAt(out);
  const lost = isThere ? lostLines(text, out, base) : undefined;
  if (lost !== undefined) return { diagnostics: [lost], isWritten: false };
  if (isThere) {
    refuseKept(out, true);
    replaceOwnFile(out, text);
  } else writePrivately(out, text);
  const wrong = await misfits(read.dialect);
  if (wrong.length > 0) return { diagnostics: wrong, isWritten: true };
  const checks = await proveDialect(read.dialect, { parts: ["life-cycle"] });
  const failed = checks.find(({ problem }) => problem !== undefined);
  if (failed !== undefined)
    return {
      isWritten: true,
      diagnostics: [
        {
          severity: "warning",
          code: "dialect/not-proven",
          summary: `on the embedded service, ${out} does not carry a project through its life`,
          detail: `${failed.title}: ${failed.problem}`,
          fix: `correct what it names, then: reconcile dialect prove ${inShell(out)}`,
        },
      ],
    };
  return { diagnostics: [], isWritten: true, proof: `${checks.length} of ${checks.length} parts of a life` };
}

/** Another file that is to be written over, and says something that the new one does not. */
function lostLines(text: string, out: string, base: StartingFile | undefined): Diagnostic | undefined {
  if (base?.path !== undefined && resolve(base.path) === resolve(out)) return undefined;
  const there = readFileSync(out, "utf8");
  const lost = saysMore(there, text);
  if (lost.length === 0) return undefined;
  const isDialect = !hasErrors(readDialectText(there, out).diagnostics);
  return {
    severity: "error",
    code: "dialect/says-more",
    summary: `${out} was not written over: it says what the new dialect does not`,
    detail: listed(lost, 5),
    fix: isDialect
      ? `start from it (--dialect ${inShell(out)} --out ${inShell(out)}), or write into another file`
      : "write into another file",
  };
}
