/** The Language Server Protocol over standard input and output: what an editor asks, answered from a look at the files. */

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CompletionItem, Diagnostic as Shown, WorkspaceEdit } from "vscode-languageserver/node";
import { formatYaml } from "../../config/format";
import type { Diagnostic } from "../../core/model/diagnostic";
import { errorCode, ifPossible } from "../../core/text/errors";
import { onlyDefined } from "../../core/text/objects";
import { complete, type Offer } from "../../editor/complete";
import { cursorAt } from "../../editor/cursor";
import { hover } from "../../editor/hover";
import { placeAt } from "../../editor/names";
import { type EditedProject, nameAtPlace, type ProjectName, placesOfProject } from "../../editor/project";
import { renameName } from "../../editor/rename";
import {
  changesBetween,
  endOfWord,
  linesOf,
  offsetOf,
  type Spot,
  type TextEdit,
  type TextLines,
  textSpanOf,
} from "../../editor/text";
import { refuse } from "../../refused";
import { packageFolder, version } from "../../version";
import type { Flags } from "../flags";
import { expandFolder } from "../workspace";
import {
  type GivenFiles,
  givenFor,
  lookAt,
  newMemory,
  type ProjectLook,
  type ProjectMemory,
  windowText,
} from "./read-project";

type LanguageProtocol = typeof import("vscode-languageserver/node");
const neededPackage = "vscode-languageserver";

function protocol(): LanguageProtocol {
  try {
    // The type is that of the package that is named.
    return createRequire(__filename)(`${neededPackage}/node`);
  } catch (error) {
    if (errorCode(error) !== "MODULE_NOT_FOUND") throw error;
    throw refuse(
      "cli/package-missing",
      `reconcile lsp needs the package ${neededPackage}, which is not installed`,
      `npm install ${neededPackage}, beside reconcile-cloud (-g where that is)`,
    );
  }
}

interface OpenedProject {
  readonly given: GivenFiles;
  readonly memory: ProjectMemory;
  look?: ProjectLook;
}

/** How long typing may go on before the files are read again, in ms. */
const settleMs = 10;

