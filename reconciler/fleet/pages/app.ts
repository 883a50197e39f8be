/**
 * The pages, their API and the webhooks, as one function from request to answer. Everything is rendered here; the page's
 * only script fetches it anew when something changed. Who may do what is access.ts's; what is done is actions.ts's.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type Context, Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import { streamSSE } from "hono/streaming";
import { type Act, hashOf, isRole, localVisitor, may, newToken, roleNeeded, type Visitor } from "../access";
import { ActionRefused, approve, type Desk, pause, reject, resume, runNow, stackNamed } from "../actions";
import type { Pushed } from "../pushes";
import { planEvent, runEvent, stackLine } from "../views";
import { type Part, page } from "./layout";
import { historyPage, servicesPage, workersPage } from "./operations";
import { runPage, stackPage } from "./stack";
import { stacksPage } from "./stacks";
import { script, style } from "./style";

export interface PagesSetting extends Omit<Desk, "who"> {
  /** Nobody signs in: whoever is at this machine is this person. Absent: tokens are asked for. */
  readonly local?: string;
  readonly pushed: (url: string, ref: string) => Promise<Pushed>;
  readonly hooks: { readonly github?: string; readonly gitlab?: string };
  readonly metrics: () => Promise<string>;
  readonly say: (text: string) => void;
}

const cookie = "reconcile_fleet";
const sessionHours = 12;
const mostBody = 1_000_000;
const lookMs = 1000;

