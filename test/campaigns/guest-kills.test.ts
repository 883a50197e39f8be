import { describe, expect, it } from "vitest";
import { countCampaign } from "../support/campaign-count";
import { guestStories } from "../support/guest-stories";
import { createGuests } from "../support/guests";
import { momentsOf } from "../support/mortal";
import { dieAt, undisturbed } from "../support/stage";

/** Every n-th moment is tried; 1 tries all. */
const stride = Number(process.env["GUEST_KILL_STRIDE"] ?? 7);
let offset = 0;

describe("a command that is owed has ended with 0 after the run that follows a kill, and never ran too early", () => {
  for (const [title, story] of Object.entries(guestStories))
    it(title, async () => {
      const guests = createGuests();
      const { runCommand } = guests;
      const { expected, counts } = await undisturbed(story, "everything", { runCommand }, guests);
      expect([...guests.early, ...guests.unpaid(story.owes ?? [])]).toEqual([]);
      const debts = guests.ran.length;
      const violations: string[] = [];
      const tried = momentsOf(counts).filter((_, index) => (index + offset++) % stride === 0);
      for (const moment of tried) {
        const problems = await dieAt(story, "everything", moment, expected, { runCommand }, guests);
        for (const problem of problems) violations.push(`${moment.when} ${moment.of} ${moment.nth}: ${problem}`);
      }
      countCampaign(`kills of a run with ${debts} commands`, tried.length, violations.length);
      expect(violations.join("\n")).toEqual("");
    });
});
