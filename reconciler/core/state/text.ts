/**
 * The state as text: a snapshot that is one JSON document with one record a line, and journal lines with a checksum.
 * Whatever is damaged is set aside with its address, and the rest is read.
 */
import type { Intent, Orphan, Quarantined, RecordedResource, RecordedRun, StateChange } from "../model/recorded";
import { canonicalJson } from "../text/canonical-json";
import { fingerprint } from "../text/hash";
import { addAll, type Fields, fieldsIn, isObject, isOneOf, keysOf, onlyDefined, parsedJson } from "../text/objects";
import { emptyState, type FoldedState, foldEntries, type JournalEntry } from "./fold";
import { knownVersion, newerVersion } from "./newer";
import {
  areMoves,
  areOutputs,
  areRuns,
  intentProblem,
  isLastSeen,
  isRun,
  isRunEnd,
  isScope,
  isSightings,
  isTransfer,
  orphanProblem,
  recordProblem,
  runsOf,
} from "./shape";

const stateFormat = "reconcile-cloud/state";

const stateSections = ["resources", "intents", "orphans"] as const;

export function writeSnapshot(state: FoldedState): string {
  const lines = [
    "{",
    `"format":"${stateFormat}",`,
    `"version":1,`,
    `"lineage":${JSON.stringify(state.lineage)},`,
    `"serial":${state.serial},`,
    `"epoch":${state.epoch},`,
    ...(["scope", "outputs", "seen", "moves"] as const).flatMap((part) =>
      state[part] === undefined ? [] : [`"${part}":${canonicalJson(state[part])},`],
    ),
    ...(state.runs === undefined ? [] : sectionText("runs", byKey(state.runs))),
    ...stateSections.flatMap((section) => sectionText(section, state[section])),
    `"quarantined":${JSON.stringify(state.quarantined)}`,
    "}",
    "",
  ];
  return lines.join("\n");
}

/** Keys that sort as text in the order of the runs. Runs that a move brought along share a number with the one before. */
function byKey(runs: readonly RecordedRun[]): ReadonlyMap<string, RecordedRun> {
  const keyed = new Map<string, RecordedRun>();
  for (const run of runs) {
    const key = `run ${String(run.number).padStart(12, "0")}`;
    keyed.set(keyed.has(key) ? `${key} ${String(keyed.size).padStart(4, "0")}` : key, run);
  }
  return keyed;
}

function sectionText(name: string, entries: ReadonlyMap<string, unknown>): string[] {
  if (entries.size === 0) return [`"${name}":{},`];
  const keys = [...entries.keys()].sort();
  const lines = [`"${name}":{`];
  for (const [index, key] of keys.entries())
    lines.push(`${JSON.stringify(key)}:${canonicalJson(entries.get(key))}${index < keys.length - 1 ? "," : ""}`);
  lines.push("},");
  return lines;
}

export function writeEntry(entry: JournalEntry): string {
  const { more } = entry;
  const body = JSON.stringify({ n: entry.serial, e: entry.epoch, more, c: entry.change });
  return `${fingerprint(body)} ${body}`;
}

export type ReadState =
  | { readonly ok: true; readonly state: FoldedState; readonly notes: readonly string[] }
  | {
      readonly ok: false;
      readonly problem: string;
      /** A newer version wrote it. `needs`: the version that it says it needs. */
      readonly newer?: { readonly needs?: string };
      /** It is another program's document, and no damaged state. */
      readonly foreign?: true;
    };

export interface StoredText {
  readonly snapshot?: string;
  readonly journal: readonly string[];
  readonly acknowledged?: number;
}

/**
 * `lineage` is for a state that does not exist yet. `despiteLoss`: what is left of a journal that lost lines is read,
 * with a note; for a person who repairs it, never for a run.
 */
