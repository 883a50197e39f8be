/** One virtual machine. */
import type { DesiredVm } from "../core/model/desired";
import { type Instance, placeOfBlock } from "./blocks";
import type { Subject } from "./fields";
import { filesOf, readFlush, readGuestCommand } from "./read-commands";
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
  const { values } = instance;
  const flush = readFlush(subject, values);
  const afterReady = readGuestCommand(subject, values, "after_ready");
  const afterAttach = readGuestCommand(subject, values, "after_attach");
  return {
    kind: "vm",
    address: instance.address,
    ...fields,
    flush,
    afterReady,
    afterAttach,
    commandFiles: filesOf(subject, {
      flush: flush?.via === "command" ? flush : undefined,
      after_ready: afterReady,
      after_attach: afterAttach,
    }),
    lifecycle,
    commandFile:
      lifecycle.verifyResize.check?.kind === "command" ? positionOf(subject.place(checkCommand)).file : undefined,
    source: positionOf(placeOfBlock(instance.block)),
  };
}

const checkCommand = ["lifecycle", "verify_resize", "check", "command"] as const;
