/** The pages in a real browser: clicked, typed at, narrow and wide, light and dark, and looked through by axe. */
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Database } from "../../reconciler/fleet/database/database";
import type { Records } from "../../reconciler/fleet/database/records";
import { prepareTables } from "../../reconciler/fleet/database/tables";
import { createProvider } from "../../reconciler/fleet/identity";
import { createPages } from "../../reconciler/fleet/pages/app";
import { eventually } from "../support/eventually";
import { beginRun, fillFleet, idleQueue, markup, newDatabase, planDigest, tokenOf } from "../support/fleet-stage";
import { type Browser, browserMissing, seriousFindings, sideways, startBrowser, type Tab } from "./browser";

if (browserMissing !== undefined) console.warn(`NOT SHOWN: the pages in a browser: ${browserMissing}`);

describe.skipIf(browserMissing !== undefined)(`the pages in a browser${browserMissing ?? ""}`, () => {
  let database: Database;
  let records: Records;
  let server: ReturnType<typeof serve>;
  let browser: Browser;
  let base: string;
  let tab: Tab;
  /** What a browser complains of: a policy that was broken, a script that failed. */
  const complaints: string[] = [];

  beforeAll(async () => {
    [browser, database] = await Promise.all([startBrowser(), newDatabase()]);
    await prepareTables(database);
    records = await fillFleet(database);
    const pages = createPages({
      records,
      queue: idleQueue,
      local: async () => undefined,
      provider: createProvider(),
      pulled: async () => false,
      pushed: async () => ({ fetched: false, woken: [] }),
      hooks: { github: [], gitlab: [] },
      metrics: async () => "",
      say: (text) => complaints.push(text),
    });
    await new Promise<void>((resolve) => {
      server = serve({ fetch: pages.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) => {
        base = `http://127.0.0.1:${port}`;
        resolve();
      });
    });
    tab = await signedIn("otto");
  });
  afterAll(async () => {
    await browser.close();
    server.close();
    if ("closeAllConnections" in server) server.closeAllConnections();
    await database.close();
  });

  async function opened(): Promise<{
    readonly tab: Tab;
    readonly cookies: () => ReturnType<Awaited<ReturnType<Browser["newContext"]>>["cookies"]>;
  }> {
    const visit = await browser.newContext();
    const page = await visit.newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("dialog", (dialog) => void dialog.accept());
    return { tab: page, cookies: () => visit.cookies() };
  }
  async function signedIn(name: string): Promise<Tab> {
    const { tab: page } = await opened();
    await page.goto(`${base}/sign-in`);
    await page.getByLabel("Token").fill(tokenOf(name));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Stacks" }).waitFor();
    return page;
  }
  const namesShown = async (page: Tab): Promise<string[]> => page.locator("tbody td:first-child a").allInnerTexts();

  test("who signs in comes to where they wanted to go, with a cookie that no script reads, and is out after signing out", async () => {
    const { tab: page, cookies } = await opened();
    await page.goto(`${base}/stacks/prod-shop`);
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Sign in" }).click();
    expect(await page.locator(".said").innerText()).toContain("no such token");
    await page.goto(`${base}/stacks/prod-shop`);
    await page.getByLabel("Token").fill(tokenOf("vera"));
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "prod-shop" }).first().waitFor();
    const [cookie] = await cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax" });
    expect(await page.evaluate("document.cookie")).toBe("");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.goto(`${base}/`);
    expect(page.url()).toBe(`${base}/sign-in`);
    await page.close();
  });

  test("forms work where a browser does not say of which site they are: over plain http, under a name", async () => {
    const { tab: page } = await opened();
    const there = base.replace("127.0.0.1", "fleet.test");
    await page.goto(`${there}/sign-in`);
    await page.getByLabel("Token").fill(tokenOf("otto"));
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Stacks" }).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.close();
  });

  test("the list is filtered, searched and grouped", async () => {
    await tab.goto(`${base}/`);
    expect(await namesShown(tab)).toHaveLength(7);
    await tab.getByRole("link", { name: "Stalled 1" }).click();
    expect(await namesShown(tab)).toEqual(["lab-broken"]);
    await tab.goto(`${base}/`);
    await tab.getByLabel("Name or reason").fill("PROD-");
    await tab.getByLabel("Tenant").selectOption("payments");
    await tab.getByLabel("Group by").selectOption("condition");
    await tab.getByRole("button", { name: "Show" }).click();
    expect(await tab.locator("tr.group").allInnerTexts()).toEqual(["Awaiting approval", "Paused", "Ready"]);
    expect(await namesShown(tab)).toEqual(["prod-shop", "prod-mail", "prod-network"]);
  });

  test("a viewer sees their stacks, and nothing to press", async () => {
    const page = await signedIn("vera");
    expect(await namesShown(page)).toEqual(["prod-shop", "prod-mail", "prod-network"]);
    await page.getByRole("link", { name: "prod-shop" }).click();
    await page.getByRole("heading", { name: "Desired and live" }).waitFor();
    for (const name of ["Approve", "Reject", "Look now", "Pause"])
      expect(await page.getByRole("button", { name, exact: true }).count()).toBe(0);
    await page.goto(`${base}/stacks/lab-broken`);
    expect(await page.getByRole("heading", { name: "Not found" }).count()).toBe(1);
    // One that gave no sign of life for a while is folded.
    await page.goto(`${base}/workers`);
    await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
    expect(await page.locator("main").innerText()).toContain("prod-shop");
    await page.close();
  });

  test("a form of another site does nothing", async () => {
    const evil = serve({
      fetch: () =>
        new Response(`<form method="post" action="${base}/stacks/prod-network/pause"><button>Win</button></form>`, {
          headers: { "content-type": "text/html" },
        }),
      hostname: "127.0.0.1",
      port: 0,
    });
    const address = await eventually("the other site", () => evil.address() ?? undefined);
    await tab.goto(`http://localhost:${typeof address === "object" ? address.port : 0}/`);
    await tab.getByRole("button", { name: "Win" }).click();
    await eventually("an answer", () => (tab.url().startsWith(base) ? true : undefined));
    expect((await records.stack("prod-network"))?.paused).toBe(false);
    evil.close();
  });

  test("by the keyboard alone: to the content, to a stack, and a look at it", async () => {
    await tab.goto(`${base}/?search=prod-network`);
    await tab.keyboard.press("Tab");
    expect(await tab.evaluate("document.activeElement.textContent")).toBe("Skip to the content");
    await tab.keyboard.press("Enter");
    const until = async (what: string): Promise<void> => {
      for (let left = 40; left > 0; left--) {
        await tab.keyboard.press("Tab");
        if ((await tab.evaluate("document.activeElement.textContent.trim()")) === what) return;
      }
      throw new Error(`no Tab leads to ${what}`);
    };
    await until("prod-network");
    await tab.keyboard.press("Enter");
    await tab.getByRole("heading", { name: "prod-network" }).first().waitFor();
    await until("Look now");
    await tab.keyboard.press("Enter");
    await tab.locator(".said", { hasText: "looked at now" }).waitFor();
    expect((await records.decisions("prod-network", 1))[0]).toMatchObject({ who: "otto", what: "run" });
  });

  test("a stack's page lives: a run begins, tells its steps and ends, and what is being written stays", async () => {
    await tab.goto(`${base}/stacks/prod-shop`);
    await tab.evaluate("window.sameLoad = true");
    const stack = await records.stack("prod-shop");
    if (stack === undefined) throw new Error("no stack");
    const { status } = stack;
    const { id } = await beginRun(records, { stack: "prod-shop", cause: "push", worker: "worker-2:1", status });
    await tab.getByRole("heading", { name: `Runs now: run ${id}` }).waitFor();
    const begun = Date.now();
    const step = (status: string) => ({
      at: new Date(begun + (status === "done" ? 4000 : 0)),
      body: { type: "step", step: "1", status, title: `update group.web ${markup}`, elapsedMs: 1 },
    });
    await records.addLines(id, [step("started")]);
    await tab.locator("ol.bars li", { hasText: "started" }).waitFor();
    await tab.getByLabel("Why").fill("half a word");
    await records.addLines(id, [step("done")]);
    await records.finishRun(id, { result: "applied", reason: null, counts: {} }, status, stack.nextAt ?? null);
    await tab.goto(`${base}/runs/${id}`);
    expect(await tab.locator("ol.bars li").innerText()).toContain("4 s");
    expect(await tab.locator("#log-lines").innerText()).toContain("done     update group.web");
    await tab.goto(`${base}/stacks/prod-shop`);
    await tab.evaluate("window.sameLoad = true");
    await records.note({ who: "x", what: "a remark", stack: "prod-shop" });
    await tab.locator("li", { hasText: "a remark" }).waitFor();
    // Who writes is not disturbed.
    await tab.getByLabel("Why").fill("half a word");
    await records.note({ who: "x", what: "another remark", stack: "prod-shop" });
    await eventually("the page heard of it", async () => ((await tab.evaluate("later")) ? true : undefined));
    expect(await tab.evaluate("document.getElementById('why').value")).toBe("half a word");
    await tab.locator("h1").first().click();
    await tab.getByRole("link", { name: "prod-network" }).first().focus();
    await tab.locator("li", { hasText: "another remark" }).waitFor();
    // A page that nobody looks at fetches nothing until somebody does.
    const hide = (is: boolean): Promise<unknown> =>
      tab.evaluate(
        `Object.defineProperty(document, "hidden", { configurable: true, get: () => ${is} }); document.dispatchEvent(new Event("visibilitychange"))`,
      );
    // What it asked for before that is answered late, and changes nothing either.
    await tab.evaluate(
      "{ const real = fetch; window.fetch = (...of) => new Promise((done) => { window.answer = () => { window.fetch = real; done(real(...of)); }; }); }",
    );
    await records.note({ who: "x", what: "a third remark", stack: "prod-shop" });
    await eventually("the page asks", async () => ((await tab.evaluate("'answer' in window")) ? true : undefined));
    await hide(true);
    await records.note({ who: "x", what: "a hidden remark", stack: "prod-shop" });
    await eventually("the page heard of it", async () => ((await tab.evaluate("later")) ? true : undefined));
    await tab.evaluate("answer()");
    await eventually("the late answer", async () => ((await tab.evaluate("busy")) ? undefined : true));
    expect(await tab.locator("li", { hasText: "a hidden remark" }).count()).toBe(0);
    await hide(false);
    await tab.locator("li", { hasText: "a hidden remark" }).waitFor();
    expect(await tab.evaluate("window.sameLoad")).toBe(true);
  });

  test("a plan is read, rejected with a word why, offered again and approved", async () => {
    await tab.goto(`${base}/stacks/prod-shop`);
    expect(await tab.locator("#plan-lines").innerText()).toContain("± volume.data  replaced: its data is lost");
    expect(await tab.locator("#plan-lines .bad").allInnerTexts()).toContain(
      "  ± volume.data  replaced: its data is lost",
    );
    const plan = await records.waitingPlan("prod-shop");
    await tab.getByLabel("Why").fill("not on a Friday");
    // Enter decides nothing.
    await tab.keyboard.press("Enter");
    expect(await records.waitingPlan("prod-shop")).toEqual(plan);
    expect(await tab.locator("h2#orphans + p").innerText()).toContain("2.40 EUR a month");
    await tab.getByRole("button", { name: "Reject" }).click();
    await tab.locator(".said", { hasText: "Rejected." }).waitFor();
    expect(await tab.locator("main").innerText()).toContain("not on a Friday");
    // It is offered again once somebody asks for a round.
    await records.forgetRejection("prod-shop");
    await records.savePlan("prod-shop", {
      digest: planDigest,
      revision: "r",
      body: plan?.body ?? { text: "", consents: [], opens: [], why: "" },
    });
    await tab.goto(`${base}/stacks/prod-shop`);
    await tab.getByLabel("Why").fill("read it");
    await tab.getByRole("button", { name: "Approve" }).click();
    await tab.locator(".said", { hasText: "Approved" }).first().waitFor();
    expect((await records.stack("prod-shop"))?.approval).toMatchObject({ digest: planDigest, by: "otto" });
    await tab.goto(`${base}/history`);
    expect(await tab.locator("main").innerText()).toContain("read it");
  });

  test("a run shows the plan that it carried out, who permitted it with their word, and who reaches what since", async () => {
    const stack = await records.stack("prod-shop");
    if (stack?.approval === undefined) throw new Error("nothing is approved");
    const { id } = await beginRun(records, {
      stack: "prod-shop",
      cause: "approval",
      worker: "w:1",
      status: stack.status,
    });
    const { text, consents, exposure } = (await records.waitingPlan("prod-shop"))?.body ?? {};
    const report = {
      plan: text ?? "",
      consents: (consents ?? []).map(({ detail }) => detail),
      opens: [],
      ...(exposure === undefined ? {} : { exposure }),
    };
    await records.finishRun(
      id,
      { result: "applied", reason: null, plan: planDigest, approval: stack.approval, counts: { replace: 1 }, report },
      stack.status,
      stack.nextAt ?? null,
    );
    await tab.goto(`${base}/history`);
    await tab.getByRole("link", { name: String(id), exact: true }).click();
    await tab.getByRole("heading", { name: "What was permitted" }).waitFor();
    const shown = await tab.locator("main").innerText();
    expect(shown).toContain("Approved by otto");
    expect(shown).toContain("“read it”");
    expect(shown).toContain("volume.data loses its data");
    expect(await tab.locator("#plan-lines .bad").allInnerTexts()).toContain(
      "  ± volume.data  replaced: its data is lost",
    );
    expect(await tab.locator("#exposure-lines").innerText()).toContain("0.0.0.0/0 reaches vm.web on tcp 22");
    // What changed nothing is not among it.
    await tab.goto(`${base}/history`);
    expect(await tab.locator("#main table").innerText()).not.toContain("in sync");
    await tab.getByRole("link", { name: "All runs" }).click();
    expect(await tab.locator("#main table").innerText()).toContain("in sync");
  });

  test("on a phone the sum, what is lost, who changed what and both buttons are within two screens", async () => {
    const before = await records.waitingPlan("prod-shop");
    const settings = await records.settings();
    const lost = Array.from({ length: 3 }, (_, index) => ({
      detail: `deletes the data of volume.data${index} (20 GB, 11111111-2222-4333-8444-55555555555${index})`,
      grant: "--allow-data-loss",
    }));
    const body = {
      text: Array.from({ length: 40 }, (_, index) => `  ± vm.web[${index}]  replaced: flavor_id`).join("\n"),
      sum: "Plan: 1 to create, 7 to update, 2 to replace; 2 lose data; 10 steps; about 1 min 26 s.",
      consents: lost,
      opens: ["group.web"],
      why: lost.map(({ detail }) => detail).join("; "),
      change: {
        commits: Array.from({ length: 2 }, (_, index) => ({
          id: String(index).repeat(40),
          author: "Ann Lee",
          email: "ann@acme.example",
          others: [],
          at: "2026-11-20T19:00:00Z",
          subject: `resize the web tier for the sale ${markup}`,
          link: "https://git.example/infra/commit/0",
        })),
        more: 0,
        difference: "-flavor: m1.small\n+flavor: m1.large\n".repeat(30),
      },
    };
    await records.savePlan("prod-shop", { digest: "abcdef0123456789", revision: "r", body });
    const stood = (await records.stack("prod-shop"))?.status;
    if (stood === undefined) throw new Error("no stack prod-shop");
    await records.saveStatus("prod-shop", { ...stood, awaitingApproval: true, drifted: false, reason: body.why });
    await records.saveSettings({
      ...settings,
      windows: [
        {
          kind: "deny",
          schedule: "0 0 * * *",
          timeZone: "UTC",
          durationMs: 86_400_000,
          stacks: [],
          actions: ["apply"],
        },
      ],
    });
    await tab.setViewportSize({ width: 375, height: 812 });
    await tab.goto(`${base}/stacks/prod-shop`);
    const bottoms: Record<string, number> = {};
    for (const id of ["plan-sum", "permits", "change", "window", "through", "approve", "reject"]) {
      bottoms[id] = Number(
        await tab.evaluate(`document.getElementById("${id}").getBoundingClientRect().bottom + scrollY`),
      );
    }
    expect(Object.entries(bottoms).filter(([, bottom]) => !(bottom <= 2 * 812))).toEqual([]);
    const told = await tab.locator("main").innerText();
    expect(told).toContain("A window is closed: the deny window");
    // What is lost is said once.
    for (const { detail } of lost) expect(told.split(detail)).toHaveLength(2);
    await pictureOf(tab, "/stacks/waiting-on-a-phone", "light", 375);
    await pictureOf(tab, "/stacks/two-screens", "light", 375, { x: 0, y: 0, width: 375, height: 2 * 812 });
    await tab.setViewportSize({ width: 1440, height: 900 });
    await pictureOf(tab, "/stacks/waiting-on-a-desk", "light", 1440);
    await records.saveSettings(settings);
    await records.saveStatus("prod-shop", stood);
    if (before === undefined) await records.dropPlan("prod-shop");
    else await records.savePlan("prod-shop", before);
  });

  const shown = [
    "/",
    "/?group=condition",
    "/stacks/prod-shop",
    "/stacks/prod-network",
    "/stacks/lab-broken",
    `/stacks/${encodeURIComponent(`evil-${markup}`)}`,
    "/runs/RUN",
    "/services",
    "/workers",
    "/history",
    "/stacks/none",
    "/waiting",
  ];

  test("every page: narrow and wide without scrolling sideways, nothing serious for axe in light and dark, and no markup of others", async () => {
    const run = (await records.runs("prod-shop", 1))[0]?.id ?? 0;
    const problems: unknown[] = [];
    const look = async (page: Tab, path: string): Promise<void> => {
      await page.goto(`${base}${path.replace("RUN", String(run))}`);
      await page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })");
      for (const scheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: scheme });
        for (const width of [375, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          const wide = await sideways(page);
          if (wide > 0) problems.push({ path, width, wide });
          await pictureOf(page, path, scheme, width);
        }
        problems.push(...(await seriousFindings(page)).map((finding) => ({ path, scheme, ...finding })));
      }
      if (await page.evaluate("window.pwned !== undefined")) problems.push({ path, pwned: true });
    };
    for (const path of shown) await look(tab, path);
    const { tab: stranger } = await opened();
    await look(stranger, "/sign-in");
    expect(problems).toEqual([]);
  });

  test("the browser had nothing to complain of", () => {
    // What is not there is told so by its status, which a browser writes down.
    expect(complaints.filter((text) => !/status of 404/.test(text))).toEqual([]);
  });

  /** Written down for people to look at, when they say where. */
  async function pictureOf(
    page: Tab,
    path: string,
    scheme: string,
    width: number,
    clip?: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
  ): Promise<void> {
    const folder = process.env["PAGE_PICTURES"];
    if (folder === undefined) return;
    const name = path.replace(/[^A-Za-z0-9]+/g, "-").slice(0, 30);
    await page.screenshot({
      path: join(folder, `${name}-${scheme}-${width}.png`),
      fullPage: true,
      ...(clip === undefined ? {} : { clip }),
    });
  }
});