/** Serves until the editor says goodbye or goes away. */
export function serveEditor(given: readonly string[], flags: Flags): Promise<number> {
  const lsp = protocol();
  const connection = lsp.createConnection(process.stdin, process.stdout);
  const windows = new Map<string, string>();
  const lines = new Map<string, TextLines>();
  /** As the editor names its documents: it may write a path in another way, and a document need not be a file. */
  const uris = new Map<string, string>();
  const uriOf = (path: string): string => uris.get(path) ?? pathToFileURL(path).href;
  const projects = new Map<string, OpenedProject>();
  const fixed: GivenFiles | undefined =
    given.length === 0 ? undefined : { paths: given.flatMap(expandFolder).map((path) => resolve(path)) };
  const schemas = new Map<string, unknown>();
  const schemaFor = (text: string): unknown => {
    const name = /^component:/m.test(text) ? "component" : "desired-state";
    if (!schemas.has(name))
      schemas.set(name, JSON.parse(readFileSync(join(packageFolder, "schemas", `${name}.schema.json`), "utf8")));
    return schemas.get(name);
  };

  /** The projects that have a file; those that use a component, before the component by itself. */
  const projectsWith = (path: string): readonly OpenedProject[] => {
    const found = [...projects.values()].filter(({ look }) => look?.files.has(path) === true);
    const using = found.filter(({ given: { paths } }) => paths.length > 0);
    return using.length > 0 ? using : found;
  };
  const projectOf = (path: string): OpenedProject | undefined => {
    const text = windows.get(path);
    const [first] = projectsWith(path);
    if (first !== undefined) return first;
    const wanted =
      fixed?.paths.includes(path) === true ? fixed : text === undefined ? undefined : givenFor(path, text, windows);
    if (wanted === undefined) return undefined;
    const key = JSON.stringify(wanted.paths.length === 0 ? wanted.component : wanted.paths);
    const known = projects.get(key) ?? { given: wanted, memory: newMemory() };
    projects.set(key, known);
    return known;
  };
  const lookOf = (path: string): ProjectLook | undefined => {
    const project = projectOf(path);
    if (project === undefined) return undefined;
    project.look ??= lookAt(project.given, windows, flags, project.memory);
    if (project.look.files.has(path)) return project.look;
    // A component that the project above it does not use stands for itself.
    const alone: OpenedProject = projects.get(path) ?? { given: { paths: [], component: path }, memory: newMemory() };
    alone.look ??= lookAt(alone.given, windows, flags, alone.memory);
    projects.set(path, alone);
    return alone.look;
  };

  const published = new Set<string>();
  const publish = (): void => {
    for (const path of windows.keys()) lookOf(path);
    const all = new Map<string, Map<string, Diagnostic>>();
    for (const { look } of projects.values())
      for (const [file, problems] of look?.problems ?? []) {
        const known = all.get(file) ?? new Map<string, Diagnostic>();
        for (const problem of problems)
          known.set(JSON.stringify([problem.code, problem.summary, problem.source]), problem);
        all.set(file, known);
      }
    for (const [file, problems] of all) {
      if (problems.size === 0 && !published.has(file) && !windows.has(file)) continue;
      published.add(file);
      void connection.sendDiagnostics({
        uri: uriOf(file),
        diagnostics: [...problems.values()].map((one) => shownAs(one, linesAt(file))),
      });
    }
    for (const file of published)
      if (!all.has(file)) {
        published.delete(file);
        void connection.sendDiagnostics({ uri: uriOf(file), diagnostics: [] });
      }
  };
  const linesAt = (path: string): TextLines => {
    const text = windowText(path, windows);
    const known = lines.get(path);
    if (known !== undefined && known.text === text) return known;
    const made = linesOf(text);
    lines.set(path, made);
    return made;
  };
  let timer: NodeJS.Timeout | undefined;
  /** Every project that the file is in is looked at again, when there is time. */
  const changed = (path: string): void => {
    for (const [key, project] of projects)
      if (project.look === undefined || project.look.files.has(path)) delete project.look;
      else if (![...project.look.files].some((file) => windows.has(file))) projects.delete(key);
    clearTimeout(timer);
    timer = setTimeout(publish, settleMs);
  };

  const pathOf = (uri: string): string => pathOfFile(uri) ?? resolve(uri);
  const at = (document: { readonly uri: string }, position: Spot) => {
    const path = pathOf(document.uri);
    const text = windows.get(path) ?? "";
    return { path, text, offset: offsetOf(linesAt(path), position) };
  };
  const spansOf = (project: EditedProject, name: ProjectName, wanted: (is: "declared" | "used") => boolean) =>
    placesOfProject(project, name)
      .filter(({ is }) => wanted(is))
      .map(({ file, offset, length }) => ({
        uri: uriOf(file),
        range: textSpanOf(linesAt(file), offset, offset + length),
      }));
  const named = (path: string, offset: number) => {
    const look = lookOf(path);
    const project = look?.project();
    const names = project?.files.get(path)?.names;
    const place = names === undefined ? undefined : placeAt(names, offset);
    const name = project === undefined || place === undefined ? undefined : nameAtPlace(project, path, place);
    return { project, names, place, name };
  };

  connection.onInitialize(({ workspaceFolders, rootUri }) => {
    const root = workspaceFolders?.[0]?.uri ?? rootUri;
    // Messages name files from the editor's folder on, and what files name lies below it.
    const folder = given.length === 0 && typeof root === "string" ? pathOfFile(root) : undefined;
    if (folder !== undefined) ifPossible(() => process.chdir(folder));
    return {
      serverInfo: { name: "reconcile", version },
      capabilities: {
        textDocumentSync: { openClose: true, change: lsp.TextDocumentSyncKind.Incremental, save: true },
        completionProvider: { triggerCharacters: [".", "{", " "] },
        definitionProvider: true,
        referencesProvider: true,
        hoverProvider: true,
        renameProvider: { prepareProvider: true },
        documentFormattingProvider: true,
      },
    };
  });
  connection.onDidOpenTextDocument(({ textDocument: { uri, text } }) => {
    windows.set(pathOf(uri), text);
    uris.set(pathOf(uri), uri);
    changed(pathOf(uri));
  });
  connection.onDidChangeTextDocument(({ textDocument: { uri }, contentChanges }) => {
    const path = pathOf(uri);
    for (const change of contentChanges) {
      const before = linesAt(path);
      const text =
        "range" in change
          ? before.text.slice(0, offsetOf(before, change.range.start)) +
            change.text +
            before.text.slice(offsetOf(before, change.range.end))
          : change.text;
      windows.set(path, text);
    }
    changed(path);
  });
  connection.onDidCloseTextDocument(({ textDocument: { uri } }) => {
    windows.delete(pathOf(uri));
    lines.delete(pathOf(uri));
    changed(pathOf(uri));
  });
  connection.onDidSaveTextDocument(() => {
    // What a file names beside it (a dialect, a state) may be another one since.
    for (const project of projects.values()) delete project.look;
    publish();
  });
  connection.onCompletion(({ textDocument, position }) => {
    const { path, text, offset } = at(textDocument, position);
    const project = lookOf(path)?.project(true);
    if (project === undefined) return [];
    const { from, offers } = complete(project, path, cursorAt(text, offset), schemaFor(text));
    const range = textSpanOf(linesAt(path), from, offset);
    return offers.map(
      ({ word, says, is, writes }): CompletionItem => ({
        label: word,
        kind: kindsOfOffers[is],
        textEdit: { range, newText: writes ?? word },
        ...onlyDefined({ documentation: says === "" ? undefined : { kind: "markdown" as const, value: says } }),
      }),
    );
  });
  connection.onDefinition(({ textDocument, position }) => {
    const { path, offset } = at(textDocument, position);
    const { project, names, name } = named(path, offset);
    if (project === undefined) return null;
    const link = names?.links.find((one) => offset >= one.offset && offset <= one.offset + one.length);
    if (link !== undefined) {
      const start = { line: 0, character: 0 };
      return { uri: uriOf(project.besides(link.target, path)), range: { start, end: start } };
    }
    return name === undefined ? null : spansOf(project, name, (is) => is === "declared");
  });
  connection.onReferences(({ textDocument, position, context }) => {
    const { path, offset } = at(textDocument, position);
    const { project, name } = named(path, offset);
    if (project === undefined || name === undefined) return null;
    return spansOf(project, name, (is) => is === "used" || context.includeDeclaration);
  });
  connection.onHover(async ({ textDocument, position }) => {
    const { path, text, offset } = at(textDocument, position);
    const look = lookOf(path);
    if (look === undefined) return null;
    const cursor = cursorAt(text, endOfKey(text, offset));
    const said = hover(look.project(), path, offset, cursor, schemaFor(text), await look.states());
    return said === undefined ? null : { contents: { kind: "markdown", value: said } };
  });
  connection.onPrepareRename(({ textDocument, position }) => {
    const { path, offset } = at(textDocument, position);
    const { place, name } = named(path, offset);
    if (place === undefined || name === undefined) return null;
    return { range: textSpanOf(linesAt(path), place.offset, place.offset + place.length), placeholder: place.key };
  });
  connection.onRenameRequest(({ textDocument, position, newName }): WorkspaceEdit | null => {
    const { path, offset } = at(textDocument, position);
    for (const window of windows.keys()) lookOf(window);
    const { project, name } = named(path, offset);
    if (project === undefined || name === undefined) return null;
    // A component may be used by several projects that are open; each has its own record of what it has made.
    const open = projectsWith(name.home).flatMap(({ look }) => look?.project() ?? []);
    const changes = new Map<string, Map<string, TextEdit>>();
    for (const one of open.length > 0 ? open : [project]) {
      const renamed = renameName(one, name, newName);
      if ("problem" in renamed) throw new lsp.ResponseError(lsp.ErrorCodes.InvalidParams, renamed.problem);
      for (const [file, edits] of renamed.changes) {
        const all = changes.get(file) ?? new Map<string, TextEdit>();
        for (const { range, newText } of edits) all.set(JSON.stringify([range, newText]), { range, newText });
        changes.set(file, all);
      }
    }
    return { changes: Object.fromEntries([...changes].map(([file, edits]) => [uriOf(file), [...edits.values()]])) };
  });
  connection.onDocumentFormatting(({ textDocument }) => {
    const { text } = at(textDocument, { line: 0, character: 0 });
    const formatted = formatYaml(text);
    if ("problem" in formatted) return null;
    const lines = linesOf(text);
    return changesBetween(text, formatted.text).map(({ from, to, by }) => ({
      range: textSpanOf(lines, from, to),
      newText: by,
    }));
  });
  connection.listen();
  return new Promise((done) => {
    connection.onExit(() => done(0));
    // An editor that is killed says nothing.
    process.stdin.on("close", () => done(0));
  });
}

/** `undefined`: a document that is no file of this machine (`untitled:`, `file://host/…`). */
const pathOfFile = (uri: string): string | undefined => ifPossible(() => fileURLToPath(uri));

const kindsOfOffers: Readonly<Record<Offer["is"], 5 | 12 | 18>> = { field: 5, word: 12, name: 18 };
const severities = { error: 1, warning: 2, note: 3 } as const;

function shownAs({ severity, code, summary, detail, fix, source }: Diagnostic, lines: TextLines): Shown {
  const line = Math.max(0, (source?.line ?? 1) - 1);
  const from = offsetOf(lines, { line, character: Math.max(0, (source?.column ?? 1) - 1) });
  const parts = [summary, ...(detail === undefined ? [] : [detail]), ...(fix === undefined ? [] : [`fix: ${fix}`])];
  return {
    range: textSpanOf(lines, from, endOfWord(lines.text, from)),
    severity: severities[severity],
    code,
    source: "reconcile",
    message: parts.join("\n"),
  };
}

/** The end of the key or value that an offset is in. */
const endOfKey = (text: string, offset: number): number =>
  offset + (/^[\w.-]*:?/.exec(text.slice(offset))?.[0].length ?? 0);
