/** The table at the head of engine/create-once.ts: what came back, what the list shows, and what becomes of the create. */
import { describe, expect, it } from "vitest";
import { adviceText } from "../../reconciler/core/model/fix";
import { type LiveVolume, notSeen } from "../../reconciler/core/model/live";
import { accepted, type Condition, type Outcome } from "../../reconciler/core/model/outcome";
import { type Intent, orphanKey } from "../../reconciler/core/model/recorded";
import { type Creation, createOnce, type HowFound } from "../../reconciler/engine/create-once";
import { doneAndSeen } from "../../reconciler/engine/run";
import { loneRun, stepAt } from "../support/virtual-world";

const address = "volume.data";
const record: Intent["record"] = {
  kind: "volume",
  address,
  name: "data",
  sizeGb: 5,
  flush: { via: "ask" },
  preventDestroy: false,
};
const volume = (id: string, more: Partial<LiveVolume> = {}): LiveVolume => ({
  kind: "volume",
  id,
  name: "data",
  failed: false,
  ...more,
});
const ours = volume("ours", { sizeGb: 5 });
const another = volume("another", { sizeGb: 7 });
/** Such an id some services give again. */
const numbered = volume("7", { sizeGb: 5 });
/** Only its name speaks for it. */
const hazy = volume("hazy");

type Answer = Outcome<LiveVolume | undefined>;
const lost: Answer = { status: "unknown", reason: "the connection broke" };
const unreadable: Answer = { status: "unknown", reason: "no id in it", accepted: true };
const refused = (condition: Condition): Extract<Answer, { status: "rejected" }> => ({
  status: "rejected",
  condition,
  message: "no",
});
const perhapsRefused: Answer = { status: "unknown", reason: "error inside", refusal: refused("bad_request") };
const away: Answer = { status: "unavailable", reason: "503" };
const earlier: Intent = {
  step: `${address}/create`,
  address,
  operation: "volume.create",
  name: "data",
  sentAt: "2026-01-01T00:00:00Z",
  idsBefore: [],
  record,
};

interface Row {
  readonly answers: readonly Answer[];
  /** What the list shows after the create. `undefined`: it cannot be read. */
  readonly shows?: readonly LiveVolume[] | undefined;
  readonly existed?: readonly LiveVolume[];
  /** What existed is deleted by this run, and the list after that shows it no longer, or does. */
  readonly deleted?: "gone" | "listed";
  /** What another address manages, or an orphan is. Neither was looked at. */
  readonly managed?: LiveVolume;
  readonly orphaned?: LiveVolume;
  /** What is read by its id after the create is not there. */
  readonly unread?: true;
  readonly earlier?: Intent;
  readonly lists?: false;
  readonly becomes: string;
}

/**
 * How it ended, what was kept and how that was known, how often it was sent, what the state remembers of it, and what a
 * person is told to import where it failed.
 */
async function carriedOut(row: Row, onLook?: (isOpen: boolean) => void): Promise<string> {
  const live = {
    ...notSeen,
    of: {
      ...notSeen.of,
      volume: {
        ...notSeen.of.volume,
        byId: new Map((row.existed ?? []).map((one) => [one.id, { seen: "yes" as const, value: one }])),
      },
    },
  };
  let sent = 0;
  const { run, recorder } = await loneRun({
    live,
    has: (operation) => row.lists !== false || operation !== "volume.list",
    openBefore: row.earlier,
    records:
      row.managed === undefined
        ? []
        : [
            {
              ...{ kind: "volume" as const, address: "volume.other", id: row.managed.id, name: "other", sizeGb: 7 },
              ...{ flush: { via: "ask" as const }, preventDestroy: false },
            },
          ],
    intents: row.earlier === undefined ? [] : [row.earlier],
    client: {
      listVolumes: async () => {
        onLook?.(recorder.state.intents.has(address));
        if (row.deleted !== undefined && sent === 0) return accepted(row.deleted === "gone" ? [] : (row.existed ?? []));
        return "shows" in row && row.shows === undefined
          ? { status: "rejected", condition: "forbidden", message: "not for you" }
          : accepted([...(row.existed ?? []), ...(row.shows ?? [])]);
      },
      getVolume: async () => (row.unread === true ? refused("not_found") : accepted(numbered)),
    },
  });
  if (row.orphaned !== undefined) {
    const { id } = row.orphaned;
    const orphan = { kind: "volume", id, name: "data", reason: "it was left" } as const;
    await recorder.record([{ type: "orphan", key: orphanKey(orphan), orphan }]);
  }
  for (const { id } of row.deleted === undefined ? [] : (row.existed ?? [])) run.deleted.add(`volume:${id}`);
  let kept = "";
  const creation: Creation<"volume"> = {
    kind: "volume",
    name: "data",
    record: record!,
    acceptedWindowMs: 60_000,
    send: async () => row.answers[Math.min(sent++, row.answers.length - 1)]!,
    keep: async (found: LiveVolume, how: HowFound) => {
      kept = `${how} ${found.id}, `;
      return doneAndSeen;
    },
  };
  const result = await createOnce(stepAt(address, "create"), creation, run);
  const intent = recorder.state.intents.get(address);
  const memory =
    intent === undefined
      ? "nothing open"
      : intent.unknown === true
        ? intent.accepted === true
          ? "accepted and unknown"
          : "unknown"
        : "open";
  const fix = result.end === "failed" && result.fix !== undefined ? adviceText(result.fix) : "";
  const offered = /import volume\.data (\S+)/.exec(fix)?.[1];
  return [
    `${result.end}${"code" in result && result.code !== undefined ? ` ${result.code}` : ""}: ${kept}sent ${sent}`,
    memory,
    ...(offered === undefined ? [] : [`import ${offered}`]),
  ].join(", ");
}

