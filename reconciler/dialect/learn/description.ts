/** What an OpenAPI document of the service tells, by the words of its paths. */
import { type AssumedOperation, assumedOperations, idsInPath, type Method, rowOf } from "../../core/model/operation";
import { fieldsIn, isObject, keysOf } from "../../core/text/objects";
import type { Dialect, Route } from "../dialect";
import { findAt, tokensOf } from "../places";
import { isMethod } from "./curl";
import { lettersAndDigits } from "./values";
import { type Learnt, nouns } from "./where";

export interface ToldByDescription {
  /** Paths of reads, which are tried. */
  readonly reads: Readonly<Partial<Record<AssumedOperation, readonly string[]>>>;
  /** Paths of writes, as the description has them. */
  readonly writes: Partial<Record<AssumedOperation, Route>>;
}

/** `base`: the path of the base URL, below which everything is asked for. */
export function readDescription(document: unknown, base = ""): ToldByDescription | undefined {
  const { paths } = fieldsIn(document);
  if (!isObject(paths)) return undefined;
  const folder = folderIn(document, base);
  const told = Object.entries(paths).flatMap(([path, item]) =>
    path.startsWith("/")
      ? Object.entries(fieldsIn(referredTo(document, item))).flatMap(([verb, said]) => operationTold(verb, path, said))
      : [],
  );
  const reads: Partial<Record<AssumedOperation, readonly string[]>> = {};
  const writes: Partial<Record<AssumedOperation, Route>> = {};
  for (const { meant, method, path } of told.toSorted((one, other) => one.rank - other.rank)) {
    const own = withOurIds(path, meant);
    // The folder may well be left out of what the description says of itself: a read is tried without it as well.
    if (method === "GET") reads[meant] = [...new Set([...(reads[meant] ?? []), folder + own, own])];
    else writes[meant] ??= { method, path: folder + own };
  }
  return { reads, writes };
}

/** The path of the service that the paths are below: `servers` of OpenAPI 3, `basePath` of OpenAPI 2. */
function folderIn(document: unknown, base: string): string {
  const { servers, basePath } = fieldsIn(document);
  const { url, variables } = fieldsIn(Array.isArray(servers) ? servers[0] : undefined);
  const written = String(url ?? basePath ?? "").replaceAll(/\{([^{}]*)\}/g, (_, name: string) =>
    String(fieldsIn(fieldsIn(variables)[name])["default"] ?? ""),
  );
  const at = "http://service.invalid/";
  const path = URL.canParse(written, at) ? new URL(written, at).pathname.replace(/\/+$/, "") : "";
  return base !== "" && `${path}/`.startsWith(`${base}/`) ? path.slice(base.length) : path;
}

/** What stands at a reference within the document. */
function referredTo(document: unknown, item: unknown, left = 5): unknown {
  const { $ref } = fieldsIn(item);
  if (typeof $ref !== "string" || !$ref.startsWith("#/") || left === 0) return item;
  return referredTo(document, findAt(document, tokensOf($ref.slice(1))), left - 1);
}

const parameter = /\{[^{}/]+\}/g;

/** A rule's own id is the last; its group is not always named. */
function withOurIds(path: string, meant: AssumedOperation): string {
  const parameters = [...path.matchAll(parameter)].length;
  const names = meant === "group.rule.delete" && parameters === 1 ? ["rule_id"] : idsInPath(meant);
  let index = 0;
  return path.replace(parameter, () => `{${names[index++] ?? "id"}}`);
}

interface DescribedRoute {
  readonly meant: AssumedOperation;
  readonly method: Method;
  readonly path: string;
  /** Of several that may be meant, the one with the most usual word comes first. */
  readonly rank: number;
}

