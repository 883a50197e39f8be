/**
 * `reconcile output`: the outputs of the project, and its VMs in the formats of other tools. Asks the service nothing.
 */

import { parseAddress } from "../../core/model/address";
import { runsGuest } from "../../core/model/kinds";
import { hiddenValue, type Json, type Outputs } from "../../core/model/output";
import { nearestText } from "../../core/text/nearest";
import { keyIn, keysOf } from "../../core/text/objects";
import {
  ansibleHost,
  ansibleList,
  ansibleVariable,
  envText,
  hostsText,
  type Inventory,
  inventoryOf,
  prometheusTargets,
  type Routes,
  routesOf,
  sshConfigText,
  variableName,
} from "../../report/inventory";
import { outputText, shownOutputs } from "../../report/output-lines";
import { command, type Invocation, maybeOne } from "../command";
import { fail, stateIn } from "../compose";
import { commonFlags, type FlagName } from "../flags";
import { sshGiven } from "../ssh-given";
import { openLocatedStore } from "../with-session";
import { readWorkspace, workspaceOfState } from "../workspace";
import { blockName, writeShared } from "../write-shared";
import { assertChosen } from "../writing";

export const outputCommand = command({
  usage: "output [NAME] [--format FORMAT]",
  summary: "the project's outputs; its VMs in the formats of other tools",
  section: "Looking",
  examples: [
    ["reconcile output", "every output; a sensitive one is hidden"],
    ["reconcile output db_ip", "one, and nothing beside it, for a script"],
    ["reconcile output --format env", 'shell variables: eval "$(reconcile output --format env)"'],
    ["reconcile output --format hosts", "lines for /etc/hosts: the private address of each VM, or else the public one"],
    ["reconcile output --format ssh-config", "a Host for each VM, with its public address where it has one"],
    ["reconcile output --format ansible --list", "an inventory; a script that runs this is one of Ansible's own"],
    ["reconcile output --format prometheus-sd --port 9100", "targets for file_sd or http_sd"],
    [
      "reconcile output --format ssh-config --jump vm.bastion --user ubuntu --write ~/.ssh/acme.conf",
      "through the bastion, into a file that ~/.ssh/config names once: Include acme.conf",
    ],
  ],
  flags: ["file", "format", "list", "host", "port", "jump", "user", "write", ...commonFlags],
  formats: () => keysOf(outputFormats),
  positionals: maybeOne,
  complete: async (_, known) => Object.keys((await known.state())?.outputs ?? {}).map((word) => ({ word })),
  async run(invocation) {
    const { args, flags, output } = invocation;
    // The files say how the VMs are reached, and whose block it is that --write replaces.
    const isOfState = flags.format === undefined;
    const workspace = isOfState ? workspaceOfState(invocation) : readWorkspace(invocation, { args: [], needed: false });
    const state = await stateIn(openLocatedStore(invocation, workspace));
    assertChosen(state, flags);
    const { outputs = {} } = state;
    const [name] = args;
    const chosen = keyIn(outputFormats, flags.format);
    if (name !== undefined && !Object.hasOwn(outputs, name)) throw unknownOutput(name, outputs);
    refuseFlags(invocation, chosen === undefined ? [] : ["write", ...outputFormats[chosen].takes]);
    if (chosen === undefined) return showOutput(invocation, name, outputs);
    if (name !== undefined && chosen !== "env")
      throw fail("cli/bad-flag", `--format ${chosen} is about all VMs, and not about ${name}`, `leave ${name} out`);
    const format: OutputFormat = outputFormats[chosen];
    const { readable, hidden } = outputsByReader(outputs);
    if (format.tellsHidden?.(flags) === true && name === undefined && hidden.length > 0)
      output.note(`Left out, because it is sensitive: ${hidden.join(", ")}. To show one: reconcile output NAME`);
    const inventory = inventoryOf(state);
    const given = sshGiven(flags, [...inventory.hosts.map(({ address }) => address), ...inventory.without], state);
    const routes = routesOf(inventory, workspace.ssh, given);
    const asked = name === undefined ? readable : outputPicked(outputs, name);
    const text = format.text({ flags, outputs: asked, inventory, routes });
    if (chosen !== "env" && inventory.without.length > 0)
      output.note(
        `The state knows no address of ${inventory.without.join(", ")}: left out. The next reconcile apply records them, where the service shows them.`,
      );
    const damaged = state.quarantined.map(({ address }) => address).filter(mayBeOfHost);
    if (chosen !== "env" && damaged.length > 0)
      output.note(
        `The state has damaged records, and their VMs are left out: ${damaged.join(", ")}. reconcile plan says how they are mended.`,
      );
    if (format.takes.includes("jump") && routes.without.length > 0)
      output.note(
        `The state knows no address of the machine on the way to ${routes.without.join(", ")}: left out. The next reconcile apply records it, where the service shows it.`,
      );
    if (flags.write === undefined) {
      process.stdout.write(text);
      return output.finish({ exitCode: 0, onDocument: true });
    }
    const { project = state.scope?.project, environment } = workspace.desired;
    writeShared(flags.write, text, blockName(project, environment), format.isWholeFile === true);
    output.note(`Wrote ${flags.write}.`);
    return output.finish({ exitCode: 0, diagnostics: [] });
  },
});

/** A piece of the state of which nobody can tell what it is about may be a machine's. */
function mayBeOfHost(address: string): boolean {
  const kind = parseAddress(address)?.kind;
  return kind === undefined || runsGuest(kind);
}

