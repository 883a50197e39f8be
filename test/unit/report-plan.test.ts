/** What a plan looks like to people: golden texts, sizes, and that nothing of others gets through to the terminal. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { noGrants } from "../../reconciler/core/plan/consent";
import type { Plan } from "../../reconciler/core/plan/plan";
import { commentLimit, failureMarkdown, planMarkdown } from "../../reconciler/report/markdown";
import { summaryText } from "../../reconciler/report/plan-outline";
import { type PlanTextOptions, planLines } from "../../reconciler/report/plan-text";
import { cutToColumns, displayColumns, durationText, wrapText } from "../../reconciler/report/style";
import {
  countReads,
  everythingWorld,
  hostilePlan,
  hostileTrace,
  planFor,
  quickstartWorld,
  vm,
  volume,
} from "../support/sample-plans";

const golden = (name: string): string => join(__dirname, "golden/report", name);
const planText = (plan: Plan, options?: PlanTextOptions): string => `${[...planLines(plan, options)].join("\n")}\n`;
const manyVms = (count: number) => Array.from({ length: count }, (_, index) => vm(`web[${index}]`));

describe("a plan as text", () => {
  for (const [name, world] of [
    ["quickstart", quickstartWorld],
    ["everything", everythingWorld],
  ] as const)
    for (const width of [80, 200])
      it(`reads as the golden text: ${name} at ${width} columns`, async () => {
        await expect(planText(planFor(world()), { width })).toMatchFileSnapshot(golden(`${name}-${width}.txt`));
      });

  it("lists every step with what it waits for when asked", async () => {
    await expect(planText(planFor(everythingWorld()), { steps: true })).toMatchFileSnapshot(
      golden("everything-steps.txt"),
    );
  });

  it("keeps within the width wherever there is a space to break at, but for the last line, which stays one for grep", () => {
    for (const width of [60, 80, 200])
      for (const line of planLines(planFor(everythingWorld()), { width, steps: true }))
        if (displayColumns(line) > width && !line.startsWith("Plan: ")) expect(line.trim()).not.toContain(" ");
  });

  it("says without colour what it says with colour", () => {
    const plan = planFor(everythingWorld());
    const plain = planText(plan, { colour: true }).replaceAll(/\u001b\[[\d;]*m/g, "");
    expect(plain).toBe(planText(plan));
  });

  it("puts what is lost and the flag that permits it right before the last line", () => {
    const lines = planText(planFor(everythingWorld()), { width: 120 }).trimEnd().split("\n");
    const loss = lines.findIndex((line) => line.startsWith("! DATA LOSS: 5 things are lost for good"));
    expect(loss).toBeGreaterThan(0);
    expect(lines.slice(loss + 1).filter((line) => line.startsWith("    "))).toHaveLength(5);
    expect(lines.at(-3)).toBe("  → permit it with --allow-data-loss, or --allow-loss with the address of each");
    expect(lines.at(-1)).toContain("5 lose data");
  });

  it("in brief has one line for each change and each kind of consent, and no columns out of line", () => {
    const plan = planFor(everythingWorld());
    const lines = planText(plan, { summary: true, width: 200 }).split("\n");
    const changes = lines.filter((line) => /^[ !] [+~±<x-] /.test(line));
    expect(changes.length).toBeLessThanOrEqual(plan.changes.length);
    const kinds = new Set(plan.consents.map(({ kind }) => kind));
    expect(lines.filter((line) => /^! [A-Z]/.test(line))).toHaveLength(kinds.size);
    // A VM that is down though nothing of it changes has its line as well.
    const others = lines.filter((line) => line.startsWith("    "));
    expect(others.filter((line) => !line.includes("down for"))).toEqual([]);
    expect(planText(plan, { summary: true, width: 200, grants: { ...noGrants, confirmFlush: ["all"] } })).toMatch(
      /! NEEDS A FLUSH: .* \(permitted\)\n/,
    );
  });

  it("keeps the addresses of consents in one column, however long they are", () => {
    const long = "database-of-the-whole-shop";
    const plan = planFor(everythingWorld());
    const [first, ...others] = plan.consents.filter(({ kind }) => kind === "data_loss");
    if (first === undefined) throw new Error("the world has losses");
    const shown = planText({ ...plan, consents: [{ ...first, address: `vm.${long}` }, ...others] }, { width: 200 });
    const starts = shown
      .split("\n")
      .filter((line) => /^ {4}\S/.test(line))
      .map((line) => /^ {4}\S+ +/.exec(line)?.[0].length);
    expect(new Set(starts.slice(-others.length - 1)).size).toBe(1);
  });

  it("says of a consent that was given that it is permitted, and asks for no flag", () => {
    const grants = { ...noGrants, allowDataLoss: true, allowEmpty: false, confirmFlush: ["all"] };
    const text = planText(planFor(everythingWorld()), { grants, width: 200 });
    expect(text).not.toContain("--allow-data-loss");
    expect(text).not.toContain("--confirm-flush");
    expect(text).toContain("with its data (permitted)");
    expect(text).toContain("set lifecycle.prevent_destroy: false");
  });

  it("streams: the first lines are there before the rest is made", () => {
    const first = planLines(planFor({ desired: manyVms(50) })).next();
    expect(first.value).toContain("vm.web[0]");
  });

  it("reads a plan ten times as large about ten times as often", () => {
    const readsFor = (count: number): number => {
      const { plan, reads } = countReads(planFor({ desired: manyVms(count) }));
      for (const line of planLines(plan, { steps: true })) if (line === "never") throw new Error();
      planMarkdown(plan);
      return reads();
    };
    expect(readsFor(2_000) / readsFor(200)).toBeLessThan(15);
  });
});

describe("the last line of a plan", () => {
  const applied = [vm("a"), vm("b"), volume("c")];
  const cases: readonly (readonly [string, () => Plan, string])[] = [
    [
      "an empty plan says how much was compared",
      () => planFor({ applied, desired: applied }),
      "Nothing to do: the service matches the file (3 resources).",
    ],
    [
      "one resource is one resource",
      () => planFor({ applied: [vm("a")], desired: [vm("a")] }),
      "Nothing to do: the service matches the file (1 resource).",
    ],
    [
      "a destroy of nothing says so",
      () => planFor({ options: { destroy: true } }),
      "Nothing to do: the state holds nothing that could be destroyed.",
    ],
    [
      "a destroy that leaves something out says that as well",
      () => planFor({ applied: [vm("a")], options: { destroy: true, excludes: ["vm.a"] } }),
      "Nothing to do: the state holds nothing that could be destroyed, without vm.a.",
    ],
    ["creates are counted and timed", () => planFor(quickstartWorld()), "Plan: 7 to create; 9 steps; about 1 min 1 s."],
    [
      "a shrink is an error in the way",
      () => planFor({ applied: [volume("c")], desired: [volume("c", { sizeGb: 10 })] }),
      "No plan, because of 1 error. Without it: 1 to update.",
    ],
  ];
  for (const [title, plan, expected] of cases) it(title, () => expect(summaryText(plan())).toBe(expected));
});

describe("durations and wrapping", () => {
  it.each([
    [0, "0 s"],
    [400, "under 1 s"],
    [20_000, "20 s"],
    [59_600, "1 min"],
    [80_000, "1 min 20 s"],
    [3_600_000, "1 h"],
    [3_900_000, "1 h 5 min"],
  ])("%i ms is %s", (ms, text) => expect(durationText(ms)).toBe(text));

  it("breaks at spaces only, and counts wide characters as two", () => {
    expect(wrapText("aa bb cccccc dd", 5)).toEqual(["aa bb", "cccccc", "dd"]);
    expect(displayColumns("日本")).toBe(4);
  });

  it.each([
    [5, "abcde"],
    [4, "abc…"],
    [1, "…"],
    [0, ""],
  ])("cuts a text to %i columns", (columns, cut) => expect(cutToColumns("abcde", columns)).toBe(cut));

  it("cuts no wide character in two", () => expect(cutToColumns("日本語", 4)).toBe("日…"));
});

describe("a plan as a merge-request comment", () => {
  it("reads as the golden Markdown, and is the same bytes each time", async () => {
    const text = planMarkdown(planFor(everythingWorld()));
    expect(planMarkdown(planFor(everythingWorld()))).toBe(text);
    await expect(text).toMatchFileSnapshot(golden("everything.md"));
  });

  it.each([250, 1_000, 5_000, 20_000, 65_536])("stays under %i characters and says how many were cut", (limit) => {
    for (const plan of [
      planFor({ desired: manyVms(2_000) }),
      planFor({ applied: manyVms(2_000), options: { destroy: true } }),
    ])
      for (const one of [plan, hostilePlan(plan)]) {
        const text = planMarkdown(one, { limit });
        expect(text.length).toBeLessThanOrEqual(limit);
        expect(text).toMatch(/[\d,]+ of 2,000 changed resources are without details here|There is no room here/);
      }
  });

  it("counts the findings where nothing but the summary has room", () => {
    const findings = [
      { severity: "warning" as const, code: "exposure/open-port" as const, summary: "open ".repeat(100) },
    ];
    expect(planMarkdown(planFor({ desired: manyVms(2_000) }), { limit: 250, findings })).toContain(
      "**There is no room here for the details and 1 finding.**",
    );
  });

  it("holds as many of the codes as there is room for, where a policy has one for each finding", () => {
    const findings = Array.from({ length: 3_000 }, (_, n) => ({
      severity: "error" as const,
      code: `policy/rule-${n}` as const,
      summary: "refused",
    }));
    const text = failureMarkdown(findings, {});
    expect(text.length).toBeLessThanOrEqual(commentLimit);
    expect(text).toMatch(/- … and [\d,]+ more codes/);
    expect(planMarkdown(planFor({ desired: manyVms(3) }), { findings })).toContain("vm.web");
  });

  it("shows what was left out as text, in its title too", () => {
    const text = planMarkdown(planFor({ desired: manyVms(3), options: { excludes: ["vm.x[@team]", "vm.x[<b>]"] } }));
    expect(text).toContain("without vm.x&#91;&#64;<!-- -->team&#93; and vm.x&#91;&#60;b&#62;&#93;.");
  });

  it("names all of 2,000 changes, whichever have room for their details", () => {
    const text = planMarkdown(planFor({ desired: manyVms(2_000) }));
    const decoded = text.replaceAll("&#91;", "[").replaceAll("&#93;", "]");
    expect(new Set(decoded.match(/\bvm\.\w+\[\w+\]/g)).size).toBe(2_000);
  });

  it("lets no text of others out of its fences, code and folds", () => {
    const text = planMarkdown(hostilePlan(planFor(everythingWorld())), { limit: 1e6 });
    expect(text.match(/<details>/g)).toHaveLength(text.match(/<\/details>/g)!.length);
    let fence: string | undefined;
    let fenced = 0;
    for (const line of text.split("\n")) {
      const ticks = /^(`{3,})(diff|text)?$/.exec(line);
      if (fence === undefined && ticks !== null) fence = ticks[1];
      else if (fence !== undefined && line === fence) {
        fence = undefined;
        fenced++;
      } else if (fence !== undefined) expect(line).not.toContain(fence);
      else {
        expect(line).not.toMatch(/<b>|\]\(http/);
        expect(line.replaceAll(/<code>.*?<\/code>/g, "")).not.toMatch(/@team|`|\|x/);
      }
    }
    expect(fence).toBeUndefined();
    expect(fenced).toBe(text.match(/<details>/g)!.length);
  });
});

describe("text of others", () => {
  const plan = hostilePlan(planFor(everythingWorld()));
  it.each([
    ["text", () => planText(plan, { steps: true, width: 80 })],
    ["Markdown", () => planMarkdown(plan, { limit: 1e6 })],
  ])("shows its control characters and direction marks as numbers in %s", (_, make) => {
    const text = make();
    expect(text).toContain(hostileTrace);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/);
  });
});
