import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  type Diagnostic,
  type Position,
  StreamMessageReader,
  StreamMessageWriter,
  type TextEdit,
} from "vscode-languageserver-protocol/node";
import { cliPath } from "../support/cli-process";
import { eventually } from "../support/eventually";

/* `reconcile mcp` as a process, and a client that calls its tools. */

/** A client whose person answers the questions of the server. */
export async function converse(
  folder: string,
  answer: ((schema: { properties: object }) => object) | undefined,
  calls: (tool: (name: string, input?: object) => Promise<{ text: string; isError: boolean }>) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const child = spawn(process.execPath, [cliPath, "mcp"], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "", ...env },
  });
  const questions: string[] = [];
  const waiting = new Map<number, (result: { content: { text: string }[]; isError: boolean }) => void>();
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  createInterface({ input: child.stdout }).on("line", (line) => {
    const { id, method, params, result } = JSON.parse(line);
    if (method === "elicitation/create") {
      questions.push(params.message);
      send({ id, result: answer!(params.requestedSchema) });
    } else waiting.get(id)?.(result);
  });
  const capabilities = answer === undefined ? {} : { elicitation: {} };
  send({ id: 0, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities } });
  let last = 0;
  await calls(async (name, input = {}) => {
    const id = ++last;
    const result = new Promise<{ content: { text: string }[]; isError: boolean }>((done) => waiting.set(id, done));
    send({ id, method: "tools/call", params: { name, arguments: input } });
    const { content, isError } = await result;
    return { text: content[0]!.text, isError };
  });
  child.stdin.end();
  await once(child, "close");
  return questions;
}

/* `reconcile lsp` as a process, and an editor that speaks to it. */

export async function startEditor(folder: string, args: readonly string[] = [], rootUri = pathToFileURL(folder).href) {
  const child = spawn(process.execPath, [cliPath, "lsp", "--stdio", ...args], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: process.env["HOME"] ?? "" },
  });
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  const problems = new Map<string, readonly Diagnostic[]>();
  connection.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }) => {
    problems.set(uri, diagnostics);
  });
  connection.listen();
  const uriOf = (file: string): string => (file.includes(":") ? file : pathToFileURL(join(folder, file)).href);
  const initialized = await connection.sendRequest<{ capabilities: object }>("initialize", {
    processId: process.pid,
    rootUri,
    capabilities: {},
  });
  await connection.sendNotification("initialized", {});
  let version = 0;
  /** The place of `|` in a text, and the text without it. */
  const cut = (text: string): { text: string; position: Position } => {
    const at = text.indexOf("|");
    const before = text.slice(0, at).split("\n");
    return {
      text: text.slice(0, at) + text.slice(at + 1),
      position: { line: before.length - 1, character: before.at(-1)?.length ?? 0 },
    };
  };
  const ask = <T>(method: string, file: string, position: Position, more: object = {}): Promise<T> =>
    connection.sendRequest(method, { textDocument: { uri: uriOf(file) }, position, ...more });
  return {
    capabilities: initialized.capabilities,
    uriOf,
    cut,
    ask,
    open: (file: string, text = readFileSync(join(folder, file), "utf8")) =>
      connection.sendNotification("textDocument/didOpen", {
        textDocument: { uri: uriOf(file), languageId: "yaml", version: ++version, text },
      }),
    /** One key after the other: each change is a place and what is typed there. */
    change: (file: string, ...contentChanges: object[]) =>
      connection.sendNotification("textDocument/didChange", {
        textDocument: { uri: uriOf(file), version: ++version },
        contentChanges,
      }),
    save: (file: string) => connection.sendNotification("textDocument/didSave", { textDocument: { uri: uriOf(file) } }),
    format: (file: string): Promise<TextEdit[] | null> =>
      connection.sendRequest("textDocument/formatting", {
        textDocument: { uri: uriOf(file) },
        options: { tabSize: 2, insertSpaces: true },
      }),
    /** Waits until the problems of a file are as they should be. */
    problemsOf: (file: string, isSo: (found: readonly Diagnostic[]) => boolean) =>
      eventually(`problems of ${file}; last: ${JSON.stringify(problems.get(uriOf(file)))}`, () => {
        const found = problems.get(uriOf(file));
        return found !== undefined && isSo(found) ? found : undefined;
      }),
    async end(): Promise<{ exitCode: number | null; stderr: string }> {
      const closed = once(child, "close");
      await connection.sendRequest("shutdown");
      await connection.sendNotification("exit");
      const [exitCode] = await closed;
      connection.dispose();
      return { exitCode, stderr };
    },
  };
}

/** A text with the edits of a server. */
export function applied(text: string, edits: readonly TextEdit[]): string {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  const offset = ({ line, character }: Position): number => (starts[line] ?? text.length) + character;
  return [...edits]
    .sort((a, b) => offset(b.range.start) - offset(a.range.start))
    .reduce(
      (now, { range, newText }) => now.slice(0, offset(range.start)) + newText + now.slice(offset(range.end)),
      text,
    );
}
