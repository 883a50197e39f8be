/** One question at the terminal; anything but yes is no, and so is walking away from it. */
import { createInterface } from "node:readline";

interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Keys count one by one; found out by itself for real terminals. */
  readonly terminal?: boolean;
}

export function ask(
  question: string,
  signal?: AbortSignal,
  { input, output, terminal }: Terminal = { input: process.stdin, output: process.stderr },
): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = createInterface({ input, output, ...(terminal === undefined ? {} : { terminal }) });
    const leave = (): void => asked.close();
    let isAnswered = false;
    const answer = (isYes: boolean): void => {
      isAnswered = true;
      signal?.removeEventListener("abort", leave);
      resolve(isYes);
    };
    asked.on("SIGINT", leave);
    // Also at Ctrl-D, and when the terminal goes away.
    asked.on("close", () => {
      if (isAnswered) return;
      output.write("\n");
      answer(false);
    });
    asked.question(`${question} [y/N] `, (text) => {
      answer(/^y(es)?$/i.test(text.trim()));
      asked.close();
    });
    if (signal?.aborted === true) leave();
    else signal?.addEventListener("abort", leave, { once: true });
  });
}
