/** The pages for people: what each reads of the fleet for whoever looks, and the address under which it is. */
import { type Context, Hono } from "hono";
import { html } from "hono/html";
import { onlyDefined } from "../../core/text/objects";
import type { Graph } from "../../report/graph/graph";
import { graphSvg } from "../../report/graph/svg";
import { may, maySeeAll, type Visitor } from "../access";
import { approvalWithEarlier } from "../actions";
import { followLines, seenOf } from "../views";
import { openingOf } from "../windows";
import { numberIn, type PagesSetting, saidIn } from "./acts";
import { type Frame, type PagePart, page } from "./layout";
import { createLive, type LivePages, markOf, type Topic } from "./live";
import { historyPage, servicesPage, workersPage } from "./operations";
import { createRates } from "./rates";
import { runPage } from "./run";
import { doorTo, visitorOf } from "./sign-in";
import { stackPage } from "./stack";
import { findStacks, stacksPage } from "./stacks";
import { waitingPage } from "./waiting";

/** `reconcile fleet log` shows more lines of a run than a page. */
const mostLines = 2000;

interface ShownPage {
  readonly title: string;
  readonly body: PagePart;
  readonly live?: Frame["live"];
}

/** What all pages are made with. */
interface PageSources extends PagesSetting {
  readonly live: LivePages;
  readonly rates: ReturnType<typeof createRates>;
}

/** Absent: there is nothing, or nothing that the visitor may see. */
type Show = (sources: PageSources, context: Context, visitor: Visitor) => Promise<ShownPage | undefined>;

const outlinesSeenBy = async ({ records }: PageSources, visitor: Visitor, search?: string) =>
  (await records.outlines(search)).filter(({ name }) => may(visitor, "see", name));

const marked = async ({ live }: PageSources, topic: Topic): Promise<{ readonly live: Frame["live"] }> => ({
  live: { ...topic, mark: await live.mark(topic) },
});

/** Whether the visitor may see what belongs to the stack; absent: to none. */
const seesOf =
  (visitor: Visitor) =>
  (stack: string | undefined): boolean =>
    stack === undefined ? maySeeAll(visitor) : may(visitor, "see", stack);

const showStacks: Show = async (sources, context, visitor) => {
  const { records } = sources;
  const asked = (name: string): string => context.req.query(name) ?? "";
  const filter = {
    search: asked("search"),
    condition: asked("condition"),
    tenant: asked("tenant"),
    service: asked("service"),
    groupBy: asked("group"),
    page: Math.max(0, Number.parseInt(asked("page"), 10) || 0),
  };
  const { moment, followed, now } = await records.overview();
  const found = findStacks(await outlinesSeenBy(sources, visitor, filter.search), filter);
  const table = stacksPage(found, await records.stacksNamed(found.names), filter, now);
  const follows = followLines(seenOf(followed, seesOf(visitor)));
  const body = html`${follows.map((line) => html`<p class="said bad">${line}</p>`)}${table}`;
  return { title: "Stacks", body, live: { mark: markOf(moment) } };
};

const showStack: Show = async (sources, context, visitor) => {
  const { records } = sources;
  const name = context.req.param("name") ?? "";
  if (!may(visitor, "see", name)) return undefined;
  const mark = await marked(sources, { stack: name });
  const stack = await records.stack(name);
  if (stack === undefined) return undefined;
  const [plan, runs, changes, decisions, picture, dependents, settings] = await Promise.all([
    records.waitingPlan(name),
    records.runs(name, 100),
    records.tellingRuns(name, 10),
    records.decisions(name, 30),
    records.picture(name),
    records.namesOfDependents(name),
    records.settings(),
  ]);
  const { readAt: now = new Date() } = stack;
  const approval = plan === undefined ? undefined : await approvalWithEarlier(sources, plan, stack.approval, now);
  const [run] = runs;
  const lines = run === undefined || run.endedAt !== undefined ? [] : await records.latestLines(run.id, mostLines);
  const body = stackPage({
    stack: { ...stack, ...onlyDefined({ approval }) },
    plan,
    runs,
    changes,
    lines,
    decisions,
    picture,
    dependents: dependents.filter((other) => may(visitor, "see", other)),
    visitor,
    opening: openingOf(settings.windows, name, "apply", now),
    now,
  });
  return { title: name, body, ...mark };
};

const showRun: Show = async (sources, context, visitor) => {
  const { records } = sources;
  const number = numberIn(context.req.param("id") ?? "");
  const before = number === undefined ? undefined : await records.run(number);
  if (number === undefined || before === undefined || !may(visitor, "see", before.stack)) return undefined;
  // A run that has ended does not change.
  const mark = before.endedAt === undefined ? await marked(sources, { stack: before.stack }) : {};
  const run = (await records.run(number)) ?? before;
  return {
    title: `Run ${run.id}`,
    body: runPage({ run, lines: await records.latestLines(run.id, mostLines), visitor, now: await records.now() }),
    ...mark,
  };
};

