/** The page of a run: it stands alone, escapes everything, marks the critical path, and a real browser shows it. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DiagnosticCode } from "../../reconciler/core/model/diagnostic-code";
import type { WhyUnseen } from "../../reconciler/core/model/effect";
import type { Step, StepId } from "../../reconciler/core/plan/step";
import { criticalPath } from "../../reconciler/core/schedule/critical-path";
import type { RunReport } from "../../reconciler/engine/run-plan";
import { type HtmlReport, htmlReport } from "../../reconciler/report/html/html";
import { shortTime, stepsThatRan, timelineHtml } from "../../reconciler/report/html/timeline";
import { waitLimitMs } from "../support/eventually";
import { makeFolder } from "../support/folder";
import { everythingWorld, hostilePlan, planFor, pretendRun, quickstartWorld } from "../support/sample-plans";

const plan = planFor(everythingWorld());
const troubled = pretendRun(plan, (step) =>
  step.id === "volume.log-data/detach"
    ? { end: "failed", message: "the service refused: quota exceeded", fix: "ask for more", code: "service/refused" }
    : { end: "done" },
).run;

const reportOf = (more: Partial<HtmlReport> = {}): HtmlReport => ({
  command: "apply",
  version: "1.2.3",
  at: "2026-01-02T03:04:05.000Z",
  exitCode: 0,
  plan,
  run: troubled,
  diagnostics: plan.diagnostics,
  ...more,
});

const step = (id: string, needs: readonly string[] = [], address = `vm.${id}`): Step => ({
  // The page shows what stands there.
  id: id as StepId,
  address,
  action: { operation: "vm.reboot", vm: { id } },
  title: `reboot ${id}`,
  needs: needs.map((one) => ({ step: one as StepId, on: "done" })),
  holds: [],
  estimateMs: 1,
});

const runOf = (...steps: readonly (readonly [Step, from: number, to: number])[]): RunReport => ({
  steps: steps.map(([one, startedAt, endedAt]) => ({
    step: one,
    result: { end: "done" },
    startedAt,
    endedAt,
    waitedMs: 0,
  })),
  counts: { done: steps.length, failed: 0, skipped: 0, waiting: 0 },
  orphans: [],
  interrupted: false,
});

describe("the critical path", () => {
  it.each<[string, RunReport, string[]]>([
    ["of one step is that step", runOf([step("a"), 0, 10]), ["a"]],
    ["ends with the step that ended last", runOf([step("a"), 0, 10], [step("b"), 0, 20]), ["b"]],
    [
      "goes back over the need that ended last",
      runOf([step("a"), 0, 10], [step("b"), 0, 30], [step("c", ["a", "b"]), 30, 40]),
      ["b", "c"],
    ],
    ["passes over needs that never ran", runOf([step("b"), 0, 30], [step("c", ["never", "b"]), 30, 40]), ["b", "c"]],
  ])("%s", (_, run, expected) => {
    expect(criticalPath(stepsThatRan(run)).map((report) => report.step.id)).toEqual(expected);
  });

  it("goes over a step that held what the next one waited for", () => {
    const holding = (id: string): Step => ({ ...step(id), holds: ["vm:a"] });
    const html = timelineHtml(runOf([holding("a"), 0, 5000], [holding("b"), 5000, 10_000]));
    expect(html).toContain("2 steps, one after the other, made the run");
  });

  it("is marked in the timeline, in words as well", () => {
    const html = timelineHtml(runOf([step("a"), 0, 10_000], [step("b"), 0, 5000]));
    const bars = [...html.matchAll(/<span class="(r-bar[^"]*)" tabindex="0" role="img" aria-label="([^"]*)"/g)];
    expect(
      bars.map(([, classes, label]) => [classes!.includes("r-path"), /on the critical path/.test(label!)]),
    ).toEqual([
      [false, false],
      [true, true],
    ]);
  });
});

describe("the timeline", () => {
  it("puts steps of one resource that ran at once one below the other", () => {
    const html = timelineHtml(
      runOf(
        [step("a", [], "group.web"), 0, 10],
        [step("b", [], "group.web"), 5, 15],
        [step("c", [], "group.web"), 12, 20],
      ),
    );
    expect([...html.matchAll(/top:([\d.]+)rem/g)].map(([, top]) => top)).toEqual(["0.15", "1.65", "0.15"]);
    expect(html.match(/class="r-row/g)).toHaveLength(1);
  });

  it("shows requesting apart from waiting", () => {
    const run = runOf([step("a"), 0, 10_000]);
    const html = timelineHtml({ ...run, steps: [{ ...run.steps[0]!, waitedMs: 7500 }] });
    expect(html).toContain('<i class="r-requests" style="width:25%"></i><i class="r-waits" style="width:75%"></i>');
    expect(html).toContain("of which 7.5 s waiting");
  });
});

/** Every write was accepted, and no look shows it. */
const unseenRun = (why: WhyUnseen): RunReport => {
  const { run } = pretendRun(planFor(quickstartWorld()));
  const steps = run.steps.map((report) => {
    const { address, title } = report.step;
    const unseen = [{ address, title, field: "existence" as const, said: title, why }];
    return { ...report, result: { end: "done" as const, unseen } };
  });
  return { ...run, steps };
};
const notShown: WhyUnseen = { unseen: "not-shown", where: "the list" };
const nobodyLooks: WhyUnseen = { unseen: "nobody-can-look", because: "there is no list" };

