/**
 * The entry of the command line: finds the command, reads its flags and runs it. Only the command that was asked for is
 * loaded.
 */

import { errorCode } from "../core/text/errors";
import { fieldsIn, onlyDefined } from "../core/text/objects";
import { printableLines } from "../core/text/printable";
import { HalfMoved } from "../engine/half-moved";
import { misspeltSettings } from "../outside/environment";
import { refuseTarget } from "../outside/private-file";
import { profileTo, tracing } from "../outside/tracing";
import { findCommand, type Invocation, type NamedCommand } from "./command";
import { asDiagnostics, reportCrash } from "./crash";
import { flagRows } from "./flags";
import { groupHelp, helpText, noCommand, noSecondWord } from "./help";
import { canFinish, finishMoves } from "./move/finish";
import { checkFilesNamed } from "./named-files";
import { createOutput, type Output } from "./output";
import { tellOutputLost } from "./output-lost";
import { type ReadFlags, readFlags, splitAtDashes, withFlagsBehind } from "./read-flags";
import { commands } from "./registry";
import { onSameProject } from "./same-project";
import { withTrace } from "./with-trace";

export { runTestsOfThread } from "./file-tests";
export { serveStacks } from "./fleet/stack-in-child";

export function main(argv: readonly string[]): void {
  outliveOutput();
  run(argv).then(
    (exitCode) => {
      process.exitCode = exitCode;
    },
    (error: unknown) => {
      process.exitCode = 1;
      reportCrash(error, argv);
    },
  );
}

/**
 * A failing output ends no run half-way. A reader that closed the pipe (`| head`) has seen enough, which is no error.
 * On a full disk the output is cut short, and the exit code says so.
 */
function outliveOutput(): void {
  let isLost = false;
  for (const stream of [process.stdout, process.stderr]) {
    const fail = (error: unknown): void => {
      if (errorCode(error) === "EPIPE" || stream !== process.stdout || isLost) return;
      isLost = true;
      tellOutputLost("standard output", error);
    };
    stream.on("error", fail);
    // A file is written before `write` returns, and a full one throws out of it.
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = (...args: unknown[]): boolean => {
      try {
        return stream.destroyed || write(...args);
      } catch (error) {
        fail(error);
        return true;
      }
    };
  }
}

export async function run(given: readonly string[]): Promise<number> {
  const argv = withFlagsBehind(given).map((word, at) =>
    at === 0 && ["--version", "-v"].includes(word) ? "version" : word,
  );
  const words = argv.filter((word) => !word.startsWith("-"));
  const first = argv[0];
  if (
    first === undefined ||
    first === "help" ||
    first === "--help" ||
    first === "-h" ||
    (first.startsWith("-") && words.length === 0)
  ) {
    const asksHelp = words.length > 0 || argv.includes("--help") || argv.includes("-h");
    const problems = asksHelp ? [] : readFlags(argv, { name: "", flags: Object.keys(flagRows) }).problems;
    if (problems.length > 0)
      return misused(argv, "", problems, `${problems.join("\n")}\nAll commands: reconcile help all\n`);
    return showHelp(
      argv,
      words.filter((word) => word !== "help"),
    );
  }
  const asked = findCommand(commands, argv);
  if (asked === undefined) return unknownCommand(argv, words);
  const { found, rest } = asked;
  const { head } = splitAtDashes(rest);
  if (head.includes("--help") || head.includes("-h")) return showHelp(head, found.name.split(" "));
  return runFound(found, rest);
}

function showHelp(argv: readonly string[], words: readonly string[]): number {
  const text = helpText(commands, words);
  if (text === undefined) return noSuchCommand(argv, words);
  if (!argv.includes("--json")) {
    process.stdout.write(text);
    return 0;
  }
  const output = createOutput("help", { json: true });
  output.event({ type: "help", text });
  return output.finish({ exitCode: 0 });
}

