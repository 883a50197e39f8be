/** `reconcile ssh`: the machine's own ssh, with the way to a VM as the file and the state know it. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import type { Address } from "../../core/model/address";
import { allOfKind } from "../../core/model/kinds";
import type { State } from "../../core/model/recorded";
import { isHost, noAccess, type Reachable, type Route, routeTo, sshArguments } from "../../core/model/ssh";
import { errorCode, errorMessage } from "../../core/text/errors";
import { nearestName } from "../../core/text/nearest";
import { command, type Invocation, oneOrMore } from "../command";
import { addressGiven, fail, openStore, stateIn } from "../compose";
import { type FlagName, placeFlags, reachFlags } from "../flags";
import { sshGiven } from "../ssh-given";
import { withSession } from "../with-session";
import { readWorkspace, type Workspace } from "../workspace";
import { assertChosen, damagedRecord } from "../writing";

export const sshCommand = command({
  usage: "ssh ADDR [-- COMMAND…]",
  summary: "logs in to a VM, or runs a command there, with your own ssh",
  section: "Acting on a VM",
  examples: [
    ["reconcile ssh vm.db", "by its address in the state, as ssh: of the file says"],
    [
      "reconcile ssh vm.db --jump vm.bastion --user ubuntu",
      "through another VM, which is reached by its floating address",
    ],
    ["reconcile ssh 'vm.web[a]' -- uptime -p", "runs a command there; its exit code is the exit code"],
  ],
  flags: ["file", "jump", "user", ...placeFlags, "no-color", "log-level", ...reachFlags],
  positionals: oneOrMore("the address of a VM"),
  complete: (args, known) => (args.length === 0 ? known.recorded("vm") : []),
  async run(invocation) {
    const { args, flags } = invocation;
    const [asked, ...words] = args;
    const workspace = readWorkspace(invocation, { args: [], needed: false });
    const state = await stateIn(openStore(workspace, flags));
    assertChosen(state, flags);
    const vms = recordedVms(state);
    const address = vmCalled(asked, vms, state);
    const given = sshGiven(flags, [...vms.keys()], state);
    const access = workspace.ssh ?? noAccess;
    let found = routeTo(address, vms, access, given);
    // The state has no address of a VM whose record had none when it was last seen.
    if ("missing" in found) found = routeTo(address, await lookNow(invocation, workspace, vms), access, given);
    if ("missing" in found)
      throw fail(
        "cli/no-address",
        `no address of ${found.missing} is known${found.missing === address ? "" : `, and ${address} is reached through it`}`,
        "look at reconcile vm list; if the records of this service show addresses elsewhere, say where in the dialect: records.vm.private_ip",
      );
    const { route } = found;
    if (!isHost(route.host))
      throw fail("cli/no-address", `the address of ${address} is none: ${JSON.stringify(route.host)}`);
    if ((addressGiven(flags) ?? workspace.desired.service.baseUrl) === "embedded")
      throw fail(
        "cli/no-address",
        `${address} lives in the embedded service: there is no machine to log in to`,
        "name a service that makes machines: service.base_url: https://…",
      );
    return await startSsh(route, words);
  },
});

type SshInvocation = Invocation<FlagName, readonly [string, ...string[]]>;

/** With their addresses, as far as the state has them. */
const recordedVms = (state: State): Map<Address, Reachable & { readonly id?: string }> =>
  new Map(allOfKind(state.resources.values(), "vm").map((record) => [record.address, record]));

/** A VM by its address, or by the name of an output that is one of its addresses. */
function vmCalled(asked: string, vms: ReadonlyMap<Address, Reachable>, state: State): Address {
  if (vms.has(asked)) return asked;
  const { outputs = {} } = state;
  const value = Object.hasOwn(outputs, asked) ? outputs[asked]?.value : undefined;
  const byOutput = [...vms].find(
    ([, { privateIp, floatingIp }]) => value !== undefined && (value === privateIp || value === floatingIp),
  );
  if (byOutput !== undefined) return byOutput[0];
  throw vmUnknown(asked, [...vms.keys()], state);
}

export function vmUnknown(asked: string, vms: readonly Address[], state: State) {
  const damaged = damagedRecord(asked, state) ?? damagedRecord(`vm.${asked}`, state);
  if (damaged !== undefined) return damaged;
  const near = vms.find((vm) => vm === `vm.${asked}`) ?? vms.find((vm) => vm.startsWith(`${asked}[`));
  const meant = near ?? nearestName(asked, vms);
  return fail(
    "state/unknown-address",
    `the state has no VM ${asked}`,
    meant === undefined ? "reconcile state list" : `did you mean ${meant}?`,
  );
}

/** What the service shows now. */
async function lookNow(
  invocation: SshInvocation,
  workspace: Workspace,
  vms: ReadonlyMap<Address, Reachable & { readonly id?: string }>,
): Promise<ReadonlyMap<Address, Reachable>> {
  const seen = new Map<Address, Reachable>(vms);
  await withSession(invocation, workspace, async ({ service: { client } }) => {
    const listed = client.can.seesVms === "list" ? await client.listVms({}) : undefined;
    if (listed?.status !== "accepted") return 0;
    const byId = new Map(listed.value.map((vm) => [vm.id, vm]));
    for (const [address, { id }] of vms) {
      const live = id === undefined ? undefined : byId.get(id);
      if (live !== undefined) seen.set(address, live);
    }
    return 0;
  });
  return seen;
}

/** Our credentials and passphrases are no business of ssh and of what it starts. */
const withoutOurs = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("RECONCILE_")));

/** ssh has the terminal until it ends; an interrupt is for what runs over there. */
function startSsh(route: Route, words: readonly string[]): Promise<number> {
  const args = [...sshArguments(route), route.host, ...(words.length === 0 ? [] : ["--", ...words])];
  const ignore = (): void => undefined;
  const signals = ["SIGINT", "SIGQUIT", "SIGTERM"] as const;
  for (const signal of signals) process.on(signal, ignore);
  return new Promise<number>((resolve, reject) => {
    const child = spawn("ssh", args, { stdio: "inherit", env: withoutOurs() });
    child.once("error", (error) =>
      reject(
        errorCode(error) === "ENOENT"
          ? fail(
              "cli/no-ssh",
              "there is no program called ssh on this machine's PATH",
              "install OpenSSH's client, or use the address: reconcile vm list",
            )
          : fail("cli/no-ssh", `ssh cannot be started: ${errorMessage(error)}`),
      ),
    );
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  }).finally(() => {
    for (const signal of signals) process.off(signal, ignore);
  });
}
