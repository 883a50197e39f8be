/**
 * Reads fleet.yaml: text to a Fleet, every problem at once, each at its place. Several files are one fleet. Nothing is
 * opened here; folders that are generated from are looked at by who has a disk (generate.ts).
 */

import { parseAnyDuration } from "../config/durations";
import { problemsOf } from "../config/generated/fleet";
import { asDiagnostic, collectProblems, type Problem } from "../config/problems";
import { schemaProblems } from "../config/schema-problems";
import { type ConfigSource, offsetAt, type Path, type YamlFile } from "../config/yaml-file";
import { readYaml } from "../config/yaml-reader";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { invariant } from "../core/text/invariant";
import { nearestName } from "../core/text/nearest";
import { fieldsIn } from "../core/text/objects";
import { type AddressFault, addressFault } from "../core/text/outside-policy";
import type {
  Approve,
  Fleet,
  FleetService,
  FleetWindow,
  Generator,
  History,
  OutputReference,
  Receiver,
  Retry,
  RoleRule,
  SecretSource,
  SignIn,
  Source,
  StackSpec,
  StandingConsent,
  Tenant,
} from "./model";
import { usualHistory } from "./model";

export interface ReadFleet {
  /** Absent: there are errors. */
  readonly fleet?: Fleet;
  readonly diagnostics: readonly Diagnostic[];
}

/** As the schema leaves it. */
interface FleetFile {
  services?: Record<string, ServiceBlock>;
  tenants?: Record<string, { weight?: number; max_running?: number } | null>;
  defaults?: Common;
  windows?: WindowBlock[];
  notify?: { on: Receiver["on"]; stacks?: string[]; to: { webhook: string; secret?: SecretSource } }[];
  stacks?: Record<string, StackBlock>;
  generate?: GenerateBlock[];
  history?: HistoryBlock;
  sign_in?: SignInBlock;
}
interface SignInBlock {
  issuer: string;
  client_id: string;
  client_secret?: SecretSource;
  url: string;
  scopes?: string[];
  name?: string;
  roles: { role: RoleRule["role"]; stacks?: string[]; claim?: string; is?: string }[];
}
interface ServiceBlock {
  base_url: string;
  dialect?: string;
  budget?: { requests_per_second: number; burst?: number };
  concurrency?: number;
  credential?: SecretSource;
  insecure_http?: boolean;
  time_scale?: number;
}
interface WindowBlock {
  kind: FleetWindow["kind"];
  schedule: string;
  time_zone?: string;
  duration: string;
  stacks?: string[];
  actions?: FleetWindow["actions"];
}
interface HistoryBlock {
  quiet?: string;
  changes?: string;
}
interface Common {
  interval?: string;
  retry?: { first?: string; max?: string; give_up_after?: number };
  approve?: Approve;
  consents?: StandingConsent[];
  state?: string;
  service?: string;
  tenant?: string;
}
interface GitBlock {
  git?: string;
  ref?: string;
  path?: string;
}
interface SourceBlock extends GitBlock {
  folder?: string;
  artifact?: string;
  digest?: string;
}
interface Environment {
  env?: string;
  vars?: Record<string, string | number | boolean>;
}
interface StackBlock extends Common, Environment {
  source: SourceBlock;
  var_files?: string[];
  inputs?: Record<string, string>;
  depends_on?: string[];
  destroy?: boolean;
  paused?: boolean;
}
interface GenerateBlock extends Common, Environment, GitBlock {
  folder?: string;
  folders: string;
  stack?: string;
}

/** What only the outside knows, so that reading stays a function of text. */
export interface FleetReading {
  /** Makes a path beside the file absolute. */
  readonly resolvePath: (file: string, path: string) => string;
  /** What is wrong with a schedule; absent: nothing. */
  readonly scheduleProblem: (schedule: string, timeZone: string) => string | undefined;
}

export function readFleet(sources: readonly ConfigSource[], reading: FleetReading): ReadFleet {
  const parts = sources.map((source) => readPart(source, reading));
  const problems = parts.flatMap((part) => part.problems);
  const diagnostics = parts.flatMap((part) => part.diagnostics);
  const signIn = parts.find(({ fleet: part }) => part.signIn !== undefined)?.fleet.signIn;
  const fleet: Fleet = {
    services: parts.flatMap(({ fleet: part }) => part.services),
    tenants: parts.flatMap(({ fleet: part }) => part.tenants),
    windows: parts.flatMap(({ fleet: part }) => part.windows),
    receivers: parts.flatMap(({ fleet: part }) => part.receivers),
    stacks: parts.flatMap(({ fleet: part }) => part.stacks),
    generators: parts.flatMap(({ fleet: part }) => part.generators),
    ...(signIn === undefined ? {} : { signIn }),
    ...parts.reduce(
      (history, { fleet: part }) => (part.history === undefined ? history : { history: part.history }),
      {},
    ),
  };
  if (problems.length === 0) problems.push(...referenceProblems(fleet, parts));
  const all = sortDiagnostics([...diagnostics, ...problems.map(asDiagnostic)]);
  return hasErrors(all) ? { diagnostics: all } : { fleet, diagnostics: all };
}

