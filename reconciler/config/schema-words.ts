import type { ErrorObject } from "ajv";
import { kinds, sectionOf } from "../core/model/kinds";
import type { Subject } from "./fields";
import type { Problems } from "./problems";
import { type SchemaWords, schemaProblems } from "./schema-problems";
import { parseTemplate } from "./template";
import type { Path, YamlFile } from "./yaml/file";

/**
 * What the patterns of desired-state.schema.json are called in a message, by the pattern; an empty word is not
 * mentioned. A test compares this list with the schema.
 */
export const filePatternWords: Readonly<Record<string, string>> = {
  "\\$\\{": "",
  "^[A-Za-z0-9_-]+$": "letters, digits, hyphens and underscores",
  "^[A-Za-z0-9-]{3,50}$|\\$\\{": "one word of a-z, 0-9 and hyphens, 3 to 50 long",
  "^ *[0-9]+ *$|\\$\\{": "the same as text",
  "^ *[0-9]+ *(?:- *[0-9]+ *)?$|\\$\\{": "a range such as 8000-8010",
  "^ *[0-9]+(?:\\.[0-9]+)? *(?:ms|s|m|h) *$|\\$\\{": "a duration such as 30ms, 2s, 15m or 1h",
  "^(?:[A-Za-z0-9_-]+(?:\\[[^\\[\\]]+\\])?/)*(?:(?:vm|volume|group)\\.[A-Za-z0-9_-]+(?:\\[[^\\[\\]]+\\])?)?$|\\$\\{":
    "an address: vm.KEY, volume.KEY or group.KEY, with [EACH] for an instance of a for_each",
  "^ *(?:any|[0-9]+ *(?:- *[0-9]+ *)?)$|\\$\\{": "a range such as 8000-8010, or any",
  "^ *[0-9]+(?:\\.[0-9]+)? *$|\\$\\{": "an amount such as 9.90",
  "^ *[0-9]+ *%? *$|\\$\\{": "a number, or a share such as 25%",
  "^[0-9]{4}-[0-9]{2}-[0-9]{2}$": "a day such as 2026-12-31",
  "^(?:[Tt][Cc][Pp]|[Uu][Dd][Pp]|[Ii][Cc][Mm][Pp]|[Aa][Nn][Yy])$": "",
};

/** A value that is one reference has the type of what it refers to; whole blocks and sections are written out. */
function isReferencePath(path: Path, value: unknown): boolean {
  const [section] = path;
  const least = section === "service" ? 2 : isBlockSection(section) ? 3 : Infinity;
  return path.length >= least && typeof value === "string" && parseTemplate(value).whole !== undefined;
}

const isBlockSection = (section: unknown): boolean =>
  section === "defaults" || section === "components" || kinds.some((kind) => sectionOf[kind] === section);

const schemaWords: SchemaWords<"config"> = {
  area: "config",
  patterns: filePatternWords,
  ignores: isReferencePath,
};

/**
 * What the schema finds, where nothing more precise was said. Without an error nobody asks, since this file is loaded for
 * errors alone. `within`: a part of the file that was made of references.
 */
export function addSchemaProblems(
  file: YamlFile,
  errors: readonly ErrorObject[],
  problems: Problems,
  within?: { readonly root: unknown; readonly subject: Pick<Subject, "address" | "place"> },
): void {
  for (const problem of schemaProblems(file, errors, schemaWords, within?.root, within?.subject.place))
    if (!problems.covers(problem.at)) problems.add({ ...problem, address: within?.subject.address });
}
