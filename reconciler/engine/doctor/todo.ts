/** What the doctor leaves to a person. */
import { kindRows } from "../../core/model/kinds";
import { keysOf } from "../../core/text/objects";
import { type DoctorReport, shownForRecords, showsNoRecords } from "./report";

export function leftToDo(
  report: Pick<DoctorReport, "dialect" | "operations" | "records" | "unknownVmStates" | "samples">,
): string[] {
  const todo: string[] = [];
  const untried = report.operations.filter(({ verdict, route }) => verdict === "not_tried" && route !== null);
  if (untried.length > 0)
    todo.push(
      `${untried.map(({ operation }) => operation).join(", ")}: taken as written, since trying would change something`,
    );
  const without = report.operations.filter(({ verdict, route }) => verdict === "not_tried" && route === null);
  if (without.length > 0)
    todo.push(
      `${without.map(({ operation }) => operation).join(", ")}: not tried; give a route if this service has one`,
    );
  for (const { operation, verdict, tried } of report.operations)
    if (verdict === "unclear" && tried.length > 0)
      todo.push(`${operation}: it was tried, and the answers decide nothing`);
  for (const finding of report.operations.filter(showsNoRecords))
    todo.push(
      `operations.${finding.operation}: it shows ${shownForRecords(finding)}, and a plan needs records; where a query or another path shows them (…?expand=true, …/detail), say so: --curl ${finding.operation}='curl …'`,
    );
  for (const { operation, isKept } of report.operations)
    if (isKept === true)
      todo.push(`${operation}: it was given, and not found where it is said to be; take the line out if there is none`);
  for (const kind of keysOf(kindRows))
    if ((report.samples.get(kind)?.length ?? 0) === 0 && report.records.every(({ record }) => record !== kind))
      todo.push(
        `records.${kind}: no ${kindRows[kind].noun} was seen, so its fields are as built in; look again when there is one`,
      );
  for (const word of report.unknownVmStates)
    todo.push(`states.vm: what does ${JSON.stringify(word)} mean (running, stopped, failed, …)?`);
  const needed: Readonly<Record<string, readonly string[]>> = {
    vm: ["id", "name", "status", "flavor", "image", "volumes", "volume_entry.root"],
    volume: ["id", "size", "attached_to"],
    group: ["id", "name"],
  };
  const isAttached = report.records.some(({ fields }) =>
    fields.some(({ field, place }) => field === "attached_to" && place !== undefined),
  );
  // Where a VM names no volumes, or in no way that a dialect knows, the volumes say what they hang on, or a list does.
  const isListed = report.dialect.attachments !== undefined;
  const hosts: Readonly<Record<string, readonly string[]>> = {
    vm: isAttached || isListed ? ["volumes"] : [],
    volume: isListed ? ["attached_to"] : [],
  };
  const isToldOtherwise = (record: string, field: string): boolean => hosts[record]?.includes(field) === true;
  for (const { record, fields } of report.records)
    for (const { field, place } of fields)
      if (place === undefined && needed[record]?.includes(field) === true && !isToldOtherwise(record, field))
        todo.push(`records.${record}.${field}: not found in the records that were looked at`);
  return todo;
}
