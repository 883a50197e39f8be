/** One virtual machine. */

import { type Instance, placeOfBlock } from "../../config/blocks";
import type { Subject } from "../../config/fields";
import { commandFilesOf, readFlush, readGuestCommand } from "../../config/read/commands";
import { readVmLifecycle } from "../../config/read/lifecycle";
import { readRows } from "../../config/read/rows";
import { positionOf } from "../../config/yaml/file";
import type { DesiredVm } from "../../core/model/desired";
import { warnAboutSize } from "../volume/read";

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
    commandFiles: commandFilesOf(subject, {
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
