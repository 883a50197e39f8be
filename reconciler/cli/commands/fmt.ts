/** `reconcile fmt`: writes files in their usual form. No value changes, and comments stay. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, isAbsolute, relative, resolve } from "node:path";
import { type Formatted, formatYaml, topOrder } from "../../config/format";
import { collectProblems } from "../../config/problems";
import { type ConfigSource, isMap } from "../../config/yaml/file";
import { readYaml } from "../../config/yaml/reader";
import type { Diagnostic } from "../../core/model/diagnostic";
import { onlyDefined } from "../../core/text/objects";
import { printable } from "../../core/text/printable";
import { replaceOwnFile } from "../../outside/private-file";
import { command, type Invocation } from "../command";
import { defaultFile, expandFolder, readSourceFile } from "../workspace";

export const fmtCommand = command({
  usage: "fmt [FILE|DIR|-]… [--check]",
  summary: "writes files in their usual form: order, quotes, indentation",
  section: "From a file to the service",
  examples: [
    [
      "reconcile fmt",
      "rewrites reconcile.yaml and the components that it uses in place, and prints the names of those that changed",
    ],
    ["reconcile fmt --check prod/", "writes nothing; prints what is not in its usual form, and then exits 2"],
  ],
  flags: ["file", "check", "json", "json-into", "no-color", "log-level"],
  async run({ args, flags, output }) {
    const given = [...args, ...(flags.file ?? [])];
    if (given.length === 1 && (given[0] === "-" || given[0] === "/dev/stdin"))
      return formatInput(flags.check === true, output);
    const named = given.length === 0 ? [defaultFile] : given;
    const paths = withComponents(named.flatMap(expandFolder));
    const diagnostics: Diagnostic[] = [];
    let changed = 0;
    for (const path of paths) {
      const { file, text } = readSourceFile(path);
      const other = named.includes(path) ? undefined : topOfOther({ file, text });
      const formatted = formatYaml(text);
      if (other !== undefined) {
        const way = "problem" in formatted ? "" : " Named by itself, it is formatted.";
        output.note(`${file} is left as it is: ${other} of a desired state.${way}`);
        continue;
      }
      if ("problem" in formatted) {
        diagnostics.push(...unformatted(formatted, { file, text }));
        continue;
      }
      if (formatted.text === text) continue;
      changed++;
      if (flags.check !== true) replaceOwnFile(path, formatted.text);
      output.print(printable(file));
      output.event({ type: "formatted", file, written: flags.check !== true });
    }
    const exitCode = diagnostics.length > 0 ? 1 : flags.check === true && changed > 0 ? 2 : 0;
    return output.finish({ exitCode, diagnostics });
  },
});

/**
 * What a file of a folder has at its top and no file of ours has: it is another program's, such as a compose file. Of
 * several documents the first one tells.
 */
function topOfOther({ file, text }: ConfigSource): string | undefined {
  const documents = text
    .split(/^---(?=\s|$)/m)
    .map((document) => readYaml({ file, text: document }, collectProblems()));
  const root = documents.find((document) => document.root !== undefined)?.root;
  if (Array.isArray(root)) return "a list is no form";
  const key = isMap(root)
    ? Object.keys(root).find((one) => !topOrder.includes(one) && !one.startsWith("x-"))
    : undefined;
  return key === undefined ? undefined : `${key} is no key`;
}

/** With the components that the files use, as far as those lie in the folder of the first file or below it. */
function withComponents(given: readonly string[]): string[] {
  const paths = new Map(given.map((path) => [resolve(path), path] as const));
  const root = dirname(resolve(given[0] ?? "."));
  for (const [whole, path] of paths) {
    const { root: value } = readYaml(readSourceFile(path), collectProblems());
    const uses = isMap(value) ? value["components"] : undefined;
    for (const use of isMap(uses) ? Object.values(uses) : []) {
      const from = isMap(use) ? use["from"] : undefined;
      if (typeof from !== "string" || from.startsWith("npm:") || from.includes("${")) continue;
      const file = resolve(dirname(whole), from);
      const way = relative(root, file);
      // A component that several projects share is formatted where it lives.
      if (way.startsWith("..") || isAbsolute(way) || paths.has(file) || !existsSync(file)) continue;
      paths.set(file, relative(process.cwd(), file));
    }
  }
  return [...paths.values()];
}

function formatInput(isCheck: boolean, output: Invocation["output"]): number {
  const file = "standard input";
  const given = readFileSync(0, "utf8");
  const formatted = formatYaml(given);
  if ("problem" in formatted)
    return output.finish({ exitCode: 1, diagnostics: unformatted(formatted, { file, text: given }) });
  const { text } = formatted;
  const differs = text !== given;
  if (isCheck && differs) output.print(printable(file));
  if (!isCheck && !output.json) process.stdout.write(text);
  if (differs) output.event({ type: "formatted", file, written: false, ...(isCheck ? {} : { text }) });
  return output.finish({ exitCode: isCheck && differs ? 2 : 0 });
}

/** What cannot be read is told as every command tells it. */
function unformatted({ problem, fix }: Extract<Formatted, { problem: string }>, source: ConfigSource): Diagnostic[] {
  const problems = collectProblems();
  readYaml(source, problems);
  if (problems.diagnostics.length > 0) return problems.diagnostics;
  const summary = `${source.file} cannot be formatted: ${problem}`;
  return [{ severity: "error", code: "config/yaml-syntax", summary, ...onlyDefined({ fix }) }];
}
