/** One question at the terminal; anything but yes is no: Ctrl-C, Ctrl-D, and a terminal that is gone, too. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { wrapText } from "../report/style";

/** Asks once. Aborting `signal` withdraws the question, and the answer is then no. */
export const ask = async (
  question: string,
  signal: AbortSignal,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> => /^y(es)?$/i.test((await askForWord(`${question} [y/N]`, signal, input, output)) ?? "");

/** Answers with the typed text without the space around it; `undefined` when the person left the question. */
export function askForWord(
  question: string,
  signal: AbortSignal,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
  isShown = true,
): Promise<string | undefined> {
  // Without `terminal: true` the terminal itself shows what is typed, whatever becomes of the output.
  const terminal = createInterface({ input, output, ...(isShown ? {} : { terminal: true }) });
  const withdraw = (): void => terminal.close();
  return new Promise<string | undefined>((resolve) => {
    let answered = false;
    terminal.on("close", () => {
      if (!answered) output.write("\n");
      resolve(undefined);
    });
    terminal.question(`${wrapText(question, terminalColumns(output)).join("\n")} `, (answer) => {
      answered = true;
      resolve(answer.trim());
    });
    signal.addEventListener("abort", withdraw);
    if (signal.aborted) withdraw();
  }).finally(() => {
    signal.removeEventListener("abort", withdraw);
    terminal.close();
  });
}

/** The same for a word that the terminal does not show while it is typed. */
export async function askForSecret(
  question: string,
  signal: AbortSignal,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string | undefined> {
  output.write(`${wrapText(question, terminalColumns(output)).join("\n")} `);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const word = await askForWord("", signal, input, silent, false);
  output.write("\n");
  return word;
}

/** A terminal breaks a long line anywhere, also within a word. What is no terminal breaks none. */
const terminalColumns = (output: NodeJS.WritableStream): number =>
  "columns" in output && typeof output.columns === "number" && output.columns > 0 ? output.columns : Infinity;