export function readState(stored: StoredText, lineage: string, despiteLoss = false): ReadState {
  const { snapshot: text = "", journal: lines, acknowledged = 0 } = stored;
  const notes: string[] = [];
  const snapshot = text.trim() === "" ? emptyState(lineage) : readSnapshot(text);
  if (typeof snapshot === "string") return { ok: false, problem: snapshot };
  if ("ok" in snapshot) return snapshot;
  const entries: (JournalEntry | Quarantined)[] = [];
  let laterAt: number | undefined;
  lines.forEach((line, index) => {
    if (line === "") return;
    const entry = readEntry(line);
    if (entry === ofLaterVersion) laterAt ??= index + 1;
    if (typeof entry !== "string") {
      entries.push(entry);
      return;
    }
    // A last line that was cut off was never acknowledged to anybody. A line that is cut off in the middle is damage.
    if (index === lines.length - 1 && acknowledged < lines.length)
      notes.push("the last line of the journal was cut off and is ignored");
    else {
      const at = `line ${index + 1}`;
      entries.push(setAside(addressInText(line) ?? `journal ${at}`, line, `${at} of the journal ${entry}`));
    }
  });
  if (laterAt !== undefined)
    return { ok: false, problem: `line ${laterAt} of its journal ${ofLaterVersion}`, newer: {} };
  const whole = withoutCutGroups(entries, notes);
  const loss = gapInEntries(whole, snapshot) ?? cutBefore(acknowledged, lines);
  if (loss !== undefined && !despiteLoss) return { ok: false, problem: loss };
  if (loss !== undefined) notes.push(loss);
  return { ok: true, state: foldEntries(snapshot, whole), notes };
}

const setAside = (address: string, text: string, problem: string): Quarantined => ({
  address,
  text: text.slice(0, 4096),
  problem,
});

/**
 * A journal goes on where its snapshot ends, and each line where the one before ended: beside another snapshot, as
 * after half a restore, and where lines are missing, what lies between is lost. A damaged line stands for one number. A
 * new holder may begin before the end of what a former one wrote that nobody counts.
 */
function gapInEntries(entries: readonly (JournalEntry | Quarantined)[], snapshot: FoldedState): string | undefined {
  let last = snapshot.serial;
  let { epoch } = snapshot;
  let damaged = 0;
  for (const entry of entries) {
    if ("problem" in entry) {
      damaged++;
      continue;
    }
    const counts = entry.serial > snapshot.serial && entry.epoch >= epoch;
    if (counts && entry.serial > last + 1 + damaged)
      return last === snapshot.serial
        ? `its journal goes on at ${entry.serial} and its snapshot ends at ${last}, so they do not belong together`
        : `its journal goes on at ${entry.serial} after ${last}: what was between is lost`;
    if (counts && entry.serial <= last && entry.epoch === epoch)
      return `its journal has ${entry.serial} after ${last}: lines were doubled or moved`;
    if (counts) {
      last = Math.max(last, entry.serial);
      epoch = entry.epoch;
    }
    damaged = 0;
  }
  return undefined;
}

function cutBefore(acknowledged: number, lines: readonly string[]): string | undefined {
  const there = lines.filter((line) => line !== "").length;
  if (there >= acknowledged) return undefined;
  return `its journal ends after ${there} ${there === 1 ? "line" : "lines"}, and ${acknowledged} were written: the last ones are lost`;
}

function readEntry(line: string): JournalEntry | string {
  const space = line.indexOf(" ");
  const body = line.slice(space + 1);
  if (space !== 16 || fingerprint(body) !== line.slice(0, space)) return "does not match its checksum";
  const parsed = parsedJson(body);
  if (!isObject(parsed) || typeof parsed.n !== "number" || typeof parsed.e !== "number" || !isObject(parsed.c))
    return "is not an entry";
  const problem = changeProblem(parsed.c);
  if (problem !== undefined) return problem;
  const { more } = parsed;
  // `changeProblem` has held every field of the change to its shape.
  const change = parsed.c as StateChange;
  return { serial: parsed.n, epoch: parsed.e, change, more: typeof more === "number" ? more : undefined };
}

/**
 * Leaves out the groups of which the last lines are missing: the disk was full, or the machine lost its power, in the
 * middle of one write. Nobody was told that they are durable. A damaged line inside a group is damage, and no end.
 */
