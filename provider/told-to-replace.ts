/**
 * What the user has told the engine to replace. The engine asks no provider for a difference of that, and tells none
 * that its state has a former version; but its own command line says it. A URN there is in its state: the engine ends
 * before the program runs where it is not. A pattern says nothing of the state, and where the command line is not to be
 * seen, nothing is known.
 */
import { processesAbove } from "./processes";

const flags = ["--replace", "--target-replace"];

/** The values of those flags, which stand behind them or are part of them. */
const toldBy = (args: readonly string[]): string[] =>
  args.flatMap((arg, index) => {
    const [flag = "", ...value] = arg.split("=");
    if (!flags.includes(flag)) return [];
    return [value.length > 0 ? value.join("=") : (args[index + 1] ?? "")];
  });

function toldAbove(): readonly string[] {
  for (const { args, isEngine } of processesAbove()) {
    const told = toldBy(args);
    // What is above an engine may be another one, whose program runs this one.
    if (told.length > 0 || isEngine) return told;
  }
  return [];
}

let told: readonly string[] | undefined;

export function isToldToReplace(urn: string): boolean {
  told ??= toldAbove();
  return told.includes(urn);
}
