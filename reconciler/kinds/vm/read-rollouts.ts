/** `rollout:`, and `max_unavailable` of a block: which VMs are changed in waves, and how. */

import { placeInBlock } from "../../config/blocks";
import {
  fieldOf,
  readDuration,
  readEnum,
  reportValue,
  requireKey,
  type Subject,
  subjectWithin,
  type ValuesOfRow,
} from "../../config/fields";
import { interpolate } from "../../config/interpolation";
import { readAmount } from "../../config/read/checks";
import { readCheck } from "../../config/read/lifecycle";
import type { Room } from "../../config/rooms";
import type { RolloutBlock } from "../../config/rows/sections";
import { settingOf } from "../../config/sections";
import type { Merged } from "../../config/sources";
import { isMap, type Path, positionOf } from "../../config/yaml/file";
import { type Address, parseAddress } from "../../core/model/address";
import type { DesiredResource, Rollout } from "../../core/model/desired";
import type { Amount } from "../../core/model/policy";
import { nearestText } from "../../core/text/nearest";
import { onlyDefined } from "../../core/text/objects";
import type { ReachabilityContext } from "../group/reachability/read";

export function readRollouts(merged: Merged, context: ReachabilityContext, rooms: readonly Room[]): Rollout[] {
  const rollouts = rooms.flatMap((room) => ofBlocks(room, context));
  const found = settingOf("rollout", merged, context);
  if (found === undefined) return rollouts;
  const { subject, values } = found;
  for (const [name, one] of Object.entries(values)) {
    if (!isMap(one)) continue;
    rollouts.push(...readRollout(subjectWithin(subject, name), name, one, context));
  }
  refuseTwice(subject, rollouts);
  return rollouts;
}

const usualReadyTimeoutMs = 120_000;

const ofWhole = "it is one number for all instances of the block";
const fixOfWhole = "write a number, a share such as 25%, or a variable";

/** `max_unavailable` of blocks, each room with its own names. */
const ofBlocks = ({ within, declared, scope, problems }: Room, context: ReachabilityContext): Rollout[] =>
  [...declared.blocks.vm].flatMap(([key, block]) => {
    const name = `${within}vm.${key}`;
    const subject: Subject = { problems, address: name, place: (path, on) => placeInBlock(block, path, on) };
    const written = isMap(block.entry.value) ? fieldOf(block.entry.value, "max_unavailable") : undefined;
    if (written === undefined) return [];
    const ofAll =
      typeof written === "string" && /\$\{\s*each\b/.test(written) ? { detail: ofWhole, fix: fixOfWhole } : {};
    const value: unknown = interpolate(written, scope, (problem) =>
      problems.add({ ...problem, ...ofAll, at: subject.place(["max_unavailable"]) }),
    );
    const maxUnavailable = value === undefined ? undefined : readDown(subject, ["max_unavailable"], value);
    if (maxUnavailable === undefined) return [];
    const source = positionOf(subject.place(["max_unavailable"], "key"));
    return [{ name, members: membersOf(name, context) ?? [], maxUnavailable, timeoutMs: usualReadyTimeoutMs, source }];
  });

function readRollout(
  subject: Subject,
  name: string,
  values: ValuesOfRow<RolloutBlock>,
  context: ReachabilityContext,
): Rollout[] {
  const members = readMembers(subject, values, context);
  const max = fieldOf(values, "max_unavailable");
  const maxUnavailable = max === undefined ? { count: 1 } : readDown(subject, ["max_unavailable"], max);
  const canary = fieldOf(values, "canary");
  const isCount = typeof canary === "number" && Number.isInteger(canary) && canary > 0;
  if (canary !== undefined && !isCount) reportValue(subject, ["canary"], canary, "how many go first: 1");
  const check = readCheck(subject, values);
  const timeoutMs = readDuration(subject, values, "timeout") ?? usualReadyTimeoutMs;
  const reverts = readEnum(subject, values, "on_failure", ["stop", "revert"]) === "revert";
  if (reverts) requireKey(subject, values, "check", "add check: { tcp: 22 }, which says when a VM has to go back");
  if (maxUnavailable === undefined) return [];
  return [
    {
      name,
      members: [...new Set(members)],
      maxUnavailable,
      canary: isCount ? canary : undefined,
      check,
      timeoutMs,
      reverts: reverts ? reverts : undefined,
      source: positionOf(subject.place([], "key")),
    },
  ];
}

function readMembers(subject: Subject, values: ValuesOfRow<RolloutBlock>, context: ReachabilityContext): Address[] {
  requireKey(subject, values, "of", "add of: [vm.KEY]");
  const of = fieldOf(values, "of");
  const list: readonly unknown[] = Array.isArray(of) ? of : of === undefined ? [] : [of];
  return list.flatMap((item, index) => {
    const its = membersOf(String(item), context);
    if (its !== undefined) return its;
    const known = [...context.declared.rooms.values()].flatMap(({ within, blocks }) =>
      [...blocks.vm.keys()].map((key) => `${within}vm.${key}`),
    );
    const path = Array.isArray(of) ? ["of", index] : ["of"];
    const fix = nearestText(String(item), known, (near) => `write ${near}`);
    reportValue(subject, path, item, "a VM of this file: vm.KEY, or vm.KEY[EACH]", { fix });
    return [];
  });
}

/** A resize can be reverted only before its confirmation: where a rollout asks for a revert, its check comes first. */
export function withWayBack(resources: DesiredResource[], rollouts: readonly Rollout[]): DesiredResource[] {
  const reverting = new Map(
    rollouts.flatMap((rollout) => (rollout.reverts === true ? rollout.members.map((member) => [member, rollout]) : [])),
  );
  if (reverting.size === 0) return resources;
  return resources.map((resource) => {
    const { check, timeoutMs = 0, source } = reverting.get(resource.address) ?? {};
    if (resource.kind !== "vm" || check === undefined || resource.lifecycle.verifyResize.check !== undefined)
      return resource;
    const verifyResize = { ...resource.lifecycle.verifyResize, check, timeoutMs, onFailure: "revert" as const };
    return {
      ...resource,
      lifecycle: { ...resource.lifecycle, verifyResize },
      ...onlyDefined({ commandFile: check.kind === "command" && source !== undefined ? source.file : undefined }),
    };
  });
}

/** A VM in two rollouts would be counted by both, and neither count would be right. */
function refuseTwice(subject: Subject, rollouts: readonly Rollout[]): void {
  const seen = new Map<string, string>();
  for (const { name, members } of rollouts)
    for (const member of members) {
      const other = seen.get(member);
      if (other !== undefined && other !== name)
        subject.problems.add({
          code: "config/conflicting-setting",
          summary: `${member} is in two rollouts: ${other} and ${name}`,
          fix: "leave it in one of the two, or take max_unavailable out of its block",
          at: subject.place([name], "key"),
        });
      seen.set(member, name);
    }
}

function membersOf(word: string, { declared }: ReachabilityContext): string[] | undefined {
  const parts = parseAddress(word);
  if (parts?.kind !== "vm") return undefined;
  if (declared.addresses.has(word)) return [word];
  const room = declared.rooms.get(parts.within ?? "");
  if (room?.blocks.vm.has(parts.key) !== true || parts.each !== undefined) return undefined;
  return [...declared.addresses].filter((address) => address.startsWith(`${word}[`));
}

const readDown = (subject: Subject, path: Path, value: unknown): Amount | undefined =>
  readAmount(subject, path, value, "how many may be down at a time: ", 1);
