/**
 * `doctor --trial` at the command line: what the trial would make and who permits it, where its notes are, and what is
 * left.
 */

import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DesiredVm, NewVm } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import { allOfKind, kindRows } from "../../core/model/kinds";
import { newVm } from "../../core/plan/records";
import { isObject, isOneOf, keysOf, onlyDefined, parsedJson } from "../../core/text/objects";
import type { DoctorPorts } from "../../engine/doctor/look";
import type { DoctorReport } from "../../engine/doctor/report";
import type { TrialWish } from "../../engine/doctor/trial/act";
import { withTrial } from "../../engine/doctor/trial/fit";
import type { Notebook, TrialNotes } from "../../engine/doctor/trial/notes";
import type { TrialPorts } from "../../engine/doctor/trial/ports";
import { TrialProblem } from "../../engine/doctor/trial/say";
import { tryOut } from "../../engine/doctor/trial/trial";
import { systemClock } from "../../outside/clock";
import { makeOwnFolder, writePrivately } from "../../outside/private-file";
import { fail, type Service } from "../compose";
import type { Flags } from "../flags";
import type { Output } from "../output";
import { consentMissing } from "../refusal";
import type { Workspace } from "../workspace";

/** What the files and flags allow the trial to make; or which flag or field is missing. */
export function planTrial({ desired }: Workspace, flags: Flags): TrialWish | { readonly missing: Diagnostic } {
  const [vm] = allOfKind(desired.resources, "vm");
  const wanted = vm?.flavor ?? "volume";
  const permitted = (flags["allow-trial"] ?? "").split(",");
  const [given, otherFlavor] = permitted.filter((word) => word !== "keep-volume");
  if (given !== wanted)
    return {
      missing: consentMissing({
        kind: "approval",
        detail:
          vm === undefined
            ? "a trial makes two volumes of 1 GB and three groups, walks them through their life and deletes them; no VM, since no file names one to take flavor, image and owner from"
            : `a trial makes a VM (flavor ${vm.flavor}, image ${vm.image}, for ${vm.owner} in ${vm.project} and ${vm.region}, as ${vm.address} is written) with a data volume of 1 GB, two other volumes of 1 GB, of which one grows to 2, and three groups; it walks them through their life and deletes them after some minutes. The provider charges for that time. First a volume of 1 GB is made and deleted; where no way to delete one is found, that one stays, and no VM is made without keep-volume`,
        grant:
          vm === undefined
            ? "--allow-trial volume"
            : `--allow-trial ${vm.flavor}, or --allow-trial ${vm.flavor},OTHER to resize it to the flavor OTHER and back as well; …,keep-volume permits volumes to stay that nothing can delete`,
      }),
    };
  return {
    vm: vm === undefined ? undefined : madeLike(vm),
    otherFlavor: otherFlavor !== undefined && otherFlavor !== "" ? otherFlavor : undefined,
    keepVolume: permitted.includes("keep-volume") ? true : undefined,
  };
}

const notesFile = (workspace: Workspace): string => join(workspace.folder, ".reconcile", "trial.json");

const notebookAt = (path: string, service: string): Notebook => ({
  service,
  read() {
    if (!existsSync(path)) return undefined;
    const notes = parsedJson(readFileSync(path, "utf8"));
    if (isNotes(notes)) return notes;
    throw fail(
      "cli/file-unreadable",
      `${path} does not hold the notes of a trial`,
      "restore it; it says what to take away",
    );
  },
  write(notes) {
    makeOwnFolder(dirname(path), 0o700);
    writePrivately(path, `${JSON.stringify(notes, undefined, 2)}\n`);
  },
  remove: () => rmSync(path, { force: true }),
});

const isNotes = (value: unknown): value is TrialNotes =>
  isObject(value) &&
  value["version"] === 1 &&
  typeof value["service"] === "string" &&
  Array.isArray(value["made"]) &&
  value["made"].every(isThing);

const isThing = (value: unknown): boolean =>
  isObject(value) &&
  isOneOf(value["kind"], keysOf(kindRows)) &&
  typeof value["askedAt"] === "number" &&
  [value["id"], value["name"]].every((one) => one === undefined || typeof one === "string");

