/**
 * YAML text to the desired world, for every command that takes a file. Everything that can be known without the service
 * is decided here, and every problem is collected; reading files and opening the dialect are left to the caller.
 *
 * parse (yaml/reader) -> one set of sections (sources) -> variables (vars) -> single resources (blocks) -> values
 * (read/), and last the schema, whose findings are shown where nothing more precise was said.
 */

import { compareAddresses } from "../../core/model/address";
import { asClosed, type Closed, type Desired, type DesiredResource } from "../../core/model/desired";
import { type Diagnostic, hasErrors, sortDiagnostics } from "../../core/model/diagnostic";
import type { ExternalValues } from "../../core/model/external";
import { toSay } from "../../core/model/fix";
import { allOfKind, type Kind, kinds, perKind, runsGuest, sectionOf } from "../../core/model/kinds";
import type { Json } from "../../core/model/output";
import type { SshAccess } from "../../core/model/ssh";
import { itemAt } from "../../core/text/invariant";
import { ifAny, tableOf } from "../../core/text/objects";
import { isUrl, unlikelyPlace, withoutPassword } from "../../core/text/outside-policy";
import { readGroup } from "../../kinds/group/read";
import { readVm } from "../../kinds/vm/read";
import { withWayBack } from "../../kinds/vm/read-rollouts";
import { type OwnSsh, readSsh } from "../../kinds/vm/read-ssh";
import { readVolume } from "../../kinds/volume/read";
import { type Instance, inheritedBy, placeInBlock, writtenAt } from "../blocks";
import type { ComponentFiles } from "../component-file";
import { chooseEnvironment, type OpenNamedFile, openOrSayWhy } from "../environments";
import { isGiven, readText, reportAt, type Subject, type Values } from "../fields";
import { problemsOf } from "../generated/desired-state";
import { type InterpolationScope, storedInTheClear, type VariableValues } from "../interpolation";
import { namingOrigins } from "../origins";
import { type ExpectedFile, readOwnYaml, topKeys } from "../own-files";
import { endlessDetail, endlessFix, fitOf } from "../patterns";
import { addNumberProblems, collectProblems, heldProblems, type Problems, shown, withMaskedTexts } from "../problems";
import { openRooms, type Room } from "../rooms";
import { addSchemaProblems } from "../schema-words";
import { interpolated } from "../sections";
import { type Merged, mergeSources, placeIn } from "../sources";
import { type GivenVars, readVars, type SensitiveTexts, writtenSecrets } from "../vars";
import { type ConfigSource, isMap, positionOf, type YamlFile, type YamlMap } from "../yaml/file";
import { externalValue, type GivenExternal, readExternal } from "./external";
import { readGuards } from "./guards";
import { readLists } from "./lists";
import { claimName } from "./names";
import { readOutputs } from "./outputs";
import { placesOfAmounts, readPrices } from "./prices";
import { readServiceSettings } from "./service";
import { readUsual } from "./usual";

export type { OpenNamedFile as OpenFile } from "../environments";
export type { ConfigSource } from "../yaml/file";
export type { GivenExternal } from "./external";

/** The settings with which the files are read. */
export interface ReadOptions extends GivenVars {
  /** --env */
  readonly env?: string;
  /** How another file is read that one of them names: a file of variables, a component. Left out: none is. */
  readonly open?: OpenNamedFile;
  /**
   * The values found elsewhere, or `later`: somebody will look. Left out: a file that reads from elsewhere is an error.
   */
  readonly external?: GivenExternal;
  /** --prices: a price list in place of the one that the files name. */
  readonly prices?: ConfigSource;
}

export interface ReadResult<D extends Desired = Closed> {
  /** Present when there is no error. */
  readonly desired?: D;
  /** Sorted; may hold warnings beside a desired state. */
  readonly diagnostics: Diagnostic[];
  /** The texts of sensitive values, which nothing may show. */
  readonly sensitive?: readonly string[];
  /** The names of the environments that the files declare. */
  readonly environments?: readonly string[];
  /** The files that the given files name, as far as they were read. */
  readonly opened?: readonly ConfigSource[];
  /** How the VMs are reached by SSH; absent where the files say nothing of it. It is no part of what is planned. */
  readonly ssh?: SshAccess;
}

/**
 * The largest size in characters: about a million resources, which no run could hold in its memory however they are
 * written.
 */
const mostTextOfFiles = 64_000_000;

