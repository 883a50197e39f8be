/** What an OpenAPI document of the service tells, by the words of its paths. */
import { type AssumedOperation, assumedOperations, idsInPath, rowOf } from "../../core/model/operation";
import { fieldsIn, isObject, keysOf } from "../../core/text/objects";
import type { Dialect, Route } from "../dialect";
import { isMethod } from "./curl";
import { nouns } from "./where";

export interface ToldByDescription {
  /** Paths of reads, which are tried. */
  readonly reads: Readonly<Partial<Record<AssumedOperation, readonly string[]>>>;
  /** Paths of writes, as the description has them. */
  readonly writes: Partial<Record<AssumedOperation, Route>>;
}

export function readDescription(document: unknown): ToldByDescription | undefined {
  const { paths } = fieldsIn(document);
  if (!isObject(paths)) return undefined;
  const reads: Partial<Record<AssumedOperation, string[]>> = {};
  const writes: Partial<Record<AssumedOperation, Route>> = {};
  for (const [path, item] of Object.entries(paths)) {
    if (!path.startsWith("/")) continue;
    for (const [verb, operation] of Object.entries(fieldsIn(item))) {
      const method = verb.toUpperCase();
      if (!isMethod(method)) continue;
      const { operationId = "", summary = "" } = fieldsIn(operation);
      const meant = operationMeant(method, path, `${String(operationId)} ${String(summary)}`);
      if (meant === undefined) continue;
      const route: Route = { method, path: withOurIds(path, meant) };
      if (method === "GET") reads[meant] = [...(reads[meant] ?? []), route.path];
      else writes[meant] ??= route;
    }
  }
  return { reads, writes };
}

/** A rule's own id is the last; its group is not always named. */
function withOurIds(path: string, meant: AssumedOperation): string {
  const parameters = [...path.matchAll(/\{\w+\}/g)].length;
  const names = meant === "group.rule.delete" && parameters === 1 ? ["rule_id"] : idsInPath(meant);
  let index = 0;
  return path.replace(/\{\w+\}/g, () => `{${names[index++] ?? "id"}}`);
}

function operationMeant(method: string, path: string, words: string): AssumedOperation | undefined {
  const segments = path.split("/").filter((segment) => segment !== "");
  const fixed = segments.filter((segment) => !segment.startsWith("{"));
  const parameters = segments.length - fixed.length;
  const kind = keysOf(nouns).find((name) => fixed.some((segment) => nouns[name].includes(segment)));
  if (method !== "GET") return changeMeant(method, kind, parameters, `${path} ${words}`.toLowerCase());
  if (kind === undefined) return undefined;
  if (parameters === 0) return `${kind}.list`;
  return parameters === 1 && segments.at(-1)?.startsWith("{") === true ? assumed(`${kind}.get`) : undefined;
}

function changeMeant(
  method: string,
  kind: keyof typeof nouns | undefined,
  parameters: number,
  said: string,
): AssumedOperation | undefined {
  const deletes = method === "DELETE" || /remove|delete|revoke/.test(said);
  if (/rule/.test(said) && deletes) return "group.rule.delete";
  if (/resize/.test(said) && /confirm|accept/.test(said)) return assumed(`${kind}.resize.confirm`);
  if (/resize/.test(said) && /revert|cancel|reject/.test(said)) return assumed(`${kind}.resize.revert`);
  const deletesAll = method === "DELETE" || (method === "POST" && /delete|remove/.test(said));
  return parameters <= 1 && deletesAll ? assumed(`${kind}.delete`) : undefined;
}

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
