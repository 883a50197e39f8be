/** The lifecycle block of each kind: how changes are carried out. */

import type { Kind } from "../../core/model/address";
import type { Text } from "../../core/model/computed";
import type { DesiredGroup, DesiredVm, HealthCheck, VerifyResize } from "../../core/model/desired";
import { ignorable } from "../../core/model/fields";
import {
  fieldOf,
  readArgv,
  readBoolean,
  readDuration,
  readEnum,
  readEnumList,
  readMap,
  readOpenText,
  readPort,
  readVariables,
  reportValue,
  type Subject,
  subjectWithin,
  type Values,
  type ValuesOfRow,
} from "../fields";
import type { CheckBlock, GroupLifecycle, VmLifecycle, VolumeLifecycle } from "../rows/kinds";

const defaultVerify: VerifyResize = { confirm: "auto", timeoutMs: 120_000, onFailure: "revert" };

/**
 * The lifecycle of a resource that says nothing about it. All such resources share it, because nothing changes a
 * desired state.
 */
const usualVm: DesiredVm["lifecycle"] = {
  preventDestroy: false,
  ignoreChanges: [],
  onImageChange: "rebuild",
  snapshotBefore: [],
  preservedVolumes: "retain",
  verifyResize: defaultVerify,
};

export function readVmLifecycle(subject: Subject, values: Values): DesiredVm["lifecycle"] {
  if (fieldOf(values, "lifecycle") === undefined) return usualVm;
  const lifecycle: ValuesOfRow<VmLifecycle> = readMap(subject, values, "lifecycle");
  const own = subjectWithin(subject, "lifecycle");
  return {
    onImageChange: readEnum(own, lifecycle, "on_image_change", ["rebuild", "replace", "ignore"]) ?? "rebuild",
    snapshotBefore: readEnumList(own, lifecycle, "snapshot_before", ["rebuild", "resize", "delete"]),
    deleteFloatingIp: readBoolean(own, lifecycle, "delete_floating_ip"),
    preservedVolumes: readEnum(own, lifecycle, "preserved_volumes", ["retain", "delete"]) ?? "retain",
    verifyResize: readVerifyResize(own, lifecycle),
    ...readCommonLifecycle(own, lifecycle, "vm"),
  };
}

/** The lifecycle of a kind that has nothing of its own in it. */
export const readPlainLifecycle = (subject: Subject, values: Values, kind: Kind) =>
  readCommonLifecycle(subjectWithin(subject, "lifecycle"), readMap(subject, values, "lifecycle"), kind);

export function readGroupLifecycle(subject: Subject, values: Values): DesiredGroup["lifecycle"] {
  const lifecycle: ValuesOfRow<GroupLifecycle> = readMap(subject, values, "lifecycle");
  const own = subjectWithin(subject, "lifecycle");
  return {
    onRuleRemoval: readEnum(own, lifecycle, "on_rule_removal", ["replace", "keep"]) ?? "replace",
    ...readCommonLifecycle(own, lifecycle, "group"),
  };
}

const readCommonLifecycle = (subject: Subject, lifecycle: ValuesOfRow<VolumeLifecycle>, kind: Kind) => ({
  preventDestroy: readBoolean(subject, lifecycle, "prevent_destroy") ?? false,
  ignoreChanges: readEnumList(subject, lifecycle, "ignore_changes", ignorable[kind]),
});

function readVerifyResize(subject: Subject, lifecycle: ValuesOfRow<VmLifecycle>): VerifyResize {
  if (fieldOf(lifecycle, "verify_resize") === undefined) return defaultVerify;
  const verify: ValuesOfRow<NonNullable<VmLifecycle>["verify_resize"]> = readMap(subject, lifecycle, "verify_resize");
  const own = subjectWithin(subject, "verify_resize");
  return {
    confirm: readEnum(own, verify, "confirm", ["auto", "manual"]) ?? defaultVerify.confirm,
    check: readCheck(own, verify),
    timeoutMs: readDuration(own, verify, "timeout") ?? defaultVerify.timeoutMs,
    onFailure: readEnum(own, verify, "on_failure", ["revert", "leave"]) ?? defaultVerify.onFailure,
  };
}

/** A health check, where one is written. */
export function readCheck(subject: Subject, verify: { readonly check?: unknown }): HealthCheck | undefined {
  if (fieldOf(verify, "check") === undefined) return undefined;
  const check: ValuesOfRow<CheckBlock> = readMap(subject, verify, "check");
  const own = subjectWithin(subject, "check");
  const given = (["tcp", "http", "command"] as const).filter((form) => fieldOf(check, form) !== undefined);
  if (given.length > 1)
    return reportValue(subject, ["check"], check, `one of tcp, http and command, not ${given.join(" and ")}`);
  const port = readPort(own, check, "tcp");
  if (port !== undefined) return { kind: "tcp", port };
  const argv = readArgv(own, check, "command");
  const env = readVariables(own, check);
  if (argv !== undefined) return { kind: "command", argv, ...env };
  const url = readOpenText(own, check, "http");
  if (url === undefined) return undefined;
  return isHttpUrl(withSample(url))
    ? { kind: "http", url }
    : reportValue(own, ["http"], url, "a URL that begins with http:// or https://");
}

/** A value that is not known yet will be an address or a name. */
const withSample = (text: Text): string =>
  typeof text === "string" ? text : text.parts.map((part) => (typeof part === "string" ? part : "192.0.2.1")).join("");

export const isHttpUrl = (text: string): boolean => /^https?:\/\/[^\s/?#]/i.test(text) && URL.canParse(text);
