/** What deserves a second look in what groups admit, as findings: once for `exposure`, once for what a plan does. */
import type { Finding } from "../../../core/findings/finding";
import type { Address } from "../../../core/model/address";
import type { SourcePosition } from "../../../core/model/diagnostic";
import { listText } from "../../../core/text/list-text";
import { admissionText, describeTraffic } from "./describe";
import type { Exposure, OpenPort } from "./exposure";
import type { NotRead } from "./group-world";
import type { Violation } from "./proof";

export const openPortText = ({ port, service, families, known }: OpenPort): string =>
  `${service} (tcp ${port}) is ${known ? "" : "now "}open to the world over ${listText(families)}`;

export const violationText = ({ step, admits, traffic }: Violation): string =>
  `around ${step} it may for a while admit ${admits === "more" ? "more than before and after" : "less than both"}: ${listText(describeTraffic(traffic).map(admissionText))}`;

export const unobservedText = (unobserved: NotRead): string =>
  `its rules ${unobserved === "not-looked" ? "were not looked at" : "could not be read"}; the recorded rules are used`;

export interface ExposureFindingOptions {
  /** Only what the plan itself changes: `exposure` tells what was so before. */
  readonly plannedOnly?: boolean;
  readonly sourceOf?: (address: Address) => SourcePosition | undefined;
}

export function exposureFindings(
  exposure: Exposure,
  { plannedOnly = false, sourceOf = () => undefined }: ExposureFindingOptions = {},
): Finding[] {
  const findings: Finding[] = [];
  for (const { address, openPorts, idleEgress, violations = [] } of exposure.groups) {
    const source = sourceOf(address);
    const place = { address, source };
    for (const open of openPorts)
      if (!plannedOnly || !open.known)
        findings.push({
          severity: "warning",
          code: "exposure/open-port",
          summary: `${address}: ${openPortText(open)}`,
          fix: "name the networks that need it in remote_ip, or a group in remote_group",
          ...place,
        });
    if (!plannedOnly && idleEgress.size > 0)
      findings.push({
        severity: "warning",
        code: "exposure/idle-egress",
        summary: `${address}: its egress rules restrict nothing, since the service's own rules let the same traffic out`,
        detail: describeTraffic(idleEgress).map(admissionText).join("; "),
        ...place,
      });
    for (const violation of violations)
      findings.push({
        severity: "warning",
        code: "exposure/gap",
        summary: `${address}: ${violationText(violation)}`,
        ...place,
      });
  }
  return findings;
}