const filesTooLarge = (characters: number): Diagnostic => ({
  severity: "error",
  code: "config/too-large",
  summary: `the files of the desired state are too large: ${Math.round(characters / 1e6)} MB, and ${mostTextOfFiles / 1e6} MB are the most`,
  detail: "A desired state is read and held as a whole, with its state: that many resources would take gigabytes.",
  fix: "split it into projects, each in a folder and with a state of its own; what one needs of another it gets with outputs and reads",
});

/** The plan tries the patterns of the checks on the names, so that none may take for ever. */
function refuseEndlessNames(desired: Desired | undefined, { settings }: Merged, problems: Problems): void {
  const layers = settings.get("checks")?.layers;
  if (layers === undefined) return;
  for (const [kind, text] of Object.entries(desired?.checks?.names ?? {})) {
    const pattern = new RegExp(`^(?:${text})$`, "u");
    const endless = desired?.resources.find((one) => one.kind === kind && fitOf(pattern, one.name) === "endless");
    if (endless === undefined) continue;
    problems.add({
      code: "config/invalid-value",
      summary: `the pattern for names of a ${kind} does not end on the name ${shown(endless.name)}`,
      detail: endlessDetail,
      fix: endlessFix,
      at: placeIn(layers, ["names", kind], "value"),
    });
  }
}

const expectedDesired = (): ExpectedFile => ({
  what: "desired state",
  code: "config/wrong-type",
  keys: topKeys(problemsOf),
  fix: [
    toSay(
      ["name a file that begins with version: 1; ", ["init"], " writes one"],
      "name a file that begins with version: 1",
    ),
  ],
});

/** With `external: "later"` the values of reads and lookups are still missing; otherwise nothing is. */
export function readDesired(
  sources: readonly (ConfigSource | YamlFile)[],
  options?: ReadOptions & { readonly external?: ExternalValues | undefined },
): ReadResult;
export function readDesired(sources: readonly (ConfigSource | YamlFile)[], options?: ReadOptions): ReadResult<Desired>;
export function readDesired(
  sources: readonly (ConfigSource | YamlFile)[],
  options: ReadOptions = {},
): ReadResult<Desired> {
  const { desired, ...result } = readFiles(sources, options);
  if (desired === undefined) return result;
  return { desired: options.external === "later" ? desired : asClosed(desired), ...result };
}

function readFiles(sources: readonly (ConfigSource | YamlFile)[], options: ReadOptions): ReadResult<Desired> {
  const problems = collectProblems();
  const characters = sources.reduce((sum, { text }) => sum + text.length, 0);
  if (characters > mostTextOfFiles) return { diagnostics: [filesTooLarge(characters)] };
  const files = sources.map((source) => ("root" in source ? source : readOwnYaml(source, problems, expectedDesired())));
  const secrets: SensitiveTexts[] = [];
  const masked = ({ vars, environments }: Merged): Diagnostic[] =>
    withMaskedTexts(
      sortDiagnostics(problems.diagnostics),
      secrets.flatMap(({ texts }) => texts),
      [...writtenSecrets(vars.values(), environments), ...secrets.flatMap(({ written }) => written)],
    );
  // An unreadable section would make everything in it look undeclared.
  if (files.some(({ isIncomplete }) => isIncomplete === true)) {
    for (const file of files) addShapeProblems(file, problems);
    return { diagnostics: masked(mergeSources(files, heldProblems())) };
  }
  const written = mergeSources(files, problems);
  const opened: ConfigSource[] = [];
  const open: OpenNamedFile = (path, beside) => {
    const found = openOrSayWhy(path, beside, options.open);
    if ("source" in found) opened.push(found.source);
    return found;
  };
  const chosen = chooseEnvironment(written, { env: options.env, open }, problems);
  const environments = written.environments.map(({ key }) => key);
  if (chosen === undefined) {
    for (const file of files) addShapeProblems(file, problems);
    return { diagnostics: masked(written), environments };
  }
  const { merged } = chosen;
  const hide = (more: SensitiveTexts): void => void secrets.push(more);
  const vars = readVars(merged.vars, options, problems, hide, chosen.vars, chosen.name);
  const reading: DesiredReading = {
    vars,
    environment: chosen.name,
    components: { open, known: new Map() },
    prices: options.prices,
    given: options.external,
    hide,
  };
  const naming = namingOrigins(problems, { root: "var", values: vars });
  const { ssh, ...desired } = readMerged(merged, files, reading, naming);
  refuseEndlessNames(desired, merged, problems);
  for (const file of files) addShapeProblems(file, problems);
  for (const component of new Set(reading.components.known.values())) component?.checkShape();
  reportMissingVersion(merged, files, problems);
  const diagnostics = masked(written);
  const sensitive = ifAny([...new Set(secrets.flatMap(({ texts }) => texts))]);
  const result = { diagnostics, environments, opened, sensitive };
  return hasErrors(diagnostics) ? result : { desired, ssh, ...result };
}

