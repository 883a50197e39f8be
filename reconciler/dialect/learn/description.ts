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

type Meant = Pick<DescribedRoute, "meant" | "rank">;

function operationTold(verb: string, path: string, said: unknown): readonly DescribedRoute[] {
  const method = verb.toUpperCase();
  if (!isMethod(method)) return [];
  const { operationId = "", summary = "" } = fieldsIn(said);
  const doing = `${path} ${String(operationId)}`.toLowerCase();
  const thing = thingAt(path);
  const deletes = method === "DELETE" || (method !== "GET" && /\b(delete|remove|destroy|revoke)/.test(doing));
  const isResize = method !== "GET" && /resize/.test(doing + String(summary).toLowerCase());
  const isOfRule = deletes && thing.isOne && areRulesOfGroups(thing.words);
  const told = isResize ? decisionMeant(thing, doing) : isOfRule ? ruleMeant(thing) : kindMeant(thing, method, deletes);
  return told === undefined ? [] : [{ ...told, method, path }];
}

/** What a path is about. */
interface DescribedThing {
  /** How many ids it names. */
  readonly parameters: number;
  /** One of several: it ends with an id. */
  readonly isOne: boolean;
  /** The word before the first id. */
  readonly owner: string;
  /** Without the id at its end, and without what is done. */
  readonly words: readonly string[];
}

function thingAt(path: string): DescribedThing {
  const segments = path.split("/").filter((segment) => segment !== "" && !wordsOfDoing.test(segment));
  const isOne = /^\{[^{}]+\}(\.\w+)?$/.test(segments.at(-1) ?? "");
  return {
    parameters: segments.filter(isParameter).length,
    isOne,
    owner: segments[segments.findIndex(isParameter) - 1] ?? "",
    words: isOne ? segments.slice(0, -1) : segments,
  };
}

/** A resize of a VM that is confirmed or reverted. */
function decisionMeant({ parameters, owner }: DescribedThing, doing: string): Meant | undefined {
  const decided = decisions.find(([, word]) => word.test(doing));
  return decided === undefined || parameters !== 1 || !isCalled("vm", owner)
    ? undefined
    : { meant: decided[0], rank: 0 };
}

function ruleMeant({ parameters, owner, words }: DescribedThing): Meant | undefined {
  const isOfGroup = isCalled("group", owner) && parameters === 2;
  const isBare = /^rules?$/i.test(words.at(-1) ?? "");
  return parameters === 1 || isOfGroup ? { meant: "group.rule.delete", rank: isBare ? 1 : 0 } : undefined;
}

function kindMeant({ parameters, isOne, words }: DescribedThing, method: Method, deletes: boolean): Meant | undefined {
  const found = kindBelow(words);
  if (found === undefined || parameters !== (isOne ? 1 : 0)) return undefined;
  const verb = method === "GET" ? (isOne ? "get" : "list") : deletes && isOne ? "delete" : undefined;
  // What the contract itself describes is not told again.
  const meant = assumedOperations.find((one) => one === `${found.kind}.${verb}`);
  return meant === undefined ? undefined : { meant, rank: found.rank };
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
