/** One virtual machine. */
import type { DesiredVm } from "../core/model/desired";
import { type Instance, placeOfBlock } from "./blocks";
import type { Subject } from "./fields";
import { readVmLifecycle } from "./read-lifecycle";
import { readRows } from "./read-rows";
import { warnAboutSize } from "./read-volume";
import { positionOf } from "./yaml-file";

export type TopPlace = Readonly<Record<"project" | "region", string | undefined>>;

/** The VM as far as it could be read; what is missing is reported. */
export function readVm(subject: Subject, instance: Instance, top: TopPlace): DesiredVm {
  const fields = readRows("vm", subject, instance, top);
  warnAboutSize(subject, fields.sizeGb);
  const lifecycle = readVmLifecycle(subject, instance.values);
  return {
    kind: "vm",
    address: instance.address,
    ...fields,
    lifecycle,
    commandFile:
      lifecycle.verifyResize.check?.kind === "command" ? positionOf(subject.place(checkCommand)).file : undefined,
    source: positionOf(placeOfBlock(instance.block)),
  };
}

const checkCommand = ["lifecycle", "verify_resize", "check", "command"] as const;
