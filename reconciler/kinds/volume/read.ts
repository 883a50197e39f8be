/** One data volume: its size, where it is attached, and what may stand behind a flush. */

import { type Instance, placeOfBlock } from "../../config/blocks";
import { fieldOf, isGiven, reportAt, type Subject } from "../../config/fields";
import { commandFilesOf, readFlush, readGuestCommand } from "../../config/read/commands";
import { readPlainLifecycle } from "../../config/read/lifecycle";
import { readRows } from "../../config/read/rows";
import { type Declared, readReference } from "../../config/references";
import { positionOf } from "../../config/yaml/file";
import type { DesiredVolume } from "../../core/model/desired";

/** The service's console goes no further; the service itself may. */
const largestUsualSizeGb = 1600;

export function readVolume(subject: Subject, instance: Instance, declared: Declared): DesiredVolume {
  const { values } = instance;
  const fields = readRows("volume", subject, instance);
  warnAboutSize(subject, fields.sizeGb);
  const target = fieldOf(values, "attach_to");
  const attachTo = target === undefined ? undefined : readReference(subject, target, "vm", ["attach_to"], declared);
  const flush = readFlush(subject, values) ?? { via: "ask" };
  const afterAttach = readGuestCommand(subject, values, "after_attach");
  return {
    kind: "volume",
    address: instance.address,
    ...fields,
    attachTo,
    flush,
    afterAttach,
    commandFiles: commandFilesOf(subject, {
      flush: flush.via === "command" ? flush : undefined,
      after_attach: afterAttach,
    }),
    commandFile: flush.via === "command" ? positionOf(subject.place(["flush", "command"])).file : undefined,
    lifecycle: readPlainLifecycle(subject, values, "volume"),
    nameUnsaid: isGiven(values, "name") ? undefined : (true as const),
    source: positionOf(placeOfBlock(instance.block)),
  };
}

export function warnAboutSize(subject: Subject, sizeGb: number): void {
  if (sizeGb <= largestUsualSizeGb) return;
  reportAt(subject, ["size"], {
    severity: "warning",
    code: "config/size-over-limit",
    summary: `a size of ${sizeGb} GB is more than the service's console accepts`,
    detail: `the console accepts 1 to ${largestUsualSizeGb} GB; the service may refuse more`,
  });
}
