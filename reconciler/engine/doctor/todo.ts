/** What the doctor leaves to a person. */
import { kindRows } from "../../core/model/kinds";
import { keysOf } from "../../core/text/objects";
import { acceptedInVain, commonWay, type DoctorReport, shownForRecords, showsNoRecords } from "./report";

export const leftToDo = (report: DoctorReport): readonly string[] => [
  ...report.open,
  ...operationsToSay(report),
  ...keysOf(kindRows)
    .filter(
      (kind) => (report.samples.get(kind)?.length ?? 0) === 0 && !report.records.some(({ record }) => record === kind),
    )
    .map(
      (kind) =>
        `records.${kind}: no ${kindRows[kind].noun} was seen, so its fields are as built in; look again when there is one`,
    ),
  ...report.unknownVmStates.map(
    (word) => `states.vm: what does ${JSON.stringify(word)} mean (running, stopped, failed, …)?`,
  ),
  ...fieldsToFind(report).map((field) => `records.${field}: not found in the records that were looked at`),
  ...(report.trial?.open ?? []).filter((line) => !isFollowedSince(line, report)),
];

/** A list that could not be followed before another one showed how lists go on. */
function isFollowedSince(line: string, report: DoctorReport): boolean {
  const [, name] = /^operations\.([\w.]+)\.pagination: the list at/.exec(line) ?? [];
  const route = report.operations.find(({ operation }) => operation === name)?.route;
  const isOwn = route != null && "pagination" in route && route.pagination !== undefined;
  return name !== undefined && (isOwn || commonWay(report)?.next !== undefined);
}

function operationsToSay({ operations }: DoctorReport): readonly string[] {
  const untried = (hasRoute: boolean, says: string): readonly string[] => {
    const names = operations.filter(({ verdict, route }) => verdict === "not_tried" && (route !== null) === hasRoute);
    return names.length === 0 ? [] : [`${names.map(({ operation }) => operation).join(", ")}: ${says}`];
  };
  return [
    ...untried(true, "taken as written, since trying would change something"),
    ...untried(false, "not tried; give a route if this service has one"),
    ...operations
      .filter(({ verdict, tried }) => verdict === "unclear" && tried.length > 0)
      .map(({ operation }) => `${operation}: it was tried, and the answers decide nothing`),
    ...operations
      .filter(showsNoRecords)
      .map(
        (finding) =>
          `operations.${finding.operation}: it shows ${shownForRecords(finding)}, and a plan needs records; where a query or another path shows them (…?expand=true, …/detail), say so: --curl ${finding.operation}='curl …'`,
      ),
    ...operations
      .filter(({ isKept }) => isKept === true)
      .map(({ operation, tried }) =>
        tried.some(({ answer }) => answer === acceptedInVain)
          ? `${operation}: it was accepted as it was given, and the service went on showing what was there before; look in its console what became of it`
          : `${operation}: it was given, and not found where it is said to be; take the line out if there is none`,
      ),
  ];
}

/** What a plan needs of each record. */
const fieldsNeeded: Readonly<Record<string, readonly string[]>> = {
  vm: ["id", "name", "status", "flavor", "image", "volumes", "volume_entry.root"],
  volume: ["id", "size", "attached_to"],
  group: ["id", "name"],
};

function fieldsToFind({ records, dialect }: DoctorReport): readonly string[] {
  const isAttached = records.some(({ fields }) =>
    fields.some(({ field, place }) => field === "attached_to" && place !== undefined),
  );
  // Where a VM names no volumes, or in no way that a dialect knows, the volumes say what they hang on, or a list does.
  const isListed = dialect.attachments !== undefined;
  const toldOtherwise = [
    ...(isAttached || isListed ? ["vm.volumes"] : []),
    ...(isListed ? ["volume.attached_to"] : []),
  ];
  return records.flatMap(({ record, fields }) =>
    fields
      .filter(({ field, place }) => place === undefined && fieldsNeeded[record]?.includes(field) === true)
      .map(({ field }) => `${record}.${field}`)
      .filter((field) => !toldOtherwise.includes(field)),
  );
}
