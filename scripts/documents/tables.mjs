// Every part of a document that is made from the program's own tables, by the name between its markers:
//   <!-- generated: NAME -->  …  <!-- /generated -->
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { folderList, orderTable } from "./house.mjs";
import { desiredTables, dialectTables, fallbackTable, fileTables } from "./schema-tables.mjs";

const require = createRequire(import.meta.url);
const load = (root, module) => require(join(root, "dist", module));

const generators = {
  commands: commandSections,
  "shared-flags": (root) => flagTable([...sharedFlags(root).values()].sort((a, b) => (a.left < b.left ? -1 : 1))),
  "common-flags": (root) => {
    const { commonFlags } = load(root, "reconciler/cli/flags.js");
    return flagTable(["file", ...commonFlags].map((name) => load(root, "reconciler/cli/help.js").flagHelp(name)));
  },
  errors: errorSections,
  figures: figureTable,
  "desired-state": desiredTables,
  dialect: dialectTables,
  fallbacks: fallbackTable,
  fleet: fileTables("fleet"),
  tests: fileTables("tests"),
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

/** Commands of one first word are one section. */
function commandSections(root) {
  const shared = sharedFlags(root);
  const sections = new Map();
  for (const one of commandsWithFlags(root)) {
    const [word] = one.command.name.split(" ");
    sections.set(word, [...(sections.get(word) ?? []), one]);
  }
  return [...sections]
    .map(([word, commands]) => [`## ${word}`, "", ...commands.map((one) => commandLines(one, shared))].join("\n"))
    .join("\n\n");
}

function commandLines({ command, flags }, shared) {
  const own = flags.filter((flag) => !shared.has(keyOf(flag)));
  const lines = [`- \`${command.usage}\`: ${command.summary}`];
  if (own.length > 0) lines.push(flagTable(own).replaceAll(/^/gm, "  "));
  return lines.join("\n");
}

/** Every command with the flags that are its own, which are all but the common ones. */
function commandsWithFlags(root) {
  const { commands } = load(root, "reconciler/cli/registry.js");
  const { allCommands } = load(root, "reconciler/cli/command.js");
  const { flagHelp, splitFlags } = load(root, "reconciler/cli/help.js");
  return allCommands(commands).map((command) => ({
    command,
    flags: command.ownFlags?.() ?? splitFlags(command.flags).own.map((flag) => flagHelp(flag, command)),
  }));
}

const keyOf = ({ left, help }) => `${left} ${help}`;

/** The flags that several commands take and that mean the same in all of them. */
function sharedFlags(root) {
  const counts = new Map();
  for (const { flags } of commandsWithFlags(root))
    for (const flag of flags) counts.set(keyOf(flag), { flag, count: (counts.get(keyOf(flag))?.count ?? 0) + 1 });
  return new Map([...counts].filter(([, { count }]) => count > 1).map(([key, { flag }]) => [key, flag]));
}

/** Of what `npm run bench` measured, what a reader asks for first. */
function figureTable(root) {
  const { rows } = JSON.parse(readFileSync(join(root, "docs/performance.json"), "utf8"));
  const asked = [
    "first word of a plan of 10000 resources",
    "reconcile validate, a small file",
    "no-op plan, 10000 flat",
    "no-op plan, 100000 flat",
    "plan of 1000 VMs, 1000 volumes, 100 groups, 20 ms, 10 connections",
    "plan --target of one volume of 630, 20 ms",
    "first apply of 100 VMs (10 s each), 100 attached volumes, 10 groups",
    "first apply of 10000 flat, the service inside",
    "first apply of 300 VMs and 300 attached volumes, beside Terraform",
    "first apply of 300 VMs and 300 attached volumes, beside Pulumi",
    "no-op plan, 10000 flat",
    "Alchemy / ours, first apply of 10,000",
    "a fleet's sweep of 50 stacks of 20 resources, one worker",
  ];
  const found = [...new Set(asked)].map((what) => {
    const row = rows.find((one) => one.what.startsWith(what));
    if (row === undefined) throw new Error(`performance.json has no row ${what}`);
    return row;
  });
  return [
    "| what | figure | floor or other tool | times of it |",
    "| --- | --- | --- | --- |",
    ...found.map(({ what, figure, floor, ratio }) => `| ${what} | ${figure} | ${floor} | ${ratio ?? ""} |`),
  ].join("\n");
}

const flagTable = (rows) => rows.map(({ left, help }) => `- \`${left}\`: ${help}`).join("\n");

/** `explain` has the rest. */
const firstSentence = (text) => text.split(/(?<=\.) (?=[A-Z])/)[0];

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
    lines.push(`## ${titles[area] ?? area}`, "");
    for (const [code, { means }] of rows) lines.push(`- \`${code}\`: ${firstSentence(means).replaceAll("<", "&lt;")}`);
    lines.push("");
  }
  return lines.join("\n").trimEnd();
}
