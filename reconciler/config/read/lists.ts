/** The three lists that tie what is declared to what exists or existed: imports, moved, removed. */

import { isComponentPath, kindOf, parseAddress } from "../../core/model/address";
import type { ImportRequest, MovedRequest, RemovedRequest } from "../../core/model/desired";
import { definitionOf } from "../../core/model/kinds";
import {
  isGiven,
  readBoolean,
  readText,
  readUnmanagedId,
  reportAt,
  reportValue,
  requireKey,
  type Subject,
} from "../fields";
import { isDeclared, outOfFile, resolveMoves } from "../moves";
import type { ConfigCode } from "../problems";
import { type Declared, unknownAddress } from "../references";
import { itemsOfList, type SectionContext, type Written } from "../sections";
import { lineOf, type Merged } from "../sources";
import { type Place, positionOf } from "../yaml/file";

export interface ReadLists {
  readonly imports: ImportRequest[];
  readonly moved: MovedRequest[];
  readonly removed: RemovedRequest[];
}

export interface ListContext extends SectionContext {
  readonly declared: Declared;
}

export function readLists(lists: Merged["lists"], context: ListContext): ReadLists {
  const moves = itemsOfList("moved", lists, context).flatMap((item) => {
    const from = readMovedAddress(item, "from", context);
    const to = readMovedAddress(item, "to", context);
    return from === undefined || to === undefined ? [] : [{ from, to, subject: item.subject }];
  });
  return {
    imports: readImports(itemsOfList("imports", lists, context), context),
    moved: resolveMoves(moves, context.declared),
    removed: readRemoved(itemsOfList("removed", lists, context), new Set(moves.map(({ from }) => from)), context),
  };
}

/** `orComponent`: the entry may name a whole component too. */
function readMovedAddress(
  { subject, values }: Written,
  key: "from" | "to",
  orComponent?: Pick<ListContext, "declared">,
): string | undefined {
  const text = readText(subject, values, key);
  if (text === undefined) {
    requireKey(subject, values, key, `add ${key}: and an address such as vm.web`);
    return undefined;
  }
  if (parseAddress(text) !== undefined || (orComponent !== undefined && isComponentPath(text))) return text;
  return reportValue(
    subject,
    [key],
    text,
    `an address: vm.KEY, volume.KEY or group.KEY, with [EACH] for an instance of a for_each and KEY/ before it for a component${orComponent === undefined ? "" : ", or a component: KEY/"}`,
    (orComponent?.declared.rooms.size ?? 0) > 1 && isComponentPath(`${text}/`)
      ? { fix: `write ${text}/ for the whole component` }
      : { fix: /^[\w-]+(?:\[[\w-]+\])?$/.test(text) ? `write vm.${text}, volume.${text} or group.${text}` : undefined },
  );
}

function readImports(items: readonly Written[], context: ListContext): ImportRequest[] {
  const byTarget = new Map<string, Place>();
  const byThing = new Map<string, Place>();
  return items.flatMap((item) => {
    const { subject, values } = item;
    const to = readMovedAddress(item, "to");
    const id = readUnmanagedId(subject, values);
    const name = readText(subject, values, "name");
    if (to === undefined) return [];
    const report = reporter(subject, "config/invalid-import", to);
    const goesByName = definitionOf(kindOf(to)).takenByName === true;
    if (!context.declared.addresses.has(to)) {
      const problem = unknownAddress(to, kindOf(to), context.declared, true);
      reportAt(subject, ["to"], { ...problem, address: to });
      return [];
    }
    if (isGiven(values, "id") && isGiven(values, "name"))
      report("an import takes an id or a name, not both", ["name"], "remove one of the two");
    else if (!isGiven(values, "id") && !isGiven(values, "name"))
      report("an import needs the id of what exists", [], goesByName ? "add id: or name:" : "add id:");
    else if (name !== undefined && !goesByName)
      report("only a VM can be imported by its name", ["name"], "give its id: instead");
    const before = firstOf(byTarget, to, subject.place(["to"]));
    if (before !== undefined) report(`${to} is imported twice`, ["to"], "keep one of the two", before);
    const request = { to, id, name: name?.toLowerCase(), source: positionOf(subject.place([])) };
    for (const key of ["id", "name"] as const) {
      const thing = request[key];
      const first =
        thing === undefined ? undefined : firstOf(byThing, `${kindOf(to)} ${key} ${thing}`, subject.place([key]));
      if (first !== undefined)
        report(`the ${key} ${thing} is imported twice`, [key], "one existing resource can have one address", first);
    }
    return [request];
  });
}

function readRemoved(items: readonly Written[], moved: ReadonlySet<string>, context: ListContext): RemovedRequest[] {
  const seen = new Map<string, Place>();
  return items.flatMap((item) => {
    const { subject, values } = item;
    const from = readMovedAddress(item, "from", context);
    const destroy = readBoolean(subject, values, "destroy") ?? false;
    if (from === undefined) return [];
    const report = reporter(subject, "config/invalid-removal", from);
    if (isDeclared(from, context.declared))
      report(`${from} is removed, and still declared`, ["from"], `${outOfFile(from)}, or this removal`);
    if (moved.has(from)) report(`${from} is both moved and removed`, ["from"], "keep one of the two");
    const before = firstOf(seen, from, subject.place(["from"]));
    if (before !== undefined) report(`${from} is removed twice`, ["from"], "keep one of the two", before);
    return [{ from, destroy, source: positionOf(subject.place([])) }];
  });
}

const reporter =
  (subject: Subject, code: ConfigCode, address: string) =>
  (summary: string, path: readonly string[], fix: string, detail?: string): void =>
    reportAt(subject, path, { code, summary, detail, fix, address });

/** Where the key was given before; `undefined`: it is the first time. */
function firstOf(seen: Map<string, Place>, key: string, place: Place): string | undefined {
  const first = seen.get(key);
  if (first !== undefined) return `first in ${lineOf(first)}`;
  seen.set(key, place);
  return undefined;
}
