/**
 * Who can reach what, for people and as JSON lines: per group what is admitted, gained and lost, the ports that should
 * not be open to the world, and what is proven about the time between two steps. kinds/group/exposure computes it; this
 * file only words it.
 */

import type { Address } from "../core/model/address";
import { printable } from "../core/text/printable";
import { type Admission, admissionText, describeTraffic } from "../kinds/group/exposure/describe";
import {
  changesExposure,
  type DirectionExposure,
  type Exposure,
  type GroupExposure,
  type OpenPort,
} from "../kinds/group/exposure/exposure";
import { openPortText, unobservedText, violationText } from "../kinds/group/exposure/findings";
import { subtractTraffic, type Traffic } from "../kinds/group/exposure/traffic";
import { countOf, type Hue, hang, layoutOf, listText, type TextOptions } from "./style";

export interface ExposureTextOptions extends TextOptions {
  /** Shows only what the plan changes; an empty text when it changes nothing. */
  readonly changesOnly?: boolean;
}

/** With more groups than this the rest is counted, so that a large plan stays readable. */
const mostGroups = 40;
const mostExposureLines = 60;

interface ExposureLine {
  readonly sign: "+" | "-" | " " | "!" | "=";
  readonly text: string;
}

export const hueOfSign: Record<ExposureLine["sign"], Hue> = {
  "+": "change",
  "-": "note",
  " ": "quiet",
  "!": "danger",
  "=": "good",
};

export function exposureText(exposure: Exposure, options: ExposureTextOptions = {}): string {
  const { paint, width } = layoutOf(options);
  const changesOnly = options.changesOnly === true;
  const { groups, more } = changesOnly ? exposureRows(exposure) : allRows(exposure);
  if (groups.length === 0) return changesOnly ? "" : "No security groups: nothing admits anything.\n";
  const lines: string[] = [paint("strong", changesOnly ? "Who can reach what changes:" : "Who can reach what:")];
  for (const group of groups) {
    lines.push(`  ${paint("strong", printable(group.address))}`);
    for (const { sign, text } of group.lines)
      for (const line of hang(`    ${sign} `, printable(text), width)) lines.push(paint(hueOfSign[sign], line));
    if (group.more > 0) lines.push(`      and ${countOf(group.more, "more line")}: reconcile exposure`);
  }
  if (more > 0) lines.push(`  and ${countOf(more, "more group")}: reconcile exposure`);
  return `${lines.join("\n")}\n`;
}

