/**
 * YAML text to the desired world, for every command that takes a file. Everything that can be known without the service
 * is decided here, and every problem is collected; reading files and opening the dialect are left to the caller.
 *
 * parse (yaml-reader) -> one set of sections (sources) -> variables (vars) -> single resources (blocks) -> values
 * (read-*), and last the schema, whose findings are shown where nothing more precise was said.
 */
import type { ErrorObject } from "ajv";
import { compareAddresses, type Kind } from "../core/model/address";
import type { Desired, DesiredResource } from "../core/model/desired";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../core/model/diagnostic";
import { expandBlocks, type Instance, placeInBlock } from "./blocks";
import { readText, type Subject, type Values } from "./fields";
import { validate } from "./generated/desired-state";
import { interpolate } from "./interpolation";
import { addNumberProblems, type ConfigCode, collectProblems, type Problems, shown } from "./problems";
import { readGroup } from "./read-group";
import { readGuards } from "./read-guards";
import { readLists } from "./read-lists";
import { claimName } from "./read-names";
import { readService } from "./read-service";
import { readVm } from "./read-vm";
import { readVolume } from "./read-volume";
import { type Declared, declare } from "./references";
import { schemaProblems } from "./schema-problems";
import { patternWords } from "./schema-words";
import { type Merged, mergeSources, placeOf } from "./sources";
import { type ReadOptions, readVars } from "./vars";
import { type ConfigSource, isMap, type YamlFile, type YamlMap } from "./yaml-file";
import { readYaml } from "./yaml-reader";

export type { ReadOptions } from "./vars";
export type { ConfigSource } from "./yaml-file";

export interface ReadResult {
  /** Present when there is no error. */
  readonly desired?: Desired;
  /** Sorted; may hold warnings beside a desired state. */
  readonly diagnostics: Diagnostic[];
}

export function readDesired(sources: readonly ConfigSource[], options: ReadOptions = {}): ReadResult {
  const problems = collectProblems();
  const files = sources.map((source) => readYaml(source, problems));
  // What cannot be read would make everything below it look undeclared.
  if (files.some(({ isIncomplete }) => isIncomplete === true)) {
    for (const file of files) addShapeProblems(file, problems);
    return { diagnostics: sortDiagnostics(problems.diagnostics) };
  }
  const merged = mergeSources(files, problems);
  const desired = readMerged(merged, files, options, problems);
  for (const file of files) addShapeProblems(file, problems);
  const diagnostics = sortDiagnostics(problems.diagnostics);
  return hasErrors(diagnostics) ? { diagnostics } : { desired, diagnostics };
}

function readMerged(merged: Merged, files: readonly YamlFile[], options: ReadOptions, problems: Problems): Desired {
  checkVersion(merged, files, problems);
  const vars = readVars(merged.vars, options, problems);
  const setting = (name: "project" | "region" | "service"): { subject: Subject; values: Values; raw: Values } => {
    const found = merged.settings.get(name);
    const path = name === "service" ? [name] : [];
    const subject: Subject = {
      problems,
      place: (inner, on) =>
        found === undefined
          ? { source: files[0]!, offset: 0 }
          : placeOf(found.source, [...path, ...inner], on ?? "value"),
    };
    const raw =
      found === undefined ? {} : name !== "service" ? { [name]: found.value } : isMap(found.value) ? found.value : {};
    const { dialect, ...plain } = raw;
    const kept = isMap(dialect) ? plain : raw;
    const values = interpolate(kept, { vars }, (problem, at) =>
      problems.add({ ...problem, at: subject.place(at) }),
    ) as YamlMap;
    return { subject, values: isMap(dialect) ? { ...values, dialect } : values, raw };
  };
  const [project, region, service] = [setting("project"), setting("region"), setting("service")];
  const top = {
    // One that is there but unreadable is reported once, and not again by every VM that would inherit it.
    project: readText(project.subject, project.values, "project") ?? (merged.settings.has("project") ? "" : undefined),
    region: readText(region.subject, region.values, "region") ?? (merged.settings.has("region") ? "" : undefined),
  };
  const expand = (kind: Kind) => expandBlocks(kind, merged.entries[kind], merged.defaults[kind], vars, problems);
  const expanded = { vm: expand("vm"), volume: expand("volume"), group: expand("group") };
  const declared = declare(expanded);
  const resources = (["group", "vm", "volume"] as const).flatMap((kind) =>
    readInstances(kind, expanded[kind].instances, declared, top, problems),
  );
  const lists = readLists(merged.lists, { vars, declared, problems });
  return {
    ...(top.project === undefined ? {} : { project: top.project }),
    ...(top.region === undefined ? {} : { region: top.region }),
    service: readService(service.subject, service.values, service.raw),
    resources: resources.sort((a, b) => compareAddresses(a.address, b.address)),
    ...lists,
    ...readGuards(merged),
    files: files.map(({ file }) => file),
  };
}

function readInstances(
  kind: Kind,
  instances: readonly Instance[],
  declared: Declared,
  top: Parameters<typeof readVm>[2],
  problems: Problems,
): DesiredResource[] {
  const names = new Map<string, Instance>();
  return instances.map((instance) => {
    const subject: Subject = {
      problems,
      address: instance.address,
      place: (path, on) => placeInBlock(instance.block, path, on),
    };
    const resource =
      kind === "vm"
        ? readVm(subject, instance, top)
        : kind === "volume"
          ? readVolume(subject, instance, declared)
          : readGroup(subject, instance, declared);
    claimName(subject, kind, resource.name, instance, names);
    return resource;
  });
}

function checkVersion(merged: Merged, files: readonly YamlFile[], problems: Problems): void {
  const version = merged.settings.get("version");
  if (version === undefined) {
    const source = files.find(({ root }) => isMap(root) && Object.keys(root).length > 0);
    // A file with nothing in it is a valid desired state: an empty one.
    if (source !== undefined)
      problems.add({
        code: "config/version",
        summary: "version is missing",
        fix: "write version: 1 at the top of the file",
        at: { source, offset: 0 },
      });
  } else if (version.value !== 1) {
    problems.add({
      code: "config/version",
      summary: `version cannot be ${shown(version.value)}`,
      detail: "this program reads version 1",
      fix: "write version: 1",
      at: placeOf(version.source, ["version"], "value"),
    });
  }
}

function addShapeProblems(file: YamlFile, problems: Problems): void {
  addSchemaProblems(file, problems);
  addNumberProblems(file, problems);
}

function addSchemaProblems(file: YamlFile, problems: Problems): void {
  if (file.root === undefined || validate(file.root)) return;
  const { errors } = validate as { errors?: readonly ErrorObject[] | null };
  for (const problem of schemaProblems(file, errors, { area: "config", patterns: patternWords }))
    if (!problems.covers(problem.at!)) problems.add({ ...problem, code: problem.code as ConfigCode });
}