function withoutCutGroups(
  entries: readonly (JournalEntry | Quarantined)[],
  notes: string[],
): (JournalEntry | Quarantined)[] {
  const whole: (JournalEntry | Quarantined)[] = [];
  let group: JournalEntry[] = [];
  const drop = (): void => {
    if (group.length > 0)
      notes.push("the last lines of the journal belong to a write that was cut off and are ignored");
    group = [];
  };
  for (const entry of entries) {
    const last = group.at(-1);
    if ("problem" in entry) {
      addAll(whole, [...group, entry]);
      group = [];
      continue;
    }
    if (last !== undefined && (entry.epoch !== last.epoch || entry.serial !== last.serial + 1)) drop();
    group.push(entry);
    if ((entry.more ?? 0) > 0) continue;
    addAll(whole, group);
    group = [];
  }
  drop();
  return whole;
}

const unless = (isReadable: boolean, problem: string): string | undefined => (isReadable ? undefined : problem);

const changeProblems: Readonly<Record<StateChange["type"], (change: Fields) => string | undefined>> = {
  resource: ({ address, record }) => (record === null ? undefined : recordProblem(String(address), record)),
  intent: ({ address, intent }) => (intent === null ? undefined : intentProblem(String(address), intent)),
  orphan: ({ orphan }) => (orphan === null ? undefined : orphanProblem(orphan)),
  scope: ({ scope }) => unless(isScope(scope), "has a scope that is not readable"),
  outputs: ({ outputs }) => unless(areOutputs(outputs), "has outputs that are not readable"),
  run: ({ run }) => unless(run === undefined || isRun(run), "begins a run that is not readable"),
  run_end: ({ end }) => unless(isRunEnd(end), "ends a run in a way that is not readable"),
  seen: (change) => unless(isSightings(change), "says when things were seen in a way that is not readable"),
  transfer: ({ transfer }) => unless(transfer === null || isTransfer(transfer), "notes a move that is not readable"),
  runs: ({ runs }) => unless(areRuns(runs), "has runs that are not readable"),
  release: () => undefined,
};

const changeProblem = (change: Fields): string | undefined =>
  isOneOf(change.type, keysOf(changeProblems)) ? changeProblems[change.type](change) : ofLaterVersion;

/** The checksum of the line is right, so it is no damage. */
const ofLaterVersion = "is of a kind that this version does not know";

/** The resource that a damaged text is about, or the orphan. */
const addressInText = (text: string): string | undefined =>
  /"address":"((?:[^"\\.]+\/)?(?:vm|volume|group)\.[^"\\]+)"/.exec(text)?.[1] ??
  /"key":"((?:vm|volume|group|image):[^"\\]+)"/.exec(text)?.[1];

function readSnapshot(text: string): FoldedState | (ReadState & { readonly ok: false }) | string {
  const whole = parsedJson(text);
  const document = isObject(whole) ? { head: whole, broken: [] } : salvage(text);
  if (document === undefined) return "it is not a JSON document of this tool";
  const { head, broken } = document;
  const newer = head.format === stateFormat ? newerVersion(head.version) : undefined;
  if (newer !== undefined)
    return {
      ok: false,
      problem: `its version is ${newer}, and this reconcile reads version ${knownVersion}`,
      newer: typeof head.needs === "string" ? { needs: head.needs } : {},
    };
  const identity = identityIn(head);
  if (typeof identity === "string")
    return head.format === stateFormat ? identity : { ok: false, problem: identity, foreign: true };
  // All three sections are always written. A missing one was lost, and reading it as empty would look as if nothing
  // existed.
  for (const section of stateSections) if (!isObject(head[section])) return `its ${section} are missing`;
  const quarantined: Quarantined[] = [...broken, ...quarantinedIn(head)];
  const keep = <T>(name: string, problemOf: (key: string, value: unknown) => string | undefined): Map<string, T> => {
    const kept = new Map<string, T>();
    const entries = fieldsIn(head[name]);
    for (const key of Object.keys(entries)) {
      const problem = problemOf(key, entries[key]);
      // `problemOf` has held the value to the shape of `T`.
      if (problem === undefined) kept.set(key, entries[key] as T);
      else quarantined.push(setAside(key, JSON.stringify(entries[key]), problem));
    }
    return kept;
  };
  return {
    ...identity,
    journalled: 0,
    resources: keep<RecordedResource>("resources", recordProblem),
    intents: keep<Intent>("intents", intentProblem),
    orphans: keep<Orphan>("orphans", (_, value) => orphanProblem(value)),
    quarantined,
    // A damaged scope counts as not remembered: the next run that writes records the scope anew.
    scope: isScope(head.scope) ? head.scope : undefined,
    ...runsOf(head.runs),
    // Damaged outputs are left out: they are made anew from the records.
    outputs: areOutputs(head.outputs) ? head.outputs : undefined,
    // Damaged sightings are left out: a resource that nobody saw is looked at.
    ...onlyDefined({ seen: isLastSeen(head.seen) ? head.seen : undefined }),
    ...movesOf(head.moves, quarantined),
  };
}

