/**
 * The doctor's report as text: what was found, what each missing operation costs, and a dialect to put into a file. The
 * dialect's remarks say where each value was seen, what was taken as given, and what a person still has to find out. No
 * colours; the caller gives the width.
 */

import { isKind, kindRows } from "../core/model/kinds";
import type { AssumedOperation } from "../core/model/operation";
import { deepEqual } from "../core/text/deep-equal";
import { groupedBy } from "../core/text/objects";
import { printable } from "../core/text/printable";
import { builtInDialect } from "../dialect/built-in";
import type { RecordPlace } from "../dialect/dialect";
import { ownQuestions } from "../dialect/questions";
import { commonWay, type DoctorReport, type OperationFinding, saidAt } from "../engine/doctor/report";
import { leftToDo } from "../engine/doctor/todo";
import { hang } from "./style";

/** `yaml`: the dialect to show, where it is more than what was learnt. */
export function doctorText(report: DoctorReport, width = 80, yaml = dialectYaml(report)): string {
  const lines: string[] = [];
  lines.push(`service     ${report.reachable ? "reachable" : "not reachable"}`);
  lines.push(`credential  ${report.credential === "unknown" ? "not tried" : report.credential}`);
  if (report.authorization !== undefined)
    lines.push(`            as ${report.authorization.name}: ${report.authorization.header}`);
  for (const { summary, detail, fix } of report.diagnostics) {
    lines.push("", ...hang("", `${summary}.`, width));
    if (detail !== undefined) lines.push(...hang("  ", detail, width));
    if (fix !== undefined) lines.push(...hang("  → ", fix, width));
  }
  if (report.operations.length === 0) return `${lines.join("\n")}\n`;

  lines.push("", "Operations beyond the contract");
  for (const finding of report.operations) lines.push(...operationLines(finding, width));
  for (const finding of report.records) lines.push("", ...seenRecordLines(finding, width));
  if (report.unknownVmStates.length > 0)
    lines.push(
      "",
      ...hang(
        "",
        `VM states without a meaning in the dialect (they count as in transition): ${report.unknownVmStates.join(", ")}`,
        width,
      ),
    );
  if (report.trial !== undefined) lines.push(...trialLines(report.trial, width));
  const left = leftToDo(report);
  if (left.length > 0) lines.push("", "For a person to find out", ...left.flatMap((one) => hang("  - ", one, width)));
  const isWhole = (report.trial?.unproven ?? []).length === 0;
  lines.push("", isWhole ? "A dialect that fits" : "A dialect of what was seen", "", yaml.trimEnd());
  return `${lines.join("\n")}\n`;
}

function seenRecordLines({ record, looked, keys, fields }: DoctorReport["records"][number], width: number): string[] {
  const lines = [`Record of ${aOrAn(record)} (${looked} looked at)`];
  for (const { field, place, shows } of fields) {
    const where = place === undefined ? "not found" : flow(place);
    const text = `${where}${shows === undefined ? "" : `  shows ${oneLineOf(shows)}`}`;
    lines.push(...hang(`  ${field.padEnd(12)} `, text, width));
  }
  if (fields.some(({ place }) => place === undefined)) lines.push(...hang("  its keys    ", keys.join(", "), width));
  return lines;
}

/** Which service the dialect was learnt from, for the head of its file. */
export interface DialectOrigin {
  readonly baseUrl: string;
  /** The day, as text. */
  readonly date: string;
}

const schemaLine = "# yaml-language-server: $schema=node_modules/reconcile-cloud/schemas/dialect.schema.json";

/**
 * The dialect as YAML: the operations as found, and every line that was learnt with what was seen there. Of a dialect that
 * was given, only what is to be laid over it.
 */
