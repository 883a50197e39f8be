/**
 * `--env all`: runs a command that only looks for each environment that the files declare, in their order, as one
 * report. An environment that fails does not stop the others.
 */

import { type Diagnostic, hasErrors } from "../core/model/diagnostic";
import { type ChangeCounts, countChanges } from "../core/plan/plan";
import { asOneSentence, listText } from "../core/text/list-text";
import { fieldsIn, groupedBy, keysOf, onlyDefined } from "../core/text/objects";
import { summaryLine, type Where } from "../report/json-lines";
import { printAnnotations, readAnnotations } from "./annotations";
import { findCommand, type Invocation } from "./command";
import { asDiagnostics, fail } from "./crash";
import { type Finish, type Output, withFixHere } from "./output";
import { onSameProject } from "./same-project";
import { chosenEnvironment, environmentsOf } from "./workspace";

export const isForAll = ({ flags }: Pick<Invocation, "flags">): boolean => chosenEnvironment(flags) === "all";

/** What a part of the report is called in JSON. */
type PartSort = "environment" | "folder";
const plurals: Record<PartSort, string> = { environment: "environments", folder: "folders" };

interface EnvironmentPart extends Finish {
  readonly name: string;
  readonly where: Where | undefined;
}

/** `run` is told how many environments share the report. */
export async function forEachEnvironment<I extends Invocation>(
  invocation: I,
  run: (invocation: I, count: number) => Promise<number>,
  further: readonly Diagnostic[] = [],
): Promise<number> {
  const names = environmentsOf(invocation);
  if (names.length === 0)
    throw fail(
      "config/environment",
      "--env all is for a file that declares environments, and this one declares none",
      "leave --env and RECONCILE_ENV out, or declare environments: { NAME: {} }",
    );
  const runFor = (env: string, own: I) => run({ ...own, flags: { ...own.flags, env } }, names.length);
  return forEachPart(invocation, "environment", names, runFor, further);
}

/** One report of several parts. A part that fails does not stop the others. */
export async function forEachPart<I extends Invocation>(
  invocation: I,
  sort: PartSort,
  names: readonly string[],
  run: (name: string, own: I) => Promise<number>,
  further: readonly Diagnostic[] = [],
): Promise<number> {
  const { output } = invocation;
  const format = readAnnotations(invocation);
  const parts: EnvironmentPart[] = [];
  let isPrinted = false;
  for (const name of names) {
    let isParted = isPrinted;
    const partOff = (): void => {
      if (isParted) output.print("");
      isParted = false;
      isPrinted = true;
    };
    const printing: Pick<Output, "print" | "printLines"> =
      format === undefined
        ? {
            print: (text) => {
              partOff();
              output.print(text);
            },
            printLines: (lines) => {
              partOff();
              output.printLines(lines);
            },
          }
        : // The annotations of all parts are one document, which comes at the end.
          { print: () => undefined, printLines: () => undefined };
    const here = hereIn(invocation, sort, name);
    const own = partOutput({ ...output, ...printing, here }, sort, name, (part) => parts.push(part));
    try {
      await run(name, { ...invocation, output: own });
    } catch (error) {
      const diagnostics = asDiagnostics(error);
      if (diagnostics === undefined) {
        // A bug ends the report here. What the parts before had to say stays said.
        output.tell(saidOnce(sort, parts, (part) => part.diagnostics));
        throw error;
      }
      const { exitCode } = fieldsIn(error);
      own.finish({ exitCode: exitCode === 3 ? 3 : 1, diagnostics });
    }
  }
  if (format !== undefined)
    printAnnotations(invocation, format, [
      ...saidOnce(sort, parts, ({ findings, diagnostics }) => findings ?? diagnostics),
      ...further,
    ]);
  output.tell([...saidOnce(sort, parts, ({ diagnostics }) => diagnostics), ...further]);
  return output.finish(finishOfAll(sort, parts, further));
}

