/**
 * The Model Context Protocol over standard input and output, as far as a server of tools needs it: one JSON message a
 * line, `initialize`, `tools/list`, `tools/call` and `ping`. The tools are handed in.
 */
import { randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { errorMessage } from "../core/text/errors";
import { nearestText } from "../core/text/nearest";
import { type Fields, fieldsIn, isObject, parsedJson } from "../core/text/objects";
import { version } from "../version";

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema. */
  readonly inputSchema: { readonly properties: object; readonly required?: readonly string[] };
  /** Whether the tool leaves the service, the state and the files unchanged. */
  readonly isReadOnly: boolean;
  /** `signal` is aborted when the caller no longer waits for the answer. */
  call(input: Fields, signal: AbortSignal, person: PersonAtClient | undefined): Promise<ToolResult>;
}

/**
 * The person at the client, where the client can ask: it shows the question in its own window, and neither the model nor
 * a program of this machine answers it. `undefined`: declined, cancelled (`signal`), or the client went away.
 */
export interface PersonAtClient {
  ask(message: string, schema: object, signal: AbortSignal): Promise<Fields | undefined>;
}

export interface ToolResult {
  readonly text: string;
  readonly isError: boolean;
}

/** The newest first; a client that names none of them is answered with the newest. */
const protocolVersions = ["2025-06-18", "2025-03-26", "2024-11-05"] as const;

const rpcCodes = { parse: -32700, request: -32600, method: -32601, params: -32602 } as const;

/** Ends when the input ends. Calls run at the same time; each answer has the id of its call. */
export async function serveTools(
  tools: readonly Tool[],
  instructions: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<void> {
  const send = (message: object | undefined): void => void output.write(`${JSON.stringify(message)}\n`);
  const asked = new Map<string, (answer: unknown) => void>();
  let person: PersonAtClient | undefined;
  const askPerson: PersonAtClient["ask"] = async (message, requestedSchema, signal) => {
    // Nobody who has not read this question can answer it.
    const id = randomUUID();
    const answer = new Promise<unknown>((resolve) => asked.set(id, resolve));
    // A yes that comes after the cancellation counts for nothing.
    signal.addEventListener("abort", () => hearAnswer({ id }), { once: true });
    send({ jsonrpc, id, method: "elicitation/create", params: { message, requestedSchema } });
    const given = await answer;
    return isObject(given) && given["action"] === "accept" && isObject(given["content"]) ? given["content"] : undefined;
  };
  const stops = new Map<unknown, AbortController>();
  const hearAnswer = (message: Fields): void => {
    const { id } = message;
    if (typeof id !== "string") return;
    asked.get(id)?.(message["result"]);
    asked.delete(id);
  };
  const methods = new Map<string, (given: Fields, id: unknown) => Outcome | Promise<Outcome | undefined>>([
    [
      "tools/call",
      async (given, id) => {
        const stop = new AbortController();
        stops.set(id, stop);
        const outcome = await callTool(tools, given, stop.signal, person);
        stops.delete(id);
        // The client that has cancelled the call expects no answer.
        return stop.signal.aborted ? undefined : outcome;
      },
    ],
    ["tools/list", () => ({ result: { tools: tools.map(asListed) } })],
    ["ping", () => ({ result: {} })],
    [
      "initialize",
      (given) => {
        person = isObject(fieldsIn(given["capabilities"])["elicitation"]) ? { ask: askPerson } : undefined;
        return { result: { ...greeting(given["protocolVersion"]), instructions } };
      },
    ],
  ]);
  const hear = async (message: unknown): Promise<object | undefined> => {
    if (!isObject(message) || typeof message["method"] !== "string") {
      if (!isObject(message) || message["method"] !== undefined)
        return notHeard(rpcCodes.request, "this is no request");
      hearAnswer(message);
      return undefined;
    }
    const { id, method, params } = message;
    const given = isObject(params) ? params : {};
    if (method === "notifications/cancelled") stops.get(given["requestId"])?.abort();
    // A message without an id is a notification, which is never answered.
    if (id === undefined) return undefined;
    const outcome = await (methods.get(method)?.(given, id) ??
      refused(rpcCodes.method, `this server has no ${method}`));
    return outcome && { jsonrpc, id, ...outcome };
  };
  const running = new Set<Promise<void>>();
  for await (const line of createInterface({ input })) {
    if (line.trim() === "") continue;
    const message = parsedJson(line);
    const several = Array.isArray(message) && message.length > 0 ? message : undefined;
    const answers =
      message === undefined ? [notHeard(rpcCodes.parse, "this line is not JSON")] : (several ?? [message]).map(hear);
    const ended = Promise.all(answers).then((all) => {
      const said = all.filter((one) => one !== undefined);
      // Several messages in one list are answered in one list (until version 2025-03-26).
      if (said.length > 0) send(several === undefined ? said[0] : said);
    });
    running.add(ended);
    void ended.then(() => running.delete(ended));
  }
  // Nobody is left to answer.
  for (const answer of asked.values()) answer(undefined);
  await Promise.all(running);
}

const jsonrpc = "2.0";

type Outcome = { readonly result: object } | { readonly error: { readonly code: number; readonly message: string } };

const refused = (code: number, message: string): Outcome => ({ error: { code, message } });
/** To a message of which no id can be read. */
const notHeard = (code: number, message: string): object => ({ jsonrpc, id: null, ...refused(code, message) });

const greeting = (wanted: unknown): object => ({
  protocolVersion: protocolVersions.find((known) => known === wanted) ?? protocolVersions[0],
  capabilities: { tools: {} },
  serverInfo: { name: "reconcile", version },
});

const asListed = ({ name, description, inputSchema, isReadOnly }: Tool): object => ({
  name,
  description,
  inputSchema,
  annotations: { readOnlyHint: isReadOnly, destructiveHint: !isReadOnly },
});

async function callTool(
  tools: readonly Tool[],
  { name, arguments: given }: Fields,
  signal: AbortSignal,
  person: PersonAtClient | undefined,
): Promise<Outcome> {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined)
    return refused(
      rpcCodes.params,
      `there is no tool ${typeof name === "string" ? name : JSON.stringify(name)}: ${tools.map((one) => one.name).join(", ")}`,
    );
  const input = isObject(given) ? given : {};
  const problem = inputProblem(tool, input);
  if (problem !== undefined) return refused(rpcCodes.params, problem);
  const { text, isError } = await tool
    .call(input, signal, person)
    .catch((error: unknown): ToolResult => ({ text: errorMessage(error), isError: true }));
  return { result: { content: [{ type: "text", text }], isError } };
}

/** Refuses unknown input: were a misspelt `targets` left out, the plan of one address would be a plan of all. */
function inputProblem({ name, inputSchema: { properties, required = [] } }: Tool, input: Fields): string | undefined {
  const known = Object.keys(properties);
  const unknown = Object.keys(input).find((key) => !known.includes(key));
  if (unknown !== undefined)
    return `${name} takes no ${unknown}; ${nearestText(unknown, known, (near) => `did you mean ${near}?`) ?? `it takes ${known.join(", ")}`}`;
  const missing = required.find((key) => input[key] === undefined);
  return missing === undefined ? undefined : `${name} needs ${missing}`;
}