type OutputInvocation = Invocation<FlagName, readonly [] | readonly [string]>;

interface FormatRequest {
  readonly flags: OutputInvocation["flags"];
  readonly outputs: Outputs;
  readonly inventory: Inventory;
  readonly routes: Routes;
}

interface OutputFormat {
  /** The flags that have a meaning for it, beside --write. */
  readonly takes: readonly FormFlag[];
  /** Whether a person is told which outputs it leaves out. */
  readonly tellsHidden?: (flags: OutputInvocation["flags"]) => boolean;
  /** It has no comments, in which a block of our own could be marked. */
  readonly isWholeFile?: true;
  readonly text: (asked: FormatRequest) => string;
}

const json = (value: unknown): string => `${JSON.stringify(value, undefined, 2)}\n`;

const outputFormats = {
  env: {
    takes: [],
    tellsHidden: () => true,
    text: ({ outputs }) => {
      refuseTwins(outputs, variableName);
      return envText(outputs);
    },
  },
  hosts: { takes: [], text: ({ inventory }) => hostsText(inventory) },
  "ssh-config": { takes: ["jump", "user"], text: ({ inventory, routes }) => sshConfigText(inventory, routes) },
  ansible: {
    takes: ["list", "host", "jump", "user"],
    // Ansible asks with --list, and shows every line of the error stream as an error, at each of its runs.
    tellsHidden: ({ list, host }) => list !== true && host === undefined,
    isWholeFile: true,
    text: ({ flags: { host }, outputs, inventory, routes }) => {
      if (host !== undefined) return json(ansibleHost(inventory, host, routes));
      refuseTwins(outputs, ansibleVariable);
      return json(ansibleList(inventory, outputs, routes));
    },
  },
  "prometheus-sd": {
    takes: ["port"],
    isWholeFile: true,
    text: ({ flags: { port }, inventory }) => json(prometheusTargets(inventory, readPortFlag(port))),
  },
} as const satisfies Record<string, OutputFormat>;

function showOutput({ output }: OutputInvocation, name: string | undefined, outputs: Outputs): number {
  const chosen = name === undefined ? outputs : outputPicked(outputs, name);
  for (const [one, { value, sensitive, description }] of Object.entries(chosen)) {
    const shown = sensitive === true && name === undefined ? hiddenValue : value;
    output.event({ type: "output", name: one, before: shown, after: shown, known: true, description, sensitive });
  }
  if (name !== undefined) output.print(rawText(chosen[name]?.value ?? null));
  else if (Object.keys(outputs).length === 0)
    output.print("No outputs: none is declared, or nothing was applied since.\n");
  else
    output.print(
      Object.entries(shownOutputs(outputs))
        .map(([one, value]) => `${one} = ${outputText(value)}\n`)
        .join(""),
    );
  return output.finish({ exitCode: 0, extra: { outputs: shownOutputs(outputs) } });
}

/** An output asked for by its name, for a script: a text as it is, everything else as JSON. */
const rawText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

const outputPicked = (outputs: Outputs, name: string): Outputs => {
  const found = outputs[name];
  return found === undefined ? {} : { [name]: found };
};

/** Sensitive outputs stay hidden in files for other programs, as they are everywhere else. */
function outputsByReader(outputs: Outputs): { readonly readable: Outputs; readonly hidden: readonly string[] } {
  const shown = Object.entries(outputs).filter(([, { sensitive }]) => sensitive !== true);
  const readable = Object.fromEntries(shown);
  return { readable, hidden: Object.keys(outputs).filter((name) => !Object.hasOwn(readable, name)) };
}

function refuseTwins(outputs: Outputs, nameOf: (output: string) => string): void {
  const byVariable = new Map<string, string>();
  for (const name of Object.keys(outputs)) {
    const variable = nameOf(name);
    const first = byVariable.get(variable);
    if (first !== undefined)
      throw fail(
        "cli/bad-flag",
        `${first} and ${name} would both be ${variable}`,
        "give one of the outputs another name",
      );
    byVariable.set(variable, name);
  }
}

/** The flags that belong to some formats alone, and to which. */
const homeOfFlag = {
  list: "--format ansible",
  host: "--format ansible",
  port: "--format prometheus-sd",
  jump: "--format ssh-config or ansible",
  user: "--format ssh-config or ansible",
  write: "--format FORMAT",
} as const;
type FormFlag = keyof typeof homeOfFlag;

function refuseFlags({ flags }: OutputInvocation, taken: readonly FormFlag[]): void {
  const given = keysOf(homeOfFlag).find((flag) => flags[flag] !== undefined && !taken.includes(flag));
  if (given !== undefined)
    throw fail("cli/bad-flag", `--${given} has no meaning here`, `it belongs to ${homeOfFlag[given]}`);
}

function readPortFlag(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const port = /^[0-9]{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65_535) return port;
  throw fail("cli/bad-flag", `--port ${text} is no port`, "a number from 1 to 65535");
}

function unknownOutput(name: string, outputs: Outputs): Error {
  const names = Object.keys(outputs);
  return fail(
    "cli/unknown-output",
    names.length === 0
      ? `there is no output ${name}: the state has none`
      : `there is no output ${name}; the state has ${names.join(", ")}`,
    nearestText(name, names, (near) => `reconcile output ${near}`) ??
      "outputs are declared in the file, and recorded by reconcile apply",
  );
}
