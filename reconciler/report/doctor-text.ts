/**
 * The doctor's report as text: what was found, what each missing operation costs, and a dialect to put into a file.
 * No colours; the width is the caller's.
 */
import type { DoctorReport, OperationFinding } from "../engine/doctor";
import { hang } from "./style";

export function doctorText(report: DoctorReport, width = 80): string {
  const lines: string[] = [];
  lines.push(`service     ${report.reachable ? "reachable" : "not reachable"}`);
  lines.push(`credential  ${report.credential === "unknown" ? "not tried" : report.credential}`);
  for (const { summary, detail, fix } of report.diagnostics) {
    lines.push("", ...hang("", `${summary}.`, width));
    if (detail !== undefined) lines.push(...hang("  ", detail, width));
    if (fix !== undefined) lines.push(...hang("  → ", fix, width));
  }
  if (report.operations.length === 0) return `${lines.join("\n")}\n`;

  lines.push("", "Operations beyond the contract");
  for (const finding of report.operations) lines.push(...operationLines(finding, width));
  for (const { record, looked, keys, fields } of report.records) {
    lines.push("", `Record of ${aOrAn(record)} (${looked} looked at)`);
    for (const { field, pointer, suggestion } of fields) {
      const where = pointer !== undefined ? quoted(pointer) : "not found";
      lines.push(`  ${field.padEnd(12)}${where}${suggestion === undefined ? "" : `, perhaps ${suggestion}`}`);
    }
    if (fields.some(({ pointer }) => pointer === undefined))
      lines.push(...hang("  its keys    ", keys.join(", "), width));
  }
  if (report.unknownVmStates.length > 0)
    lines.push(
      "",
      ...hang(
        "",
        `VM states without a meaning in the dialect (they count as in transition): ${report.unknownVmStates.join(", ")}`,
        width,
      ),
    );
  lines.push("", "A dialect that fits", "", dialectYaml(report).trimEnd());
  return `${lines.join("\n")}\n`;
}

/** The operations as found, and the record fields for which a better pointer is suggested. */
export function dialectYaml(report: DoctorReport): string {
  const lines = ["operations:"];
  for (const { operation, verdict } of report.operations) {
    const route = report.dialect.operations[operation];
    const remark = verdict === "not_tried" ? "   # not tried" : verdict === "unclear" ? "   # unclear" : "";
    lines.push(...routeLines(operation, route, remark));
  }
  const changed = report.records.filter(({ fields }) => fields.some(({ suggestion }) => suggestion !== undefined));
  if (changed.length > 0) lines.push("records:");
  for (const { record, fields } of changed) {
    lines.push(`  ${record}:`);
    for (const { field, suggestion } of fields)
      if (suggestion !== undefined) lines.push(`    ${field}: ${flow([suggestion])}`);
  }
  return `${lines.join("\n")}\n`;
}

/** In one line where it fits a terminal, else a key a line: a terminal breaks a long one anywhere. */
function routeLines(operation: string, route: OperationFinding["route"], remark: string): string[] {
  const line = `  ${operation}: ${route === null ? "null" : flow(route)}${remark}`;
  if (route === null || line.length <= 80) return [line];
  return [`  ${operation}:${remark}`, ...Object.entries(route).map(([key, value]) => `    ${key}: ${flow(value)}`)];
}

function operationLines({ operation, verdict, route, tried, fallback }: OperationFinding, width: number): string[] {
  const place = route === null ? "" : `  ${route.method} ${route.path}`;
  const words = { found: "found", missing: "missing", unclear: "unclear", not_tried: "not tried" } as const;
  const lines = [`  ${operation.padEnd(18)}  ${words[verdict].padEnd(9)}${place}`.trimEnd()];
  if (verdict === "unclear" || verdict === "missing")
    for (const { path, answer } of tried) lines.push(...hang("      ", `${path}: ${answer}`, width));
  if (verdict === "not_tried" && route !== null)
    lines.push("      trying it would change something; assumed as written");
  if (fallback !== undefined) lines.push(...hang("      ", `${fallback.cost} ${fallback.instead}`, width));
  return lines;
}

/** YAML's flow style, with quotes where a plain word could be read as something else. */
function flow(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(flow).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, item]) => `${key}: ${flow(item)}`);
    return `{ ${entries.join(", ")} }`;
  }
  return quoted(String(value));
}

const quoted = (text: string): string => (/^[A-Za-z/][A-Za-z0-9/._-]*$/.test(text) ? text : JSON.stringify(text));

const aOrAn = (word: string): string => (word === "image" ? `an ${word}` : `a ${word === "vm" ? "VM" : word}`);
