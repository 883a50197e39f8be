/** What a section of the files says, with its references filled in, and where each part of it stands. */
import type { Subject, Values } from "./fields";
import { type InterpolationScope, interpolate, storedInTheClear } from "./interpolation";
import type { Problems } from "./problems";
import { type ListItem, type ListName, type Merged, type MergedEntry, placeIn, type SettingName } from "./sources";
import { isMap, type Path, placeOf } from "./yaml/file";

export interface SectionContext {
  readonly scope: InterpolationScope;
  readonly problems: Problems;
}

export interface Written {
  readonly subject: Subject;
  readonly values: Values;
}

/** The value with what its references are worth; a problem is reported where it stands. */
export const interpolated = (subject: Subject, value: unknown, scope: InterpolationScope): unknown =>
  interpolate(value, scope, (problem, path) => subject.problems.add({ ...problem, at: subject.place(path) }));

/** A setting that is a map. */
export function settingOf(name: SettingName, { settings }: Merged, context: SectionContext): Written | undefined {
  const setting = valueOfSetting(name, settings, context);
  return isMap(setting?.value) ? { subject: setting.subject, values: setting.value } : undefined;
}

export function valueOfSetting(name: SettingName, settings: Merged["settings"], { scope, problems }: SectionContext) {
  const found = settings.get(name);
  if (found === undefined) return undefined;
  const subject: Subject = { problems, place: (path, on) => placeIn(found.layers, path, on ?? "value") };
  return { subject, value: interpolated(subject, found.value, scope) };
}

/** The items of a list that are maps. What is imported, moved and removed is recorded. */
export const itemsOfList = (name: ListName, lists: Merged["lists"], { scope, problems }: SectionContext): Written[] =>
  lists[name].flatMap(({ value, source, index }: ListItem) => {
    const subject: Subject = {
      problems,
      place: (path, on) => placeOf(source, [name, index, ...path], path.length === 0 ? "value" : (on ?? "value")),
    };
    const onSensitive = (variable: string, path: Path): void => {
      if (name !== "reachability") problems.add({ ...storedInTheClear(variable, path), at: subject.place(path) });
    };
    const values = isMap(value) ? interpolated(subject, value, { ...scope, onSensitive }) : undefined;
    return isMap(values) ? [{ subject, values }] : [];
  });

/** One entry of a section. A problem with the whole of it is one of its key. */
export const subjectOfEntry = (section: string, { key, source }: MergedEntry, problems: Problems): Subject => ({
  problems,
  place: (path, on) => placeOf(source, [section, key, ...path], path.length === 0 ? "key" : (on ?? "value")),
});
