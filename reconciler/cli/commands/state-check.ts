/** `reconcile state check`: what the place of a state really does, tried on a state of its own beside it. */

import { randomUUID } from "node:crypto";
import { errorMessage } from "../../core/text/errors";
import { printable } from "../../core/text/printable";
import { columnsTable } from "../../report/state-text";
import { checkStore, type StoreFinding } from "../../store/check";
import { trialAt } from "../../store/check-place";
import { command, type Invocation, maybeOne } from "../command";
import { commandHolder, knownPlace, stateLocation } from "../compose";
import { commonFlags, type FlagName } from "../flags";
import { readWorkspace } from "../workspace";

export const stateCheckCommand = command({
  usage: "state check [URL]",
  summary: "tries what the place of a state really does",
  section: "The state",
  examples: [
    ["reconcile state check", "the place of this project's state: a state beside it is written, read and removed"],
    ["reconcile state check https://states.example/prod", "a server of somebody else's, before a state is put there"],
  ],
  flags: ["file", ...commonFlags],
  positionals: maybeOne,
  run: checkPlace,
});

const wordOfVerdict: Readonly<Record<StoreFinding["verdict"], string>> = { holds: "yes", breaks: "NO" };

async function checkPlace(invocation: Invocation<FlagName, readonly [] | readonly [string]>): Promise<number> {
  const { args, flags, output } = invocation;
  const location =
    args[0] === undefined
      ? stateLocation(readWorkspace({ ...invocation, args: [] }, { args: [], needed: false }), flags)
      : knownPlace(args[0]);
  const name = `reconcile-check-${randomUUID().slice(0, 8)}`;
  const trial = trialAt(location, name, { environment: process.env, insecureHttp: flags["insecure-http"] === true });
  const findings = [...(await checkStore(trial, commandHolder("state check")))];
  const left = await trial.remove().then(() => undefined, errorMessage);
  for (const { probe, verdict, seen, therefore } of findings)
    output.event({ type: "probe", probe, holds: verdict === "holds", seen, therefore });
  const rows = findings.map(({ probe, verdict, seen, therefore }) => [wordOfVerdict[verdict], probe, seen, therefore]);
  output.print(
    `Tried on ${printable(trial.beside)}, beside the state, of which nothing was written.\n\n${columnsTable([["HOLDS", "PROBE", "SEEN", "THEREFORE"], ...rows])}\n`,
  );
  if (left !== undefined) output.note(`Not removed: ${left}`);
  const broken = findings.filter(({ verdict }) => verdict === "breaks");
  output.print(
    broken.length === 0
      ? "Everything that a state needs holds here."
      : `${broken.length} of ${findings.length} do not hold.`,
  );
  return output.finish({
    exitCode: broken.length === 0 ? 0 : 1,
    diagnostics: [],
    // People have read them in the table.
    forPrograms: broken.map(({ probe, seen, therefore }) => ({
      severity: "error",
      code: "state/store-failed",
      summary: `${probe}: ${seen}`,
      detail: therefore,
      fix: "keep the state in a place where this holds",
    })),
  });
}
