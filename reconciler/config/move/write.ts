/** The texts of both projects as they will be: pieces cut out of the one and put into the other. */
import { itemAt, mustGet } from "../../core/text/invariant";
import { appendTo, fieldsIn, groupedBy, isObject } from "../../core/text/objects";
import { inFlow, setIn } from "../edit-text";
import type { ConfigSource } from "../yaml/file";
import { type Plain, plainOf } from "../yaml/write";
import { type MoveDesk, rebased, refuseCut, refuseMove, type SideName } from "./desk";
import { applySplices, type CutEntries, cutOut, type Piece, pasteInto, splicedPart } from "./pieces";
import { type MoveEntry, pathsIn } from "./project";

/** Entries of one section of a file. */
function cutGroup(
  file: MoveEntry["file"],
  section: string,
  entries: readonly MoveEntry[],
  rewritten?: (from: number, to: number) => string,
): CutEntries {
  const wanted = entries.map(({ index }) => index);
  const cut = cutOut(file.text, mustGet(file.pairs, section), wanted, rewritten);
  if (!("problem" in cut)) return cut;
  return refuseCut(
    file,
    cut,
    entries.map(({ name }) => name),
  );
}

export function writtenAnew(desk: MoveDesk, newSettings: () => Record<string, unknown>) {
  const { division, source, target, splices, additions, copied, environmentValues } = desk;
  const projects = { source, target };

  function piecesOf(entries: readonly MoveEntry[]): Map<MoveEntry, Piece> {
    const pieces = new Map<MoveEntry, Piece>();
    for (const [file, section, group] of grouped(entries)) {
      // What is copied keeps its paths where it stands.
      const paths = group.flatMap(({ node }) => pathsIn(file, node, division.rebase));
      const own = [...(splices.get(file) ?? []), ...paths];
      const cut = cutGroup(file, section, group, (from, to) => splicedPart(file.text, own, from, to));
      for (const [at, piece] of cut.pieces.entries()) pieces.set(itemAt(group, at), piece);
    }
    return pieces;
  }

  function cutAll(entries: Iterable<MoveEntry>): void {
    for (const [file, section, group] of grouped([...entries]))
      for (const one of cutGroup(file, section, group).splices) appendTo(splices, file, one);
  }

  function textsOf(side: SideName): ConfigSource[] {
    const files: ConfigSource[] = projects[side].files.map((open) => ({
      file: open.file,
      text: applySplices(open.text, splices.get(open) ?? []),
    }));
    if (files.length === 0) files.push({ file: division.targetFile, text: headOfNew() });
    const sections = groupedBy(additions[side], (one) => one.section);
    /** The place of the file that has the section, or of the first. */
    const placeFor = (section: string): number =>
      Math.max(
        files.findIndex(({ text }) => new RegExp(`^${section}:`, "m").test(text)),
        0,
      );
    for (const [section, all] of sections) {
      const at = placeFor(section);
      const file = itemAt(files, at);
      const pasted = pasteInto(
        file.text,
        section,
        all.map(({ piece }) => piece),
        all[0]?.kind ?? "map",
      );
      if ("problem" in pasted)
        return refuseMove({
          summary: `${file.file}: ${pasted.problem}`,
          fix: `put ${section} on lines of its own, or run reconcile fmt`,
        });
      files[at] = { ...file, text: pasted.text };
    }
    if (side === "target")
      for (const { environment, name, value } of environmentValues) {
        const at = placeFor("environments");
        const file = itemAt(files, at);
        const edited = setIn(file.text, ["environments", environment, "vars", name], plainOf(value));
        if ("text" in edited) files[at] = { ...file, text: edited.text };
        else
          refuseMove({
            summary: `the variable ${name} of the environment ${environment} cannot be written into the target`,
            fix: `write it there first: environments: { ${environment}: { vars: { ${name}: … } } }`,
          });
      }
    return files;
  }

  function headOfNew(): string {
    const settings = Object.entries(newSettings()).map(([name, value]) => {
      return `${name}: ${inFlow(plainOf(rebased(value, division.rebase, { field: name })))}`;
    });
    const schema = /^# yaml-language-server: .*https?:.*$/m.exec(source.files[0]?.text ?? "")?.[0];
    const names = new Set(copied.map(({ key, section }) => (section === "vars" ? key : "")));
    const environments = source.entries
      .filter(({ section }) => section === "environments")
      .map(({ key, value }) => `  ${key}: ${inFlow(environmentOfNew(value, names))}`);
    return [
      ...(schema === undefined ? [] : [schema]),
      ...settings,
      ...(division.newState === undefined ? [] : [`state: ${inFlow(division.newState)}`]),
      ...(environments.length === 0 ? [] : ["", "environments:", ...environments]),
      "",
    ].join("\n");
  }

  function environmentOfNew(value: unknown, names: ReadonlySet<string>): Plain {
    if (!isObject(value)) return {};
    const { state: _, vars, vars_file: file, ...rest } = value;
    const own = isObject(vars) ? Object.entries(vars).filter(([name]) => names.has(name)) : [];
    // A file of variables is refused by a project that declares none.
    const kept = file === undefined || names.size === 0 ? rest : { vars_file: file, ...rest };
    const all = fieldsIn(rebased(kept, division.rebase));
    return plainOf(own.length === 0 ? all : { vars: Object.fromEntries(own), ...all });
  }

  return { piecesOf, cutAll, textsOf };
}

export function grouped(entries: readonly MoveEntry[]): [MoveEntry["file"], string, MoveEntry[]][] {
  const groups = new Map<MoveEntry["file"], Map<string, MoveEntry[]>>();
  for (const entry of entries) {
    const sections = groups.get(entry.file) ?? new Map<string, MoveEntry[]>();
    appendTo(sections, entry.section, entry);
    groups.set(entry.file, sections);
  }
  return [...groups].flatMap(([file, sections]) =>
    [...sections].map(([section, all]): [MoveEntry["file"], string, MoveEntry[]] => [
      file,
      section,
      [...all].sort((a, b) => a.index - b.index),
    ]),
  );
}
