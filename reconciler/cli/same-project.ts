/**
 * A command that a message names is copied into the shell. Where this run was told which files, environment, state and
 * service it is about, and with which variables, that command has to be told the same: without them it is about another
 * project, or would change what this run made.
 */
import { statSync } from "node:fs";
import { parseAddress } from "../core/model/address";
import { leftOutSign } from "../core/text/credential-mask";
import { inShell } from "../core/text/in-shell";
import { isUrl, withoutPassword } from "../core/text/outside-policy";
import { type Commands, findCommand, type NamedCommand } from "./command";
import type { Flags } from "./flags";
import { isPlanFile } from "./plan-file";

/**
 * Answers with a text in which each command of ours names what this run was told. What is said by a command that is about
 * several projects may be about any of them.
 */
export function onSameProject(
  commands: Commands,
  command: NamedCommand,
  { flags, args }: { readonly flags: Flags; readonly args: readonly string[] },
): (text: string) => string {
  // `drift --accept` takes addresses beside files.
  const named = command.positionals === undefined ? args.filter((word) => parseAddress(word) === undefined) : [];
  const files = [...named, ...(flags.file ?? [])];
  // A saved plan names all of it, and so does the command that applies it.
  const isOfSeveral = [flags.to, flags["to-state"], flags["changed-since"]].some((flag) => flag !== undefined);
  const given = (flag: "env" | "state" | "base-url" | "dialect"): string[] => {
    const value = flags[flag];
    return value === undefined || value === "all" ? [] : [`--${flag} ${inShell(withoutSecrets(value))}`];
  };
  // Which variable is sensitive, only its file says.
  const variables = [
    ...(flags.var ?? []).flatMap((one) =>
      one.includes("=") ? [`--var ${inShell(`${one.split("=")[0]}=${leftOutSign}`)}`] : [],
    ),
    ...(flags["var-file"] ?? []).map((file) => `--var-file ${inShell(file)}`),
  ];
  return (text) => {
    if (isOfSeveral || !files.every(isOfFiles)) return text;
    return text.replaceAll(commandInText, (whole, first: string, second: string | undefined, at: number) => {
      const found = findCommand(commands, [first, second ?? ""])?.found;
      if (found === undefined || !found.flags.includes("state")) return whole;
      const name = `reconcile ${found.name}`;
      const [rest = ""] = text.slice(at + name.length).split("reconcile ");
      if (found.positionals === undefined && /^ \S+\.json\b/.test(rest)) return whole;
      const words = [
        ...(/^ (?:-f|--file|\S+\.ya?ml)\b/.test(rest) ? [] : files.map((file) => `-f ${inShell(file)}`)),
        // A command that names one of them may be about another environment.
        ...(/ --(?:env|state)\b/.test(rest) ? [] : [...given("env"), ...given("state")]),
        ...(/ --(?:base-url|dialect)\b/.test(rest) ? [] : [...given("base-url"), ...given("dialect")]),
        ...(/ --var\b/.test(rest) || !found.flags.includes("var") ? [] : variables),
      ];
      return [name, ...words].join(" ") + whole.slice(name.length);
    });
  };
}

const commandInText = /\breconcile ([a-z]+)(?: ([a-z]+))?(?![a-z])/g;

/** A pipe is read once, by the command itself. */
function isOfFiles(path: string): boolean {
  if (/\.ya?ml$/.test(path)) return true;
  const there = statSync(path, { throwIfNoEntry: false });
  return there !== undefined && !(there.isFile() && isPlanFile(path));
}

/** With no state at all, the command would be about the one beside the files. */
function withoutSecrets(place: string): string {
  if (!isUrl(place)) return place;
  const secrets = /^https?:/i.test(place) ? /([?&][^=&]*=)[^&]*/g : /([?&]password=)[^&]*/gi;
  return withoutPassword(place).replace(secrets, `$1${leftOutSign}`);
}
