/** What a campaign has tried, added to the file that CAMPAIGN_COUNTS names, for the table in docs/reliability.md. */
import { appendFileSync } from "node:fs";

export function countCampaign(campaign: string, tried: number, violations: number): void {
  const file = process.env["CAMPAIGN_COUNTS"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ campaign, tried, violations })}\n`);
}

/** One violation as soon as it is found: a long campaign need not end before it can be looked at. */
export function tellViolation(campaign: string, violation: string): void {
  const file = process.env["CAMPAIGN_COUNTS"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ campaign, violation })}\n`);
}
