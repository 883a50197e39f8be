/**
 * The pages and their API, as one function from request to answer. The server renders everything; the page's only
 * script fetches the page anew when something changed. access.ts says who may do what, and actions.ts does it.
 */

import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import { errorCode } from "../../core/text/errors";
import { keyIn } from "../../core/text/objects";
import { isLoopbackHost } from "../../core/text/outside-policy";
import type { Graph } from "../../report/graph";
import { graphSvg } from "../../report/graph-svg";
import { may, maySeeAll, roleNeeded, type Visitor } from "../access";
import { ActionRefused, type Desk } from "../actions";
import { answerFor, personCommands } from "../person";
import { followLines, planEvent, runEvent, seenOf, stackLine } from "../views";
import { openingOf } from "../windows";
import { carryOut, formOf, numberIn, refusedBy, type SaidWord, saidIn, saidWords, typedIn } from "./acts";
import { type HookSetting, hookRoutes } from "./hooks";
import { type Frame, type PagePart, page } from "./layout";
import { createLive, markOf, type Topic } from "./live";
import { loginRoutes } from "./login";
import { historyPage, servicesPage, workersPage } from "./operations";
import { createRates } from "./rates";
import { runPage } from "./run";
import { doorTo, isSameSite, type SignInSetting, signInRoutes, visitorOf } from "./sign-in";
import { stackPage } from "./stack";
import { findStacks, stacksPage } from "./stacks";
import { icon, script, style } from "./style";
import { waitingPage } from "./waiting";

export interface PagesSetting extends Omit<Desk, "who">, Omit<SignInSetting, "records">, HookSetting {
  readonly metrics: () => Promise<string>;
}

/** The forms of these pages hold a reason and an id. */
const mostForm = 64_000;
/** `reconcile fleet log` shows more lines of a run than a page. */
const mostLines = 2000;
/** No script, style, frame or request from another site, and no inline script. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** What proxies add to a request that they pass on. */
const passedOn =
  /^(forwarded|via|x-forwarded(-.*)?|(x-)?(real|client|true-client|cluster-client|original)-ip|cf-connecting-ip|true-client-ip|x-original-(host|for|url)|x-envoy-.*)$/i;

interface Shown {
  readonly title: string;
  readonly body: PagePart;
  readonly live?: Frame["live"];
}