/** What an earlier trial left, reported by a run that makes nothing. */
export function trialLeft(workspace: Workspace): readonly Diagnostic[] {
  const path = notesFile(workspace);
  if (!existsSync(path)) return [];
  return [
    {
      severity: "warning",
      code: "service/trial-left",
      summary: `an earlier trial did not delete everything that it made: ${path} names the rest`,
      fix: "reconcile doctor --trial takes it away before anything else",
    },
  ];
}

export async function runTrial(
  { workspace, service, output }: { workspace: Workspace; service: Service; output: Output },
  ports: DoctorPorts,
  report: DoctorReport,
  wish: TrialWish,
  signal: AbortSignal,
  ask: TrialPorts["ask"],
): Promise<DoctorReport> {
  const notebook = notebookAt(notesFile(workspace), service.baseUrl);
  const earlier = notebook.read();
  if (earlier !== undefined && earlier.service !== service.baseUrl)
    throw fail(
      "service/trial-left",
      `an earlier trial at ${earlier.service} left things, and this is ${service.baseUrl}`,
      `take them away first: reconcile doctor --trial --base-url ${earlier.service}`,
    );
  const { timing } = service;
  const unit = timing.pollIntervalMs;
  try {
    const { report: after, findings } = await tryOut(
      {
        // The trial uses the dialect and the authorization that the look has found.
        doctor: { ...portsIn(service, report), ...onlyDefined({ baseUrl: ports.baseUrl, told: ports.told }) },
        clientIn: (dialect) => service.inDialect(dialect).client,
        notebook,
        clock: systemClock,
        timing: {
          pollMs: unit,
          quietMs: unit * 10,
          quietCreateMs: unit * 60,
          mostMs: timing.vmCreateTimeoutMs,
          discoveryMs: timing.discoveryWindowMs,
        },
        say: (line) => output.note(line),
        ...onlyDefined({ ask }),
        signal,
      },
      report,
      wish,
    );
    return withTrial(after, findings);
  } catch (error) {
    if (!(error instanceof TrialProblem)) throw error;
    throw fail(
      "service/trial-left",
      `${error.message}; what the trial made is written down in ${notesFile(workspace)}`,
      "reconcile doctor --trial takes it away, once the service answers",
    );
  }
}

function portsIn(service: Service, { dialect }: DoctorReport): DoctorPorts {
  const { client } = service.inDialect(dialect);
  return { probe: (request) => client.probe(request), pause: (ms) => systemClock.sleep(ms) };
}

/** The declared VM without volumes and public address: the trial's costs stay as small as they can be. */
function madeLike(vm: DesiredVm): Omit<NewVm, "name"> {
  const { name: _, ...like } = newVm(vm);
  return { ...like, sizeGb: 1, skipFloatingIp: true };
}

const notProven = (summary: string, detail: string, fix: string): Diagnostic => ({
  severity: "warning",
  code: "dialect/not-proven",
  summary,
  detail,
  fix,
});

/** What a trial was to walk through a life and did not: nothing shows that the file is right there. */
export const unprovenByTrial = ({ trial }: DoctorReport): readonly Diagnostic[] => [
  ...(trial?.isStopped === true
    ? [
        notProven(
          "the trial was stopped before its end",
          "what it did not come to is as it was before",
          "reconcile doctor --trial tries all of it",
        ),
      ]
    : []),
  ...(trial?.unproven ?? []).map(({ kind, why }) =>
    notProven(
      `the trial has shown nothing of the life of a ${kindRows[kind].noun}`,
      why,
      "see to it that the service takes it, then: reconcile doctor --trial",
    ),
  ),
];

export const leftOfTrial = (report: DoctorReport): readonly Diagnostic[] =>
  (report.trial?.left ?? []).map((line) => ({
    severity: "error",
    code: "service/trial-left",
    summary: `the trial could not take it away again: ${line}`,
    fix: "reconcile doctor --trial tries again. What no list shows is for you to delete: once nothing of a trial is left, remove .reconcile/trial.json",
  }));
