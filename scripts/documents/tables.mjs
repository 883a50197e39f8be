// Every part of a document that is made from the program's own tables, by the name between its markers:
//   <!-- generated: NAME -->  …  <!-- /generated -->
import { createRequire } from "node:module";
import { join } from "node:path";
import { commandStories } from "./command-stories.mjs";
import { folderList, orderTable } from "./house.mjs";
import { desiredTables, dialectTables, fallbackTable } from "./schema-tables.mjs";

const require = createRequire(import.meta.url);
const load = (root, module) => require(join(root, "dist", module));

const generators = {
  commands: commandSections,
  "common-flags": (root) => {
    const { commonFlags } = load(root, "reconciler/cli/flags.js");
    return flagTable(["file", ...commonFlags].map((name) => load(root, "reconciler/cli/help.js").flagHelp(name)));
  },
  errors: errorSections,
  "desired-state": desiredTables,
  dialect: dialectTables,
  fallbacks: fallbackTable,
  folders: folderList,
  passes: orderTable,
};

export function withTables(root, text) {
  return text.replaceAll(
    /(<!-- generated: ([\w-]+) -->\n)[\s\S]*?(\n?<!-- \/generated -->)/g,
    (_, head, name, tail) => {
      const generate = generators[name];
      if (generate === undefined) throw new Error(`nothing generates ${name}`);
      return `${head}\n${generate(root)}\n${tail.startsWith("\n") ? tail : `\n${tail}`}`;
    },
  );
}

function commandSections(root) {
  const { commands } = load(root, "reconciler/cli/registry.js");
  const { allCommands } = load(root, "reconciler/cli/command.js");
  const { commonFlags } = load(root, "reconciler/cli/flags.js");
  const { flagHelp, splitFlags } = load(root, "reconciler/cli/help.js");
  const order = Object.keys(commandStories);
  const rank = (name) => (order.includes(name) ? order.indexOf(name) : order.length);
  const lines = [];
  for (const command of [...allCommands(commands)].sort((a, b) => rank(a.name) - rank(b.name))) {
    lines.push(`## ${command.name}`, "", `\`reconcile ${command.usage}\` — ${command.summary}.`, "");
    for (const [line, says] of command.examples) lines.push(`- \`${line}\`: ${says}`);
    lines.push("");
    const { own, shared } = splitFlags(command.flags);
    const flags = command.ownFlags?.() ?? own.map((flag) => flagHelp(flag, command));
    if (flags.length > 0) lines.push(flagTable(flags), "");
    if (commonFlags.every((flag) => shared.includes(flag))) lines.push("And the [common flags](#common-flags).", "");
    else if (shared.length > 0)
      lines.push(`And, of the [common flags](#common-flags), ${shared.map((flag) => `\`--${flag}\``).join(", ")}.`, "");
    for (const story of commandStories[command.name] ?? []) lines.push(...storyLines(story));
  }
  return lines.join("\n").trimEnd();
}

function storyLines({ says, run, shows = true }) {
  return [
    ...(says === undefined ? [] : [says, ""]),
    "```sh",
    ...run,
    "```",
    "",
    ...(shows ? ["```text", "```", ""] : []),
  ];
}

const flagTable = (rows) =>
  [
    "| flag | |",
    "| --- | --- |",
    ...rows.map(({ left, help }) => `| \`${left.replaceAll("|", "\\|")}\` | ${help.replaceAll("|", "\\|")} |`),
  ].join("\n");

function errorSections(root) {
  const { explanations } = load(root, "reconciler/report/explanations.js");
  const titles = {
    config: "The desired state",
    dialect: "The dialect",
    plan: "Planning",
    consent: "Consents (exit 3)",
    apply: "While applying",
    service: "The service",
    state: "The state",
    cli: "The command line",
  };
  const areas = [...new Set([...Object.keys(titles), ...Object.keys(explanations).map((code) => code.split("/")[0])])];
  const lines = [];
  for (const area of areas) {
    const rows = Object.entries(explanations).filter(([code]) => code.startsWith(`${area}/`));
    if (rows.length === 0) continue;
    lines.push(`## ${titles[area] ?? area}`, "", "| code | means | what to do |", "| --- | --- | --- |");
    for (const [code, { means, todo }] of rows) lines.push(`| \`${code}\` | ${cell(means)} | ${cell(todo)} |`);
    lines.push("");
  }
  return lines.join("\n").trimEnd();
}

const cell = (text) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;");
