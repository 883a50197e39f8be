/** One virtual machine. */
import type { DesiredVm } from "../core/model/desired";
import { type Instance, placeOfBlock } from "./blocks";
import { isGiven, readBoolean, readEnum, readSize, readText, reportMissing, type Subject } from "./fields";
import { readVmLifecycle } from "./read-lifecycle";
import { readName } from "./read-names";
import { warnAboutSize } from "./read-volume";
import { positionOf } from "./yaml-file";

const defaultRootSizeGb = 50;

export interface Place {
  readonly project: string | undefined;
  readonly region: string | undefined;
}

/** The VM as far as it could be read; what is missing is reported. */
export function readVm(subject: Subject, instance: Instance, top: Place): DesiredVm {
  const { values } = instance;
  const required = (key: string, inherited?: string): string => {
    const text = readText(subject, values, key) ?? inherited;
    if (text === undefined && !isGiven(values, key))
      reportMissing(
        subject,
        key,
        inherits(key)
          ? `add ${key} to the VM, or once at the top of the file`
          : `add ${key} to the VM, or to defaults.vm`,
      );
    return text ?? "";
  };
  const sizeGb = readSize(subject, values, "size");
  if (sizeGb === undefined && !isGiven(values, "size"))
    reportMissing(subject, "size", "add size (GB of the data volume, at least 1) to the VM, or to defaults.vm");
  warnAboutSize(subject, sizeGb);
  const power = readEnum(subject, values, "power", ["running", "stopped"]);
  const lifecycle = readVmLifecycle(subject, values);
  return {
    kind: "vm",
    address: instance.address,
    name: readName(subject, instance),
    flavor: required("flavor_id"),
    image: required("image_id"),
    owner: required("owner"),
    userId: required("user_id"),
    project: required("project", top.project),
    region: required("region", top.region),
    rootSizeGb: readSize(subject, values, "root_size") ?? defaultRootSizeGb,
    sizeGb: sizeGb ?? 1,
    skipFloatingIp: readBoolean(subject, values, "skip_floating_ip") ?? false,
    ...(power === undefined ? {} : { power }),
    lifecycle,
    ...(lifecycle.verifyResize.check?.kind === "command"
      ? { commandFile: positionOf(subject.place(checkCommand)).file }
      : {}),
    source: positionOf(placeOfBlock(instance.block)),
  };
}

const checkCommand = ["lifecycle", "verify_resize", "check", "command"] as const;
const inherits = (key: string): boolean => key === "project" || key === "region";
