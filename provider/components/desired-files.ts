/** Files of desired state as the parts of a component, for a program and for the plugin alike. */
import { resolve } from "node:path";
import {
  fixInProgram,
  mostOfGiven,
  onlyDefined,
  partsInCircles,
  readPlainFile,
  resourceOfPart,
  sentenceOf,
} from "../../reconciler/for-provider";
import {
  type Desired,
  type Diagnostic,
  type Json,
  openBeside,
  outputPartsOf,
  partsOf,
  readDesired,
} from "../../reconciler/index";
import type { Parts } from "./parts";

export interface FileSettings {
  /** The environment, for files that declare environments. */
  readonly env?: string;
  /** What the file's `reads` give: by the name of each, the outputs of that project. */
  readonly reads?: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** What the file's `lookups` find: by the name of each, its id, name and addresses. */
  readonly lookups?: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** Values for the file's vars. */
  readonly vars?: Readonly<Record<string, string>>;
}

const placeInFile = (source: { readonly file: string; readonly line: number } | undefined): string =>
  source === undefined ? "" : `${source.file}:${source.line}: `;

interface Told {
  readonly severity: Diagnostic["severity"];
  readonly text: string;
}

/** Who shows it says that it is an error. */
const thrownText = (told: readonly Told[]): string =>
  [
    ...told.filter(({ severity }) => severity === "error").map(({ text }) => text),
    ...told.filter(({ severity }) => severity !== "error").map(({ severity, text }) => `${severity}: ${text}`),
  ].join("\n");

/**
 * What the files want of a plan as a whole, and an engine of programs knows nothing of: it asks about one resource after
 * the other.
 */
function notFollowed({ deny, reachability, checks, policy, rollouts, isProtected }: Desired): readonly string[] {
  const wants = { deny, reachability, checks, policy, rollout: rollouts, protect: isProtected };
  const words = Object.entries(wants).flatMap(([word, value]) => (value === undefined ? [] : [word]));
  return words.length === 0
    ? []
    : [`a program does not follow what the files want of a plan as a whole: ${words.join(", ")}`];
}

/** Throws with every problem of the files. Several files are one desired state. */
export function partsOfFiles(paths: readonly string[], settings: FileSettings): Parts {
  const sources = paths.map((path) => {
    const read = readPlainFile(resolve(path), mostOfGiven);
    if ("problem" in read) throw new Error(`${path} cannot be read: ${read.problem} — ${read.fix}`);
    return { file: path, text: read.text };
  });
  const { vars, env, reads, lookups } = settings;
  const external =
    reads === undefined && lookups === undefined ? undefined : { reads: reads ?? {}, lookups: lookups ?? {} };
  const { desired, diagnostics } = readDesired(sources, { open: openBeside, ...onlyDefined({ vars, env, external }) });
  const told: Told[] = diagnostics.map(({ severity, summary, detail, source, ...advice }) => ({
    severity,
    text:
      placeInFile(source) +
      sentenceOf({ summary, detail, fix: fixInProgram(advice) }).replace(/--var (?=\w)/g, "vars."),
  }));
  const byName = desired?.imports.filter(({ id }) => id === undefined) ?? [];
  for (const { to, source } of byName)
    told.push({
      severity: "error",
      text: `${placeInFile(source)}${to} is imported by its name, and a program takes over by an id — write its id`,
    });
  const parts = desired === undefined ? [] : partsOf(desired);
  for (const address of partsInCircles(parts)) {
    const source = desired?.resources.find((one) => one.address === resourceOfPart(address))?.source;
    told.push({
      severity: "error",
      text: `${placeInFile(source)}${address} needs a value of its own, or of what needs one of it, and a program gives no resource its own values — a command is told RECONCILE_VM_IP and RECONCILE_VOLUME_ID, and in a check {ip} is the VM's address: write that instead`,
    });
  }
  if (desired === undefined || told.some(({ severity }) => severity === "error")) throw new Error(thrownText(told));
  const { removed } = desired;
  const kept = removed
    .filter(({ destroy }) => !destroy)
    .map(
      ({ from, source }) =>
        `${placeInFile(source)}${from} is removed, and stays in the service: a delete of it that the preview shows takes it out of the program's state alone`,
    );
  return {
    parts,
    outputs: outputPartsOf(desired),
    // Who logs them says that they are warnings.
    warnings: [...told.map(({ text }) => text), ...kept, ...notFollowed(desired)],
    removed: removed.map(({ from, destroy }) => ({ from, destroy })),
  };
}

/** Whether a change may detach the volume, for which the program states that the volume is flushed. */
export const detaches = (type: string): boolean => type === "Volume" || type === "VolumeAttachment" || type === "Vm";
