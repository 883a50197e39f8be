/** What a trial takes an answer about its own for: there, gone, or nothing that can be told (engine/doctor/trial/rest.ts). */
import { expect, it } from "vitest";
import type { LiveVolume } from "../../reconciler/core/model/live";
import { accepted, type Outcome } from "../../reconciler/core/model/outcome";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { lookAt } from "../../reconciler/engine/doctor/trial/rest";
import type { Trial } from "../../reconciler/engine/doctor/trial/watch";

const volume: LiveVolume = { kind: "volume", id: "d-1", name: "trial", status: "available", failed: false };
const refused = (
  httpStatus: number,
  condition: "not_found" | "conflict" | "forbidden" = "conflict",
): Outcome<never> => ({
  ...{ status: "rejected", condition, message: "no", httpStatus },
});

interface Known {
  /** What the list shows; left out: there is none. */
  readonly list?: readonly LiveVolume[];
  readonly errors?: readonly { readonly is: "not_found" | "forbidden"; readonly status: number }[];
  readonly isDeleted?: boolean;
  readonly wasToGo?: boolean;
}

/** How it ends, and the statuses that mean "not found" from then on. */
async function told(answer: Outcome<LiveVolume>, { list, errors = [], isDeleted, wasToGo }: Known) {
  const trial = {
    client: {
      can: { readsOne: () => true, canFindCreated: () => list !== undefined },
      getVolume: async () => answer,
      listVolumes: async () => accepted(list ?? []),
    },
    errors: [...errors],
    wait: async () => undefined,
    isDeleted: () => isDeleted === true,
    notes: { wasToGo: () => wasToGo === true },
    report: { dialect: builtInDialect, emptied: new Set() },
    say: () => undefined,
  };
  const look = await lookAt(trial as unknown as Trial, "volume", "d-1").catch(() => "cannot tell" as const);
  const word = look === "cannot tell" ? look : look === undefined ? "gone" : look.word;
  return [word, trial.errors.flatMap(({ is, status }) => (is === "not_found" ? [status] : []))];
}

it.each<readonly [what: string, answer: Outcome<LiveVolume>, known: Known, word: string, notFound: readonly number[]]>([
  ["its record", accepted(volume), {}, "available", []],
  ["not found, and no list", refused(404, "not_found"), {}, "gone", []],
  ["not found, and the list lacks it", refused(404, "not_found"), { list: [] }, "gone", []],
  [
    "not found, and the list shows it: its id is read in a wrong way",
    refused(404, "not_found"),
    { list: [volume] },
    "available",
    [],
  ],
  ["a refusal, and the list lacks it", refused(409), { list: [] }, "gone", []],
  ["a refusal, and the list shows it", refused(410), { list: [volume] }, "cannot tell", []],
  ["another refusal, and the list shows it", refused(409), { list: [volume], isDeleted: true }, "cannot tell", []],
  [
    "what may be absence, and the list shows it a while longer, once it was deleted",
    refused(410),
    { list: [volume], isDeleted: true },
    "available",
    [],
  ],
  ["what may be absence, and nothing is known of it", refused(410), {}, "cannot tell", []],
  ["what is known to be absence", refused(410), { errors: [{ is: "not_found", status: 410 }] }, "gone", [410]],
  [
    "what looks like it, where another status is known",
    refused(410),
    { errors: [{ is: "not_found", status: 404 }] },
    "cannot tell",
    [404],
  ],
  [
    "what is known to be something else",
    refused(410),
    { errors: [{ is: "forbidden", status: 410 }] },
    "cannot tell",
    [],
  ],
  ["what may be absence, once it was deleted", refused(410), { isDeleted: true }, "gone", [410]],
  ["what may be absence, where an earlier trial was deleting it", refused(404), { wasToGo: true }, "gone", [404]],
  ["another refusal, once it was deleted", refused(403, "forbidden"), { isDeleted: true }, "cannot tell", []],
  ["what may be absence, and the list lacks it", refused(410), { list: [] }, "gone", [410]],
])("%s", async (_, answer, known, word, notFound) => {
  expect(await told(answer, known)).toEqual([word, notFound]);
});
