/** The texts of both projects as they will be: pieces cut out of the one and put into the other. */
import { appendTo, fieldsIn, groupedBy, isObject } from "../../core/text/objects";
import { inFlow, setIn } from "../edit-text";
import type { ConfigSource } from "../yaml/file";
import { type Plain, plainOf } from "../yaml/write";
import { type MoveDesk, rebased, refuseCut, refuseMove, type SideName, spliceInto } from "./desk";
import { applySplices, cutOut, type Piece, pasteInto, type Splice, splicedPart } from "./pieces";
import { type MoveEntry, pathsIn } from "./project";

const namesOf = (entries: readonly MoveEntry[]): string[] => entries.map(({ name }) => name);

export function writtenAnew(desk: MoveDesk, newSettings: () => Record<string, unknown>) {
  const { division, source, target, splices, additions, copied, environmentValues } = desk;
  const projects = { source, target };
  const splice = (file: MoveEntry["file"], one: Splice): void => spliceInto(desk, file, one);

  function piecesOf(entries: readonly MoveEntry[]): Map<MoveEntry, Piece> {
    const pieces = new Map<MoveEntry, Piece>();
    for (const [file, section, group] of grouped(entries)) {
      const pair = file.pairs.get(section);
      if (pair === undefined) continue;
      // What is copied keeps its paths where it stands.
      const paths = group.flatMap(({ node }) => pathsIn(file, node, division.rebase));
      const own = [...(splices.get(file) ?? []), ...paths];
      const cut = cutOut(
        file.text,
        pair,
        group.map(({ index }) => index),
        (from, to) => splicedPart(file.text, own, from, to),
      );
      if ("problem" in cut) return refuseCut(file, cut, namesOf(group));
      cut.pieces.forEach((piece, at) => {
        const entry = group[at];
        if (entry !== undefined) pieces.set(entry, piece);
      });
    }
    return pieces;
  }

  function cutAll(entries: Iterable<MoveEntry>): void {
    for (const [file, section, group] of grouped([...entries])) {
      const pair = file.pairs.get(section);
      if (pair === undefined) continue;
      const cut = cutOut(
        file.text,
        pair,
        group.map(({ index }) => index),
      );
      if ("problem" in cut) refuseCut(file, cut, namesOf(group));
      else for (const one of cut.splices) splice(file, one);
    }
  }

  function textsOf(side: SideName): ConfigSource[] {
    const files: ConfigSource[] = projects[side].files.map((open) => ({
      file: open.file,
      text: applySplices(open.text, splices.get(open) ?? []),
    }));
    if (files.length === 0) files.push({ file: division.targetFile, text: headOfNew() });
    const sections = groupedBy(additions[side], (one) => one.section);
    for (const [section, all] of sections) {
      const has = files.findIndex(({ text }) => new RegExp(`^${section}:`, "m").test(text));
      const at = Math.max(has, 0);
      const file = files[at];
      if (file === undefined) continue;
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
        const at = Math.max(
          files.findIndex(({ text }) => /^environments:/m.test(text)),
          0,
        );
        const file = files[at];
        const edited =
          file === undefined
            ? undefined
            : setIn(file.text, ["environments", environment, "vars", name], plainOf(value));
        if (file !== undefined && edited !== undefined && "text" in edited) files[at] = { ...file, text: edited.text };
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

function grouped(entries: readonly MoveEntry[]): [MoveEntry["file"], string, MoveEntry[]][] {
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
