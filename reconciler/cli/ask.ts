/** One question at the terminal; anything but yes is no: Ctrl-C, Ctrl-D, and a terminal that is gone, too. */
import { createInterface } from "node:readline";

/** Aborting `signal` takes the question back, which is a no. */
export function ask(
  question: string,
  signal: AbortSignal,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<boolean> {
  const terminal = createInterface({ input, output });
  const withdraw = (): void => terminal.close();
  return new Promise<boolean>((resolve) => {
    let answered = false;
    terminal.on("close", () => {
      if (!answered) output.write("\n");
      resolve(false);
    });
    terminal.question(`${question} [y/N] `, (answer) => {
      answered = true;
      resolve(/^y(es)?$/i.test(answer.trim()));
    });
    signal.addEventListener("abort", withdraw);
    if (signal.aborted) withdraw();
  }).finally(() => {
    signal.removeEventListener("abort", withdraw);
    terminal.close();
  });
}
