/**
 * `reconcile fleet login`: a command on a person's machine gets a session of its own, by the sign-in of the person's
 * browser. The browser hands the command a code over loopback, and the command proves with a secret that it asked for it.
 */
import { type Context, Hono } from "hono";
import { html } from "hono/html";
import { fieldsIn } from "../../core/text/objects";
import { hashOf, newToken, type Visitor } from "../access";
import { page } from "./layout";
import { bearerOf, commandHash, doorTo, formIn, isSameSite, type SignInSetting, visitorOf } from "./sign-in";

/** A code is exchanged at once, by a command that waits for it. */
const codeHours = 2 / 60;
const loginHours = 12;

/** Kept apart from sessions, so that a code is none. */
const codeHash = (code: string, challenge: string): string => `login ${hashOf(`${code} ${challenge}`)}`;

interface Asked {
  readonly port: number;
  readonly state: string;
  readonly challenge: string;
  readonly machine: string;
}

function askedIn(given: Readonly<Record<string, unknown>>): Asked | undefined {
  const textOf = (key: string): string => (typeof given[key] === "string" ? given[key] : "");
  const port = /^[0-9]{1,5}$/.test(textOf("port")) ? Number(textOf("port")) : 0;
  const [state, challenge] = [textOf("state"), textOf("challenge")];
  const isWhole = port > 0 && port < 65_536 && /^[\w-]{20,100}$/.test(state) && /^[0-9a-f]{64}$/.test(challenge);
  return isWhole ? { port, state, challenge, machine: textOf("machine").slice(0, 80) } : undefined;
}

export function loginRoutes(setting: SignInSetting): Hono {
  const { records } = setting;
  const app = new Hono();
  /** In a browser: what a command got signs no other one in, for that would go on for ever. */
  const personHere = async (context: Context): Promise<Visitor | undefined> =>
    bearerOf(context) === undefined ? visitorOf(context, setting) : undefined;
  const frame = { title: "Sign a command in", here: "", visitor: undefined, signOut: false } as const;
  const notWhole = (context: Context): Response | Promise<Response> =>
    context.html(page(frame, html`<h1>Not found</h1><p>Begin with <code>reconcile fleet login</code>.</p>`), 400);

  app.get("/login", async (context) => {
    const asked = askedIn(context.req.query());
    if (asked === undefined) return notWhole(context);
    const visitor = await personHere(context);
    const { pathname, search } = new URL(context.req.url);
    if (visitor === undefined) return context.redirect(doorTo(pathname + search));
    return context.html(
      page(
        { ...frame, visitor },
        html`<h1>Sign a command in?</h1>
<p>A command on <strong>${asked.machine === "" ? "this machine" : asked.machine}</strong> asks to act as <strong>${visitor.name}</strong> for ${loginHours} hours. Permit it only if you have just typed <code>reconcile fleet login</code> there.</p>
<form method="post" action="/login">${Object.entries(asked).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}<p><button class="primary" id="permit">Permit it</button></p></form>`,
      ),
    );
  });

  app.post("/login", async (context) => {
    if (!isSameSite(context)) return context.text("the form came from another site\n", 403);
    const asked = askedIn(await formIn(context));
    if (asked === undefined) return notWhole(context);
    const visitor = await personHere(context);
    if (visitor === undefined) return context.redirect("/sign-in");
    const code = newToken();
    await records.openSession({ ...visitor, hash: codeHash(code, asked.challenge), hours: codeHours });
    const back = `http://127.0.0.1:${asked.port}/?${new URLSearchParams({ code, state: asked.state })}`;
    // A form may lead only to these pages themselves; a page may lead on.
    context.header("refresh", `0; url=${back}`);
    return context.html(
      page({ ...frame, visitor }, html`<h1>Permitted</h1><p><a href="${back}">Back to the terminal</a></p>`),
    );
  });

  app.post("/api/login", async (context) => {
    const { code, secret } = fieldsIn(await context.req.json().catch(() => undefined));
    if (typeof code !== "string" || typeof secret !== "string")
      return context.json({ error: "a code and a secret are needed" }, 400);
    const hash = codeHash(code, hashOf(secret));
    const visitor = await records.visitorWithSession(hash);
    await records.closeSession(hash);
    if (visitor === undefined) return context.json({ error: "there is no such code, or it was used" }, 403);
    const token = newToken();
    await records.openSession({ ...visitor, hash: commandHash(token), hours: loginHours });
    await records.note({ who: visitor.name, what: "sign in", detail: "a command" });
    return context.json({ token, name: visitor.name, hours: loginHours });
  });

  app.post("/api/logout", async (context) => {
    const bearer = bearerOf(context);
    if (bearer !== undefined) await records.closeSession(commandHash(bearer));
    return context.json({ done: true });
  });
  return app;
}