describe("the page", () => {
  const page = htmlReport(reportOf({ exitCode: 1 }));

  it("asks for nothing from elsewhere: no script, no link out, no source, and a policy that forbids them", () => {
    expect(page).toContain("default-src 'none'");
    expect(page).not.toMatch(/<(script|iframe|object|embed|link|base|form)\b/i);
    expect(
      [...page.matchAll(/(?:src|href|action|data)="([^"]*)"/g)].filter(([, target]) => !target!.startsWith("#")),
    ).toEqual([]);
    expect(page).not.toMatch(/@import|url\((?!#)/);
    expect(page).not.toMatch(/ on[a-z]+="/);
  });

  it("says where it was, who ran it and from which commit, with what is in those names escaped", () => {
    const html = htmlReport(reportOf({ where: "project shop · commit 1a2b3c4d5e6f", who: "ann<b> on build-7" }));
    expect(html).toContain("project shop · commit 1a2b3c4d5e6f");
    expect(html).toContain("by ann&#60;b&#62; on build-7");
  });

  it("says the outcome, what failed with its fix, every change and every step", () => {
    expect(page).toContain("quota exceeded");
    expect(page).toContain("→ ask for more");
    for (const change of plan.changes) expect(page).toContain(`<code>${change.address}</code>`);
    expect(page).toMatch(/<strong>loses data:<\/strong>/);
    expect(page).toMatch(/<svg [^>]*role="img"/);
    expect([...page.matchAll(/<section id="([a-z]+)"/g)].map(([, id]) => id)).toEqual([
      "outcome",
      "timeline",
      "changes",
      "graph",
      "steps",
    ]);
  });

  it("keeps whatever a service or a file says as text", () => {
    const hostile = hostilePlan(plan);
    const evil = '"><script>alert(1)</script><img src=x onerror=alert(1)>\u001b[31m\u202e';
    const run = pretendRun(hostile, () => ({ end: "failed", message: evil, fix: evil })).run;
    const html = htmlReport(
      reportOf({
        plan: hostile,
        run,
        diagnostics: [
          {
            severity: "error",
            code: evil as DiagnosticCode,
            summary: evil,
            detail: evil,
            fix: evil,
            address: evil,
            source: { file: evil, line: 1 },
          },
        ],
      }),
    );
    expect(html).not.toMatch(/<script|<img|onerror=alert\(1\)>/i);
    expect(html).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  it("every id is there once, every link leads to one, and every scrolling part can be reached with the keyboard", () => {
    const ids = [...page.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id!);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, target] of page.matchAll(/href="#([^"]*)"/g)) expect(ids).toContain(target);
    for (const [scroll] of page.matchAll(/<div class="r-scroll[^>]*>/g)) expect(scroll).toContain('tabindex="0"');
  });

  it.each<[string, Partial<HtmlReport>, RegExp]>([
    ["done", { run: pretendRun(planFor(quickstartWorld())).run }, /r-good" role="status">done</],
    ["nothing to do", { run: undefined }, />nothing to do</],
    ["blocked", { run: undefined, exitCode: 3 }, />blocked: a consent is missing/],
    [
      "blocked by what is said of the consent",
      { run: undefined, exitCode: 3, diagnostics: [{ severity: "error", code: "consent/data-loss", summary: "no" }] },
      />blocked: a consent is missing/,
    ],
    [
      "blocked by a finding",
      { run: undefined, exitCode: 3, diagnostics: [{ severity: "error", code: "apply/not-seen", summary: "refused" }] },
      />blocked by a finding/,
    ],
    ["waiting", { exitCode: 4 }, /waits for an outside act/],
    ["not seen", { exitCode: 4, run: unseenRun(notShown) }, />accepted, but not all of it is seen</],
    ["as far as it can be seen", { run: unseenRun(nobodyLooks) }, />done, as far as this service can be looked/],
    ["interrupted", { exitCode: 1, run: { ...troubled, interrupted: true } }, />interrupted</],
    ["failed", { exitCode: 1 }, />failed</],
  ])("says in a word that a run is %s", (_, more, expected) => {
    const { run, ...rest } = { ...reportOf(), ...more };
    expect(htmlReport(run === undefined ? rest : { ...rest, run })).toMatch(expected);
  });

  it("calls no change and no step done that the service accepted and does not show", () => {
    const html = htmlReport(reportOf({ exitCode: 4, run: unseenRun(notShown) }));
    const ended = html
      .split("<tbody>")
      .map((table) => table.match(/<td class="r-(good|change)">(done|not seen)</g) ?? []);
    expect(ended.filter((cells) => cells.length > 0)).toHaveLength(2);
    for (const cells of ended) expect(cells.every((cell) => cell === '<td class="r-change">not seen<')).toBe(true);
  });

  it("draws no picture of more steps than anybody reads, and has all of them in its table", () => {
    const many = runOf(...Array.from({ length: 400 }, (_, n) => [step(`s${n}`), n, n + 5] as const));
    const html = htmlReport(reportOf({ plan: { ...plan, steps: many.steps.map((report) => report.step) }, run: many }));
    expect(html).not.toContain("<svg");
    expect(html.match(/reboot s399<\/td>/g)).toHaveLength(1);
  });
});

const policyBroken = /CONSOLE.*(Refused|Content Security Policy|Failed to load)/;
const browser = ["chromium", "chromium-browser", "google-chrome"].find(
  (name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0,
);
if (browser === undefined) console.warn("SKIPPED: no chromium on PATH, so the HTML report was not opened in a browser");

describe.skipIf(browser === undefined)("in a real browser", () => {
  const open = (html: string, ...flags: string[]): { readonly said: string; readonly folder: string } => {
    const folder = makeFolder();
    writeFileSync(join(folder, "report.html"), html);
    const said = spawnSync(
      browser!,
      [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--enable-logging=stderr",
        "--window-size=1280,1600",
        `--user-data-dir=${join(folder, "profile")}`,
        ...flags.map((flag) => flag.replace("FOLDER", folder)),
        `file://${folder}/report.html`,
      ],
      { encoding: "utf8", timeout: waitLimitMs },
    );
    return { said: `${said.stdout}${said.stderr}`, folder };
  };
  const picture = (html: string, ...flags: string[]): Buffer => {
    const { folder } = open(html, "--screenshot=FOLDER/page.png", ...flags);
    return readFileSync(join(folder, "page.png"));
  };

  it("shows light and dark, each as a picture of its own, and breaks none of its own rules", () => {
    const html = htmlReport(reportOf({ exitCode: 1 }));
    const { said } = open(html, "--dump-dom");
    expect(said).toContain("<title>reconcile apply: failed</title>");
    expect(said).not.toMatch(policyBroken);
    const light = picture(html, "--blink-settings=preferredColorScheme=1");
    const dark = picture(html, "--blink-settings=preferredColorScheme=0");
    for (const png of [light, dark]) expect(png.length).toBeGreaterThan(20_000);
    expect(light.equals(dark)).toBe(false);
  });

  it("would tell of a page that breaks them", () => {
    const { said } = open(htmlReport(reportOf()).replace("<main>", "<main><script>1</script>"), "--dump-dom");
    expect(said).toMatch(policyBroken);
  });
});

it("says no time that is 0 to the eye", () => {
  expect([0.4, 7, 49.6, 99.4, 100, 2345, 10_000].map(shortTime)).toEqual([
    ...["0.4 ms", "7 ms", "50 ms", "99 ms", "0.1 s", "2.3 s", "10 s"],
  ]);
});
