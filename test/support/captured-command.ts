/** The command run in this process, with everything it prints caught: what thousands of inputs are put through. */
import { createRequire } from "node:module";
import { resolve } from "node:path";

/** The built program, as its lazy loading wants it. */
const { run } = createRequire(__filename)(
  resolve(__dirname, "../../dist/reconciler/cli/main.js"),
) as typeof import("../../reconciler/cli/main");

export interface Captured {
  readonly exitCode: number;
  readonly text: string;
  /** It threw instead of ending. */
  readonly thrown?: unknown;
}

export async function captureCommand(argv: readonly string[]): Promise<Captured> {
  let text = "";
  const catchAll = (piece: unknown): boolean => {
    text += String(piece);
    return true;
  };
  const [out, err] = [process.stdout.write, process.stderr.write];
  process.stdout.write = catchAll as typeof out;
  process.stderr.write = catchAll as typeof err;
  try {
    return { exitCode: await run(argv), text };
  } catch (thrown) {
    return { exitCode: -1, text, thrown };
  } finally {
    process.stdout.write = out;
    process.stderr.write = err;
  }
}

/** What no input may bring about, in words. */
export function misbehaviour({ exitCode, text, thrown }: Captured): string[] {
  const problems: string[] = [];
  if (thrown !== undefined) problems.push(`it threw: ${(thrown as Error).stack ?? String(thrown)}`);
  else if (![0, 1, 2, 3, 4].includes(exitCode)) problems.push(`exit ${exitCode}`);
  if (/^\s+at .+:\d+:\d+\)?$/m.test(text)) problems.push(`a stack trace: ${text.slice(0, 600)}`);
  const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.exec(text);
  if (hidden !== null)
    problems.push(
      `a control character gets through: ${JSON.stringify(text.slice(Math.max(0, hidden.index - 80), hidden.index + 20))}`,
    );
  if (exitCode !== 0 && text.trim() === "") problems.push("it failed without a word");
  return problems;
}

export function pollution(): string[] {
  const extra = [Object.prototype, Array.prototype, Function.prototype].flatMap((prototype) => Object.keys(prototype));
  const polluted = ({} as Record<string, unknown>)["polluted"];
  return extra.length === 0 && polluted === undefined ? [] : [`prototypes are polluted: ${extra.join(", ")}`];
}