type MergedParts = Record<string, Record<string, Json>>;

/** The settings with which the files are read, once the environment is chosen. */
interface DesiredReading {
  readonly vars: VariableValues;
  readonly environment: string | undefined;
  readonly components: ComponentFiles;
  readonly prices: ConfigSource | undefined;
  readonly given: GivenExternal | undefined;
  /** Called with the values of sensitive parameters. */
  readonly hide: (secrets: SensitiveTexts) => void;
}

function readMerged(
  merged: Merged,
  files: readonly YamlFile[],
  { vars, environment, components, prices: priceList, given, hide }: DesiredReading,
  problems: Problems,
): Desired & { readonly ssh?: SshAccess } {
  checkVersion(merged, problems);
  const scope: InterpolationScope = { vars, environment };
  /** A setting that is one text stands in a map of its own. */
  const setting = (
    name: "project" | "region" | "service" | "state" | "ssh",
  ): { subject: Subject; values: Values; raw: Values } => {
    const { value, layers } = merged.settings.get(name) ?? {};
    const isMapped = name === "service" || name === "ssh";
    const subject: Subject = {
      problems,
      place: (inner, on) =>
        layers === undefined
          ? { source: itemAt(files, 0), offset: 0 }
          : placeIn(layers, isMapped ? inner : inner.slice(1), on ?? "value"),
    };
    const raw = isMapped ? (isMap(value) ? value : {}) : { [name]: value ?? null };
    const { dialect, ...plain } = raw;
    const kept = isMap(dialect) ? plain : raw;
    const told: InterpolationScope = {
      ...scope,
      onSensitive: (name, at) => reportAt(subject, at, storedInTheClear(name, at)),
    };
    // A map is interpolated to a map.
    const values = interpolated(subject, kept, told) as YamlMap;
    return { subject, values: isMap(dialect) ? { ...values, dialect } : values, raw };
  };
  const service = setting("service");
  const top = tableOf(["project", "region"], (name) => {
    const { subject, values } = setting(name);
    // A value that is written and unreadable is reported once, and not again by every VM that would inherit it.
    return readText(subject, values, name) ?? (merged.settings.has(name) ? "" : undefined);
  });
  const external = readExternal(merged, { scope, problems });
  const used: Record<"reads" | "lookups", MergedParts> = { reads: {}, lookups: {} };
  const use: Parameters<typeof externalValue>[4] = ({ of, name, part, value }) => {
    used[of][name] = { ...used[of][name], [part]: value };
  };
  const outside: InterpolationScope["elsewhere"] = (expression, report, inner) =>
    externalValue(expression, inner, external, given, use, report);
  const rooms = openRooms(merged, scope, problems, { files: components, outside, secrets: hide });
  const main = itemAt(rooms, 0);
  const rulePlaces = merged.lists.reachability.length > 0;
  const taken = perKind(() => new Map<string, Instance>());
  const reached: OwnSsh[] = [];
  const resources = rooms.flatMap((room) =>
    kinds.flatMap((kind) => readInstances(kind, room, { ...top, rulePlaces }, taken[kind], reached)),
  );
  const vms = new Set(allOfKind(resources, "vm").map(({ address }) => address));
  const ssh = readSsh(merged.settings.has("ssh") ? setting("ssh") : undefined, reached, vms);
  const outputs = readOutputs(merged.outputs, main.scope, problems);
  const prices = readPrices(merged, { scope, problems, open: components.open, given: priceList });
  const guards = readGuards(merged, { scope, declared: main.declared, problems }, rooms);
  const lists = readLists(merged.lists, { scope, declared: main.declared, problems });
  return {
    project: top.project,
    region: top.region,
    environment,
    ...(merged.protection === undefined ? {} : { isProtected: true as const, protection: merged.protection }),
    state: readStatePlace(setting("state")),
    service: readServiceSettings(service.subject, service.values, service.raw),
    resources: withWayBack(resources, guards.rollouts ?? []).sort((a, b) => compareAddresses(a.address, b.address)),
    ...lists,
    external:
      external.reads.length + external.lookups.length === 0
        ? undefined
        : given === "later"
          ? external
          : { ...external, values: used },
    outputs: ifAny(outputs),
    prices,
    ...guards,
    ssh,
    files: files.map(({ file }) => file),
  };
}