export function dialectYaml(report: DoctorReport, origin?: DialectOrigin): string {
  const { dialect, base } = report;
  const lines: string[] = [];
  if (origin !== undefined)
    lines.push(schemaLine, `# What reconcile doctor learnt on ${origin.date} from ${origin.baseUrl}`, "");
  const todo = [...leftToDo(report), ...ownQuestions(saidAt(base, "todo"))];
  if (todo.length > 0) lines.push("todo:", ...todo.flatMap((question) => foldedLines(question)));
  const way = commonWay(report);
  const routes = report.operations.flatMap((finding) => {
    const { operation } = finding;
    const route = dialect.operations[operation];
    // One that was tried is written again, for what an earlier look had written beside it.
    const isSaid = saidAt(base, "operations", operation) !== undefined && finding.isTried !== true;
    if (isSaid && isSameRoute(route, base?.dialect.operations[operation] ?? null, way)) return [];
    return routeLines(operation, route, findingRemark(finding), way !== undefined);
  });
  const { wait, attachments, fingerprint } = dialect;
  if (wait !== undefined && !deepEqual(wait, base?.dialect.wait))
    routes.push(
      "  wait:   # seen in a trial",
      ...Object.entries(wait).flatMap(([key, value]) => listedLine(key, value)),
    );
  if (attachments !== undefined && !deepEqual(attachments, base?.dialect.attachments))
    routes.push(
      "  attachments:   # found",
      ...Object.entries(attachments).flatMap(([key, value]) =>
        way !== undefined && key === "pagination" ? [] : listedLine(key, value),
      ),
    );
  if (routes.length > 0) lines.push("operations:", ...routes);
  if (way !== undefined) lines.push(`pagination: ${flow(way)}   # followed once`);
  if (fingerprint !== undefined && !deepEqual(fingerprint, base?.dialect.fingerprint))
    lines.push(
      `fingerprint: { from: ${fingerprint.header ?? placesText(fingerprint.from)}, send: ${flow(fingerprint.send)} }   # seen in a trial`,
    );
  if (dialect.retry_after !== null && !deepEqual(dialect.retry_after, (base?.dialect ?? report.given).retry_after))
    lines.push(`retry_after: ${flow(dialect.retry_after)}   # was seen`);
  if (Object.keys(dialect.headers).length > 0 && !deepEqual(dialect.headers, base?.dialect.headers))
    lines.push(`headers: ${flow(dialect.headers)}   # was told`);
  lines.push(...learntLimits(report));
  lines.push(...answerLines(report), ...recordLines(report), ...stateLines(report), ...refusalLines(report));
  const { authorization } = report;
  if (authorization !== undefined) lines.push(`authorization: ${flow(authorization)}   # was taken`);
  else lines.push(...toldAuthorization(report));
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

/** What only a trial shows of rules and limits. */
const learntLimits = ({ trial, base }: DoctorReport): string[] =>
  (["rules", "limits"] as const).flatMap((section) => {
    const learnt = Object.entries(trial?.[section] ?? {}).filter(
      ([key, value]) => !deepEqual(saidAt(base, section, key), value),
    );
    if (learnt.length === 0) return [];
    return [`${section}:`, ...learnt.map(([key, value]) => `  ${key}: ${flow(value)}   # seen in a trial`)];
  });

const listedLine = (key: string, value: unknown): string[] =>
  Array.isArray(value) && value.length === 0 ? [] : [`    ${key}: ${flow(value)}`];

/** Whether the file says the route as it was found; how its list goes on may be written once for all. */
function isSameRoute(
  found: OperationFinding["route"],
  said: OperationFinding["route"],
  way: ReturnType<typeof commonWay>,
): boolean {
  if (found === null || said === null) return found === said;
  const { pagination: one, ...bare } = { pagination: undefined, ...found };
  const { pagination: other, ...otherBare } = { pagination: undefined, ...said };
  return deepEqual(bare, otherBare) && (deepEqual(one, other) || deepEqual(one, way));
}

/** How the credential is sent, where a person told it beside the file. */
function toldAuthorization({ given, base }: DoctorReport): string[] {
  const { name, header } = given.authorization;
  const before = (base?.dialect ?? builtInDialect).authorization;
  return before.name === name && before.header === header
    ? []
    : [`authorization: ${flow({ name, header })}   # was told`];
}

/** A quoted text over as many lines as it needs; YAML folds them into one line. */
function foldedLines(text: string): string[] {
  const [first = "", ...rest] = hang("    ", JSON.stringify(text), 78);
  return [`  - ${first.trimStart()}`, ...rest];
}

const findingRemark = ({ verdict, items, isTried, isSaid }: OperationFinding): string => {
  if (isSaid === true) return "   # there is none, as was told";
  if (isTried === true) return "   # tried, and seen to work";
  if (verdict === "not_tried") return "   # not tried";
  if (verdict === "unclear") return "   # unclear";
  if (verdict === "missing") return "   # not found where it was looked for";
  return items === undefined ? "   # found" : `   # found, ${items} listed`;
};

/** On one line where that fits a terminal, else one line a key, because a terminal breaks long lines anywhere. */
function routeLines(
  operation: AssumedOperation,
  route: OperationFinding["route"],
  remark: string,
  hasCommonWay: boolean,
): string[] {
  if (route?.alternatives !== undefined) {
    const { alternatives, ...last } = route;
    return [`  ${operation}:${remark}`, ...[...alternatives, last].map((one) => `    - ${flow(one)}`)];
  }
  const shownRoute =
    route === null
      ? null
      : Object.fromEntries(Object.entries(route).filter(([key]) => key !== "pagination" || !hasCommonWay));
  const line = `  ${operation}: ${shownRoute === null ? "null" : flow(shownRoute)}`;
  if (shownRoute === null || line.length + remark.length <= 80) return [line + remark];
  return [
    `  ${operation}:${remark}`,
    ...Object.entries(shownRoute).map(([key, value]) => `    ${key}: ${flow(value)}`),
  ];
}

function answerLines({ dialect, operations, base }: DoctorReport): string[] {
  const hasGroup = operations.some(
    ({ operation, route }) => operation === "group.get" && route !== null && "item" in route,
  );
  const said: Readonly<Record<string, unknown>> = base?.dialect.answers ?? {};
  const lines = Object.entries(dialect.answers).flatMap(([operation, answer]) => {
    if (deepEqual(said[operation], answer)) return [];
    const isSeen = operation === "volume.get" || operation === "group.rule.list";
    const like = isSeen
      ? ""
      : `   # not tried; as ${operation === "group.create" && hasGroup ? "group.get" : "volume.get"} answers`;
    return `  ${operation}: { item: ${placesText(answer?.item ?? [])} }${like}`;
  });
  return lines.length === 0 ? [] : ["answers:", ...lines];
}

function recordLines({ records }: DoctorReport): string[] {
  const lines: string[] = [];
  for (const { record, fields } of records) {
    const learnt = fields.filter(({ learnt }) => learnt === true);
    const own = learnt.filter(({ field }) => !field.includes("."));
    const entry = learnt.filter(({ field }) => field.includes("."));
    if (learnt.length === 0) continue;
    lines.push(`  ${record}:`);
    for (const { field, place, also, shows } of own)
      lines.push(`    ${field}: ${placesText([place, also].filter((one) => one !== undefined))}${seenRemark(shows)}`);
    if (entry.length > 0) {
      lines.push("    volume_entry:");
      for (const { field, place, shows } of entry)
        lines.push(
          `      ${field.slice("volume_entry.".length)}: ${placesText(place === undefined ? [] : [place])}${seenRemark(shows)}`,
        );
    }
  }
  return lines.length === 0 ? [] : ["records:", ...lines];
}

const seenRemark = (shows: string | undefined): string => (shows === undefined ? "" : `   # shows ${oneLineOf(shows)}`);

function stateLines({ likelyStates, unknownVmStates, trial }: DoctorReport): string[] {
  const vm = wordLines(trial?.states.vm ?? {}, likelyStates);
  const volume = wordLines(trial?.states.volume ?? {}, {});
  const questions = unknownVmStates.map((word) => `    # what does ${oneLineOf(word)} mean?`);
  if (vm.length + volume.length === 0) return questions.map((line) => line.trimStart());
  return [
    "states:",
    ...(vm.length === 0 ? [] : ["  vm:", ...vm]),
    ...questions,
    ...(volume.length === 0 ? [] : ["  volume:", ...volume]),
  ];
}

type WordLists = Readonly<Record<string, readonly string[] | undefined>>;

const wordLines = (seen: WordLists, likely: WordLists): string[] =>
  [...new Set([...Object.keys(seen), ...Object.keys(likely)])].flatMap((phase) => {
    const [known, guessed] = [seen[phase] ?? [], likely[phase] ?? []];
    if (known.length + guessed.length === 0) return [];
    const remark =
      guessed.length === 0
        ? "seen in a trial"
        : known.length === 0
          ? "by the word alone"
          : "seen in a trial, and by the word alone";
    return [`    ${phase}: ${flow([...known, ...guessed])}   # ${remark}`];
  });

const trialLines = ({ seen, left, made }: NonNullable<DoctorReport["trial"]>, width: number): string[] => [
  "",
  "What the trial saw",
  ...seen.flatMap((line) => hang("  - ", line, width)),
  ...(made.length === 0 ? [] : ["", "What the trial made, and what became of it"]),
  ...made.flatMap(({ kind, name, id, became }) =>
    hang("  - ", `${[kindRows[kind].noun, name, id].filter((word) => word !== undefined).join(" ")}: ${became}`, width),
  ),
  ...(left.length === 0 ? [] : ["", "What the trial made and could not take away"]),
  ...left.flatMap((line) => hang("  - ", line, width)),
];

function refusalLines({ refusal, trial }: DoctorReport): string[] {
  const tried = (trial?.errors ?? []).map((rule) => `  - ${flow(rule)}   # seen in a trial`);
  if (refusal === undefined) return tried.length === 0 ? [] : ["errors:", ...tried];
  const { error, success } = refusal.envelope;
  const code = error === undefined || error.code.length === 0 ? "" : `code: ${flow(error.code[0])}, `;
  const envelope = [
    ...(error === undefined ? [] : [`  error: { ${code}message: ${flow(error.message[0])} }`]),
    ...(success === undefined ? [] : [`  success: ${flow(success)}`]),
  ];
  const rules = [...tried, ...refusal.errors.map((rule) => `  - ${flow(rule)}`)];
  return [
    ...(envelope.length === 0 ? [] : ["envelope:", ...envelope]),
    ...(rules.length === 0
      ? []
      : [
          refusal.errors.length === 0
            ? "errors:"
            : `errors:   # to a volume that nobody has it said: ${oneLineOf(refusal.said)}`,
          ...rules,
        ]),
  ];
}

function operationLines(
  { operation, verdict, route, tried, fallback, items }: OperationFinding,
  width: number,
): string[] {
  const place = route === null ? "" : `  ${route.method} ${route.path}`;
  const words = { found: "found", missing: "not found", unclear: "unclear", not_tried: "not tried" } as const;
  const count = items === undefined ? "" : `, ${items} listed`;
  const lines = [
    `  ${operation.padEnd(18)}  ${words[verdict].padEnd(9)}${place}${verdict === "found" ? count : ""}`.trimEnd(),
  ];
  if (verdict === "unclear" || verdict === "missing") lines.push(...triedLines(tried, width));
  if (verdict === "not_tried" && route !== null)
    lines.push("      trying it would change something; assumed as written");
  if (fallback !== undefined) lines.push(...hang("      ", `${fallback.cost} ${fallback.instead}`, width));
  return lines;
}

/** Paths that were answered alike are reported together. */
function triedLines(tried: OperationFinding["tried"], width: number): string[] {
  const byAnswer = groupedBy(tried, ({ answer }) => answer.replaceAll(/[\w-]*\d[\w-]*|\/[\w/{}?=-]+/g, "…"));
  return [...byAnswer.values()].flatMap(([{ path, answer }, ...others]) =>
    hang(
      "      ",
      `${path}${others.length === 0 ? "" : ` and ${others.length} other ${others.length === 1 ? "path" : "paths"}`}: ${answer}`,
      width,
    ),
  );
}

const placesText = (all: readonly RecordPlace[]): string => (all.length === 1 ? flow(all[0]) : flow(all));

/** A value in YAML's flow style, quoted where a plain word could be read as something else. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, item]) => `${quoted(key)}: ${flow(item)}`);
    return `{ ${entries.join(", ")} }`;
  }
  return typeof value === "string" ? quoted(value) : JSON.stringify(value);
}

const quoted = (text: string): string =>
  /^[A-Za-z_/][A-Za-z0-9/._-]*$/.test(text) && !/^(true|false|null|yes|no|on|off|y|n)$/i.test(text)
    ? text
    : JSON.stringify(text);

/** A value in a remark: on one line, cut short, and without anything that a terminal would act on. */
const oneLineOf = (text: string): string => {
  const oneLine = printable(text.replaceAll(/[^\x20-\x7e\u00a0-\uffff]+/g, " "));
  return oneLine.length > 40 ? `${oneLine.slice(0, 39)}…` : oneLine;
};

const aOrAn = (word: string): string =>
  word === "image" ? `an ${word}` : `a ${isKind(word) ? kindRows[word].noun : word}`;
