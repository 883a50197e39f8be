/**
 * What is mentioned across the cut: an output of the side that has it, and a read of the other one; and what was such a
 * read, and is together now, is a mention again.
 */
import { appendTo, isObject } from "../../core/text/objects";
import { inFlow } from "../edit-text";
import {
  isBlockName,
  isReadOf,
  type MoveDesk,
  nameFrom,
  newPiece,
  type Other,
  refuseMove,
  type SideName,
} from "./desk";
import type { Mention } from "./mentions";
import type { Splice } from "./pieces";
import type { MovedProject, MoveEntry } from "./project";

export function mentionsAcross(desk: MoveDesk) {
  const { division, source, target, moved, isAll, notes, splices, additions, dropped, gone } = desk;
  const projects = { source, target };
  const outputs: Record<SideName, Map<string, string>> = { source: new Map(), target: new Map() };
  const readsOf: Partial<Record<SideName, string>> = {};
  const splice = ({ file }: MoveEntry, one: Splice): void => appendTo(splices, file, one);
  const add = (side: SideName, section: string, line: string): void =>
    void additions[side].push({ section, piece: newPiece(line), kind: "map" });

  /** The name, or one with a number behind it that nothing else has. */
  const freeName = (name: string, taken: ReadonlySet<string>): string => {
    let free = name;
    for (let count = 2; taken.has(free); count++) free = `${name}_${count}`;
    return free;
  };

  /** The name of the output of `side` that has this value, which is made where there is none. */
  function outputFor(side: SideName, expression: string): string {
    const known = outputs[side].get(expression);
    if (known !== undefined) return known;
    if (expression.includes("${") || expression.includes("[each]"))
      refuseMove({
        summary: `\${${expression}} is chosen by a key of its own for_each, which another project does not see`,
        fix: "move both, or write its keys out, one entry each",
      });
    const { entries } = projects[side];
    const own = entries.filter(({ section }) => section === "outputs");
    const same = own.find(({ value, key }) => value === `\${${expression}}` && !dropped.has(key));
    const taken = new Set([...own.map(({ key }) => key), ...outputs[side].values()]);
    const name = same?.key ?? freeName(nameFrom(expression), taken);
    outputs[side].set(expression, name);
    if (same === undefined) add(side, "outputs", `${name}: ${JSON.stringify(`\${${expression}}`)}`);
    return name;
  }

  /** How this side reads the other one's outputs. */
  function readFrom(side: SideName): string {
    const known = readsOf[side];
    if (known !== undefined) return known;
    const other = division.others[side === "source" ? "target" : "source"];
    const own = projects[side].entries.filter(({ section }) => section === "reads");
    const same = own.find((entry) => isReadOf(entry, other));
    const name = same?.key ?? freeName(other.name, new Set(own.map(({ key }) => key)));
    readsOf[side] = name;
    if (same === undefined) add(side, "reads", `${name}: { state: ${inFlow(other.state)} }`);
    return name;
  }

  /** A mention of what is on the other side from now on. `side` is where it is mentioned. */
  function acrossCut(side: SideName, entry: MoveEntry, mention: Mention): Splice {
    const provider = side === "source" ? "target" : "source";
    const isResource = /^(?:vm|volume|group)\.[A-Za-z0-9_-]+(?:\[[^\]]*\])?$/.test(mention.expression);
    const expression = isResource ? `${mention.expression}.id` : mention.expression;
    const value = `\${read.${readFrom(side)}.${outputFor(provider, expression)}}`;
    notes.push(`${entry.name} reads \${${expression}} from the other project`);
    if (!isResource) return { from: mention.from, to: mention.to, by: value };
    return { ...mention.value, by: `{ id: ${JSON.stringify(value)} }` };
  }

  /** A mention of an output of the other side whose parts are on this side from now on. */
  function togetherAgain(mention: Mention, provider: MovedProject): Splice | undefined {
    const [, , output = "", ...rest] = mention.expression.split(".");
    const entry = provider.named.get(`output.${output}`);
    const value = isObject(entry?.value) ? entry.value["value"] : entry?.value;
    const inner = typeof value === "string" ? /^\$\{([^{}]*)\}$/.exec(value)?.[1] : undefined;
    if (inner === undefined) return undefined;
    const expression = [inner, ...rest].join(".");
    const key = /^(?:vm|group)\.(.*)\.id$/.exec(expression)?.[1];
    if (mention.byKey !== undefined && key !== undefined)
      return { from: mention.from, to: mention.to, by: inFlow(key) };
    return { from: mention.from, to: mention.to, by: `\${${expression}}` };
  }

  const readsOther = (project: MovedProject, mention: Mention, other: Other): boolean => {
    const entry = project.named.get(mention.of);
    return entry !== undefined && isReadOf(entry, other);
  };

  /** What the moved parts mention: what stays is read, and what the target had handed out is mentioned again. */
  function rewriteMoved(entry: MoveEntry): void {
    for (const mention of entry.mentions) {
      if (source.named.has(mention.of) && isBlockName(mention.of)) {
        if (!moved.has(mention.of)) splice(entry, acrossCut("target", entry, mention));
      } else if (readsOther(source, mention, division.others.target)) {
        const back = togetherAgain(mention, target);
        if (back === undefined)
          refuseMove({
            summary: `${entry.name} reads \${${mention.expression}}, which the target hands out and cannot read from itself`,
            fix: "write its value where it is used, or give that output one value of one resource",
          });
        else splice(entry, back);
      }
    }
  }

  function rewriteStaying(entry: MoveEntry): void {
    for (const mention of entry.mentions) if (moved.has(mention.of)) splice(entry, acrossCut("source", entry, mention));
  }

  /** In the target, what it read of the moved parts is its own now. */
  function rewriteTarget(): void {
    for (const entry of target.entries)
      for (const mention of entry.mentions) {
        if (!readsOther(target, mention, division.others.source)) continue;
        const [, , output = ""] = mention.expression.split(".");
        const handed = source.named.get(`output.${output}`);
        if (handed === undefined || handed.mentions.length === 0 || !handed.mentions.every(({ of }) => moved.has(of)))
          continue;
        const back = togetherAgain(mention, source);
        if (back === undefined) continue;
        splice(entry, back);
        if (!isAll) dropped.add(output);
      }
  }

  /** Reads of the other side that nothing uses any more. */
  function dropReads(side: SideName, other: Other): void {
    const { entries } = projects[side];
    for (const entry of entries) {
      if (!isReadOf(entry, other) || readsOf[side] === entry.key) continue;
      const isUsed = entries.some(
        (user) =>
          !gone.has(user) &&
          user.mentions.some(
            (mention) =>
              mention.of === entry.name &&
              !(splices.get(user.file) ?? []).some((one) => one.from <= mention.from && one.to >= mention.to),
          ),
      );
      if (!isUsed) gone.add(entry);
    }
  }

  return { rewriteMoved, rewriteStaying, rewriteTarget, dropReads };
}
