/** One data volume: its size, where it is attached, and what may stand behind a flush. */
import type { DesiredVolume, FlushPolicy } from "../core/model/desired";
import { type Instance, placeOfBlock } from "./blocks";
import {
  fieldOf,
  isGiven,
  readArgv,
  readEnum,
  readMap,
  readVariables,
  reportMissing,
  type Subject,
  type Values,
} from "./fields";
import { readPlainLifecycle } from "./read-lifecycle";
import { readRows } from "./read-rows";
import { type Declared, readReference } from "./references";
import { positionOf } from "./yaml-file";

/** The service's console goes no further; the service itself may. */
const largestUsualSizeGb = 1600;

export function readVolume(subject: Subject, instance: Instance, declared: Declared): DesiredVolume {
  const { values } = instance;
  const fields = readRows("volume", subject, instance);
  warnAboutSize(subject, fields.sizeGb);
  const target = fieldOf(values, "attach_to");
  const attachTo = target === undefined ? undefined : readReference(subject, target, "vm", ["attach_to"], declared);
  const flush = readFlush(subject, values);
  return {
    kind: "volume",
    address: instance.address,
    ...fields,
    attachTo,
    flush,
    commandFile: flush.via === "command" ? positionOf(subject.place(["flush", "command"])).file : undefined,
    lifecycle: readPlainLifecycle(subject, values, "volume"),
    nameUnsaid: isGiven(values, "name") ? undefined : (true as const),
    source: positionOf(placeOfBlock(instance.block)),
  };
}

function readFlush(subject: Subject, values: Values): FlushPolicy {
  if (fieldOf(values, "flush") === undefined) return { via: "ask" };
  const flush = readMap(subject, values, "flush");
  const via = readEnum(subject, flush, "via", ["ask", "command", "stop"], ["flush"]) ?? "ask";
  // A command may stay in the file beside another `via`: it is checked, and not used.
  const argv = readArgv(subject, flush, "command", ["flush"]);
  const env = readVariables(subject, flush, ["flush"]);
  if (via === "command") {
    if (!isGiven(flush, "command"))
      reportMissing(subject, "command", "add command: [program, argument, …] beside via: command", ["flush"]);
    return { via, argv: argv ?? [], ...env };
  }
  return { via };
}

export function warnAboutSize(subject: Subject, sizeGb: number): void {
  if (sizeGb <= largestUsualSizeGb) return;
  subject.problems.add({
    severity: "warning",
    code: "config/size-over-limit",
    summary: `a size of ${sizeGb} GB is more than the service's console accepts`,
    detail: `the console accepts 1 to ${largestUsualSizeGb} GB; the service may refuse more`,
    address: subject.address,
    at: subject.place(["size"]),
  });
}
