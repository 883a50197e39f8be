/**
 * `--env all`: runs a command that only looks for each environment that the files declare, in their order, as one
 * report. An environment that fails does not stop the others.
 */

import { type Diagnostic, hasErrors } from "../core/model/diagnostic";
import { type ChangeCounts, countChanges } from "../core/plan/plan";
import { fieldsIn, keysOf, onlyDefined } from "../core/text/objects";
import type { Where } from "../report/json-lines";
import { printAnnotations, readAnnotations } from "./annotations";
import type { Invocation } from "./command";
import { asDiagnostics, CommandFailed } from "./crash";
import type { Finish, Output } from "./output";
import { chosenEnvironment, environmentsOf } from "./workspace";

export const isForAll = ({ flags }: Pick<Invocation, "flags">): boolean => chosenEnvironment(flags) === "all";

/** What a part of the report is called in JSON. */
type PartSort = "environment" | "folder";
const plurals: Record<PartSort, string> = { environment: "environments", folder: "folders" };

interface EnvironmentPart extends Finish {
  readonly name: string;
  readonly where: Where | undefined;
}

export async function forEachEnvironment<I extends Invocation>(
  invocation: I,
  run: (invocation: I) => Promise<number>,
  further: readonly Diagnostic[] = [],
): Promise<number> {
  const names = environmentsOf(invocation);
  if (names.length === 0)
    throw new CommandFailed([
      {
        severity: "error",
        code: "config/environment",
        summary: "--env all is for a file that declares environments, and this one declares none",
        fix: "leave --env and RECONCILE_ENV out, or declare environments: { NAME: {} }",
      },
    ]);
  const runFor = (env: string, own: I) => run({ ...own, flags: { ...own.flags, env } });
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
  for (const [index, name] of names.entries()) {
    if (index > 0 && format === undefined) output.print("");
    const part = partOutput(output, sort, name, (part) => parts.push(part));
    // The annotations of all parts are one document, which comes at the end.
    const own = format === undefined ? part : { ...part, print: () => undefined, printLines: () => undefined };
    try {
      await run(name, { ...invocation, output: own });
    } catch (error) {
      const diagnostics = asDiagnostics(error);
      if (diagnostics === undefined) throw error;
      const { exitCode } = fieldsIn(error);
      own.finish({ exitCode: exitCode === 3 ? 3 : 1, diagnostics });
    }
  }
  if (format !== undefined)
    printAnnotations(invocation, format, [
      ...parts.flatMap(({ findings, diagnostics = [] }) => findings ?? diagnostics),
      ...further,
    ]);
  output.tell(further);
  return output.finish(finishOfAll(sort, parts, further));
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
      output.tell(finish.diagnostics ?? []);
      keep({ ...finish, name, where: located });
      return finish.exitCode;
    },
  };
}

/** The exit codes from the mildest to the gravest; the report ends with the gravest of its parts. */
const gravityOfExit = [0, 2, 4, 3, 1];

function finishOfAll(sort: PartSort, parts: readonly EnvironmentPart[], further: readonly Diagnostic[]): Finish {
  const changes: Record<keyof ChangeCounts, number> = { ...countChanges([]) };
  const each = parts.map(({ name, where, exitCode, plan }) => {
    const counts = countChanges(plan?.changes ?? []);
    for (const action of keysOf(counts)) changes[action] += counts[action];
    return {
      [sort]: name,
      exit_code: exitCode,
      changes: counts,
      service: where?.service ?? null,
      project: where?.project ?? null,
      state: where?.state ?? null,
    };
  });
  const said: Diagnostic[] = [
    ...parts.flatMap(({ forPrograms, diagnostics = [] }) => [...(forPrograms ?? diagnostics)]),
    ...further,
  ];
  return {
    exitCode: [...parts, ...(hasErrors(further) ? [{ exitCode: 1 }] : [])].reduce(
      (worst, { exitCode }) => (gravityOfExit.indexOf(exitCode) > gravityOfExit.indexOf(worst) ? exitCode : worst),
      0,
    ),
    diagnostics: [],
    forPrograms: said,
    findings: parts.flatMap(({ findings = [] }) => findings),
    extra: {
      changes,
      ...onlyDefined({ environment: sort === "environment" ? "all" : undefined }),
      [plurals[sort]]: each,
    },
  };
}