const showWaiting: Show = async (sources, _, visitor) => {
  const { records } = sources;
  const mark = await marked(sources, {});
  const [plans, approvers, settings, now] = await Promise.all([
    records.waitingPlans(),
    records.approvers(),
    records.settings(),
    records.now(),
  ]);
  const seen = plans.filter(({ stack }) => may(visitor, "see", stack));
  const body = waitingPage({ plans: seen, approvers, settings, visitor, now });
  return { title: "Waiting", body, ...mark };
};

const showServices: Show = async (sources, _, visitor) => {
  const { records, queue, rates } = sources;
  const mark = await marked(sources, {});
  const [settings, budgets, load, stacks, behind, now] = await Promise.all([
    records.settings(),
    records.budgets(),
    queue.load(),
    outlinesSeenBy(sources, visitor),
    maySeeAll(visitor) ? records.receiversBehind() : undefined,
    records.now(),
  ]);
  const sees = maySeeAll(visitor) ? undefined : new Set(stacks.map(({ tenant }) => tenant));
  const body = servicesPage({ settings, sees, budgets, rates: rates.of(budgets, now), load, stacks, behind, now });
  return { title: "Services", body, ...mark };
};

const showWorkers: Show = async (sources, _, visitor) => {
  const mark = await marked(sources, {});
  const all = (await sources.records.workers()).map((worker) => ({
    ...worker,
    doing: worker.doing.filter(({ stack }) => may(visitor, "see", stack)),
    troubles: maySeeAll(visitor) ? worker.troubles : [],
  }));
  return { title: "Workers", body: workersPage(all, await sources.records.now()), ...mark };
};

const showHistory: Show = async (sources, context, visitor) => {
  const { records } = sources;
  const isAll = context.req.query("runs") === "all";
  const sees = seesOf(visitor);
  const mark = await marked(sources, {});
  // A visitor who sees only some stacks gets their newest runs, not those of them that are among the newest of all.
  const names = maySeeAll(visitor) ? undefined : (await outlinesSeenBy(sources, visitor)).map(({ name }) => name);
  const [runs, decisions] = await Promise.all([
    isAll ? records.runs(names, 100) : records.tellingRuns(names, 100),
    records.decisions(names, 100),
  ]);
  const body = historyPage(
    runs.filter(({ stack }) => sees(stack)),
    decisions.filter(({ stack }) => sees(stack)),
    isAll,
  );
  return { title: "History", body, ...mark };
};

/** Each page: its address, and the part of the menu in which it is. */
const shownPages: readonly (readonly [path: string, here: Frame["here"], show: Show])[] = [
  ["/", "/", showStacks],
  ["/stacks/:name", "", showStack],
  ["/runs/:id", "", showRun],
  ["/waiting", "/waiting", showWaiting],
  ["/services", "/services", showServices],
  ["/workers", "/workers", showWorkers],
  ["/history", "/history", showHistory],
];

export function peopleRoutes(setting: PagesSetting): Hono {
  const { records, local } = setting;
  const app = new Hono();
  const sources: PageSources = { ...setting, live: createLive(records), rates: createRates() };
  for (const [path, here, show] of shownPages)
    app.get(path, async (context) => {
      const visitor = await visitorOf(context, setting);
      const { pathname, search } = new URL(context.req.url);
      if (visitor === undefined) return context.redirect(doorTo(pathname + search));
      const signOut = (await local()) === undefined;
      const found = await show(sources, context, visitor);
      if (found === undefined)
        return context.html(
          page(
            { title: "Not found", here: "", visitor, signOut },
            html`<h1>Not found</h1><p>There is nothing here, or nothing that you may see. <a href="/">All stacks</a></p>`,
          ),
          404,
        );
      const { title, body, live } = found;
      return context.html(page({ title, here, visitor, signOut, said: saidIn(context), live }, body));
    });
  // A picture is a file with styles of its own, which its own content policy allows and nothing else.
  const drawn = (path: string, graphOf: (name: string) => Promise<Graph | undefined>): void => {
    app.get(path, async (context) => {
      const visitor = await visitorOf(context, setting);
      const name = context.req.param("name") ?? "";
      const graph = visitor !== undefined && may(visitor, "see", name) ? await graphOf(name) : undefined;
      if (graph === undefined) return context.text("not found\n", 404);
      return context.body(graphSvg(graph), 200, {
        "content-type": "image/svg+xml; charset=utf-8",
        "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
        // The address names the picture's digest, so the picture under it never changes.
        "cache-control": "private, max-age=3600",
      });
    });
  };
  drawn("/stacks/:name/graph.svg", async (name) => (await records.picture(name))?.picture.graph);
  drawn("/stacks/:name/plan.svg", async (name) => (await records.waitingPlan(name))?.body.graph);
  app.get("/events", async (context) => {
    const stack = context.req.query("stack");
    const sees = (visitor: Visitor): boolean => stack === undefined || may(visitor, "see", stack);
    const visitor = await visitorOf(context, setting);
    if (visitor === undefined) return context.text("sign in first\n", 401);
    if (!sees(visitor)) return context.text("not found\n", 404);
    const mayStay = async (): Promise<boolean> => {
      const now = await visitorOf(context, setting);
      return now !== undefined && sees(now);
    };
    return sources.live.stream(context, stack === undefined ? {} : { stack }, context.req.query("mark") ?? "", mayStay);
  });
  return app;
}
