/**
 * Reads fleet.yaml: text to a Fleet, with every problem at once, each at its place. Several files are one fleet.
 * Nothing is opened here: the caller looks at the folders of generators.
 */

import { problemsOf } from "../config/generated/fleet";
import { readOwnYaml, topKeys } from "../config/own-files";
import {
  addNumberProblems,
  collectProblems,
  type Problem,
  placesOfNumbers,
  problemAsDiagnostic,
} from "../config/problems";
import { schemaProblems } from "../config/schema-problems";
import { type ConfigSource, offsetOfPath, type Path } from "../config/yaml/file";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../core/model/diagnostic";
import { invariant } from "../core/text/invariant";
import type { Fleet } from "./model";
import type { FleetReading, Reader } from "./read/reader";
import { type FleetPart, referenceProblems } from "./read/references";
import type { FleetFile } from "./read/rows";
import { readHistory, readNotify, readService, readSignIn, readTenant, readWindow } from "./read/services";
import { readFollow, readGenerator, readStack } from "./read/stacks";

export interface ReadFleet {
  /** Absent: there are errors. */
  readonly fleet?: Fleet;
  readonly diagnostics: readonly Diagnostic[];
}

export function readFleet(sources: readonly ConfigSource[], reading: FleetReading): ReadFleet {
  const parts = sources.map((source) => readPart(source, reading));
  const problems = parts.flatMap((part) => part.problems);
  const diagnostics = parts.flatMap((part) => part.diagnostics);
  const once = <Name extends keyof Fleet>(name: Name): Fleet[Name] | undefined =>
    parts.find(({ fleet: part }) => part[name] !== undefined)?.fleet[name];
  const fleet: Fleet = {
    services: parts.flatMap(({ fleet: part }) => part.services),
    tenants: parts.flatMap(({ fleet: part }) => part.tenants),
    windows: parts.flatMap(({ fleet: part }) => part.windows),
    receivers: parts.flatMap(({ fleet: part }) => part.receivers),
    channels: parts.flatMap(({ fleet: part }) => part.channels ?? []),
    stacks: parts.flatMap(({ fleet: part }) => part.stacks),
    generators: parts.flatMap(({ fleet: part }) => part.generators),
    signIn: once("signIn"),
    follow: once("follow"),
    history: once("history"),
  };
  if (problems.length === 0) problems.push(...referenceProblems(fleet, parts));
  const all = sortDiagnostics([...diagnostics, ...problems.map(problemAsDiagnostic)]);
  return hasErrors(all) ? { diagnostics: all } : { fleet, diagnostics: all };
}

interface ReadPart extends FleetPart {
  readonly problems: Problem[];
  readonly diagnostics: readonly Diagnostic[];
}

const emptyFleet: Fleet = { services: [], tenants: [], windows: [], receivers: [], stacks: [], generators: [] };

function readPart(source: ConfigSource, reading: FleetReading): ReadPart {
  const collected = collectProblems();
  const file = readOwnYaml(source, collected, {
    what: "file of a fleet",
    code: "config/wrong-type",
    keys: topKeys(problemsOf),
    fix: "write version: 1, services and stacks; docs/fleet.md shows a whole one",
  });
  const problems: Problem[] = [];
  const unread = { file, fleet: emptyFleet, problems, diagnostics: collected.diagnostics };
  if (hasErrors(collected.diagnostics)) return unread;
  addNumberProblems(file, collected, placesOfNumbers(file, [["services"], ["tenants"]]));
  const root: unknown = file.root ?? {};
  if (!isValid(root)) {
    problems.push(...schemaProblems(file, problemsOf(root), { area: "config", patterns: patternWords }, root));
    // An empty fleet would release every stack, so refused files must have a problem.
    invariant(problems.length > 0, "a file that its schema refuses has a problem to tell");
    return unread;
  }
  // A copy without the places that the reader keeps beside the values.
  const block = structuredClone(root);
  const at = (path: Path): Problem["at"] => ({ source: file, offset: offsetOfPath(file.root, path, "value").offset });
  const reader: Reader = { file: source.file, at, problems, reading };
  return { ...unread, fleet: fleetOf(block, reader) };
}

const isValid = (root: unknown): root is FleetFile => problemsOf(root).length === 0;

/** Words for texts that fit a pattern of the schema. */
const patternWords: Readonly<Record<string, string>> = {
  "^[0-9]+(\\.[0-9]+)?(ms|s|m|h)$": "a duration, such as 30s, 10m or 1h",
  "^[A-Za-z0-9][A-Za-z0-9_.-]*$": "a name of letters, digits, points, hyphens and underscores",
  "^[A-Za-z_][A-Za-z0-9_]*$": "the name of an environment variable",
  "^/([0-9]|[12][0-9]|3[0-2])$": "the length of a prefix, from /0 to /32, such as /8",
  "^https?://": "a URL that begins with http:// or https://",
  "^[\\x21\\x23-\\x5B\\x5D-\\x7E]+$": "one word",
  "^sha256:[0-9a-f]{64}$": "sha256: and 64 hexadecimal digits",
};

function fleetOf(block: FleetFile, reader: Reader): Fleet {
  const defaults = block.defaults ?? {};
  return {
    services: Object.entries(block.services ?? {}).map(([name, service]) => readService(name, service, reader)),
    tenants: Object.entries(block.tenants ?? {}).map(([name, tenant]) => readTenant(name, tenant)),
    windows: (block.windows ?? []).map((window, index) => readWindow(window, ["windows", index], reader)),
    ...readNotify(block.notify ?? [], reader),
    history: block.history === undefined ? undefined : readHistory(block.history),
    stacks: Object.entries(block.stacks ?? {}).map(([name, stack]) => readStack(name, stack, defaults, reader)),
    generators: (block.generate ?? []).map((generate, index) => readGenerator(generate, index, defaults, reader)),
    follow: block.follow === undefined ? undefined : readFollow(block.follow, reader),
    signIn: block.sign_in === undefined ? undefined : readSignIn(block.sign_in, reader),
  };
}
