/** What the parts of a division work on together: the two projects, and what is to become of their texts. */
import { isObject } from "../../core/text/objects";
import type { ConfigSource } from "../yaml/file";
import type { CutProblem } from "./cut";
import type { Piece, Splice, Uncut } from "./pieces";
import type { MovedProject, MoveEntry, Rebase } from "./project";

/** How one side names the other in `reads`, and where the other's state lies. */
export interface Other {
  readonly name: string;
  readonly state: string;
  /** Whether a `reads` entry of this side means the other side's state. */
  readonly isIt: (state: string) => boolean;
}

export interface Division {
  readonly source: readonly ConfigSource[];
  /** Empty: the project is made. */
  readonly target: readonly ConfigSource[];
  /** The file of a project that is made. */
  readonly targetFile: string;
  readonly parts: readonly string[] | "all";
  /** The target as the source names it, and the source as the target names it. */
  readonly others: { readonly target: Other; readonly source: Other };
  /** What is a path beside a file of the source, as it is from the target's. */
  readonly rebase: Rebase;
  /** `state:` of a project that is made, where the usual place is another one's. */
  readonly newState?: string;
}

export interface Divided {
  readonly source: readonly ConfigSource[];
  readonly target: readonly ConfigSource[];
  /** The blocks that went: `vm.db`, `shop/`. */
  readonly moved: ReadonlySet<string>;
  /** What went along, what was copied, and what became a read, for people. */
  readonly notes: readonly string[];
  /** Files of the target that are no files of its desired state: a component. */
  readonly beside?: readonly ConfigSource[];
}

export type DividedOrProblems = Divided | { readonly problems: readonly CutProblem[] };

/** Text of a new entry. */
export const newPiece = (text: string): Piece => ({ text, isSpaced: false });

/** A word for what an expression names. */
export const nameFrom = (expression: string): string =>
  expression
    .replace(/^(?:var|vm|volume|group|component)\./, "")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replaceAll(/^_|_$/g, "");

class MoveRefused extends Error {
  constructor(readonly problem: CutProblem) {
    super(problem.summary);
  }
}

export const refuseMove = (problem: CutProblem): never => {
  throw new MoveRefused(problem);
};

/** What is made, or why it was refused on the way. */
export function unlessRefused<T>(make: () => T): T | { readonly problems: readonly CutProblem[] } {
  try {
    return make();
  } catch (error) {
    if (error instanceof MoveRefused) return { problems: [error.problem] };
    throw error;
  }
}

/** `names`: what was to be cut out. */
export const refuseCut = (
  { file, text }: ConfigSource,
  { problem, at, fix = "write it on lines of its own" }: Uncut,
  names: readonly string[],
): never =>
  refuseMove({
    summary: `${names.join(", ")}: ${problem}`,
    fix,
    source: { file, line: text.slice(0, at).split("\n").length },
  });

/** What is added to one section of a project. */
export interface Addition {
  readonly section: string;
  readonly piece: Piece;
  readonly kind: "map" | "list";
}

export type SideName = "source" | "target";

export interface MoveDesk {
  readonly division: Division;
  readonly source: MovedProject;
  readonly target: MovedProject;
  readonly moved: ReadonlySet<string>;
  readonly isNew: boolean;
  readonly isAll: boolean;
  readonly notes: string[];
  readonly splices: Map<MoveEntry["file"], Splice[]>;
  readonly additions: Readonly<Record<SideName, Addition[]>>;
  /** Outputs of the source that nobody reads any more. */
  readonly dropped: Set<string>;
  /** Entries that are cut out of their file. */
  readonly gone: Set<MoveEntry>;
  /** Variables, reads and lookups that the target gets. */
  readonly copied: MoveEntry[];
  readonly environmentValues: { readonly environment: string; readonly name: string; readonly value: unknown }[];
}

export const createDesk = (
  division: Division,
  source: MovedProject,
  target: MovedProject,
  moved: ReadonlySet<string>,
): MoveDesk => ({
  division,
  source,
  target,
  moved,
  isNew: division.target.length === 0,
  isAll: division.parts === "all",
  notes: [],
  splices: new Map(),
  additions: { source: [], target: [] },
  dropped: new Set(),
  gone: new Set(),
  copied: [],
  environmentValues: [],
});

/** A `reads` entry that means the other project's state. */
export const isReadOf = ({ section, value }: MoveEntry, other: Other): boolean =>
  section === "reads" && isObject(value) && other.isIt(String(value["state"] ?? ""));

export const isNamedValue = ({ section }: MoveEntry): boolean =>
  section === "vars" ||
  section === "reads" ||
  section === "lookups" ||
  section === "environments" ||
  section === "defaults";

export const isBlockName = (name: string): boolean => /^(?:vm|volume|group)\.|\/$/.test(name);

export const shownAt = ({ file, name }: MoveEntry): string => `${name} in ${file.file}`;

/** The value of a file, which is plain data, with its paths as they are in the other folder. */
export function rebased(value: unknown, rebase: Rebase, of: { field: string; file?: string } = { field: "" }): unknown {
  if (typeof value === "string") return rebase(value, of);
  if (Array.isArray(value)) return value.map((one) => rebased(one, rebase, of));
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, rebased(one, rebase, { ...of, field: key })]))
    : value;
}
