/** One question at the terminal; anything but yes is no: Ctrl-C, Ctrl-D, and a terminal that is gone, too. */
import { createInterface } from "node:readline";

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
): Promise<string | undefined> {
  const terminal = createInterface({ input, output });
  const withdraw = (): void => terminal.close();
  return new Promise<string | undefined>((resolve) => {
    let answered = false;
    terminal.on("close", () => {
      if (!answered) output.write("\n");
      resolve(undefined);
    });
    terminal.question(`${question} `, (answer) => {
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
