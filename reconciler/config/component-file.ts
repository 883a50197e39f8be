/**
 * The file of a component: read and checked once, however often it is used. What is wrong with it is told at its own
 * place, with the first place of use.
 */

import { nearestText } from "../core/text/nearest";
import { plainValuesIn } from "../core/text/objects";
import { type OpenNamedFile, openNamed } from "./environments";
import { problemsOf } from "./generated/component";
import { type InterpolationScope, interpolate } from "./interpolation";
import { type ExpectedFile, readOwnYaml, topKeys } from "./own-files";
import { addNumberProblems, type Problems, problemsIn, shown } from "./problems";
import { addSchemaProblems } from "./schema-words";
import { lineOf, type Merged, mergeSources } from "./sources";
import { parseTemplate, type TemplatePart } from "./template";
import type { VarDeclaration } from "./vars";
import { isMap, type Path, type Place, placeOf, type YamlFile, type YamlMap } from "./yaml/file";

export interface ComponentFile {
  readonly source: YamlFile;
  readonly merged: Merged;
  readonly parameters: readonly VarDeclaration[];
  /** For the end of a reading: the schema's findings are shown where nothing more precise was said. */
  checkShape(): void;
}

export interface ComponentFiles {
  readonly open: OpenNamedFile | undefined;
  /** Components by file, and by who asked for which one; `undefined`: the file cannot be used. */
  readonly known: Map<string, ComponentFile | undefined>;
}

/** `undefined`: the component cannot be used, which is reported. */
export function openComponentFile(
  values: YamlMap,
  beside: string,
  place: (path: Path) => Place,
  scope: InterpolationScope,
  problems: Problems,
  { open, known }: ComponentFiles,
): ComponentFile | undefined {
  const from = interpolate(values["from"], scope, (problem) => problems.add({ ...problem, at: place(["from"]) }));
  if (typeof from !== "string") return undefined;
  const asked = `${beside}\n${from}`;
  if (known.has(asked)) return known.get(asked);
  const found = openNamed(from, place(["from"]), open, problems);
  if (found === undefined) return undefined;
  const { file } = found;
  if (!known.has(file)) {
    const inside = problemsIn(problems, `used as a component in ${lineOf(place([]))}`);
    known.set(file, readComponent(readOwnYaml(found, inside, expectedComponent()), inside));
  }
  const component = known.get(file);
  known.set(asked, component);
  return component;
}

const expectedComponent = (): ExpectedFile => ({
  what: "component",
  code: "config/version",
  keys: topKeys(problemsOf),
  detail: "a component begins with component: 1; nothing of the file is shown",
  fix: "write component: 1, or name another file; a desired state is given with -f",
});

function readComponent(source: YamlFile, problems: Problems): ComponentFile | undefined {
  const { root } = source;
  const isUsable = source.isIncomplete !== true && isMap(root) && hasVersion(source, root, problems);
  if (!isUsable) {
    checkShape(source, problems);
    return undefined;
  }
  const declared = root["parameters"];
  const parameters = isMap(declared)
    ? Object.entries(declared).map(([name, each]) => ({ name, declared: each, source }))
    : [];
  reportUnused(source, root, parameters, problems);
  const merged = mergeSources([source], problems);
  return { source, merged, parameters, checkShape: () => checkShape(source, problems) };
}

function checkShape(source: YamlFile, problems: Problems): void {
  addSchemaProblems(source, source.root === undefined ? [] : problemsOf(source.root), problems);
  addNumberProblems(source, problems);
}

function hasVersion(source: YamlFile, root: YamlMap, problems: Problems): boolean {
  if (root["component"] === 1) return true;
  const isThere = Object.hasOwn(root, "component");
  // Where the line is missing, a key stands in its place, which may have a problem of its own.
  if (!isThere) checkShape(source, problems);
  problems.add({
    code: "config/version",
    summary: isThere ? `component cannot be ${shown(root["component"])}` : "the file is no component",
    detail: "a component begins with component: 1",
    fix: Object.hasOwn(root, "version")
      ? "a desired state is given with -f; a component begins with component: 1"
      : "write component: 1",
    at: isThere ? placeOf(source, ["component"], "value") : { source, offset: 0 },
    withoutExcerpt: !isThere,
  });
  return false;
}

/** A parameter that nothing uses is either misspelt somewhere or a promise that the component does not keep. */
function reportUnused(
  source: YamlFile,
  root: YamlMap,
  parameters: readonly VarDeclaration[],
  problems: Problems,
): void {
  const used = new Set<string>();
  const visit = (part: TemplatePart): void => {
    if (typeof part === "string") return;
    const [first] = part.steps;
    if (part.root === "param" && first?.kind === "field") used.add(first.name);
    for (const step of part.steps) if (step.kind === "key") visit(step.key);
  };
  for (const text of plainValuesIn(root)) if (typeof text === "string") parseTemplate(text).parts.forEach(visit);
  for (const { name } of parameters) {
    if (used.has(name)) continue;
    const others = [...used].filter((each) => !parameters.some((parameter) => parameter.name === each));
    problems.add({
      code: "config/unused-parameter",
      summary: `nothing uses the parameter ${name}`,
      fix:
        nearestText(name, others, (near) => `write \${param.${name}} in place of \${param.${near}}`) ??
        `use it as \${param.${name}}, or take it out`,
      at: placeOf(source, ["parameters", name]),
    });
  }
}
