/** The commands, as help and completion show them; the code behind each is loaded when it runs. */
import { commonFlags, type FlagName } from "./flags";

export interface CommandSpec {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly flags: readonly FlagName[];
  /** Left out: any number, files of the desired state. */
  readonly positionals?: { readonly min: number; readonly max: number; readonly what: string };
  /** Reads its own arguments. */
  readonly ownArguments?: boolean;
  readonly load: () => unknown;
}

const planFlags = [
  "file",
  "target",
  "replace",
  "adopt",
  "accept-service",
  "no-refresh",
  "steps",
  ...commonFlags,
] as const;
const consentFlags = [
  "allow-data-loss",
  "allow-loss",
  "allow-removal",
  "confirm-flush",
  "recreate",
] as const satisfies readonly FlagName[];
const applyFlags = ["auto-approve", ...consentFlags, "lock-timeout", "report"] as const;
const count = (min: number, max: number, what: string) => ({ min, max, what });

export const commands: readonly CommandSpec[] = [
  {
    name: "init",
    usage: "init [FILE]",
    summary: "writes a starter file with the schema header",
    flags: ["json", "no-color"],
    positionals: count(0, 1, ""),
    load: () => require("./commands/init"),
  },
  {
    name: "validate",
    usage: "validate [FILE|DIR]…",
    summary: "checks everything that needs no service",
    flags: ["file", "dialect", "annotations", "var", "var-file", "json", "no-color"],
    load: () => require("./commands/validate"),
  },
  {
    name: "plan",
    usage: "plan [FILE|DIR]… [flags]",
    summary: "shows what apply would do, in which order, and what it would cost you",
    flags: [...planFlags, "out", "markdown", "annotations", "detailed-exitcode", "destroy"],
    load: () => require("./commands/plan"),
  },
  {
    name: "apply",
    usage: "apply [FILE|DIR|PLAN]… [flags]",
    summary: "plans, asks, and makes it so; or applies a saved plan",
    flags: [...planFlags, ...applyFlags, "allow-empty"],
    load: () => require("./commands/apply"),
  },
  {
    name: "destroy",
    usage: "destroy [FILE|DIR]… [flags]",
    summary: "deletes everything in the state",
    flags: [...planFlags, ...applyFlags],
    load: () => require("./commands/destroy"),
  },
  {
    name: "drift",
    usage: "drift [FILE|DIR]…",
    summary: "what differs between the state and the service; exit 2 if anything does",
    flags: ["file", ...commonFlags],
    load: () => require("./commands/drift"),
  },
  {
    name: "import",
    usage: "import ADDR ID [--generate]",
    summary: "takes an existing resource over",
    flags: ["file", "generate", "lock-timeout", ...commonFlags],
    positionals: count(2, 2, "an address and an id"),
    load: () => require("./commands/import"),
  },
  {
    name: "group import",
    usage: "group import LISTING.json [--convert] [--out FILE]",
    summary: "imports another cloud's listing of security groups, or translates it into YAML",
    flags: ["file", "convert", "out", "force", "lock-timeout", ...commonFlags],
    positionals: count(1, 1, "a JSON file"),
    load: () => require("./commands/group"),
  },
  {
    name: "pull",
    usage: "pull [--vm ID|NAME]… [--volume ID]… [--group ID]… [--out FILE]",
    summary: "writes the YAML for what exists",
    flags: ["file", "vm", "volume", "group", "project", "region", "user-id", "out", "force", ...commonFlags],
    positionals: count(0, 0, ""),
    load: () => require("./commands/pull"),
  },
  {
    name: "exposure",
    usage: "exposure [FILE|DIR]…",
    summary: "who can reach what through the groups, before and after the plan",
    flags: ["file", "target", "no-refresh", "destroy", ...commonFlags],
    load: () => require("./commands/exposure"),
  },
  {
    name: "vm start",
    usage: "vm start ADDR",
    summary: "starts a VM",
    flags: ["file", "lock-timeout", ...commonFlags],
    positionals: count(1, 1, "the address of a VM"),
    load: () => require("./commands/vm"),
  },
  {
    name: "vm stop",
    usage: "vm stop ADDR",
    summary: "stops a VM",
    flags: ["file", "lock-timeout", ...commonFlags],
    positionals: count(1, 1, "the address of a VM"),
    load: () => require("./commands/vm"),
  },
  {
    name: "vm reboot",
    usage: "vm reboot ADDR",
    summary: "reboots a VM",
    flags: ["file", "lock-timeout", ...commonFlags],
    positionals: count(1, 1, "the address of a VM"),
    load: () => require("./commands/vm"),
  },
  {
    name: "vm snapshot",
    usage: "vm snapshot ADDR --name NAME",
    summary: "makes an image of a VM",
    flags: ["file", "name", "lock-timeout", ...commonFlags],
    positionals: count(1, 1, "the address of a VM"),
    load: () => require("./commands/vm"),
  },
  {
    name: "state list",
    usage: "state list",
    summary: "what is managed: address, id, name",
    flags: ["file", ...commonFlags],
    positionals: count(0, 0, ""),
    load: () => require("./commands/state"),
  },
  {
    name: "state show",
    usage: "state show ADDR",
    summary: "what the state knows of a resource",
    flags: ["file", ...commonFlags],
    positionals: count(1, 1, "an address"),
    load: () => require("./commands/state"),
  },
  {
    name: "state rm",
    usage: "state rm ADDR…",
    summary: "forgets a resource and leaves it alive",
    flags: ["file", "lock-timeout", ...commonFlags],
    positionals: count(1, 1000, "an address"),
    load: () => require("./commands/state"),
  },
  {
    name: "state mv",
    usage: "state mv FROM TO",
    summary: "gives a record another address",
    flags: ["file", "lock-timeout", ...commonFlags],
    positionals: count(2, 2, "two addresses"),
    load: () => require("./commands/state"),
  },
  {
    name: "state pull",
    usage: "state pull [--force]",
    summary: "prints the state as JSON",
    flags: ["file", "force", ...commonFlags],
    positionals: count(0, 0, ""),
    load: () => require("./commands/state"),
  },
  {
    name: "state push",
    usage: "state push FILE|- [--force]",
    summary: "puts a state in place of the present one",
    flags: ["file", "force", "lock-timeout", ...commonFlags],
    positionals: count(1, 1, "a file with a state, or - for standard input"),
    load: () => require("./commands/state"),
  },
  {
    name: "state unlock",
    usage: "state unlock [--force]",
    summary: "takes the lock from a holder that is gone",
    flags: ["file", "force", ...commonFlags],
    positionals: count(0, 0, ""),
    load: () => require("./commands/state"),
  },
  {
    name: "state resolve",
    usage: "state resolve ADDR --not-created|--confirmed|--reverted|--attached|--detached",
    summary: "settles what was sent and of which nothing tells what became",
    flags: ["file", "not-created", "confirmed", "reverted", "attached", "detached", "lock-timeout", ...commonFlags],
    positionals: count(1, 1, "an address"),
    load: () => require("./commands/state"),
  },
  {
    name: "orphans list",
    usage: "orphans list [--refresh]",
    summary: "what deletes left alive",
    flags: ["file", "refresh", ...commonFlags],
    positionals: count(0, 0, ""),
    load: () => require("./commands/orphans"),
  },
  {
    name: "orphans delete",
    usage: "orphans delete ID… [--allow-data-loss]",
    summary: "deletes orphaned volumes",
    flags: ["file", "allow-data-loss", "lock-timeout", ...commonFlags],
    positionals: count(1, 1000, "the id of an orphan"),
    load: () => require("./commands/orphans"),
  },
  {
    name: "graph",
    usage: "graph [FILE|DIR]… [--plan] [--format mermaid|dot|svg]",
    summary: "the resources, or the plan, as a picture",
    flags: ["file", "format", "plan", "out", ...commonFlags],
    load: () => require("./commands/graph"),
  },
  {
    name: "export pulumi",
    usage: "export pulumi [FILE|DIR]… [--out DIR]",
    summary: "a Pulumi program for what the state holds, with its import list",
    flags: ["file", "out", ...commonFlags],
    load: () => require("./commands/export"),
  },
  {
    name: "doctor",
    usage: "doctor [FILE|DIR]… [--out FILE]",
    summary: "what this service has and lacks, and a dialect that fits",
    flags: ["file", "out", ...commonFlags],
    load: () => require("./commands/doctor"),
  },
  {
    name: "rehearse",
    usage: "rehearse [FILE|DIR]… [--chaos [N]]",
    summary: "runs the plan on a twin of the live world first; the service is only read",
    flags: ["file", "target", "replace", "adopt", "accept-service", "destroy", "chaos", "seed", ...commonFlags],
    load: () => require("./commands/rehearse"),
  },
  {
    name: "watch",
    usage: "watch [FILE|DIR]… [--interval 10m] [--apply] [--listen HOST:PORT]",
    summary: "looks again and again; corrects with --apply; health and metrics",
    flags: [
      ...(["file", "interval", "apply", "listen", "adopt", "accept-service", ...consentFlags, "allow-empty"] as const),
      ...commonFlags,
    ],
    load: () => require("./commands/watch"),
  },
  {
    name: "emulator",
    usage: "emulator [--port P] [--dir D] [--time-scale N] …",
    summary: "serves the whole service on loopback",
    flags: [],
    ownArguments: true,
    load: () => require("./commands/emulator"),
  },
  {
    name: "explain",
    usage: "explain [CODE]",
    summary: "what an error means and what to do",
    flags: ["no-color", "json"],
    positionals: count(0, 1, ""),
    load: () => require("./commands/explain"),
  },
  {
    name: "completion",
    usage: "completion bash|zsh|fish",
    summary: "prints a completion script for your shell",
    flags: [],
    positionals: count(1, 1000, "bash, zsh or fish"),
    load: () => require("./commands/completion"),
  },
  {
    name: "version",
    usage: "version",
    summary: "prints the version",
    flags: ["json"],
    positionals: count(0, 0, ""),
    load: () => require("./commands/version"),
  },
];

export const commandNames: readonly string[] = commands.map((command) => command.name);

/** The command that the words begin with; two words (`state list`) before one. */
export function findCommand(
  argv: readonly string[],
): { readonly spec: CommandSpec; readonly rest: readonly string[] } | undefined {
  const [first, second] = argv;
  const two = commands.find((command) => command.name === `${first} ${second}`);
  if (two !== undefined) return { spec: two, rest: argv.slice(2) };
  const one = commands.find((command) => command.name === first);
  return one === undefined ? undefined : { spec: one, rest: argv.slice(1) };
}
