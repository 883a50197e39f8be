/**
 * What a trial learns before services that are odd in ways of their own, word for word: the dialect that is written, what
 * is said on the way, what was made and sent, and what is left to a person. Each service has a file in trials/;
 * `UPDATE_GOLDEN=1` writes what is learnt now: read it before it is kept.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { dialectYaml } from "../../reconciler/report/doctor-text";
import { doctorAt, servedBy, staged, wishFor } from "../support/odd/doctor-before";
import { everyOdd } from "../support/odd/every";
import type { Odd } from "../support/odd/shapes";

/** Ids, names and addresses are others each time. */
function withoutChance(text: string): string {
  const ids: string[] = [];
  const nth = (id: string): number => (ids.includes(id) ? ids.indexOf(id) : ids.push(id) - 1) + 1;
  return text
    .replaceAll(/trial-[0-9a-f]{6}/g, "trial")
    .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, "URL")
    .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}/gi, (id) => `<${nth(id.toLowerCase())}>`);
}

async function learntBy(odd: Odd): Promise<string> {
  let learnt = "";
  await staged(async (closers) => {
    const server = servedBy(odd, closers);
    const report = await doctorAt(odd, { server, closers, notes: { kept: undefined } }, wishFor(odd));
    const { seen, made, left, open } = report.trial!;
    const fates = made.map(({ kind, name, became }) => `${kind} ${name ?? "without a name"} ${became}`);
    const parts = [
      dialectYaml(report),
      "said",
      ...seen,
      "made",
      ...fates,
      "left",
      ...left,
      "open",
      ...open,
      "sent",
      ...server.writes,
    ];
    learnt = withoutChance(`${parts.join("\n")}\n`);
  });
  return learnt;
}

/** Together they run nearly everything that all odd services do (test/deployments/odd-near.test.ts). */
const titles = [
  "attachments in a list of their own",
  "actions that are named alike, numbers from 1",
  "a state in three fields, a name called description, rules by lists of what they say",
  "maps of records, pages after the last id",
  "ids that are paths, a state among others, jobs in Location alone",
  "pages that are parts, with their range in a header",
  "what was deleted is listed with a flag of its own, beside a state that does not change",
  "names as references, and jobs for everything",
];

test.each(titles)("%s", async (title) => {
  const learnt = await learntBy(everyOdd.find(({ shape }) => shape.title === title)!);
  const file = join(__dirname, "trials", `${title.replaceAll(/\W+/g, "-")}.txt`);
  if (process.env["UPDATE_GOLDEN"] === "1") writeFileSync(file, learnt);
  expect(learnt).toBe(readFileSync(file, "utf8"));
});

test("a request that wants what the record does not show is not sent with the words for it", async () => {
  const odd = everyOdd.find(({ shape }) => shape.title === titles[0])!;
  const asking = `volume.delete=curl -X DELETE -d '{"zone":"{field:/zone}"}' URL/v3/volumes/{id}`;
  const learnt = await learntBy({ ...odd, told: [...odd.told, "--curl", asking] });
  expect(learnt).toContain("volume.delete is DELETE /v3/volumes/{id}.");
  expect(learnt).not.toContain("{field:");
});
