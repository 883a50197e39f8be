/** What a look by name ends with, by what each list answers in turn: it ends early, lasts its whole time, or is blind. */
import { describe, expect, it } from "vitest";
import type { LiveGroup, LiveVolume } from "../../reconciler/core/model/live";
import { accepted, type Outcome, type Rejection } from "../../reconciler/core/model/outcome";
import { discover } from "../../reconciler/engine/discover";
import { blindAfter } from "../../reconciler/engine/poller";
import { loneRun, stepAt } from "../support/virtual-world";

const forbidden: Rejection = { status: "rejected", condition: "forbidden", message: "no" };
const away: Outcome<never> = { status: "unavailable", reason: "503" };
const lost: Outcome<never> = { status: "unknown", reason: "the connection broke" };
const volumes = (...names: string[]): Outcome<readonly LiveVolume[]> =>
  accepted(names.map((name, index) => ({ kind: "volume", id: `${name}-${index}`, name, failed: false })));

interface Row {
  /** What one list after the other answers; the last one for good. */
  readonly lists: readonly Outcome<readonly LiveVolume[]>[];
  /** How many of the name are enough; none: nothing is, so the whole time is served. */
  readonly enough?: number;
  readonly stops?: true;
  readonly ends: string;
}

// A window of six seconds, with a look after every two: the third is asked for when it is over.
const rows: Readonly<Record<string, Row>> = {
  "the first list shows it": { lists: [volumes("data")], enough: 1, ends: "seen data-0, 1 lists, none proves" },
  "a later one does": {
    lists: [volumes("other"), volumes("other", "data")],
    enough: 1,
    ends: "seen data-1, 2 lists, none proves",
  },
  "none does: the last list is asked for when the time is over, and has to be whole": {
    lists: [volumes("other")],
    enough: 1,
    ends: "seen none, 3 lists, the last proves",
  },
  "one is not enough: the whole time is served": {
    lists: [volumes("data")],
    enough: 2,
    ends: "seen data-0, 3 lists, the last proves",
  },
  "names of volumes are as they are written": {
    lists: [volumes("DATA")],
    enough: 1,
    ends: "seen none, 3 lists, the last proves",
  },
  "a list that is refused ends it at once": {
    lists: [forbidden],
    enough: 1,
    ends: "blind rejected, 1 lists, none proves",
  },
  "a list that fails once is asked for again": {
    lists: [away, volumes("data")],
    enough: 1,
    ends: "seen data-0, 2 lists, none proves",
  },
  "a list that never comes ends it when the time is over": {
    lists: [lost],
    enough: 1,
    ends: "blind unknown, 3 lists, the last proves",
  },
  "only the last one fails: an absence before it proves nothing": {
    lists: [volumes(), volumes(), away],
    enough: 1,
    ends: "blind unavailable, 3 lists, the last proves",
  },
  "who stops the run is told nothing": { lists: [volumes()], stops: true, ends: "aborted, 1 lists, none proves" },
};

async function ends({ lists, enough = Number.POSITIVE_INFINITY, stops }: Row, windowMs = 6000): Promise<string> {
  const stop = new AbortController();
  const proofs: boolean[] = [];
  const { run } = await loneRun({
    client: {
      listVolumes: async (options) => {
        proofs.push(options?.proves === true);
        if (stops) stop.abort();
        return lists[Math.min(proofs.length, lists.length) - 1]!;
      },
    },
    more: { signal: stop.signal },
  });
  const step = stepAt("volume.data", "create");
  const search = { step, name: "data", windowMs, isEnough: (named: readonly unknown[]) => named.length >= enough };
  const looked = await discover("volume", search, run);
  const what =
    looked.status === "seen"
      ? `seen ${looked.named.map(({ id }) => id).join(" ") || "none"}`
      : looked.status === "blind"
        ? `blind ${looked.failure.status}`
        : looked.status;
  const proving = proofs.indexOf(true);
  const who = proving === -1 ? "none proves" : proving === proofs.length - 1 ? "the last proves" : "an earlier proves";
  return `${what}, ${proofs.length} lists, ${who}`;
}

describe("a look by name", () => {
  it.each(Object.entries(rows))("%s", async (_, row) => {
    expect(await ends(row)).toBe(row.ends);
  });

  it("is blind after so many failures in a row, however long its time is", async () => {
    expect(await ends({ lists: [away], ends: "" }, 9_000_000)).toBe(
      `blind unavailable, ${blindAfter} lists, none proves`,
    );
  });

  it("counts failures in a row: a list that comes between begins anew", async () => {
    const failing = Array.from({ length: blindAfter - 1 }, () => away);
    const row: Row = { lists: [...failing, volumes(), ...failing, volumes("data")], enough: 1, ends: "" };
    expect(await ends(row, 9_000_000)).toBe(`seen data-0, ${2 * blindAfter} lists, none proves`);
  });

  it("finds a group whatever case its name has in the service", async () => {
    const named: LiveGroup = { kind: "group", id: "g", name: "Web" };
    const { run } = await loneRun({ client: { listGroups: async () => accepted([named]) } });
    const search = { step: stepAt("group.web", "create"), name: "web", windowMs: 6000, isEnough: () => true };
    expect(await discover("group", search, run)).toEqual({ status: "seen", named: [named], all: [] });
    // Where it is not found, all that was listed is told: a service that cuts names shows it under another one.
    const other = { ...search, name: "web-2", isEnough: () => false };
    expect(await discover("group", other, run)).toEqual({ status: "seen", named: [], all: [named] });
  });
});
