/** `reconcile mcp` as a process, and a client that calls its tools. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { cliPath } from "./cli-process";

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