interface Part {
  readonly file: YamlFile;
  readonly fleet: Fleet;
  readonly problems: Problem[];
  readonly diagnostics: readonly Diagnostic[];
}

const nothing: Fleet = { services: [], tenants: [], windows: [], receivers: [], stacks: [], generators: [] };

function readPart(source: ConfigSource, reading: FleetReading): Part {
  const collected = collectProblems();
  const file = readYaml(source, collected);
  const problems: Problem[] = [];
  const unread = { file, fleet: nothing, problems, diagnostics: collected.diagnostics };
  if (hasErrors(collected.diagnostics)) return unread;
  const root: unknown = file.root ?? {};
  if (!isValid(root)) {
    problems.push(...schemaProblems(file, problemsOf(root), { area: "config", patterns: patternWords }, root));
    // Taken for an empty fleet, it would release every stack.
    invariant(problems.length > 0, "a file that its schema refuses has a problem to tell");
    return unread;
  }
  // The copy leaves the places behind, which the reader keeps beside the values.
  const block = structuredClone(root);
  const at = (path: Path): Problem["at"] => ({ source: file, offset: offsetAt(file.root, path, "value").offset });
  const reader: Reader = { file: source.file, at, problems, reading };
  return { ...unread, fleet: fleetOf(block, reader) };
}

const isValid = (root: unknown): root is FleetFile => problemsOf(root).length === 0;

/** What text that fits a pattern of the schema is called. */
const patternWords: Readonly<Record<string, string>> = {
  "^[0-9]+(\\.[0-9]+)?(ms|s|m|h)$": "a duration, such as 30s, 10m or 1h",
  "^[A-Za-z0-9][A-Za-z0-9_.-]*$": "a name of letters, digits, points, hyphens and underscores",
  "^[A-Za-z_][A-Za-z0-9_]*$": "the name of an environment variable",
  "^https?://": "a URL that begins with http:// or https://",
  "^[\\x21\\x23-\\x5B\\x5D-\\x7E]+$": "one word",
  "^sha256:[0-9a-f]{64}$": "sha256: and 64 hexadecimal digits",
};

interface Reader {
  readonly file: string;
  readonly at: (path: Path) => Problem["at"];
  readonly problems: Problem[];
  readonly reading: FleetReading;
}

function fleetOf(block: FleetFile, reader: Reader): Fleet {
  const defaults = block.defaults ?? {};
  return {
    services: Object.entries(block.services ?? {}).map(([name, service]) => readService(name, service, reader)),
    tenants: Object.entries(block.tenants ?? {}).map(([name, tenant]) => readTenant(name, tenant ?? {})),
    windows: (block.windows ?? []).map((window, index) => readWindow(window, ["windows", index], reader)),
    receivers: (block.notify ?? []).map(({ on, stacks = [], to }) => ({
      on,
      stacks,
      webhook: to.webhook,
      ...(to.secret === undefined ? {} : { secret: to.secret }),
    })),
    ...(block.history === undefined ? {} : { history: readHistory(block.history) }),
    stacks: Object.entries(block.stacks ?? {}).map(([name, stack]) => readStack(name, stack, defaults, reader)),
    generators: (block.generate ?? []).map((generate, index) => readGenerator(generate, index, defaults, reader)),
    ...(block.sign_in === undefined ? {} : { signIn: readSignIn(block.sign_in, reader) }),
  };
}