/** Commands that the diagnostics of one part name are about that part: its folder, or its environment. */
function hereIn({ commands, command, flags, args, output }: Invocation, sort: PartSort, name: string): Output["here"] {
  const found = findCommand(commands, command.split(" "))?.found;
  if (found === undefined) return output.here;
  const part =
    sort === "folder"
      ? { flags: { ...flags, "changed-since": undefined, file: [name] }, args: [] }
      : { flags: { ...flags, env: name }, args };
  return onSameProject(commands, found, part);
}

/** An output for one part: its lines go to the whole report, and its end is kept for the end of the report. */
function partOutput(output: Output, sort: PartSort, name: string, keep: (part: EnvironmentPart) => void): Output {
  let located: Where | undefined;
  return {
    ...output,
    event: (event) => output.event({ ...event, [sort]: name }),
    locate(where) {
      located = where;
    },
    get where() {
      return located;
    },
    finish(finish) {
      const { diagnostics = [], forPrograms = diagnostics, findings } = finish;
      const said = {
        diagnostics: withFixHere(diagnostics, output.here),
        forPrograms: withFixHere(forPrograms, output.here),
        ...(findings === undefined ? {} : { findings: withFixHere(findings, output.here) }),
      };
      keep({ ...finish, ...said, name, where: located });
      return finish.exitCode;
    },
  };
}

/** The exit codes from the mildest to the gravest; the report ends with the gravest of its parts. */
const gravityOfExit = [0, 2, 4, 3, 1];

/** What a part of the report has of the summary that it would have alone. */
const keysOfPart = ["exit_code", "changes", "service", "project", "state", "diagnostics", "outputs", "owed", "cost"];

/** What several parts have in common is said once. Where not all have it, those that do are named. */
function saidOnce<D extends Diagnostic>(
  sort: PartSort,
  parts: readonly EnvironmentPart[],
  saidBy: (part: EnvironmentPart) => readonly D[] | undefined,
): D[] {
  const said = parts.flatMap((part) => (saidBy(part) ?? []).map((diagnostic) => ({ name: part.name, diagnostic })));
  return [...groupedBy(said, ({ diagnostic }) => JSON.stringify(diagnostic)).values()].map((same) => {
    const { diagnostic } = same[0];
    const names = [...new Set(same.map(({ name }) => name))];
    if (names.length === parts.length) return diagnostic;
    const whose = `in the ${names.length === 1 ? sort : plurals[sort]} ${listText(names)}`;
    return { ...diagnostic, detail: asOneSentence(diagnostic.detail, whose) };
  });
}

function finishOfAll(sort: PartSort, parts: readonly EnvironmentPart[], further: readonly Diagnostic[]): Finish {
  const changes: Record<keyof ChangeCounts, number> = { ...countChanges([]) };
  const each = parts.map(({ name, ...finish }) => {
    const counts = countChanges(finish.plan?.changes ?? []);
    for (const action of keysOf(counts)) changes[action] += counts[action];
    const { diagnostics = [], forPrograms = diagnostics, orphans = [] } = finish;
    const whole = fieldsIn(
      summaryLine({ command: "", durationMs: 0, ...finish, diagnostics: forPrograms, orphans, extra: {} }),
    );
    return { [sort]: name, ...Object.fromEntries(keysOfPart.map((key) => [key, whole[key]])) };
  });
  const said = [...saidOnce(sort, parts, ({ diagnostics, forPrograms = diagnostics }) => forPrograms), ...further];
  return {
    exitCode: [...parts, ...(hasErrors(further) ? [{ exitCode: 1 }] : [])].reduce(
      (worst, { exitCode }) => (gravityOfExit.indexOf(exitCode) > gravityOfExit.indexOf(worst) ? exitCode : worst),
      0,
    ),
    diagnostics: [],
    forPrograms: said,
    findings: saidOnce(sort, parts, ({ findings }) => findings),
    orphans: parts.flatMap(({ orphans = [] }) => orphans),
    owed: parts.flatMap(({ owed, plan }) => owed ?? plan?.owed ?? []),
    extra: {
      changes,
      ...onlyDefined({ environment: sort === "environment" ? "all" : undefined }),
      [plurals[sort]]: each,
    },
  };
}