export function createPages(setting: PagesSetting): Hono {
  const { records, queue, local } = setting;
  const app = new Hono();
  const live = createLive(records);
  const rates = createRates();

  app.use(async (context, next) => {
    await next();
    const { headers } = context.res;
    if (!headers.has("content-security-policy")) headers.set("content-security-policy", policy);
    headers.set("x-content-type-options", "nosniff");
    headers.set("x-frame-options", "DENY");
    // With no referrer at all, a browser would not say where a form comes from.
    headers.set("referrer-policy", "same-origin");
    if (!headers.has("cache-control")) headers.set("cache-control", "no-store");
  });
  // A server for this machine alone answers only requests under this machine's names: a name of another site may lead
  // here, and so may a proxy that others can reach.
  app.use(async (context, next) => {
    const host = (context.req.header("host") ?? "").replace(/:\d+$/, "");
    const isHere = isLoopbackHost(host);
    const isPassedOn = Object.keys(context.req.header()).some((name) => passedOn.test(name));
    if ((!isHere || isPassedOn) && (await local()) !== undefined)
      return context.text("this serves its own machine only, until somebody has a token\n", 421);
    return next();
  });
  // No name and no text of a fleet has a NUL, and the database takes none.
  app.use(async (context, next) => {
    const { pathname, search } = new URL(context.req.url);
    if (/%00/.test(pathname)) return context.text("not found\n", 404);
    if (/%00/.test(search)) return context.text("a NUL is in the address\n", 400);
    return next();
  });
  const limitForm = bodyLimit({ maxSize: mostForm, onError: (context) => context.text("too large\n", 413) });
  app.use((context, next) => (context.req.path.startsWith("/hooks/") ? next() : limitForm(context, next)));

  app.get("/style.css", (context) => context.body(style, 200, { "content-type": "text/css; charset=utf-8" }));
  app.get("/script.js", (context) => context.body(script, 200, { "content-type": "text/javascript; charset=utf-8" }));
  app.get("/icon.svg", (context) =>
    context.body(icon, 200, { "content-type": "image/svg+xml; charset=utf-8", "cache-control": "max-age=86400" }),
  );
  app.get("/livez", (context) => context.json({ alive: true }));
  app.get("/healthz", async (context) => {
    await records.liveWorkers();
    return context.json({ healthy: true });
  });
  app.get("/metrics", async (context) => {
    // The metrics name every stack.
    const visitor = await visitorOf(context, setting);
    if (visitor === undefined || !maySeeAll(visitor))
      return context.text("a token for every stack is needed: authorization: Bearer TOKEN\n", 401);
    return context.body(await setting.metrics(), 200, { "content-type": "text/plain; version=0.0.4; charset=utf-8" });
  });
  app.route("/", hookRoutes(setting));
  app.route("/", signInRoutes(setting));
  app.route("/", loginRoutes(setting));

  /** A page for everybody who may see it. */
  const shown = (
    path: string,
    here: Frame["here"],
    show: (context: Context, visitor: Visitor) => Promise<Shown | undefined>,
  ): void => {
    app.get(path, async (context) => {
      const visitor = await visitorOf(context, setting);
      const { pathname, search } = new URL(context.req.url);
      if (visitor === undefined) return context.redirect(doorTo(pathname + search));
      const signOut = (await local()) === undefined;
      const found = await show(context, visitor);
      if (found === undefined)
        return context.html(
          page(
            { title: "Not found", here: "", visitor, signOut },
            html`<h1>Not found</h1><p>There is nothing here, or nothing that you may see. <a href="/">All stacks</a></p>`,
          ),
          404,
        );
      const { title, body, live: marked } = found;
      return context.html(page({ title, here, visitor, signOut, ...saidIn(context), live: marked }, body));
    });
  };

  const outlinesSeenBy = async (visitor: Visitor, search?: string) =>
    (await records.outlines(search)).filter(({ name }) => may(visitor, "see", name));
  const seenBy = async (visitor: Visitor) => (await records.stacks()).filter(({ name }) => may(visitor, "see", name));
  const marked = async (topic: Topic): Promise<{ readonly live: Frame["live"] }> => ({
    live: { ...topic, mark: await live.mark(topic) },
  });

  shown("/", "/", async (context, visitor) => {
    const asked = (name: string): string => context.req.query(name) ?? "";
    const filter = {
      search: asked("search"),
      condition: asked("condition"),
      tenant: asked("tenant"),
      service: asked("service"),
      groupBy: asked("group"),
      page: Math.max(0, Number.parseInt(asked("page"), 10) || 0),
    };
    const { moment, followed } = await records.overview();
    const found = findStacks(await outlinesSeenBy(visitor, filter.search), filter);
    const table = stacksPage(found, await records.stacksNamed(found.names), filter, new Date());
    const sees = (stack: string | undefined): boolean =>
      stack === undefined ? maySeeAll(visitor) : may(visitor, "see", stack);
    const follows = followLines(seenOf(followed, sees));
    const body = html`${follows.map((line) => html`<p class="said bad">${line}</p>`)}${table}`;
    return { title: "Stacks", body, live: { mark: markOf(moment) } };
  });
  shown("/stacks/:name", "", async (context, visitor) => {
    const name = context.req.param("name") ?? "";
    if (!may(visitor, "see", name)) return undefined;
    const mark = await marked({ stack: name });
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
    const now = new Date();
    const [run] = runs;
    const lines = run === undefined || run.endedAt !== undefined ? [] : await records.latestLines(run.id, mostLines);
    const body = stackPage({
      stack,
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
  shown("/runs/:id", "", async (context, visitor) => {
    const id = context.req.param("id") ?? "";
    const number = numberIn(id);
    const before = number === undefined ? undefined : await records.run(number);
    if (number === undefined || before === undefined || !may(visitor, "see", before.stack)) return undefined;
    // A run that has ended does not change.
    const mark = before.endedAt === undefined ? await marked({ stack: before.stack }) : {};
    const run = (await records.run(number)) ?? before;
    return {
      title: `Run ${run.id}`,
      body: runPage({ run, lines: await records.latestLines(run.id, mostLines), visitor, now: new Date() }),
      ...mark,
    };
  });
  shown("/waiting", "/waiting", async (_, visitor) => {
    const mark = await marked({});
    const [plans, approvers, settings] = await Promise.all([
      records.waitingPlans(),
      records.approvers(),
      records.settings(),
    ]);
    const seen = plans.filter(({ stack }) => may(visitor, "see", stack));
    return {
      title: "Waiting",
      body: waitingPage({ plans: seen, approvers, settings, visitor, now: new Date() }),
      ...mark,
    };
  });
  shown("/services", "/services", async (_, visitor) => {
    const mark = await marked({});
    const [settings, budgets, load, stacks] = await Promise.all([
      records.settings(),
      records.budgets(),
      queue.load(),
      outlinesSeenBy(visitor),
    ]);
    const now = new Date();
    const sees = maySeeAll(visitor) ? undefined : new Set(stacks.map(({ tenant }) => tenant));
    const body = servicesPage({ settings, sees, budgets, rates: rates.of(budgets, now), load, stacks, now });
    return { title: "Services", body, ...mark };
  });
  shown("/workers", "/workers", async (_, visitor) => {
    const mark = await marked({});
    const workers = (await records.workers()).map((worker) => ({
      ...worker,
      doing: worker.doing.filter(({ stack }) => may(visitor, "see", stack)),
    }));
    return { title: "Workers", body: workersPage(workers, new Date()), ...mark };
  });
  shown("/history", "/history", async (context, visitor) => {
    const isAll = context.req.query("runs") === "all";
    const seen = ({ stack }: { readonly stack?: string }): boolean =>
      stack === undefined ? maySeeAll(visitor) : may(visitor, "see", stack);
    const mark = await marked({});
    // A visitor who sees only some stacks gets their newest runs, not those of them that are among the newest of all.
    const names = maySeeAll(visitor) ? undefined : (await outlinesSeenBy(visitor)).map(({ name }) => name);
    const [runs, decisions] = await Promise.all([
      isAll ? records.runs(names, 100) : records.tellingRuns(names, 100),
      records.decisions(names, 100),
    ]);
    return { title: "History", body: historyPage(runs.filter(seen), decisions.filter(seen), isAll), ...mark };
  });

  app.get("/events", async (context) => {
    const visitor = await visitorOf(context, setting);
    if (visitor === undefined) return context.text("sign in first\n", 401);
    const stack = context.req.query("stack");
    if (stack !== undefined && !may(visitor, "see", stack)) return context.text("not found\n", 404);
    return live.stream(context, stack === undefined ? {} : { stack }, context.req.query("mark") ?? "");
  });

  app.get("/api/stacks", async (context) => {
    const visitor = await visitorOf(context, setting);
    if (visitor === undefined) return context.json({ error: "no token" }, 401);
    return context.json((await seenBy(visitor)).map(stackLine));
  });
  app.get("/api/stacks/:name", async (context) => {
    const visitor = await visitorOf(context, setting);
    if (visitor === undefined) return context.json({ error: "no token" }, 401);
    const name = context.req.param("name");
    const stack = may(visitor, "see", name) ? await records.stack(name) : undefined;
    if (stack === undefined) return context.json({ error: `no stack ${name}` }, 404);
    const plan = await records.waitingPlan(name);
    return context.json({
      ...stackLine(stack),
      waiting_plan: plan === undefined ? null : planEvent(plan),
      runs: (await records.runs(name, 30)).map(runEvent),
    });
  });

  for (const act of ["run", "pause", "resume", "stop", "approve", "reject", "undo"] as const)
    for (const root of ["/stacks", "/api/stacks"] as const)
      app.post(`${root}/:name/${act}`, async (context) => {
        const name = context.req.param("name");
        const isApi = root === "/api/stacks";
        const answer = (word: SaidWord, said: string, code: 200 | 401 | 403 | 409) =>
          isApi
            ? context.json(code === 200 ? { done: said } : { error: said }, code)
            : context.redirect(`/stacks/${encodeURIComponent(name)}?said=${word}`);
        const visitor = await visitorOf(context, setting);
        if (visitor === undefined)
          return isApi
            ? answer("role", "no token", 401)
            : context.redirect(doorTo(`/stacks/${encodeURIComponent(name)}`));
        // A page of another site can send a form, but it cannot set an authorization header.
        if (context.req.header("authorization") === undefined && !isSameSite(context))
          return context.text("the form came from another site\n", 403);
        if (!may(visitor, act, name))
          return answer("role", `${visitor.name} may not ${act} ${name}: that needs the role ${roleNeeded(act)}`, 403);
        try {
          await carryOut({ records, queue, who: visitor.name }, act, name, await formOf(context));
          return answer(act, `${name}: ${saidWords[act].text}`, 200);
        } catch (error) {
          if (!(error instanceof ActionRefused)) throw error;
          return answer(refusedBy[error.code] ?? "refused", `${error.message}; ${error.fix}`, 409);
        }
      });

  // The commands of a person, with the token's roles: what `reconcile fleet … --server` asks.
  app.post("/api/commands/:name", async (context) => {
    const visitor = await visitorOf(context, setting);
    if (visitor === undefined) return context.json({ error: "no token" }, 401);
    // A page of another site can send a form, but it cannot set an authorization header.
    if (context.req.header("authorization") === undefined && !isSameSite(context))
      return context.text("the form came from another site\n", 403);
    const name = keyIn(personCommands, context.req.param("name"));
    if (name === undefined)
      return context.json({ error: "no such command", fix: "use the same version here and there" }, 404);
    const said: object[] = [];
    const print = (text: string): void => void said.push({ text });
    const says = {
      print,
      printLines: (lines: Iterable<string>) => print([...lines].join("\n")),
      event: (event: object) => void said.push({ event }),
    };
    try {
      const exitCode = await answerFor(visitor, { records, queue }, name, await typedIn(context), says);
      return context.json({ exit_code: exitCode, said });
    } catch (error) {
      if (!(error instanceof ActionRefused)) throw error;
      return context.json(
        { code: error.code, error: error.message, fix: error.fix },
        error.code === "fleet/role" ? 403 : 409,
      );
    }
  });

  /** Programs read a line; people read a page with a way back. */
  const told = (context: Context, code: 400 | 404 | 503, title: string, text: string, again = false): Response => {
    if (!(context.req.header("accept") ?? "").includes("text/html")) return context.text(`${text}\n`, code);
    const body = html`<h1${again ? html` data-again="1"` : ""}>${title}</h1><p>${text}. <a href="/">All stacks</a></p>`;
    const made = page({ title, here: "", visitor: undefined, signOut: false }, body);
    context.status(code);
    return context.body(String(made), code, { "content-type": "text/html; charset=utf-8" });
  };
  app.notFound((context) => told(context, 404, "Not found", "not found"));
  app.onError((error, context) => {
    // What cannot be in the database at all: a number that is too large, a text that is none.
    if (/^22/.test(errorCode(error) ?? "")) return told(context, 400, "Nothing here", "there is nothing of that kind");
    if (error instanceof HTTPException) return error.getResponse();
    setting.say(`${context.req.method} ${context.req.path}: ${error.message}`);
    const code = errorCode(error);
    // A number of PostgreSQL or a name of the network; anything else is an error of these pages.
    const isAway = code !== undefined || /timeout|terminated|connection/i.test(error.message);
    return isAway
      ? told(context, 503, "The database does not answer", "the fleet's database did not answer; try again", true)
      : told(context, 503, "An error", "this page could not be made; the log of this server says why", true);
  });
  return app;
}
