/**
 * The pages and their API, as one function from request to answer. The server renders everything; the page's only
 * script fetches the page anew when something changed. access.ts says who may do what, and actions.ts does it.
 */

import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { html } from "hono/html";
import { HTTPException } from "hono/http-exception";
import { errorCode } from "../../core/text/errors";
import { isLoopbackHost } from "../../core/text/outside-policy";
import { maySeeAll } from "../access";
import type { PagesSetting } from "./acts";
import { actRoutes, apiRoutes } from "./api";
import { hookRoutes } from "./hooks";
import { page } from "./layout";
import { loginRoutes } from "./login";
import { peopleRoutes } from "./people";
import { signInRoutes, visitorOf } from "./sign-in";
import { icon, script, style } from "./style";

/** The forms of these pages hold a reason and an id. */
const mostForm = 64_000;
/** No script, style, frame or request from another site, and no inline script. */
const policy =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** What proxies add to a request that they pass on. */
const passedOn =
  /^(forwarded|via|x-forwarded(-.*)?|(x-)?(real|client|true-client|cluster-client|original)-ip|cf-connecting-ip|true-client-ip|x-original-(host|for|url)|x-envoy-.*)$/i;

export function createPages(setting: PagesSetting): Hono {
  const { records } = setting;
  const app = new Hono();
  guard(app, setting);
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
  app.route("/", peopleRoutes(setting));
  app.route("/", apiRoutes(setting));
  app.route("/", actRoutes(setting));

  app.notFound((context) => told(context, 404, "Not found", "not found"));
  app.onError((error, context) => {
    // What cannot be in the database at all: a number that is too large, a text that is none.
    if (/^22/.test(errorCode(error) ?? "")) return told(context, 400, "Nothing here", "there is nothing of that kind");
    if (error instanceof HTTPException) return error.getResponse();
    setting.say(`${context.req.method} ${context.req.path}: ${error.message}`);
    const code = errorCode(error);
    // A number of PostgreSQL or a name of the network; anything else is an error of these pages.
    const isAway = code !== undefined || /timeout|terminated|connection/i.test(error.message);
    const [title, what, next] = isAway
      ? ["The database does not answer", "the fleet's database did not answer", "try again"]
      : ["An error", "this page could not be made", "the log of this server says why"];
    if (context.req.path.startsWith("/api/")) return context.json({ error: what, fix: next }, 503);
    return told(context, 503, title, `${what}; ${next}`, true);
  });
  return app;
}

/** What holds for every answer and every request. */
function guard(app: Hono, { local }: Pick<PagesSetting, "local">): void {
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
}

/** Programs read a line; people read a page with a way back. */
function told(context: Context, code: 400 | 404 | 503, title: string, text: string, again = false): Response {
  if (!(context.req.header("accept") ?? "").includes("text/html")) return context.text(`${text}\n`, code);
  const body = html`<h1${again ? html` data-again="1"` : ""}>${title}</h1><p>${text}. <a href="/">All stacks</a></p>`;
  const made = page({ title, here: "", visitor: undefined, signOut: false }, body);
  context.status(code);
  return context.body(String(made), code, { "content-type": "text/html; charset=utf-8" });
}
