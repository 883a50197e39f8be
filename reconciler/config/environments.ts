/**
 * Which environment is meant, and the files with what it says put over them: settings and defaults field by field,
 * variables below everything that is given from outside. A file with environments and none chosen is an error that
 * lists them: no default can be the one that somebody did not mean.
 */

import { permittedByProtect } from "../core/model/desired";
import { type Advice, toSay } from "../core/model/fix";
import { perKind } from "../core/model/kinds";
import { listed } from "../core/text/list-text";
import { nearestName, nearestText } from "../core/text/nearest";
import { onlyDefined } from "../core/text/objects";
import { withoutUsers } from "../core/text/outside-policy";
import { printable } from "../core/text/printable";
import { mergeUnder } from "./blocks";
import { interpolate } from "./interpolation";
import { type Problems, shown } from "./problems";
import type { Defaults, Layer, Merged, MergedEntry, MergedSetting, SettingName } from "./sources";
import { type GivenValue, isPresent, readVarFile } from "./vars";
import { type ConfigSource, isMap, type Path, type Place, placeOf, positionOf, type YamlMap } from "./yaml/file";

/** Reads a file that another file names, by the name as it is written there. */
export type OpenNamedFile = (
  path: string,
  beside: string,
) => { readonly source: ConfigSource } | { readonly problem: string; readonly fix?: string };

/** Words that cannot be the name of an environment: `--env all` means each in turn. */
const reservedName = "all";

interface ChosenEnvironment {
  readonly name: string | undefined;
  readonly merged: Merged;
  readonly vars: ReadonlyMap<string, GivenValue>;
}

/** `undefined`: the environment cannot be determined, which is reported. */
export function chooseEnvironment(
  merged: Merged,
  { env, open }: { readonly env?: string; readonly open?: OpenNamedFile },
  problems: Problems,
): ChosenEnvironment | undefined {
  const names = merged.environments.map(({ key }) => key);
  for (const entry of merged.environments) checkEntry(entry, merged, problems);
  if (names.length === 0 && env === undefined) return { name: undefined, merged, vars: new Map() };
  const entry = merged.environments.find(({ key }) => key === env);
  if (entry === undefined) return reportChoice(env, names, merged, problems);
  const said = isMap(entry.value) ? entry.value : {};
  const layerOf = (path: Path): Layer => ({ source: entry.source, path: ["environments", entry.key, ...path] });
  return {
    name: entry.key,
    merged: {
      ...merged,
      settings: overSettings(merged, said, layerOf),
      defaults: overDefaults(merged, said, layerOf),
      ...protectionOf(entry, said),
    },
    vars: readEnvironmentVars(entry, said, merged, open, problems),
  };
}

/** A program has no flags. */
const toChoose = (words: string, name: string): Advice => [
  toSay([printable(words)], `write env: "${printable(name)}"`),
];

function orDeclare(env: string): Advice {
  const declared = printable(`or declare it: environments: { ${withoutUsers(env)}: {} }`);
  return [toSay([`leave --env and RECONCILE_ENV out, ${declared}`], `leave env out, ${declared}`)];
}

function reportChoice(
  env: string | undefined,
  names: readonly string[],
  merged: Merged,
  problems: Problems,
): undefined {
  const [first] = merged.environments;
  const report = (summary: string, fix: Advice): undefined =>
    problems.add({
      code: "config/environment",
      summary,
      detail: first === undefined ? undefined : `the file declares ${listed(names)}`,
      fix,
      at: first === undefined ? undefined : placeOf(first.source, ["environments"]),
    });
  const [name = ""] = names;
  if (env === undefined)
    return report("no environment is chosen", toChoose(`give --env ${name}, or set RECONCILE_ENV`, name));
  if (first === undefined) return report(`there is no environment ${env}: the file declares none`, orDeclare(env));
  const near = nearestName(env, names);
  return report(
    env === reservedName ? "this needs one environment" : `there is no environment ${env}`,
    near === undefined ? toChoose(`give --env ${name}`, name) : toChoose(`write --env ${near}`, near),
  );
}

/** Problems of an environment whether it is chosen or not. The schema judges its shape. */
function checkEntry({ key, value, source }: MergedEntry, merged: Merged, problems: Problems): void {
  if (key === reservedName)
    problems.add({
      code: "config/environment",
      summary: "no environment can be called all",
      detail: "--env all means each of them in turn",
      fix: "choose another name",
      at: placeOf(source, ["environments", key]),
    });
  const vars = isMap(value) ? value["vars"] : undefined;
  if (!isMap(vars)) return;
  for (const name of Object.keys(vars)) {
    if (merged.vars.has(name)) continue;
    problems.add({
      code: "config/unknown-variable",
      summary: `the environment ${key} sets a variable that is not declared: ${name}`,
      fix: nearestText(name, merged.vars.keys(), (near) => `write ${near}`) ?? `declare it: vars: { ${name}: {} }`,
      at: placeOf(source, ["environments", key, "vars", name]),
    });
  }
}