const rows: Readonly<Record<string, Row>> = {
  "an answer that names it is kept": {
    answers: [accepted(ours)],
    becomes: "done: answered ours, sent 1, open",
  },
  "an answer that names what existed before is not": {
    answers: [accepted(another)],
    existed: [another],
    becomes: "unknown apply/outcome-unknown: sent 1, accepted and unknown",
  },
  "nor one that names what another address manages": {
    answers: [accepted(another)],
    managed: another,
    becomes: "unknown apply/outcome-unknown: sent 1, accepted and unknown",
  },
  "nor one that names an orphan": {
    answers: [accepted(another)],
    orphaned: another,
    becomes: "unknown apply/outcome-unknown: sent 1, accepted and unknown",
  },
  "the id is that of what this run has deleted, and was free before the create": {
    answers: [accepted(undefined)],
    existed: [numbered],
    deleted: "gone",
    becomes: "done: seen 7, sent 1, open",
  },
  "and was not free by then": {
    answers: [accepted(undefined)],
    existed: [numbered],
    deleted: "listed",
    becomes: "unknown apply/outcome-unknown: sent 1, accepted and unknown",
  },
  "and the list is behind: by its id it is gone": {
    answers: [accepted(undefined)],
    existed: [numbered],
    deleted: "gone",
    unread: true,
    becomes: "unknown apply/outcome-unknown: sent 1, accepted and unknown",
  },
  "and is none that a service gives again": {
    answers: [accepted(undefined)],
    existed: [ours],
    deleted: "gone",
    becomes: "unknown apply/outcome-unknown: sent 1, accepted and unknown",
  },
  "the answer names the id that this run has freed": {
    answers: [accepted(numbered)],
    existed: [numbered],
    deleted: "gone",
    becomes: "done: answered 7, sent 1, open",
  },
  "an answer that names nothing, and the list shows it": {
    answers: [accepted(undefined)],
    shows: [ours],
    becomes: "done: seen ours, sent 1, open",
  },
  "an answer that names nothing, and the list never shows it": {
    answers: [accepted(undefined)],
    becomes: "unknown apply/outcome-unknown: sent 1, accepted and unknown",
  },
  "an acceptance that cannot be read is not sent again": {
    answers: [unreadable],
    becomes: "unknown apply/outcome-unknown: sent 1, accepted and unknown",
  },
  "a refusal whose words cannot be read is an acceptance": {
    answers: [refused("unreadable")],
    becomes: "unknown apply/outcome-unknown: sent 1, accepted and unknown",
  },
  "a refusal ends it": {
    answers: [refused("bad_request")],
    becomes: "failed service/bad_request: sent 1, nothing open",
  },
  "a refusal because of the name ends it, where nothing was lost before, and names what came under it as it was sent": {
    answers: [refused("conflict")],
    shows: [ours],
    becomes: "failed service/conflict: sent 1, nothing open, import ours",
  },
  "a refusal because of the name names nothing that differs from what was sent": {
    answers: [refused("name_taken")],
    shows: [another],
    becomes: "failed service/name_taken: sent 1, nothing open, import ID",
  },
  "a refusal because of the name names nothing where the list cannot be read": {
    answers: [refused("conflict")],
    shows: undefined,
    becomes: "failed service/conflict: sent 1, nothing open, import ID",
  },
  "a refusal because of the name names nothing that was there before": {
    answers: [refused("conflict")],
    existed: [volume("old", { sizeGb: 5 })],
    becomes: "failed service/conflict: sent 1, nothing open, import ID",
  },
  "a service that is away ends it": {
    answers: [away],
    becomes: "failed service/unavailable: sent 1, nothing open",
  },
  "a lost answer, and the list shows it": {
    answers: [lost],
    shows: [ours],
    becomes: "done: seen ours, sent 1, open",
  },
  "a lost answer, and the whole list lacks it: sent again": {
    answers: [lost, accepted(ours)],
    becomes: "done: answered ours, sent 2, open",
  },
  "lost three times, and never shown": {
    answers: [lost],
    becomes: "unknown apply/outcome-unknown: sent 3, unknown",
  },
  "a lost answer, and what came under the name differs: not sent again": {
    answers: [lost],
    shows: [another],
    becomes: "unknown apply/outcome-unknown: sent 1, unknown",
  },
  "a lost answer, and only the name speaks for what is there: not sent again": {
    answers: [lost],
    shows: [hazy],
    becomes: "unknown apply/outcome-unknown: sent 1, unknown",
  },
  "a lost answer, and what bore the name before does not count": {
    answers: [lost, accepted(ours)],
    existed: [volume("old", { sizeGb: 5 })],
    becomes: "done: answered ours, sent 2, open",
  },
  "a lost answer, and two are there": {
    answers: [lost],
    shows: [ours, volume("twin", { sizeGb: 5 })],
    becomes: "unknown apply/ambiguous: sent 1, unknown",
  },
  "a lost answer, and the list cannot be read": {
    answers: [lost],
    shows: undefined,
    becomes: "unknown apply/outcome-unknown: sent 1, unknown",
  },
  "a lost answer, and nobody can look": {
    answers: [lost],
    lists: false,
    becomes: "unknown apply/outcome-unknown: sent 1, unknown",
  },
  "words that may be a refusal, and the list shows it": {
    answers: [perhapsRefused],
    shows: [ours],
    becomes: "done: seen ours, sent 1, open",
  },
  "words that may be a refusal, and the whole list lacks it: refused": {
    answers: [perhapsRefused],
    becomes: "failed service/bad_request: sent 1, nothing open",
  },
  "the name is taken after a lost attempt, by what that attempt made": {
    answers: [lost, refused("conflict")],
    shows: [],
    becomes: "unknown apply/outcome-unknown: sent 2, unknown",
  },
  "the name is taken by what an earlier run's lost create made": {
    answers: [refused("conflict")],
    earlier,
    shows: [ours],
    becomes: "done: seen ours, sent 1, open",
  },
  "the name is taken by another's, after an earlier run's lost create": {
    answers: [refused("name_taken")],
    earlier,
    shows: [another],
    becomes: "failed service/name_taken: sent 1, nothing open, import ID",
  },
  "the name is taken after an earlier run's lost create, and nothing shows": {
    answers: [refused("conflict")],
    earlier,
    becomes: "unknown apply/outcome-unknown: sent 1, unknown",
  },
};

describe("a create is not made twice", () => {
  it.each(Object.entries(rows))("%s", async (_, row) => {
    expect(await carriedOut(row)).toBe(row.becomes);
  });

  it("is over in the state before what took its name is looked for", async () => {
    const openAtLooks: boolean[] = [];
    await carriedOut({ answers: [refused("conflict")], shows: [ours], becomes: "" }, (isOpen) =>
      openAtLooks.push(isOpen),
    );
    expect(openAtLooks).toEqual([false]);
  });

  it("is written down before it is sent", async () => {
    const { run, recorder } = await loneRun({ client: { listVolumes: async () => accepted([]) } });
    let known: Intent | undefined;
    await createOnce(
      stepAt(address, "create"),
      {
        kind: "volume",
        name: "data",
        record: record!,
        acceptedWindowMs: 1000,
        send: async () => {
          known = recorder.state.intents.get(address);
          return accepted(ours);
        },
        keep: async () => doneAndSeen,
      },
      run,
    );
    expect(known).toMatchObject({ operation: "volume.create", name: "data", record: { sizeGb: 5 } });
  });
});
