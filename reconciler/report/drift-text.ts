/** Drift for people: what the service shows that is not as the state has it. */

import { printable } from "../core/text/printable";
import type { DriftReport } from "../engine/drift";
import { ruleSign } from "./plan-text";
import {
  countOf,
  displayColumns,
  hang,
  layoutOf,
  listText,
  numberText,
  type Paint,
  padTo,
  type TextOptions,
  valueText,
} from "./style";

/** The fields of the engine's drift that are shown here. */
export interface DriftView extends Pick<DriftReport, "drifts" | "compared" | "recorded"> {
  /** Something could not be read, so there may be differences that are not shown here. */
  readonly incomplete: boolean;
}

function resourceLines(
  { address, name, id, gone, unproven, fields }: DriftView["drifts"][number],
  paint: Paint,
  width: number,
) {
  const absence = unproven === true ? " is not shown any more" : " is gone";
  const sign = gone ? paint("danger", "-") : paint("change", "~");
  const known = id === undefined ? name : `${name}, ${id}`;
  const lines = [
    `${sign} ${paint("strong", printable(address))} (${printable(known)})${gone ? paint("danger", absence) : ""}`,
  ];
  let label = 12;
  for (const { field } of fields) label = Math.max(label, displayColumns(printable(field)));
  for (const { field, before, after, opens } of fields) {
    if (field === "rules") {
      const [sign, hue, rule] = ruleSign(before, after);
      const world = opens === true ? paint("danger", "  (opens it to the Internet)") : "";
      lines.push(`    ${paint(hue, sign)} rule ${valueText(field, rule)}${world}`);
      continue;
    }
    const change = `${valueText(field, before)} → ${valueText(field, after)}`;
    lines.push(...hang(`    ${padTo(printable(field), label)}  `, change, width));
  }
  return lines;
}

export function driftText({ drifts, compared, recorded, incomplete }: DriftView, options: TextOptions = {}): string {
  const { paint, width } = layoutOf(options);
  if (drifts.length === 0 && incomplete) return "Drift is not known: not everything could be read.\n";
  const unseen = recorded - compared;
  if (drifts.length === 0 && compared === 0 && unseen > 0)
    return `Drift is not known: nothing of the state can be looked at (${countOf(unseen, "resource")}).\n`;
  if (drifts.length === 0) {
    const looked = unseen === 0 ? "" : `; ${numberText(unseen)} more cannot be looked at`;
    return `No drift: the service is as the state has it (${countOf(compared, "resource")}${looked}).\n`;
  }
  const lines: string[] = [];
  for (const drift of drifts) lines.push(...resourceLines(drift, paint, width));
  const opened = drifts.filter(({ fields }) => fields.some(({ opens }) => opens === true));
  if (opened.length > 0)
    lines.push(
      "",
      ...hang(
        "",
        `${listText(opened.map(({ address }) => printable(address)))} ${opened.length === 1 ? "is" : "are"} open to the Internet by a rule that the state does not have. reconcile apply removes it, or notes it in the state where the file leaves such rules (rules_mode: additive, on_rule_removal: keep, ignore_changes: [rules]); reconcile exposure shows all that is open.`,
        width,
      ).map((line) => paint("danger", line)),
    );
  const word = drifts.length === 1 ? "differs" : "differ";
  lines.push(
    "",
    `Drift: ${numberText(drifts.length)} of ${countOf(compared, "resource")} ${word} from the state (recorded → now).${unseen > 0 && !incomplete ? ` ${numberText(unseen)} more cannot be looked at.` : ""}${incomplete ? " Not everything could be read." : ""}`,
  );
  return `${lines.join("\n")}\n`;
}
