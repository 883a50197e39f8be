/** `reconcile owe`: makes the commands of a resource owed again. Sends nothing; the next run pays them. */
import type { DesiredResource } from "../../core/model/desired";
import { type Duty, dutiesOf, meantToOwe, owesNothing } from "../../core/model/guest";
import type { State } from "../../core/model/recorded";
import type { StepChange } from "../../core/plan/record-patch";
import type { Owed } from "../../kinds/vm/guest-steps";
import { systemClock } from "../../outside/clock";
import { Refused } from "../../refused";
import { command, oneOrMore } from "../command";
import { fail } from "../compose";
import { commonFlags } from "../flags";
import { openLocatedStore } from "../with-session";
import { readWorkspace } from "../workspace";
import { changeState, damagedRecord } from "../writing";

export const oweCommand = command({
  usage: "owe ADDR…",
  summary: "makes after_ready and after_attach owed again; the next apply runs them",
  section: "Acting on a VM",
  examples: [
    ["reconcile owe vm.db", "its commands are run by the next apply, whatever else that does"],
    ["reconcile owe volume.data volume.logs", "of two volumes; reconcile apply --owe ADDR owes and runs at once"],
  ],
  flags: ["file", "lock-timeout", ...commonFlags],
  positionals: oneOrMore("an address"),
  complete: (_, known) => known.declared(),
  async run(invocation) {
    const { output, args } = invocation;
    const workspace = readWorkspace(invocation, { args: [] });
    const declared = new Map(workspace.desired.resources.map((resource) => [resource.address, resource]));
    const meant = new Set(args.flatMap((named) => meantToOwe(named, declared)));
    const owed = [...meant].map((address) => ({ address, commands: commandsDeclared(address, declared) }));
    const since = systemClock.instant();
    await changeState(invocation, openLocatedStore(invocation, workspace), (state) =>
      owed.map(({ address, commands }): StepChange => {
        assertRecorded(address, state);
        return {
          type: "patch",
          address,
          owes: { added: commands.map((duty) => ({ command: duty, reason: "asked", since })) },
        };
      }),
    );
    for (const { address, commands } of owed)
      output.print(
        `owed: ${commands.join(" and ")} of ${address}; reconcile apply runs ${commands.length === 1 ? "it" : "them"}`,
      );
    const all = owed.flatMap(({ address, commands }) =>
      commands.map((one): Owed => ({ address, command: one, reason: "asked", since })),
    );
    return output.finish({ exitCode: 0, owed: all });
  },
});

function commandsDeclared(address: string, declared: ReadonlyMap<string, DesiredResource>): readonly Duty[] {
  const problems = owesNothing(address, declared);
  if (problems.length > 0) throw new Refused(problems);
  return dutiesOf(declared.get(address) ?? {});
}

function assertRecorded(address: string, state: State): void {
  if (state.resources.get(address)?.id !== undefined) return;
  throw (
    damagedRecord(address, state) ??
    fail(
      "state/unknown-address",
      `the state has no ${address} yet`,
      "reconcile apply makes it, and owes its commands by itself",
    )
  );
}