function operationTold(verb: string, path: string, said: unknown): readonly DescribedRoute[] {
  const method = verb.toUpperCase();
  if (!isMethod(method)) return [];
  const { operationId = "", summary = "" } = fieldsIn(said);
  const words = { doing: `${path} ${String(operationId)}`.toLowerCase(), about: String(summary).toLowerCase() };
  const segments = path.split("/").filter((segment) => segment !== "" && !wordsOfDoing.test(segment));
  const parameters = segments.filter(isParameter).length;
  const isOfOne = /^\{[^{}]+\}(\.\w+)?$/.test(segments.at(-1) ?? "");
  const owner = segments[segments.findIndex(isParameter) - 1] ?? "";
  const before = isOfOne ? segments.slice(0, -1) : segments;
  const told = (meant: AssumedOperation | undefined, rank = 0): readonly DescribedRoute[] =>
    meant === undefined ? [] : [{ meant, method, path, rank }];
  if (method !== "GET" && /resize/.test(words.doing + words.about)) {
    const [decision] = decisions.filter(([, word]) => word.test(words.doing));
    return told(parameters === 1 && isCalled("vm", owner) ? decision?.[0] : undefined);
  }
  const deletes = method === "DELETE" || (method !== "GET" && /\b(delete|remove|destroy|revoke)/.test(words.doing));
  if (deletes && isOfOne && areRulesOfGroups(before)) {
    const isOfGroup = isCalled("group", owner) && parameters === 2;
    const isBare = /^rules?$/i.test(before.at(-1) ?? "");
    return told(parameters === 1 || isOfGroup ? "group.rule.delete" : undefined, isBare ? 1 : 0);
  }
  const found = kindBelow(before);
  if (found === undefined || parameters !== (isOfOne ? 1 : 0)) return [];
  if (method === "GET") return told(isOfOne ? assumed(`${found.kind}.get`) : `${found.kind}.list`, found.rank);
  return told(deletes && isOfOne ? assumed(`${found.kind}.delete`) : undefined, found.rank);
}

/** Words that stand for what is done, and for nothing that is there. */
const wordsOfDoing = /^(list|details?|all|describe|search|get|delete|remove|destroy|revoke|actions?)$/i;

const decisions = [
  ["vm.resize.confirm", /confirm|accept/],
  ["vm.resize.revert", /revert|cancel|reject|rollback|undo/],
] as const;

/** Behind one there may be a verb, as in {id}:start. */
const isParameter = (segment: string): boolean => segment.startsWith("{");

const isCalled = (kind: Learnt, segment: string): boolean => nouns[kind].includes(segment);

function kindCalled(segment: string) {
  const kind = keysOf(nouns).find((name) => isCalled(name, segment));
  return kind === undefined ? undefined : { kind, rank: nouns[kind].indexOf(segment) };
}

/**
 * What the last word names. Below things of another kind there is what belongs to those, such as the types of volumes;
 * but flavors may well be below VMs.
 */
function kindBelow(segments: readonly string[]): ReturnType<typeof kindCalled> {
  const [owner, noun] = [segments.at(-2) ?? "", segments.at(-1) ?? ""];
  const [parent, last] = [kindCalled(owner), kindCalled(noun)];
  const isBelow = parent !== undefined && owner.endsWith("s") && parent.kind !== last?.kind;
  return isBelow && !(isCalled("vm", owner) && isCalled("flavor", noun)) ? undefined : last;
}

/** Rules of groups, and no rules of something else. */
function areRulesOfGroups(segments: readonly string[]): boolean {
  const [, of] = /^(.*)rules?$/.exec(lettersAndDigits(segments.at(-1) ?? "")) ?? [];
  if (of === undefined) return false;
  const [owner] = segments
    .slice(0, -1)
    .filter((segment) => !isParameter(segment))
    .slice(-1);
  if (of === "") return owner === undefined || isVersion.test(owner) || isCalled("group", owner);
  return nouns.group.some((noun) => lettersAndDigits(noun) === of);
}

const isVersion = /^(api|v\d.*)$/i;

/** What the contract itself describes is not told again. */
const assumed = (name: string): AssumedOperation | undefined => assumedOperations.find((one) => one === name);

/** The dialect with what was told over it. */
export function toldDialect(dialect: Dialect, told: Readonly<Partial<Record<AssumedOperation, Route>>>): Dialect {
  let { operations } = dialect;
  for (const operation of assumedOperations) {
    const route = told[operation];
    const { items } = rowOf(operation);
    const before = operations[operation];
    const ownItems = before !== null && "items" in before ? before.items : items;
    if (route !== undefined)
      operations = { ...operations, [operation]: items === undefined ? route : { ...route, items: ownItems } };
  }
  return { ...dialect, operations };
}
