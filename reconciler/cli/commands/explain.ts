/** `reconcile explain [CODE]`: what an error means and what to do about it. */
import { nearestName } from "../../core/text/nearest";
import { explanations, isExplained } from "../../report/explanations";
import { command, type Invocation, maybeOne } from "../command";
import { fail } from "../compose";

export const explainCommand = command({
  usage: "explain [CODE]",
  summary: "what an error means and what to do",
  section: "This program",
  examples: [
    ["reconcile explain consent/flush", "what it means and what to do"],
    ["reconcile explain", "all codes"],
  ],
  flags: ["no-color", "json"],
  positionals: maybeOne,
  complete: () => Object.entries(explanations).map(([word, { means }]) => ({ word, says: means })),
  run,
});

async function run({ args, output }: Invocation): Promise<number> {
  // As it stands in a message: error[consent/flush].
  const code = args[0]?.replace(/^\w+\[(.+)\]:?$/, "$1");
  if (code === undefined) {
    for (const [known, explanation] of Object.entries(explanations).sort(([a], [b]) => (a < b ? -1 : 1))) {
      output.print(`${known.padEnd(30)} ${explanation.means}`);
      output.event({ type: "explanation", code: known, ...explanation });
    }
    return output.finish({ exitCode: 0 });
  }
  if (!isExplained(code)) {
    const near = nearestName(code, Object.keys(explanations));
    throw fail(
      "cli/unknown-code",
      `there is no code ${code}`,
      near === undefined ? "reconcile explain lists all codes" : `reconcile explain ${near}`,
    );
  }
  const found = explanations[code];
  output.print(`${code}\n\n  ${found.means}\n\n  What to do: ${found.todo}`);
  output.event({ type: "explanation", code, ...found });
  return output.finish({ exitCode: 0 });
}
