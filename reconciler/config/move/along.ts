/** What the parts use: variables, reads and lookups that go along or are copied, and defaults that hold for them. */
import { canonicalJson } from "../../core/text/canonical-json";
import { fieldsIn, isObject, onlyDefined, ownValue, tableOf } from "../../core/text/objects";
import { setIn } from "../edit-text";
import { blockOrder } from "../format";
import { plainOf } from "../yaml/write";
import { isNamedValue, isReadOf, type MoveDesk, rebased, refuseMove, shownAt } from "./desk";
import { namesMentioned } from "./mentions";
import type { Piece } from "./pieces";
import { isBlock, type MoveEntry } from "./project";

const sectionWord: Readonly<Record<string, string>> = {
  vars: "the variable",
  reads: "the read",
  lookups: "the lookup",
};

function refuseDifferent(entry: MoveEntry, there: MoveEntry, said: unknown): void {
  if (canonicalJson(there.value ?? null) === canonicalJson(said ?? null)) return;
  refuseMove({
    summary: `both projects have ${sectionWord[entry.section] ?? entry.section} ${entry.key}, and they differ`,
    detail: `${shownAt(entry)}: ${JSON.stringify(entry.value)}; ${shownAt(there)}: ${JSON.stringify(there.value)}`,
    fix: "give one of the two another name first",
  });
}

export function whatGoesAlong(desk: MoveDesk) {
  const { division, source, target, isNew, notes, gone, copied, environmentValues } = desk;
  const rebasedValue = ({ value, file: { file } }: MoveEntry): unknown =>
    rebased(value, division.rebase, { field: "", file });

  const environments = source.entries.filter(({ section }) => section === "environments");
  const varsOf = ({ value }: MoveEntry): Readonly<Record<string, unknown>> => fieldsIn(fieldsIn(value)["vars"]);

  /** The names that the entries and the settings use, with what those use in turn, in any environment. */
  function needed(entries: readonly MoveEntry[], settings?: unknown): Set<string> {
    const names = new Set<string>();
    const visit = (more: readonly string[]): void => {
      for (const name of more) {
        if (names.has(name)) continue;
        names.add(name);
        const entry = source.named.get(name);
        if (entry === undefined || isBlock(entry)) continue;
        visit(entry.mentions.map(({ of }) => of));
        if (entry.section === "vars")
          visit(namesMentioned(environments.map((one) => ownValue(varsOf(one), entry.key))));
      }
    };
    visit(entries.flatMap(({ mentions }) => mentions.map(({ of }) => of)));
    visit(namesMentioned(settings));
    return names;
  }

  function used(going: readonly MoveEntry[], defaults: readonly MoveEntry[]): void {
    const ofNew = [newSettings(), ...environments.map(({ value }) => ({ ...fieldsIn(value), state: "", vars: {} }))];
    const names = needed([...going, ...defaults], isNew ? ofNew : undefined);
    const goingSet = new Set(going);
    // Defaults and environments stay in the file, whatever goes.
    const stays = (entry: MoveEntry): boolean => sectionWord[entry.section] === undefined && !goingSet.has(entry);
    const staying = needed(source.entries.filter(stays), source.settings);
    for (const entry of source.entries) {
      if (!isNamedValue(entry) || !names.has(entry.name)) continue;
      if (isReadOf(entry, division.others.target)) continue;
      const there = target.named.get(entry.name);
      const said = rebasedValue(entry);
      if (there !== undefined) refuseDifferent(entry, there, said);
      else {
        const isSet = environments.some(
          (one) => fieldsIn(one.value)["vars_file"] !== undefined || Object.hasOwn(varsOf(one), entry.key),
        );
        const isAlong = !staying.has(entry.name) && !(entry.section === "vars" && isSet);
        if (isAlong) gone.add(entry);
        copied.push(entry);
        notes.push(`${entry.name} ${isAlong ? "goes along" : "is copied"}`);
      }
      if (entry.section === "vars" && !isNew) setInEnvironments(entry.key);
    }
  }
  function setInEnvironments(name: string): void {
    for (const one of environments) {
      const { key } = one;
      const own = ownValue(varsOf(one), name);
      if (own === undefined) continue;
      const there = target.named.get(`environment.${key}`);
      const theirs = there === undefined ? undefined : ownValue(varsOf(there), name);
      if (theirs === undefined) environmentValues.push({ environment: key, name, value: own });
      else if (canonicalJson(theirs) !== canonicalJson(own))
        refuseMove({
          summary: `the environment ${key} sets the variable ${name} in both projects, to different values`,
          fix: "give the variable another name in one of the two first",
        });
    }
  }

  /** The settings that a project that is made takes over. */
  function newSettings(): Record<string, unknown> {
    const taken = ["version", "project", "region", "service", "ssh", "prices", "policy", "checks", "deny"];
    return onlyDefined({ ...tableOf(taken, (name) => source.settings[name]) });
  }

  function defaultsAlong(going: readonly MoveEntry[]): {
    readonly copied: readonly MoveEntry[];
    readonly inBlocks: ReadonlyMap<string, Record<string, unknown>>;
  } {
    const inside = going.some(({ section }) => section === "components");
    const ofKind = (kind: string): boolean => going.some(({ name }) => name.startsWith(`${kind}.`)) || inside;
    const also: MoveEntry[] = [];
    const inBlocks = new Map<string, Record<string, unknown>>();
    for (const entry of source.entries) {
      if (entry.section !== "defaults" || !ofKind(entry.key)) continue;
      const there = target.named.get(entry.name);
      const isAlone = !target.entries.some(
        (one) => one.name.startsWith(`${entry.key}.`) || one.section === "components",
      );
      if (there === undefined && isAlone) also.push(entry);
      else if (
        canonicalJson(there?.value ?? {}) !== canonicalJson(rebasedValue(entry) ?? {}) &&
        isObject(entry.value)
      ) {
        const theirs = isObject(there?.value) ? there.value : {};
        const differing = Object.entries(fieldsIn(rebasedValue(entry))).filter(
          ([field, value]) => canonicalJson(value ?? null) !== canonicalJson(theirs[field] ?? null),
        );
        inBlocks.set(entry.key, Object.fromEntries(differing));
        if (differing.length > 0)
          notes.push(
            `defaults.${entry.key} differ, so ${differing.map(([field]) => field).join(", ")} ${differing.length === 1 ? "is" : "are"} written into the blocks that go`,
          );
      }
    }
    return { copied: also, inBlocks };
  }

  function withDefaults(entry: MoveEntry, piece: Piece, fields: Record<string, unknown> | undefined): Piece {
    if (fields === undefined) return piece;
    let { text } = piece;
    const own = isObject(entry.value) ? entry.value : {};
    for (const [field, value] of Object.entries(fields)) {
      const mine = own[field];
      const more: [string[], unknown][] =
        mine === undefined
          ? [[[entry.key, field], value]]
          : isObject(mine) && isObject(value)
            ? Object.entries(value).flatMap(([name, one]): [string[], unknown][] =>
                Object.hasOwn(mine, name) ? [] : [[[entry.key, field, name], one]],
              )
            : [];
      for (const [path, one] of more) {
        const edited = setIn(text, path, plainOf(one), blockOrder(entry.section));
        if ("problem" in edited)
          return refuseMove({
            summary: `${path.join(".")} would have to be written into ${entry.name}, for the defaults of the two projects differ: ${edited.problem}`,
            fix: `write it into ${shownAt(entry)} first`,
          });
        text = edited.text;
      }
    }
    return { ...piece, text };
  }

  return { used, newSettings, defaultsAlong, withDefaults };
}