/** For a merge-request comment: folded, and never longer than `limit`. */
export function exposureMarkdown(exposure: Exposure, limit: number): string {
  const groups = exposure.groups.filter(changesExposure);
  if (groups.length === 0) return "";
  const head = `\n<details><summary>Who can reach what: ${groups.length} ${groups.length === 1 ? "group changes" : "groups change"}</summary>\n\n\`\`\`diff\n`;
  const foot = "```\n\n</details>\n";
  const cutLine = "# and more: reconcile exposure\n";
  let body = "";
  let cut = false;
  for (const group of groups) {
    const lines = groupLines(group, true).map(({ sign, text }) => `${sign === "=" ? "#" : sign} ${text}`);
    const part = `${[`@@ ${group.address} @@`, ...lines].map((line) => printable(line).replaceAll("```", "'''")).join("\n")}\n`;
    cut ||= head.length + body.length + part.length + cutLine.length + foot.length > limit;
    if (!cut) body += part;
  }
  return `${head}${body}${cut ? cutLine : ""}${foot}`;
}

interface ExposureRows {
  readonly groups: readonly {
    readonly address: string;
    readonly lines: readonly ExposureLine[];
    readonly more: number;
  }[];
  readonly more: number;
}

const allRows = ({ groups }: Exposure): ExposureRows => ({
  groups: groups.map((group) => ({ address: group.address, lines: groupLines(group, false), more: 0 })),
  more: 0,
});

/** What the plan opens and closes, group by group; lines and groups beyond the limits are counted. */
export function exposureRows(exposure: Exposure): ExposureRows {
  const groups = exposure.groups.filter(changesExposure);
  return {
    groups: groups.slice(0, mostGroups).map((group) => {
      const lines = groupLines(group, true);
      return {
        address: group.address,
        lines: lines.slice(0, mostExposureLines),
        more: Math.max(0, lines.length - mostExposureLines),
      };
    }),
    more: Math.max(0, groups.length - mostGroups),
  };
}

function groupLines(group: GroupExposure, changesOnly: boolean): ExposureLine[] {
  const lines: ExposureLine[] = [];
  const add = (sign: ExposureLine["sign"], traffic: Traffic): void => {
    for (const admission of describeTraffic(traffic))
      lines.push({ sign, text: `${admission.direction} ${admissionText(admission)}` });
  };
  for (const { after, gained, lost } of [group.ingress, group.egress]) {
    if (!changesOnly) add(" ", gained.size === 0 ? after : subtractTraffic(after, gained));
    add("+", gained);
    add("-", lost);
  }
  if (lines.length === 0) lines.push({ sign: " ", text: "admits nothing" });
  for (const open of group.openPorts)
    if (!changesOnly || !open.known) lines.push({ sign: "!", text: openPortText(open) });
  if (!changesOnly && group.idleEgress.size > 0)
    lines.push({
      sign: "!",
      text: `restricts nothing, since the service's own rules let it out: ${listText(describeTraffic(group.idleEgress).map(admissionText))}`,
    });
  for (const name of group.retired)
    lines.push({ sign: "!", text: `VMs may still be under the replaced group ${name}, whose rules are not read` });
  if (!changesOnly && group.unobserved !== undefined) lines.push({ sign: "!", text: unobservedText(group.unobserved) });
  return [...lines, ...proofLines(group)];
}

const proofLines = (group: GroupExposure): ExposureLine[] => [
  ...(group.violations?.length === 0 && changesBoth(group)
    ? [
        {
          sign: "=" as const,
          text: "no order of its steps, and no interruption, ever opens more than the old and the new rules together, or less than both have in common (proved)",
        },
      ]
    : []),
  ...(group.violations ?? []).map((violation) => ({ sign: "!" as const, text: violationText(violation) })),
];

/** A group that only gains or only loses is described by that; the time between matters where it does both. */
const changesBoth = ({ ingress, egress }: GroupExposure): boolean =>
  ingress.gained.size + egress.gained.size > 0 && ingress.lost.size + egress.lost.size > 0;

/** `anywhere` to `tcp 22` over IPv4. */
export type Admitted = Pick<Admission, "service" | "peer" | "ethertype">;

export interface ShownDirection {
  readonly before: readonly Admitted[];
  readonly after: readonly Admitted[];
  readonly gained: readonly Admitted[];
  readonly lost: readonly Admitted[];
}

/** What a group admits, before and after the plan, in rows that can be read and kept as JSON. */
export interface ShownExposure {
  readonly address: Address;
  readonly ingress: ShownDirection;
  readonly egress: ShownDirection;
  /** Ports of administration that are open to everybody; `known`: they were before the plan. */
  readonly openPorts: readonly Pick<OpenPort, "port" | "service" | "families" | "known">[];
  /** What its own egress rules admit although the service's rules let it out anyway. */
  readonly idleEgress: readonly Admitted[];
  /** Whether nothing is cut off and nothing is opened while the plan is carried out. Absent: the plan leaves it alone. */
  readonly proof?: {
    readonly holds: boolean;
    readonly violations: readonly {
      readonly step: string;
      readonly admits: "more" | "less";
      readonly traffic: readonly Admitted[];
    }[];
  };
  /** False: its rules could not be read. */
  readonly observed: boolean;
  readonly retired: readonly string[];
}

export const shownExposure = ({ groups }: Exposure): readonly ShownExposure[] =>
  groups.map(({ address, ingress, egress, openPorts, idleEgress, violations, unobserved, retired }) => ({
    address,
    ingress: shownDirection(ingress),
    egress: shownDirection(egress),
    openPorts: openPorts.map(({ port, service, families, known }) => ({ port, service, families, known })),
    idleEgress: admittedRows(idleEgress),
    proof:
      violations === undefined
        ? undefined
        : {
            holds: violations.length === 0,
            violations: violations.map(({ step, admits, traffic }) => ({
              step,
              admits,
              traffic: admittedRows(traffic),
            })),
          },
    observed: unobserved === undefined,
    retired,
  }));

/** One JSON object for each group. */
export const exposureEvents = (exposure: Exposure): readonly object[] =>
  shownExposure(exposure).map(({ address, ingress, egress, openPorts, idleEgress, ...others }) => ({
    ...{ type: "exposure", address, ingress, egress, open_ports: openPorts, idle_egress: idleEgress },
    ...others,
  }));

const shownDirection = ({ before, after, gained, lost }: DirectionExposure): ShownDirection => ({
  before: admittedRows(before),
  after: admittedRows(after),
  gained: admittedRows(gained),
  lost: admittedRows(lost),
});

const admittedRows = (traffic: Traffic): readonly Admitted[] =>
  describeTraffic(traffic).map(({ service, peer, ethertype }: Admission) => ({ service, peer, ethertype }));
