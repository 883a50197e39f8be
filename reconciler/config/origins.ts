/**
 * Where a value was written that a reference brought: a problem stands at the line that uses the value, and the line to
 * mend is most often the one that gives it.
 */
import { asOneSentence } from "../core/text/list-text";
import type { VariableValues } from "./interpolation";
import { type Problems, problemsWith } from "./problems";
import { lineOf } from "./sources";
import type { Place } from "./yaml/file";

/** What `${var.x}`, or in a component `${param.x}`, stands for. */
export interface Origins {
  readonly root: "var" | "param";
  readonly values: VariableValues;
  /** Of the file that uses the component. */
  readonly outer?: Origins;
}

/** Adds to each problem at a text with references where their values were written. */
export const namingOrigins = (problems: Problems, origins: Origins): Problems =>
  problemsWith(problems, (problem) => {
    const isAboutReference = /^config\/(interpolation|unknown-variable|sensitive|variable-)/.test(problem.code);
    if (isAboutReference || problem.at === undefined || problem.namesOrigins) return problem;
    const all = new Set(originsOf(referencesAt(problem.at), origins).map(told));
    return { ...problem, namesOrigins: true, detail: asOneSentence(problem.detail, ...all) || undefined };
  });

/** No reference can mean anything. */
export const namesNothing = ({ values, outer }: Origins): boolean =>
  values.keys().next().done === true && (outer === undefined || namesNothing(outer));

interface Origin {
  readonly reference: string;
  /** A text for what is given outside of the files. */
  readonly from: Place | string;
}

export interface Reference {
  readonly root: string;
  readonly name: string;
}

/** The references of the text that stands at a place. */
export const referencesAt = (place: Place): readonly Reference[] =>
  [...writtenTextAt(place).matchAll(/\$\{(var|param)\.([A-Za-z0-9_-]+)/g)].map(([, root = "", name = ""]) => ({
    root,
    name,
  }));

/** Where the value of each reference was written, and then those of which that one is made. */
export const originsOf = (references: readonly Reference[], origins: Origins, depth = 4): Origin[] =>
  references.flatMap(({ root, name }) => {
    let at: Origins | undefined = origins;
    while (at !== undefined && !(at.root === root && at.values.has(name))) at = at.outer;
    const from = at?.values.origin?.(name);
    if (at === undefined || from === undefined) return [];
    const next = at.root === "param" ? at.outer : at;
    const further =
      depth === 0 || typeof from === "string" || next === undefined
        ? []
        : originsOf(referencesAt(from), next, depth - 1);
    return [{ reference: `\${${root}.${name}}`, from }, ...further];
  });

const told = ({ reference, from }: Origin): string =>
  `${reference} is given ${typeof from === "string" ? `with ${from}` : `in ${lineOf(from)}`}`;

/** The text that stands at a place, where one does; without quotes it ends where a flow list or map would go on. */
function writtenTextAt({ source: { text }, offset }: Place): string {
  const rest = text.slice(offset, offset + 500);
  const [quoted] = /^"(?:[^"\\]|\\.)*"|^'[^']*'/.exec(rest) ?? [];
  if (quoted !== undefined) return quoted;
  return /^[\w-]+:(?:\s|$)/.test(rest) ? "" : (/^(?:[^\n"'#{}[\],$]|\$\{[^}\n]*\})*/.exec(rest)?.[0] ?? "");
}
