/**
 * `--env all`: a command that only looks, run for each environment that the files declare, in their order, as one
 * report. One that fails does not keep the others from being looked at.
 */
import type { Diagnostic } from "../core/model/diagnostic";
import { type ChangeCounts, countChanges } from "../core/plan/plan";
import type { Where } from "../report/json-lines";
import type { Invocation } from "./command";
import { asDiagnostics, CommandFailed } from "./crash";
import type { Finish, Output } from "./output";
import { chosenEnvironment, environmentsOf } from "./workspace";

export const isForAll = ({ flags }: Pick<Invocation, "flags">): boolean => chosenEnvironment(flags) === "all";

interface Part extends Finish {
  readonly environment: string;
  readonly where: Where | undefined;
}

export async function forEachEnvironment<I extends Invocation>(
  invocation: I,
  run: (invocation: I) => Promise<number>,
): Promise<number> {
  const { output } = invocation;
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
  const parts: Part[] = [];
  for (const [index, environment] of names.entries()) {
    if (index > 0) output.print("");
    const own = partOf(output, environment, (part) => parts.push(part));
    try {
      await run({ ...invocation, flags: { ...invocation.flags, env: environment }, output: own });
    } catch (error) {
      const diagnostics = asDiagnostics(error);
      if (diagnostics === undefined) throw error;
      const { exitCode } = error as { readonly exitCode?: unknown };
      own.finish({ exitCode: exitCode === 3 ? 3 : 1, diagnostics });
    }
  }
  return output.finish(wholeOf(parts));
}

/** What is said of one environment goes where everything goes, and its end is kept for the end of all. */
function partOf(output: Output, environment: string, keep: (part: Part) => void): Output {
  let located: Where | undefined;
  return {
    ...output,
    event: (event) => output.event({ ...event, environment }),
    locate(where) {
      located = where;
    },
    get where() {
      return located;
    },
    finish(finish) {
      output.tell(finish.diagnostics ?? []);
      keep({ ...finish, environment, where: located });
      return finish.exitCode;
    },
  };
}

/** The gravest end is the end of all. */
const gravity = [0, 2, 4, 3, 1];

function wholeOf(parts: readonly Part[]): Finish {
  const changes: Record<keyof ChangeCounts, number> = { ...countChanges([]) };
  const each = parts.map(({ environment, where, exitCode, plan }) => {
    const counts = countChanges(plan?.changes ?? []);
    for (const action of Object.keys(counts) as (keyof ChangeCounts)[]) changes[action] += counts[action];
    return {
      environment,
      exit_code: exitCode,
      changes: counts,
      service: where?.service ?? null,
      project: where?.project ?? null,
      state: where?.state ?? null,
    };
  });
  const said: Diagnostic[] = parts.flatMap(({ forPrograms, diagnostics = [] }) => [...(forPrograms ?? diagnostics)]);
  return {
    exitCode: parts.reduce(
      (worst, { exitCode }) => (gravity.indexOf(exitCode) > gravity.indexOf(worst) ? exitCode : worst),
      0,
    ),
    diagnostics: [],
    forPrograms: said,
    findings: parts.flatMap(({ findings = [] }) => findings),
    extra: { changes, environment: "all", environments: each },
  };
}