async function runFound(command: NamedCommand, rest: readonly string[]): Promise<number> {
  const { name } = command;
  const read = command.ownFlags === undefined ? readFlags(rest, command) : withoutFlags(rest, name);
  const ofCommandLine = { noted: misspeltSettings(process.env), here: onSameProject(commands, command, read) };
  let output: Output | undefined;
  try {
    checkFilesNamed(read, command);
    if (read.problems.length > 0) {
      const problems = [...read.problems, ...read.badValues.map(({ summary }) => summary)];
      const usage = `Usage: reconcile ${command.usage}\nMore: reconcile help ${name}\n`;
      const into = command.flags.includes("json-into") ? read.flags["json-into"] : undefined;
      return misused(rest, name, problems, `${problems.join("\n")}\n\n${usage}`, into);
    }
    const opened = createOutput(name, read.flags, ofCommandLine);
    output = opened;
    if (read.badValues.length > 0) return output.finish({ exitCode: 1, diagnostics: read.badValues });
    // They are written when the run is over, and nobody runs it a second time for them.
    for (const path of [read.flags.report, read.flags.profile]) if (path !== undefined) refuseTarget(path);
    if (read.flags.profile !== undefined) profileTo(read.flags.profile, name);
    const invocation = { command: name, args: read.args, flags: read.flags, output: opened, commands: commands };
    const run = () => withMovesFinished(command, invocation, () => command.run(invocation));
    const traced = command.longRunning === true ? undefined : tracing();
    return await (traced === undefined ? run() : withTrace(traced, opened, name, run));
  } catch (error) {
    const diagnostics = asDiagnostics(error);
    if (diagnostics === undefined) throw error;
    const { exitCode } = fieldsIn(error);
    output ??= createOutput(name, { ...read.flags, "json-into": undefined }, ofCommandLine);
    return output.finish({ exitCode: exitCode === 3 ? 3 : 1, diagnostics });
  }
}

/** A command that reads its own flags has none of ours, and writes no lines for programs. */
const withoutFlags = (args: readonly string[], name: string): ReadFlags => ({
  flags: {},
  args,
  problems: args.includes("--json") ? [`reconcile ${name} has no flag --json`] : [],
  badValues: [],
});

/** A command that writes, and finds a move between two states half done, finishes it and begins anew. */
async function withMovesFinished(
  command: NamedCommand,
  invocation: Invocation,
  run: () => Promise<number>,
): Promise<number> {
  try {
    return await run();
  } catch (error) {
    if (errorCode(error) !== "state/half-moved") throw error;
    if (!(error instanceof HalfMoved) || !canFinish(command)) throw error;
    await finishMoves(error, command, invocation);
    return run();
  }
}

/**
 * An error in the command line itself: with the usage for a person, and like any other failure for programs. `into`: the
 * file of `--json-into`, which must not go on telling of an earlier run.
 */
function misused(
  argv: readonly string[],
  name: string,
  problems: readonly string[],
  text: string,
  into?: string,
): number {
  const json = splitAtDashes(argv).head.includes("--json");
  if (!json) process.stderr.write(printableLines(text));
  if (!json && into === undefined) return 1;
  const fix = `reconcile help${helpText(commands, name.split(" ")) === undefined ? "" : ` ${name}`}`;
  return createOutput(name, { json, ...onlyDefined({ "json-into": into }) }).finish({
    exitCode: 1,
    forPrograms: problems.map((summary) => ({ severity: "error", code: "cli/usage", summary, fix })),
  });
}

function unknownCommand(argv: readonly string[], words: readonly string[]): number {
  const [first = "", second] = words;
  const commandNames = Object.keys(commands);
  if (commandNames.some((name) => name.startsWith(`${first} `))) {
    // `reconcile state`, or `reconcile state lst`: help lists the words that may follow.
    const usage = groupHelp(commands, first);
    if (second === undefined) return misused(argv, first, [`reconcile ${first} needs another word`], usage);
    const problem = noSecondWord(commands, first, second);
    return misused(argv, first, [problem], `${problem}\n\n${usage}`);
  }
  return noSuchCommand(argv, words);
}

function noSuchCommand(argv: readonly string[], words: readonly string[]): number {
  const problem = noCommand(commands, words);
  return misused(argv, words[0] ?? "", [problem], `${problem}\nAll commands: reconcile help all\n`);
}