const settingsOfEnvironment = [
  "project",
  "region",
  "service",
  "state",
  "ssh",
  "prices",
] as const satisfies readonly SettingName[];

function overSettings(merged: Merged, said: YamlMap, layerOf: (path: Path) => Layer): Merged["settings"] {
  const settings = new Map(merged.settings);
  for (const name of settingsOfEnvironment) {
    const own = Object.hasOwn(said, name) ? said[name] : undefined;
    if (own === undefined || own === null) continue;
    const below = merged.settings.get(name);
    // A price list is one whole: with half of another's amounts it would be nobody's.
    const under = name === "prices" ? undefined : below;
    const layers: MergedSetting["layers"] = [layerOf([name]), ...(under?.layers ?? [])];
    const value = isMap(own) && isMap(under?.value) ? overMap(own, under.value) : own;
    settings.set(name, { value, layers });
  }
  return settings;
}

/** A dialect is replaced as a whole: a file's name, or all its lines. */
const overMap = (own: YamlMap, below: YamlMap): YamlMap => ({
  ...mergeUnder(own, below),
  ...onlyDefined({ dialect: Object.hasOwn(own, "dialect") ? own["dialect"] : undefined }),
});

const saysProtect = (said: YamlMap): boolean => said["protect"] === true || isMap(said["protect"]);

function protectionOf({ key, source }: MergedEntry, said: YamlMap): Pick<Merged, "protection"> {
  if (!saysProtect(said)) return {};
  const written = isMap(said["protect"]) ? said["protect"]["allow"] : [];
  const words: readonly unknown[] = Array.isArray(written) ? written : [];
  const allow = permittedByProtect.filter((word) => words.includes(word));
  return { protection: { allow, source: positionOf(placeOf(source, ["environments", key, "protect"])) } };
}

function overDefaults(merged: Merged, said: YamlMap, layerOf: (path: Path) => Layer): Merged["defaults"] {
  const own = isMap(said["defaults"]) ? said["defaults"] : {};
  const isProtecting = saysProtect(said);
  const guard = { lifecycle: { prevent_destroy: true } };
  return perKind((kind): Defaults => {
    const { values, layers } = merged.defaults[kind];
    const mine = own[kind];
    const over = isMap(mine) ? mergeUnder(mine, values) : values;
    return {
      values: isProtecting ? mergeUnder(guard, over) : over,
      layers: isMap(mine) ? [layerOf(["defaults", kind]), ...layers] : layers,
    };
  });
}

function readEnvironmentVars(
  entry: MergedEntry,
  said: YamlMap,
  merged: Merged,
  open: OpenNamedFile | undefined,
  problems: Problems,
): Map<string, GivenValue> {
  const given = new Map<string, GivenValue>();
  const placeIn = (path: Path): Place => placeOf(entry.source, ["environments", entry.key, ...path], "value");
  const written = said["vars_file"];
  if (typeof written === "string") {
    const scope = { vars: new Map(), environment: entry.key };
    const path = interpolate(written, scope, (problem) => problems.add({ ...problem, at: placeIn(["vars_file"]) }));
    if (typeof path === "string") {
      const opened = openNamed(path, placeIn(["vars_file"]), open, problems);
      if (opened !== undefined)
        for (const [name, value] of readVarFile(opened, merged.vars, problems)) given.set(name, value);
    }
  }
  const vars = isMap(said["vars"]) ? said["vars"] : {};
  for (const [name, value] of Object.entries(vars))
    if (isPresent(value))
      given.set(name, {
        value,
        at: placeIn(["vars", name]),
        within: (path) => placeIn(["vars", name, ...path]),
        isText: false,
        isTemplate: true,
      });
  return given;
}

export const openOrSayWhy = (
  path: string,
  beside: string,
  open: OpenNamedFile | undefined,
): ReturnType<OpenNamedFile> =>
  open?.(path, beside) ?? { problem: `${shown(path)} is not read: this program opens no files that a file names` };

/** The file that is named at a place; `undefined`: it cannot be read, which is reported. */
export function openNamed(
  path: string,
  at: Place,
  open: OpenNamedFile | undefined,
  problems: Problems,
): ConfigSource | undefined {
  const found = openOrSayWhy(path, at.source.file, open);
  if ("source" in found) return found.source;
  return problems.add({ code: "config/file-unreadable", summary: found.problem, fix: found.fix, at });
}