const readInstances = (
  kind: Kind,
  { expanded, scope, declared, problems, origins }: Room,
  top: Parameters<typeof readVm>[2] & { readonly rulePlaces: boolean },
  names: Map<string, Instance>,
  reached: OwnSsh[],
): DesiredResource[] =>
  expanded[kind].instances(scope).map((instance) => {
    const subject: Subject = {
      problems,
      address: instance.address,
      place: (path, on) => placeInBlock(instance.block, path, on),
    };
    const readers: Readonly<Partial<Record<Kind, () => DesiredResource>>> = {
      vm: () => readVm(subject, instance, top),
      volume: () => readVolume(subject, instance, declared),
      group: () => readGroup(subject, instance, declared, top.rulePlaces),
    };
    const resource = readers[kind]?.() ?? readUsual(kind, subject, instance, declared);
    claimName(subject, kind, resource.name, instance, names);
    if (runsGuest(kind) && isGiven(instance.values, "ssh"))
      reached.push({ address: instance.address, subject, values: instance.values });
    if (instance.holdsShapes) addShapesOf(instance, subject);
    const inherited = inheritedBy(instance.block, origins);
    const guard = resource.lifecycle.preventDestroy ? writtenAt(instance.block, guardPath) : undefined;
    const guarded = guard === undefined ? resource : { ...resource, protectedAt: positionOf(guard) };
    return inherited === undefined ? guarded : { inherited, ...guarded };
  });

const guardPath = ["lifecycle", "prevent_destroy"] as const;

/** The place of the state, where the file names it. */
function readStatePlace({ subject, values }: { subject: Subject; values: Values }): Desired["state"] {
  const location = readText(subject, values, "state");
  if (location === undefined) return undefined;
  const missed = unlikelyPlace(location);
  if (missed !== undefined) return reportAt(subject, ["state"], { code: "config/invalid-value", ...missed });
  const url = URL.canParse(location) ? new URL(location) : undefined;
  const hasPassword =
    url === undefined
      ? withoutPassword(location) !== location
      : url.password !== "" || url.searchParams.has("password");
  if (!isUrl(location) || !hasPassword) return { location, source: positionOf(subject.place(["state"])) };
  return reportAt(subject, ["state"], {
    code: "config/invalid-value",
    summary: "state holds a password",
    detail: "the file is read by everybody who may plan",
    fix: "take it out of the URL: PGPASSWORD, RECONCILE_STATE_PASSWORD, or the credentials of the store's own tools",
    withoutExcerpt: true,
  });
}

function checkVersion(merged: Merged, problems: Problems): void {
  const version = merged.settings.get("version");
  if (version !== undefined && version.value !== 1)
    problems.add({
      code: "config/version",
      summary: `version cannot be ${shown(version.value)}`,
      detail: "this program reads version 1",
      fix: "write version: 1",
      at: placeIn(version.layers, [], "value"),
    });
}

/** Reported last: at its place stands a key that may have a problem of its own. */
function reportMissingVersion({ settings }: Merged, files: readonly YamlFile[], problems: Problems): void {
  // A file with nothing in it is a valid desired state: an empty one.
  const source = files.find(({ root }) => isMap(root) && Object.keys(root).length > 0);
  if (settings.has("version") || source === undefined) return;
  problems.add({
    code: "config/version",
    summary: "version is missing",
    fix: "write version: 1 at the top of the file",
    at: { source, offset: 0 },
  });
}

function addShapeProblems(file: YamlFile, problems: Problems): void {
  const errors = file.root === undefined ? [] : problemsOf(file.root);
  if (errors.length > 0) addSchemaProblems(file, errors, problems);
  addNumberProblems(file, problems, placesOfAmounts(file));
}

/**
 * A list from a variable may stand beside other items of a list: the items are meant (read-rule.ts). What is not read yet
 * counts as a reference still, which may stand wherever a value may.
 */
function withFlatLists(value: unknown): unknown {
  if (value === undefined) return "${}";
  if (Array.isArray(value)) return value.flat(4).map(withFlatLists);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withFlatLists(inner)]));
}

/** Maps and lists that came out of references are checked against the same schema, at the place of the reference. */
function addShapesOf({ block: { kind, key, entry }, values }: Instance, subject: Subject): void {
  const { problems, address } = subject;
  const root = { [sectionOf[kind]]: { [key]: withFlatLists(values) } };
  const place: Subject["place"] = (path, on) => subject.place(path.slice(2), on);
  const errors = problemsOf(root);
  if (errors.length > 0) addSchemaProblems(entry.source, errors, problems, { root, subject: { address, place } });
}