function readService(name: string, block: ServiceBlock, { at, problems, reading, file }: Reader): FleetService {
  const { base_url, dialect, budget, concurrency, credential, insecure_http, time_scale } = block;
  if (holdsPassword(base_url))
    problems.push(passwordIn("base_url", at(["services", name, "base_url"]), "name it under credential instead"));
  return {
    name,
    baseUrl: base_url,
    // The name of a dialect that comes with the package is no path.
    ...(dialect === undefined ? {} : { dialect: /[./]/.test(dialect) ? reading.resolvePath(file, dialect) : dialect }),
    ...(budget === undefined
      ? {}
      : {
          budget: {
            perSecond: budget.requests_per_second,
            burst: budget.burst ?? Math.max(1, Math.floor(budget.requests_per_second)),
          },
        }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(credential === undefined ? {} : { credential }),
    insecureHttp: insecure_http === true,
    ...(time_scale === undefined ? {} : { timeScale: time_scale }),
  };
}

function readSignIn(block: SignInBlock, { at, problems }: Reader): SignIn {
  const { issuer, client_id, client_secret, url, scopes = ["profile", "email"], name = "email", roles } = block;
  for (const [field, value] of Object.entries({ issuer, url })) {
    const problem = placeProblem(value);
    if (problem !== undefined)
      problems.push({
        code: "fleet/bad-sign-in",
        summary: `the ${field} of sign_in ${problem}`,
        fix: `write an address that begins with https://; http:// is for this machine alone`,
        at: at(["sign_in", field]),
      });
  }
  return {
    issuer,
    clientId: client_id,
    ...(client_secret === undefined ? {} : { clientSecret: client_secret }),
    url: url.replace(/\/+$/, ""),
    scopes,
    nameClaim: name,
    roles: roles.map(({ role, stacks = [], claim, is }) =>
      claim === undefined || is === undefined ? { role, stacks } : { role, stacks, claim, is },
    ),
  };
}

const placeFaults: Readonly<Record<AddressFault, string>> = {
  no_url: "is no address",
  neither_http_nor_https: "is neither http nor https",
  holds_a_credential: "holds a name or a password",
  in_the_clear: "is not encrypted",
  has_a_query: "holds more than a place",
};

/** Tokens and cookies go there. */
function placeProblem(text: string): string | undefined {
  const fault = addressFault(URL.canParse(text) ? new URL(text) : null, false);
  return fault === undefined ? undefined : placeFaults[fault];
}

const readTenant = (name: string, { weight = 1, max_running }: { weight?: number; max_running?: number }): Tenant => ({
  name,
  weight,
  ...(max_running === undefined ? {} : { maxRunning: max_running }),
});

function readWindow(block: WindowBlock, path: Path, reader: Reader): FleetWindow {
  const timeZone = block.time_zone ?? "UTC";
  const problem = reader.reading.scheduleProblem(block.schedule, timeZone);
  if (problem !== undefined)
    reader.problems.push({
      code: "fleet/bad-schedule",
      summary: `the schedule ${JSON.stringify(block.schedule)} cannot be read: ${problem}`,
      fix: 'write five fields as in cron, such as "0 18 * * 5" for Fridays at 18:00, and a time zone such as Europe/Berlin',
      at: reader.at([...path, "schedule"]),
    });
  return {
    kind: block.kind,
    schedule: block.schedule,
    timeZone,
    durationMs: duration(block.duration),
    stacks: block.stacks ?? [],
    actions: block.actions ?? ["apply"],
  };
}

/** The schema has seen that it is one; less than a millisecond is one. */
const duration = (text: string): number => parseAnyDuration(text) ?? 1;

const readHistory = ({ quiet, changes }: HistoryBlock): History => ({
  quietMs: quiet === undefined ? usualHistory.quietMs : duration(quiet),
  changesMs: changes === undefined ? usualHistory.changesMs : duration(changes),
});

const defaultRetry: Retry = { firstMs: 30_000, maxMs: 3_600_000, giveUpAfter: 8 };

function readCommon(block: Common, defaults: Common) {
  const retry = { ...defaults.retry, ...block.retry };
  const service = block.service ?? defaults.service;
  return {
    ...(service === undefined ? {} : { service }),
    tenant: block.tenant ?? defaults.tenant ?? "default",
    approve: block.approve ?? defaults.approve ?? "safe",
    consents: block.consents ?? defaults.consents ?? [],
    intervalMs: duration(block.interval ?? defaults.interval ?? "10m"),
    retry: {
      firstMs: retry.first === undefined ? defaultRetry.firstMs : duration(retry.first),
      maxMs: retry.max === undefined ? defaultRetry.maxMs : duration(retry.max),
      giveUpAfter: retry.give_up_after ?? defaultRetry.giveUpAfter,
    },
    state: block.state ?? defaults.state,
  };
}

const textsOf = (vars: Environment["vars"] = {}): Record<string, string> =>
  Object.fromEntries(Object.entries(vars).map(([name, value]) => [name, String(value)]));

function readStack(name: string, block: StackBlock, defaults: Common, reader: Reader): StackSpec {
  const path = ["stacks", name];
  const { state, ...common } = readCommon(block, defaults);
  const inputs = readInputs(block.inputs ?? {}, [...path, "inputs"], reader);
  const dependsOn = [...new Set([...(block.depends_on ?? []), ...Object.values(inputs).map(({ stack }) => stack)])];
  return {
    name,
    source: readSource(block.source, [...path, "source"], reader),
    ...common,
    state: readState(state, name, block.state === undefined ? ["stacks", name] : [...path, "state"], reader),
    ...(block.env === undefined ? {} : { env: block.env }),
    vars: textsOf(block.vars),
    varFiles: block.var_files ?? [],
    inputs,
    dependsOn,
    destroy: block.destroy === true,
    paused: block.paused === true,
  };
}

function readState(
  state: string | undefined,
  name: string,
  path: Path,
  { at, problems, reading, file }: Reader,
): string {
  if (state === undefined) {
    problems.push({
      code: "fleet/no-state",
      summary: `the stack ${name} has no place for its state`,
      fix: 'write state: "postgres://HOST/DATABASE?state=${stack}" under defaults',
      at: at(path),
    });
    return "";
  }
  const place = state.replaceAll("${stack}", name);
  if (holdsPassword(place))
    problems.push(
      passwordIn("state", at(path), "take it out and set PGPASSWORD (or the store's own variables) for the workers"),
    );
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(place) ? place : reading.resolvePath(file, place);
}

function readSource(block: SourceBlock, path: Path, { at, problems, reading, file }: Reader): Source {
  const { git, folder, artifact } = block;
  const given = [git, folder, artifact].filter((one) => one !== undefined);
  const inside = (block.path ?? "").replace(/^\/+|\/+$/g, "");
  const problem = sourceProblem(block, given.length, inside);
  if (problem !== undefined) problems.push({ code: "fleet/bad-source", ...problem, at: at(path) });
  if (git !== undefined) {
    if (holdsPassword(git)) problems.push(passwordIn("git", at([...path, "git"]), "use git's own credential helper"));
    return { kind: "git", url: localGit(git, file, reading), ref: block.ref ?? "main", path: inside };
  }
  if (artifact !== undefined) return { kind: "artifact", url: artifact, digest: block.digest ?? "", path: inside };
  return { kind: "folder", folder: reading.resolvePath(file, folder ?? ".") };
}

/** A repository beside the file is meant from there. */
const localGit = (url: string, file: string, reading: FleetReading): string =>
  /^\.{1,2}(\/|$)/.test(url) ? reading.resolvePath(file, url) : url;

function sourceProblem(
  block: SourceBlock,
  given: number,
  inside: string,
): { readonly summary: string; readonly fix: string } | undefined {
  if (given !== 1)
    return {
      summary: `a source is exactly one of git, folder and artifact; this one has ${given}`,
      fix: "write source: { git: https://…, ref: main, path: FOLDER }",
    };
  if (inside.split("/").includes(".."))
    return { summary: "the path of a source must not leave it", fix: "write it without .." };
  if (block.artifact !== undefined && block.digest === undefined)
    return {
      summary: "an artifact needs its digest, so that what runs is what was meant",
      fix: "add digest: sha256:…",
    };
  return undefined;
}

const referencePattern = /^\$\{stack\.([A-Za-z0-9][A-Za-z0-9_.-]*)\.outputs\.([A-Za-z_][A-Za-z0-9_-]*)\}$/;

function readInputs(inputs: Record<string, string>, path: Path, { at, problems }: Reader) {
  const read: Record<string, OutputReference> = {};
  for (const [name, text] of Object.entries(inputs)) {
    const [, stack, output] = referencePattern.exec(text) ?? [];
    if (stack !== undefined && output !== undefined) read[name] = { stack, output };
    else
      problems.push({
        code: "fleet/bad-input",
        summary: `the input ${name} cannot be ${JSON.stringify(text)}`,
        fix: "write ${stack.NAME.outputs.OUTPUT}; what is known beforehand goes under vars",
        at: at([...path, name]),
      });
  }
  return read;
}

function readGenerator(block: GenerateBlock, index: number, defaults: Common, reader: Reader): Generator {
  const path = ["generate", index];
  const { state, ...common } = readCommon(block, defaults);
  const { git, ref, path: inside, folder } = block;
  const source = {
    ...(git === undefined ? {} : { git }),
    ...(ref === undefined ? {} : { ref }),
    ...(inside === undefined ? {} : { path: inside }),
    ...(folder === undefined ? {} : { folder }),
  };
  return {
    source: readSource(source, path, reader),
    folders: block.folders,
    stack: block.stack ?? "${folder}",
    template: {
      ...common,
      // The stack's name is put in once it is known.
      state: state === undefined ? readState(state, block.stack ?? "${folder}", path, reader) : state,
      ...(block.env === undefined ? {} : { env: block.env }),
      vars: textsOf(block.vars),
      varFiles: [],
      inputs: {},
      dependsOn: [],
      destroy: false,
      paused: false,
    },
  };
}

/** Of a URL; what is not one has none. */
function holdsPassword(text: string): boolean {
  try {
    return new URL(text).password !== "";
  } catch {
    return false;
  }
}

const passwordIn = (what: string, at: Problem["at"], fix: string): Problem => ({
  code: "fleet/credential-in-url",
  summary: `${what} holds a password, which would be kept in the database`,
  fix,
  at,
});

/** What names another part of the fleet: only said when every part could be read. */
function referenceProblems(fleet: Fleet, parts: readonly Part[]): Problem[] {
  const problems: Problem[] = [];
  const places = placesOf(parts);
  const services = fleet.services.map(({ name }) => name);
  const tenants = ["default", ...fleet.tenants.map(({ name }) => name)];
  const stacks = new Set(fleet.stacks.map(({ name }) => name));
  for (const [list, what] of [
    [services, "service"],
    [fleet.tenants.map(({ name }) => name), "tenant"],
    [fleet.stacks.map(({ name }) => name), "stack"],
  ] as const)
    for (const name of new Set(list.filter((one, index) => list.indexOf(one) !== index)))
      problems.push({
        code: "fleet/twice",
        summary: `the ${what} ${name} is in two files`,
        fix: "keep one of them",
        at: places(what === "stack" ? "stacks" : `${what}s`, name),
      });
  if (parts.filter(({ fleet: part }) => part.signIn !== undefined).length > 1)
    problems.push({
      code: "fleet/twice",
      summary: "sign_in is in two files",
      fix: "keep one of them",
      at: places("sign_in", "issuer"),
    });
  for (const stack of fleet.stacks) {
    const at = places("stacks", stack.name);
    if (stack.service !== undefined && !services.includes(stack.service))
      problems.push(unknown("service", stack.service, services, at));
    if (!tenants.includes(stack.tenant)) problems.push(unknown("tenant", stack.tenant, tenants, at));
    // A generated stack is not known by name yet.
    if (fleet.generators.length === 0)
      for (const other of stack.dependsOn) if (!stacks.has(other)) problems.push(unknown("stack", other, stacks, at));
  }
  for (const circle of circlesOf(fleet.stacks))
    problems.push({
      code: "fleet/circle",
      summary: `the stacks depend on each other in a circle: ${circle.join(" -> ")}`,
      fix: "take one depends_on or input out of it",
      at: places("stacks", circle[0] ?? ""),
    });
  return problems;
}

function placesOf(parts: readonly Part[]): (section: string, name: string) => Problem["at"] {
  return (section, name) => {
    for (const { file } of [...parts].reverse()) {
      if (Object.hasOwn(fieldsIn(fieldsIn(file.root)[section]), name))
        return { source: file, offset: offsetAt(file.root, [section, name], "key").offset };
    }
    return undefined;
  };
}

function unknown(
  what: "service" | "tenant" | "stack",
  name: string,
  known: Iterable<string>,
  at: Problem["at"],
): Problem {
  const codes = {
    service: "fleet/unknown-service",
    tenant: "fleet/unknown-tenant",
    stack: "fleet/unknown-stack",
  } as const satisfies Record<typeof what, DiagnosticCode>;
  const names = [...known];
  const near = nearestName(name, names);
  return {
    code: codes[what],
    summary: `there is no ${what} ${name} in this fleet`,
    detail: names.length === 0 ? `it has no ${what} at all` : `it has ${names.slice(0, 12).join(", ")}`,
    fix: near === undefined ? `declare it under ${what}s` : `write ${near}`,
    at,
  };
}

/** Each circle once, from its first stack by name and back to it. */
export function circlesOf(stacks: readonly Pick<StackSpec, "name" | "dependsOn">[]): string[][] {
  const needs = new Map(stacks.map(({ name, dependsOn }) => [name, dependsOn]));
  const done = new Set<string>();
  const circles: string[][] = [];
  for (const { name } of stacks) {
    const path: string[] = [];
    const visit = (at: string): void => {
      if (done.has(at) || !needs.has(at)) return;
      const begins = path.indexOf(at);
      if (begins !== -1) {
        circles.push([...path.slice(begins), at]);
        return;
      }
      path.push(at);
      for (const next of needs.get(at) ?? []) visit(next);
      path.pop();
      done.add(at);
    };
    visit(name);
  }
  return circles;
}
