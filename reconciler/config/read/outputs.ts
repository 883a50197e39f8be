/** `outputs:` — what the project hands out: a value by itself, or one with a description and whether it is sensitive. */
import type { DesiredOutput, Shaped } from "../../core/model/output";
import { nearestText } from "../../core/text/nearest";
import { readBoolean, readText, reportAt, type Subject } from "../fields";
import type { InterpolationScope } from "../interpolation";
import { openText } from "../open-text";
import type { Problems } from "../problems";
import { interpolated, subjectOfEntry } from "../sections";
import type { MergedEntry } from "../sources";
import { extentOf, mostValues } from "../vars";
import { isMap, placeOf, positionOf } from "../yaml/file";

const outputKeys = ["value", "description", "sensitive"];

export const readOutputs = (
  entries: readonly MergedEntry[],
  scope: InterpolationScope,
  problems: Problems,
): DesiredOutput[] => {
  const read = { size: 0 };
  return entries
    .flatMap((entry) => (read.size > mostValues ? [] : (readOutput(entry, scope, problems, read) ?? [])))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** `read`: how many values all outputs so far stand for. */
function readOutput(
  entry: MergedEntry,
  scope: InterpolationScope,
  problems: Problems,
  read: { size: number },
): DesiredOutput | undefined {
  const { key: name, value: written } = entry;
  const subject = subjectOfEntry("outputs", entry, problems);
  if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(name))
    return reportAt(subject, [], {
      code: "config/invalid-value",
      summary: `an output cannot be called ${JSON.stringify(name)}`,
      detail: "expected a letter, then letters, digits, _ and -",
    });
  const isLong = isMap(written);
  const place: Subject["place"] = (path, on) =>
    path.length === 0 && !isLong ? placeOf(entry.source, ["outputs", name], "value") : subject.place(path, on);
  const before = problems.reported;
  const told: InterpolationScope = {
    ...scope,
    onSensitive: (variable, path) =>
      problems.add({
        code: "config/sensitive",
        summary: `the sensitive value ${variable} would be stored in the clear`,
        detail: "outputs are kept in the state",
        fix: "leave it out of the outputs, or take sensitive: true off its declaration",
        at: place(path),
      }),
  };
  const values = interpolated({ ...subject, place }, written, told);
  read.size += extentOf(values).size;
  if (read.size > mostValues)
    return reportAt(subject, [], {
      code: "config/too-large",
      summary: `the outputs stand for more than ${mostValues} values`,
      fix: "hand out less of what is put together from other values",
    });
  const source = positionOf(subject.place([]));
  if (!isLong) {
    const value = problems.reported > before ? undefined : shapedOf(values);
    return value === undefined ? undefined : { name, value, source };
  }
  if (!isMap(values)) return undefined;
  for (const key of Object.keys(values)) if (!outputKeys.includes(key)) reportKey(key, subject);
  if (!Object.hasOwn(values, "value"))
    return reportAt(subject, [], {
      code: "config/missing",
      summary: "value is missing",
      detail: "an output is a value, or a map with value:, description: and sensitive:",
      fix: "add value:",
    });
  const description = readText(subject, values, "description", true);
  const sensitive = readBoolean(subject, values, "sensitive") || undefined;
  const value = problems.reported > before ? undefined : shapedOf(values["value"]);
  return value === undefined ? undefined : { name, value, description, sensitive, source };
}

const reportKey = (key: string, { problems, place }: Subject): void =>
  problems.add({
    code: "config/unknown-key",
    summary: `the key ${key} is not known here`,
    detail: `expected ${outputKeys.join(", ")}`,
    fix: nearestText(key, outputKeys, (near) => `write ${near}`) ?? "put what it holds under value:",
    at: place([key], "key"),
  });

/** `undefined` where a part could not be interpolated, which is reported. */
function shapedOf(value: unknown): Shaped | undefined {
  if (typeof value === "string") return { is: "text", text: openText(value) };
  if (value === null || typeof value === "number" || typeof value === "boolean") return { is: "plain", value };
  if (Array.isArray(value)) {
    const items = value.map(shapedOf);
    return items.includes(undefined) ? undefined : { is: "list", items: items.filter((item) => item !== undefined) };
  }
  if (!isMap(value)) return undefined;
  const entries: [string, Shaped][] = [];
  for (const key of Object.keys(value)) {
    const shaped = shapedOf(value[key]);
    if (shaped === undefined) return undefined;
    entries.push([key, shaped]);
  }
  return { is: "map", entries: Object.fromEntries(entries) };
}
