/** The files that are read together, and questions about a name across them. */
import { isMap, keyOffset, type YamlFile } from "../config/yaml/file";
import type { Desired } from "../core/model/desired";
import { type FileNames, type NamePlace, namesInFile, quoteAt, type SortOfName } from "./names";

export interface ProjectFile {
  readonly source: YamlFile;
  readonly names: FileNames;
}

export interface EditedProject {
  /** The files of the desired state. Their names are one set. */
  readonly main: readonly string[];
  /** Those, and the components that they use, as they are now; a file that is no YAML has no names. */
  readonly files: ReadonlyMap<string, ProjectFile>;
  /** What the files said when they could last be read, for each environment. */
  readonly desired: ReadonlyMap<string | undefined, Desired>;
  /** The file that another one names. */
  besides(path: string, file: string): string;
}

export const projectFile = (source: YamlFile): ProjectFile => ({ source, names: namesInFile(source) });

/** What a place names: a name of some files. */
export interface ProjectName {
  readonly sort: SortOfName;
  readonly key: string;
  /** One of the files that it belongs to. */
  readonly home: string;
}

export interface FoundName extends NamePlace {
  readonly file: string;
}

/** All files of the desired state are one home. */
const homeOf = ({ main }: EditedProject, file: string): string => (main.includes(file) ? (main[0] ?? file) : file);

/** The file of a component that a home uses; `undefined`: its path is no plain text, or there is no such component. */
export function componentFileOf(project: EditedProject, home: string, key: string): string | undefined {
  for (const file of filesFrom(project, home)) {
    const from = project.files.get(file)?.names.components.get(key);
    if (from !== undefined && !from.includes("${")) return project.besides(from, file);
  }
  return undefined;
}

export const filesFrom = ({ main }: EditedProject, home: string): readonly string[] =>
  main.includes(home) ? main : [home];

export function nameAtPlace(
  project: EditedProject,
  file: string,
  { sort, key, through }: NamePlace,
): ProjectName | undefined {
  let home: string | undefined = homeOf(project, file);
  for (const component of through) home = home === undefined ? undefined : componentFileOf(project, home, component);
  return home === undefined ? undefined : { sort, key, home };
}

/** Every place of a name in all files, each once: what an alias repeats is written once. */
export const placesOfProject = (project: EditedProject, name: ProjectName): FoundName[] => [
  ...[...project.files].flatMap(([file, { names }]) => {
    const found = new Map<number, FoundName>();
    for (const place of names.places) {
      if (place.key !== name.key || place.sort !== name.sort || found.has(place.offset)) continue;
      if (nameAtPlace(project, file, place)?.home === name.home) found.set(place.offset, { ...place, file });
    }
    return [...found.values()];
  }),
  ...(name.sort === "var" ? givenInVarFiles(project, name) : []),
];

/** Where the files with values that environments name give a variable its value. */
function givenInVarFiles(project: EditedProject, { sort, key, home }: ProjectName): FoundName[] {
  const varFiles = filesFrom(project, home).flatMap((file) =>
    (project.files.get(file)?.names.varFiles ?? []).map((path) => project.besides(path, file)),
  );
  return [...new Set(varFiles)].flatMap((file): FoundName[] => {
    const source = project.files.get(file)?.source;
    const at = isMap(source?.root) ? keyOffset(source.root, key) : undefined;
    if (source === undefined || at === undefined) return [];
    const offset = quoteAt(source.text, at);
    return [{ sort, key, through: [], offset, length: key.length, is: "used", path: [key], file }];
  });
}

/** The names of a sort that a home declares. */
export const declaredIn = (project: EditedProject, home: string, sort: SortOfName): FoundName[] =>
  filesFrom(project, homeOf(project, home)).flatMap((file) =>
    (project.files.get(file)?.names.places ?? []).flatMap((place) =>
      place.is === "declared" && place.sort === sort ? [{ ...place, file }] : [],
    ),
  );
