/** `reconcile dialect prove`: lives a project through on the embedded service that speaks a dialect, kills it and lies to it. */
import { existsSync, readFileSync } from "node:fs";
import type { Diagnostic } from "../../core/model/diagnostic";
import { hasErrors } from "../../core/model/diagnostic";
import { readDialectFile } from "../../open-service";
import { isStream, replaceOwnFile } from "../../outside/private-file";
import { type ProofCheck, proofParts, proveDialect } from "../../rehearse/prove";
import { command, oneArgument } from "../command";
import { CommandFailed } from "../crash";
import { cutShort, listenForStop } from "../stop-signals";

export const dialectProveCommand = command({
  usage: "dialect prove FILE",
  summary: "lives, kills and disturbs a project on the embedded service in that dialect",
  section: "Looking",
  examples: [
    ["reconcile dialect prove my.dialect.yaml", "exit 1 when something does not hold; the figures go into its head"],
    ["reconcile dialect prove openstack-like --json", "one that is ready, with a line for each thing that was tried"],
  ],
  flags: ["part", "json", "no-color", "log-level"],
  positionals: oneArgument("a dialect"),
  async run({ args: [file], flags, output }) {
    const parts = flags.part === undefined ? proofParts : proofParts.filter((part) => flags.part?.includes(part));
    const { dialect, diagnostics } = readDialectFile(file);
    if (hasErrors(diagnostics)) throw new CommandFailed(diagnostics);
    const stop = listenForStop(output, "Stopping: what is being tried is cut, and says nothing.");
    const began = performance.now();
    const seen = new Set<string>();
    let checks: readonly ProofCheck[];
    try {
      checks = await proveDialect(dialect, {
        parts,
        signal: stop.soft,
        onCheck({ part, title, problem }) {
          if (!seen.has(part)) output.note(`${part} …`);
          seen.add(part);
          output.event({ type: "proof", part, title, ok: problem === undefined, problem });
        },
      });
    } finally {
      stop.close();
    }
    const figures = parts.map((part) => {
      const of = checks.filter((check) => check.part === part);
      return { part, held: of.filter(({ problem }) => problem === undefined).length, of: of.length };
    });
    const isWhole = !stop.soft.aborted;
    output.event({ type: "proven", file, whole: isWhole, figures, duration_ms: Math.round(performance.now() - began) });
    const text = figures.map(({ part, held, of }) => `${part} ${held}/${of}`).join(", ");
    output.print(text);
    const failed = checks.flatMap(({ title, problem }): Diagnostic[] =>
      problem === undefined
        ? []
        : [
            {
              severity: "error",
              code: "dialect/not-proven",
              summary: title,
              detail: problem,
              fix: "correct the line of the dialect that the message is about",
            },
          ],
    );
    if (isWhole && existsSync(file) && !isStream(file)) {
      writeHead(file, `# Proven by reconcile dialect prove on ${new Date().toISOString().slice(0, 10)}: ${text}`);
      output.note(`Wrote it into the head of ${file}`);
    }
    const told = [...failed.slice(0, 20), ...(isWhole ? [] : [cutShort("the proof")])];
    return output.finish({ exitCode: told.length > 0 ? 1 : 0, diagnostics: told });
  },
});

/** The figures stand in one line, behind what is there for editors. */
function writeHead(file: string, line: string): void {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .filter((one) => !one.startsWith("# Proven by reconcile dialect prove "));
  const at = lines[0]?.startsWith("# yaml-language-server") === true ? 1 : 0;
  replaceOwnFile(file, [...lines.slice(0, at), line, ...lines.slice(at)].join("\n"));
}
