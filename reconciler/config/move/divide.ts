/**
 * The texts of two projects after parts of one have gone to the other. Nothing is decided here of states or plans: the
 * result is read again as any files are, and whoever calls compares what it says with what was said before.
 *
 * The parts are cut out with their comments. What they use goes along where nothing that stays uses it, and is copied
 * where something does (along.ts). What is mentioned across the cut becomes an output and a read (across.ts).
 */
import { isObject, plainValuesIn } from "../../core/text/objects";
import { mentionsAcross } from "./across";
import { whatGoesAlong } from "./along";
import { blockOfAddress, type CutProblem, chosen, circleAcross } from "./cut";
import {
  type Addition,
  createDesk,
  type Divided,
  type DividedOrProblems,
  type Division,
  isNamedValue,
  type MoveDesk,
  refuseMove,
  unlessRefused,
} from "./desk";
import { isBlock, type MovedProject, type MoveEntry, openMovedProject } from "./project";
import { writtenAnew } from "./write";

export { blockOfAddress as blockOf } from "./cut";
export type { Divided, Other } from "./desk";

export function divide(division: Division): DividedOrProblems {
  const source = openMovedProject(division.source);
  const target = openMovedProject(division.target);
  if ("problems" in source) return source;
  if ("problems" in target) return target;
  const blocks = source.entries.filter(isBlock).map(({ name }) => name);
  const { parts } = division;
  const { moved, problems } = parts === "all" ? { moved: new Set(blocks), problems: [] } : chosen(parts, blocks);
  const found = [...problems, ...partedVolumes(source, moved)];
  const circle = circleAcross(blockGraph(source), moved);
  if (circle !== undefined) found.push(circle);
  for (const name of moved)
    if (target.named.has(name))
      found.push({
        summary: `the target has ${name.endsWith("/") ? "a component" : "a block"} ${name} already`,
        fix: "give one of the two another name first: a moved entry in its file keeps what exists",
      });
  if (found.length > 0) return { problems: found };
  return unlessRefused(() => divided(createDesk(division, source, target, moved)));
}

const blockGraph = (project: MovedProject) =>
  new Map(
    project.entries
      .filter(isBlock)
      .map((entry) => [
        entry.name,
        new Set(entry.mentions.flatMap(({ of }) => (of !== entry.name && project.named.has(of) ? [of] : []))),
      ]),
  );

/** A volume hangs on its VM, and a plan for one of the two has to see both. */
const partedVolumes = (project: MovedProject, moved: ReadonlySet<string>): CutProblem[] =>
  project.entries.flatMap((entry) =>
    entry.mentions.flatMap((mention): CutProblem[] => {
      if (mention.byKey !== "attach_to" || mention.expression.startsWith("read.")) return [];
      if (moved.has(entry.name) === moved.has(mention.of)) return [];
      const stays = moved.has(entry.name) ? mention.of : entry.name;
      return [
        {
          summary: `${entry.name} hangs on ${mention.of}, and the cut would part them`,
          detail: "Only a volume that names its VM by the id that another project hands out may be in another project.",
          fix: `move ${stays} too, or let ${entry.name} say it first: attach_to: { id: "\${read.NAME.OUTPUT}" }`,
        },
      ];
    }),
  );

function whatGoes({ source, moved, isAll }: MoveDesk): readonly MoveEntry[] {
  const goes = (entry: MoveEntry): boolean => {
    if (isBlock(entry)) return moved.has(entry.name);
    if (entry.section === "outputs") return isAll;
    if (entry.section === "rollout") return isOfMoved(namesOfRollout(entry), entry);
    if (entry.section === "removed") return isAll;
    if (entry.section === "moved" || entry.section === "imports")
      return isObject(entry.value) && moved.has(blockOfAddress(String(entry.value["to"] ?? "")));
    if (entry.section === "reachability") return isOfMoved(addressesWritten(entry.value), entry);
    return false;
  };

  /** All of it goes, or none of it does. */
  function isOfMoved(names: readonly string[], entry: MoveEntry): boolean {
    const known = names.filter((name) => source.named.has(name));
    const with_ = known.filter((name) => moved.has(name));
    if (with_.length > 0 && with_.length < known.length)
      refuseMove({
        summary: `${entry.name} names both sides of the cut: ${known.join(", ")}`,
        fix: `write it once for each side first, or move ${known.filter((name) => !moved.has(name)).join(", ")} too`,
      });
    return with_.length > 0 || (isAll && known.length === 0);
  }

  return source.entries.filter(goes);
}

function divided(desk: MoveDesk): Divided {
  const { division, source, target, moved, notes, additions, dropped, gone, copied } = desk;
  const { rewriteMoved, rewriteStaying, rewriteTarget, dropReads } = mentionsAcross(desk);
  const { used, newSettings, defaultsAlong, withDefaults } = whatGoesAlong(desk);
  const { piecesOf, cutAll, textsOf } = writtenAnew(desk, newSettings);
  const going = whatGoes(desk);
  for (const entry of going) gone.add(entry);
  for (const entry of going) rewriteMoved(entry);
  const goingSet = new Set(going);
  rewriteTarget();
  for (const entry of source.entries) if (entry.section === "outputs" && dropped.has(entry.key)) gone.add(entry);
  for (const entry of source.entries)
    if (!goingSet.has(entry) && !gone.has(entry) && !isNamedValue(entry)) rewriteStaying(entry);
  const defaults = defaultsAlong(going);
  used(going, defaults.copied);
  dropReads("source", division.others.target);
  dropReads("target", division.others.source);
  const along = [...copied, ...defaults.copied, ...going];
  const pieces = piecesOf(along);
  for (const entry of along) {
    const piece = pieces.get(entry);
    if (piece === undefined) continue;
    const fields = isBlock(entry) ? defaults.inBlocks.get(entry.name.split(".")[0] ?? "") : undefined;
    additions.target.push({
      section: entry.section,
      piece: withDefaults(entry, piece, fields),
      kind: /^\w+\[\d+\]$/.test(entry.name) ? "list" : "map",
    });
  }
  // The outputs and reads that were made come last, as in a file that a person writes.
  const last = (one: Addition): number => (one.section === "outputs" ? 1 : 0);
  additions.target.sort((a, b) => last(a) - last(b));
  cutAll([...gone].filter((entry) => source.entries.includes(entry)));
  cutAll([...gone].filter((entry) => target.entries.includes(entry)));
  return { source: textsOf("source"), target: textsOf("target"), moved, notes: [...new Set(notes)] };
}

function namesOfRollout({ value }: MoveEntry): string[] {
  const of = isObject(value) ? value["of"] : undefined;
  return (Array.isArray(of) ? of : [of]).map((one) => blockOfAddress(String(one)));
}

const addressesWritten = (value: unknown): string[] =>
  plainValuesIn(value).flatMap((text) =>
    typeof text === "string" && /^(?:[\w-]+(?:\[[^\]]*\])?\/|(?:vm|volume|group)\.[\w-]+)/.test(text)
      ? [blockOfAddress(text)]
      : [],
  );