/** A note that cannot be read is set aside under its own name: nobody could tell which records are in both states. */
function movesOf(moves: unknown, quarantined: Quarantined[]): Pick<FoldedState, "moves"> {
  if (moves === undefined) return {};
  if (areMoves(moves)) return { moves };
  quarantined.push(setAside("moves", JSON.stringify(moves), "its note of a move is not readable"));
  return {};
}

/** Which state it is and how far it was written, or what speaks against reading it. */
function identityIn(head: Record<string, unknown>): Pick<FoldedState, "lineage" | "serial" | "epoch"> | string {
  const { format = null, version = null, lineage, serial, epoch = 0 } = head;
  if (format !== stateFormat) return `its format is ${JSON.stringify(format)}, not ${stateFormat}`;
  if (version !== 1) return `its version is ${JSON.stringify(version)}; this reconcile reads version 1`;
  if (typeof lineage !== "string" || typeof serial !== "number" || !Number.isSafeInteger(serial))
    return "its lineage or serial is missing";
  if (typeof epoch !== "number" || !Number.isSafeInteger(epoch)) return "its epoch is no whole number";
  return { lineage, serial, epoch };
}

/** What an earlier reading set aside, and a snapshot carries on. */
const quarantinedIn = ({ quarantined }: Record<string, unknown>): Quarantined[] =>
  (Array.isArray(quarantined) ? quarantined : []).flatMap((piece: unknown) =>
    isObject(piece) && typeof piece.address === "string" && typeof piece.text === "string"
      ? [{ address: piece.address, text: piece.text, problem: String(piece.problem ?? "it was damaged") }]
      : [],
  );

const keyOfLine = (line: string): string | undefined => /^"([^"\\]+)":/.exec(line)?.[1];

/**
 * Reads a snapshot that is not JSON as a whole, line by line. This works because every record has a line of its own.
 */
function salvage(text: string): { head: Record<string, unknown>; broken: Quarantined[] } | undefined {
  const head: Record<string, unknown> = {};
  const broken: Quarantined[] = [];
  let current: Record<string, unknown> | undefined;
  for (const raw of text.split("\n")) {
    const line = raw.trim().replace(/,$/, "");
    if (line === "" || line === "{") continue;
    if (line === "}") {
      current = undefined;
      continue;
    }
    const opening = /^"(resources|intents|orphans|runs)":\{$/.exec(line)?.[1];
    if (opening !== undefined) {
      current = {};
      head[opening] = current;
      continue;
    }
    const parsed = parsedJson(`{${line}}`);
    if (isObject(parsed)) {
      for (const key of Object.keys(parsed)) if (key !== "__proto__") (current ?? head)[key] = parsed[key];
    } else if (current !== undefined && current === head.runs) {
      // A damaged line among the runs loses history only; no resource depends on it.
      current[keyOfLine(line) ?? "~"] = null;
    } else if (current !== undefined) {
      const address = keyOfLine(line) ?? addressInText(line) ?? "unknown";
      broken.push(setAside(address, line, "its line in the state is damaged"));
      // A damaged line outside the sections: nobody can tell what it opened or said, and everything after it would be
      // misread.
    } else return undefined;
  }
  return head.format === undefined ? undefined : { head, broken };
}