export function createPages(setting: PagesSetting): Hono {
  const { records, queue } = setting;
  const app = new Hono();

  app.use(async (context, next) => {
    await next();
    const { headers } = context.res;
    headers.set(
      "content-security-policy",
      "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    headers.set("x-content-type-options", "nosniff");
    headers.set("referrer-policy", "no-referrer");
    headers.set("cache-control", "no-store");
  });
  // Served to this machine alone, it answers to this machine's names alone: another site's name may lead here.
  app.use(async (context, next) => {
    const host = (context.req.header("host") ?? "").replace(/:\d+$/, "");
    if (setting.local !== undefined && !["127.0.0.1", "localhost", "[::1]"].includes(host))
      return context.text("this serves its own machine only\n", 421);
    return next();
  });

  app.get("/style.css", (context) => context.body(style, 200, { "content-type": "text/css; charset=utf-8" }));
  app.get("/script.js", (context) => context.body(script, 200, { "content-type": "text/javascript; charset=utf-8" }));
  app.get("/healthz", async (context) => {
    await records.liveWorkers();
    return context.json({ healthy: true });
  });
  app.get("/metrics", async (context) =>
    context.body(await setting.metrics(), 200, { "content-type": "text/plain; version=0.0.4" }),
  );
  app.post("/hooks/github", (context) => hook(context, setting, "github"));
  app.post("/hooks/gitlab", (context) => hook(context, setting, "gitlab"));

  app.get("/sign-in", (context) =>
    context.html(
      page({ title: "Sign in", here: "", visitor: undefined, signOut: false, ...saidIn(context) }, signInForm),
    ),
  );
  app.post("/sign-in", async (context) => {
    if (!isSameSite(context)) return context.text("the form came from another site\n", 403);
    const form = await context.req.parseBody();
    const found = await records.tokenOf(hashOf(String(form["token"] ?? "")));
    if (found === undefined || !isRole(found.role))
      return context.redirect(`/sign-in?said=${encodeURIComponent("No such token.")}`);
    const session = newToken();
    await records.openSession({ ...found, hash: hashOf(session), hours: sessionHours });
    setCookie(context, cookie, session, {
      httpOnly: true,
      sameSite: "Strict",
      path: "/",
      secure: context.req.header("x-forwarded-proto") === "https",
      maxAge: sessionHours * 3600,
    });
    return context.redirect("/");
  });
  app.post("/sign-out", async (context) => {
    const session = getCookie(context, cookie);
    if (session !== undefined && isSameSite(context)) await records.closeSession(hashOf(session));
    return context.redirect("/sign-in");
  });

  async function visitorOf(context: Context): Promise<Visitor | undefined> {
    const bearer = /^Bearer (\S+)$/.exec(context.req.header("authorization") ?? "")?.[1];
    const given = bearer ?? getCookie(context, cookie);
    if (given !== undefined) {
      const found = await records.tokenOf(hashOf(given));
      if (found !== undefined && isRole(found.role)) return { ...found, role: found.role };
    }
    return setting.local === undefined ? undefined : localVisitor(setting.local);
  }

  /** A page for whoever may see it. */
  const shown = (
    path: string,
    here: "/" | "/services" | "/workers" | "/history" | "",
    show: (context: Context, visitor: Visitor) => Promise<{ title: string; body: Part } | undefined>,
  ): void => {
    app.get(path, async (context) => {
      const visitor = await visitorOf(context);
      if (visitor === undefined) return context.redirect("/sign-in");
      const found = await show(context, visitor);
      if (found === undefined)
        return context.html(
          page(
            { title: "Not found", here: "", visitor, signOut: false },
            html`<h1>Not found</h1><p><a href="/">All stacks</a></p>`,
          ),
          404,
        );
      return context.html(
        page(
          { title: found.title, here, visitor, signOut: setting.local === undefined, ...saidIn(context) },
          found.body,
        ),
      );
    });
  };

  const seenBy = async (visitor: Visitor) => (await records.stacks()).filter(({ name }) => may(visitor, "see", name));

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
    return { title: "Stacks", body: stacksPage(await seenBy(visitor), filter, new Date()) };
  });
  shown("/stacks/:name", "", async (context, visitor) => {
    const name = context.req.param("name") ?? "";
    const stack = may(visitor, "see", name) ? await records.stack(name) : undefined;
    if (stack === undefined) return undefined;
    const [plan, runs, decisions] = [
      await records.waitingPlan(name),
      await records.runs(name, 30),
      await records.decisions(name, 30),
    ];
    return { title: name, body: stackPage({ stack, plan, runs, decisions, visitor }) };
  });
  shown("/runs/:id", "", async (context, visitor) => {
    const run = await records.run(Number(context.req.param("id")) || 0);
    if (run === undefined || !may(visitor, "see", run.stack)) return undefined;
    return { title: `Run ${run.id}`, body: runPage({ run, lines: await records.lines(run.id) }) };
  });
  shown("/services", "/services", async (_, visitor) => ({
    title: "Services",
    body: servicesPage(
      await records.settings(),
      await records.budgets(),
      await queue.load(),
      await seenBy(visitor),
      new Date(),
    ),
  }));
  shown("/workers", "/workers", async () => ({
    title: "Workers",
    body: workersPage(await records.workers(), new Date()),
  }));
  shown("/history", "/history", async (_, visitor) => {
    const seen = ({ stack }: { readonly stack?: string }): boolean => stack === undefined || may(visitor, "see", stack);
    const [runs, decisions] = [await records.runs(undefined, 100), await records.decisions(undefined, 100)];
    return { title: "History", body: historyPage(runs.filter(seen), decisions.filter(seen)) };
  });

  app.get("/events", async (context) => {
    if ((await visitorOf(context)) === undefined) return context.text("sign in first\n", 401);
    return streamSSE(context, async (stream) => {
      let last = await records.moment();
      await stream.writeSSE({ event: "hello", data: "" });
      while (!stream.aborted && !stream.closed) {
        await stream.sleep(lookMs);
        const now = await records.moment().catch(() => last);
        if (now === last) continue;
        last = now;
        await stream.writeSSE({ event: "changed", data: "" });
      }
    });
  });

  app.get("/api/stacks", async (context) => {
    const visitor = await visitorOf(context);
    if (visitor === undefined) return context.json({ error: "no token" }, 401);
    return context.json((await seenBy(visitor)).map(stackLine));
  });
  app.get("/api/stacks/:name", async (context) => {
    const visitor = await visitorOf(context);
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

  for (const act of ["run", "pause", "resume", "approve", "reject"] as const)
    for (const root of ["/stacks", "/api/stacks"] as const)
      app.post(`${root}/:name/${act}`, async (context) => {
        const name = context.req.param("name");
        const isApi = root === "/api/stacks";
        const answer = (said: string, code: 200 | 401 | 403 | 409): Response | Promise<Response> =>
          isApi
            ? context.json(code === 200 ? { done: said } : { error: said }, code)
            : context.redirect(`/stacks/${encodeURIComponent(name)}?said=${encodeURIComponent(said)}`);
        const visitor = await visitorOf(context);
        if (visitor === undefined) return isApi ? answer("no token", 401) : context.redirect("/sign-in");
        // A page of another site cannot set an authorization header; it can send a form.
        if (context.req.header("authorization") === undefined && !isSameSite(context))
          return context.text("the form came from another site\n", 403);
        if (!may(visitor, act, name))
          return answer(`${visitor.name} may not ${act} ${name}: that needs the role ${roleNeeded(act)}`, 403);
        try {
          await carryOut({ records, queue, who: visitor.name }, act, name, await formOf(context));
          return answer(`${name}: ${doneWords[act]}`, 200);
        } catch (error) {
          if (!(error instanceof ActionRefused)) throw error;
          return answer(`${error.message}; ${error.fix}`, 409);
        }
      });

  app.notFound((context) => context.text("not found\n", 404));
  app.onError((error, context) => {
    setting.say(`${context.req.method} ${context.req.path}: ${error.message}`);
    return context.text("the fleet's database did not answer; try again\n", 503);
  });
  return app;
}

const doneWords: Readonly<Record<Exclude<Act, "see">, string>> = {
  run: "it is looked at now",
  pause: "paused",
  resume: "resumed",
  approve: "approved; the next free worker carries it out",
  reject: "rejected",
};

async function carryOut(
  desk: Desk,
  act: Exclude<Act, "see">,
  name: string,
  form: { readonly plan: string; readonly why?: string },
): Promise<void> {
  const why = form.why === undefined || form.why === "" ? {} : { why: form.why.slice(0, 300) };
  await stackNamed(desk, name);
  if (act === "approve") await approve(desk, name, form.plan, why);
  else if (act === "reject") await reject(desk, name, form.plan, why);
  else await { run: runNow, pause, resume }[act](desk, name);
}

async function formOf(context: Context): Promise<{ readonly plan: string; readonly why?: string }> {
  const isJson = (context.req.header("content-type") ?? "").startsWith("application/json");
  const given: Record<string, unknown> = isJson
    ? await context.req.json().catch(() => ({}))
    : await context.req.parseBody();
  const why = given["why"];
  return { plan: String(given["plan"] ?? ""), ...(typeof why === "string" ? { why } : {}) };
}

/** Browsers say where a form came from. */
function isSameSite(context: Context): boolean {
  const site = context.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" || site === "none";
  const origin = context.req.header("origin");
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === context.req.header("host");
}

function saidIn(context: Context): { readonly said?: string } {
  const said = context.req.query("said");
  return said === undefined ? {} : { said: said.slice(0, 500) };
}

const signInForm = html`<h1>Sign in</h1><form method="post" action="/sign-in"><div><label for="token">Token</label><input id="token" name="token" type="password" autocomplete="current-password" required></div><p><button class="primary">Sign in</button></p></form>`;

/** A push, as GitHub and GitLab tell of it; without the right signature nothing is believed. */
async function hook(
  context: Context,
  { hooks, pushed, say }: PagesSetting,
  kind: "github" | "gitlab",
): Promise<Response> {
  const secret = hooks[kind];
  if (secret === undefined) return context.json({ error: `no secret for ${kind} is set` }, 404);
  if (Number(context.req.header("content-length") ?? 0) > mostBody) return context.json({ error: "too large" }, 413);
  const body = await context.req.text();
  const proof = kind === "github" ? context.req.header("x-hub-signature-256") : context.req.header("x-gitlab-token");
  const wanted = kind === "github" ? `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` : secret;
  if (!isSame(proof ?? "", wanted)) return context.json({ error: "the signature is wrong" }, 401);
  const push = readPush(body);
  if (push === undefined) return context.json({ woken: [] });
  const woken: string[] = [];
  for (const url of push.urls) {
    const result = await pushed(url, push.ref).catch((error: Error) => {
      say(`${url}: ${error.message}`);
      return { fetched: false, woken: [] };
    });
    woken.push(...result.woken);
    if (result.fetched) break;
  }
  return context.json({ woken });
}

function isSame(a: string, b: string): boolean {
  const [x, y] = [Buffer.from(hashOf(a)), Buffer.from(hashOf(b))];
  return timingSafeEqual(x, y);
}

/** The addresses a repository goes by, and the branch or tag. */
function readPush(body: string): { readonly urls: readonly string[]; readonly ref: string } | undefined {
  let push: { ref?: unknown; repository?: Record<string, unknown>; project?: Record<string, unknown> };
  try {
    push = JSON.parse(body);
  } catch {
    return undefined;
  }
  const ref = typeof push.ref === "string" ? /^refs\/(?:heads|tags)\/(.+)$/.exec(push.ref)?.[1] : undefined;
  if (ref === undefined) return undefined;
  const places = { ...push.project, ...push.repository };
  const urls = ["clone_url", "git_http_url", "ssh_url", "git_ssh_url", "git_url"].flatMap((key) => {
    const url = places[key];
    return typeof url === "string" ? [url] : [];
  });
  return { urls: [...new Set(urls)], ref };
}
