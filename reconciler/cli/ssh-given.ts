/** What the command line says about the way to a VM. */
import type { Address } from "../core/model/address";
import type { State } from "../core/model/recorded";
import { isVmAsHost, jumpFrom, type SshGiven, userPattern } from "../core/model/ssh";
import { nearestText } from "../core/text/nearest";
import { fail } from "./compose";
import type { Flags } from "./flags";
import { damagedRecord } from "./writing";

/** `vms`: those that the state knows. */
export function sshGiven(
  { jump: text, user }: Pick<Flags, "jump" | "user">,
  vms: readonly Address[],
  state: Pick<State, "quarantined">,
): SshGiven {
  if (user !== undefined && !userPattern.test(user))
    throw fail("cli/bad-flag", `--user ${user} is no name of a user`, "letters, digits, _ . + and -");
  const jump = text === undefined ? undefined : jumpFrom(text);
  if (text !== undefined && jump === undefined)
    throw fail(
      "cli/bad-flag",
      `--jump ${text} is no machine`,
      "give the address of a VM such as vm.bastion, user@host, or none",
    );
  if (jump !== undefined && isVmAsHost(jump, undefined, (vm) => vms.includes(vm)))
    throw fail(
      "cli/bad-flag",
      `--jump ${text} names a VM of this project like a host`,
      "give its address alone; its user is the one of its own ssh:, or --user",
    );
  if (jump !== undefined && jump !== "none" && "vm" in jump && !vms.includes(jump.vm))
    throw (
      damagedRecord(jump.vm, state) ??
      fail(
        "state/unknown-address",
        `the state has no VM ${jump.vm} to go through`,
        nearestText(jump.vm, vms, (near) => `--jump ${near}`) ?? "reconcile state list",
      )
    );
  return { user, jump };
}
