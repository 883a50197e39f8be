/** Finds out who a visitor is: by tokens and sessions, and by signing in with a provider of identities. */
import { type Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import { keyIn } from "../../core/text/objects";
import {
  type Claims,
  grantsOf,
  hashOf,
  isSameSecret,
  localVisitor,
  nameInHistory,
  newToken,
  type Visitor,
} from "../access";
import type { Records } from "../database/records";
import { donePath, type IdentityProvider, newSignInSecret, proofFrom } from "../identity";
import type { SignIn } from "../model";
import { type PagePart, page } from "./layout";

export interface SignInSetting {
  readonly records: Records;
  readonly provider: IdentityProvider;
  /** The name of the local user while nobody has to sign in. */
  readonly local: () => Promise<string | undefined>;
  readonly say: (text: string) => void;
}

const sessionCookie = "reconcile_fleet";
const flowCookie = "reconcile_fleet_sign_in";
const sessionHours = 12;
const flowMinutes = 10;

/** Why a sign-in was refused; a page shows no other words than these. */
const refusals = {
  token: "There is no such token.",
  provider: "The provider's answer was not accepted. The log of this server says why.",
  expired: "This sign-in was not begun here, was used already, or took too long. Begin again.",
  nobody: "You are signed in with the provider, but the fleet's file gives you no role.",
  unreachable: "The provider does not answer. The log of this server says why.",
} as const;

/** Apart from the sessions of browsers, so that neither opens the other's door. */
export const commandHash = (token: string): string => `command ${hashOf(token)}`;

/** The token of a program. Another authorization is of a proxy in front, for which a browser sends it with every request. */
export const bearerOf = (context: Context): string | undefined =>
  /^Bearer (\S+)$/.exec(context.req.header("authorization") ?? "")?.[1];

/** A program sends its token with every request; a browser has a session. */
export async function visitorOf(context: Context, { records, local }: SignInSetting): Promise<Visitor | undefined> {
  const bearer = bearerOf(context);
  if (bearer !== undefined)
    return (await records.visitorWithToken(hashOf(bearer))) ?? (await records.visitorWithSession(commandHash(bearer)));
  const session = getCookie(context, sessionCookie);
  const found = session === undefined ? undefined : await records.visitorWithSession(hashOf(session));
  if (found !== undefined) return found;
  const here = await local();
  return here === undefined ? undefined : localVisitor(here);
}

/** The sign-in page that leads back to this path. */
export const doorTo = (path: string): string => (path === "/" ? "/sign-in" : `/sign-in?to=${encodeURIComponent(path)}`);

export function signInRoutes(setting: SignInSetting): Hono {
  const { records, provider, say } = setting;
  const app = new Hono();
  const wanted = async (): Promise<SignIn | undefined> => (await records.settings()).signIn;
  const refused = (context: Context, why: keyof typeof refusals): Response =>
    context.redirect(`/sign-in?refused=${why}`);

  app.get("/sign-in", async (context) => {
    const to = pathIn(context.req.query("to"));
    const why = keyIn(refusals, context.req.query("refused"));
    const said = why === undefined ? undefined : { bad: true, text: refusals[why] };
    return context.html(
      page({ title: "Sign in", here: "", visitor: undefined, signOut: false, said }, door(await wanted(), to)),
    );
  });

  app.post("/sign-in", async (context) => {
    if (!isSameSite(context)) return context.text("the form came from another site\n", 403);
    const form = await formIn(context);
    const visitor = await records.visitorWithToken(hashOf(String(form["token"] ?? "").trim()));
    if (visitor === undefined) return refused(context, "token");
    await openSession(context, visitor);
    return context.redirect(pathIn(form["to"]));
  });

  app.post("/sign-out", async (context) => {
    if (!isSameSite(context)) return context.text("the form came from another site\n", 403);
    const session = getCookie(context, sessionCookie);
    if (session !== undefined) await records.closeSession(hashOf(session));
    deleteCookie(context, sessionCookie, { path: "/" });
    return context.redirect("/sign-in");
  });

  app.get("/sign-in/provider", async (context) => {
    const signIn = await wanted();
    if (signIn === undefined) return context.redirect("/sign-in");
    const secret = newSignInSecret();
    const proof = proofFrom(secret);
    try {
      const url = await provider.begin(signIn, proof);
      await records.beginSignIn(hashOf(proof.state), flowMinutes);
      setCookie(
        context,
        flowCookie,
        `${secret}.${Buffer.from(pathIn(context.req.query("to"))).toString("base64url")}`,
        { ...(await cookieOptions(context)), path: "/sign-in", maxAge: flowMinutes * 60 },
      );
      return context.redirect(url);
    } catch (error) {
      say(`sign-in: ${signIn.issuer} cannot be used: ${wordsOf(error)}`);
      return refused(context, "unreachable");
    }
  });

  app.get(donePath, async (context) => {
    const signIn = await wanted();
    const [secret = "", to = ""] = (getCookie(context, flowCookie) ?? "").split(".");
    deleteCookie(context, flowCookie, { path: "/sign-in" });
    const proof = proofFrom(secret);
    // The provider is asked only when this browser began the sign-in here, and once.
    const isOurs = secret !== "" && isSameSecret(context.req.query("state") ?? "", proof.state);
    if (signIn === undefined || !isOurs || !(await records.endSignIn(hashOf(proof.state))))
      return refused(context, "expired");
    let claims: Claims;
    try {
      claims = await provider.finish(signIn, new URL(context.req.url).search, proof);
    } catch (error) {
      say(`sign-in: the answer of ${signIn.issuer} was not accepted: ${wordsOf(error)}`);
      return refused(context, "provider");
    }
    const name = nameInHistory(claims, signIn.nameClaim);
    const grants = grantsOf(claims, signIn.roles);
    if (name === undefined || grants.length === 0) {
      say(
        `sign-in: no role fits ${name ?? "a person without a name; an e-mail address counts only when the provider says email_verified: true (docs/fleet.md, accept_unverified_email)"}`,
      );
      return refused(context, "nobody");
    }
    await openSession(context, { name, grants });
    return context.redirect(pathIn(Buffer.from(to, "base64url").toString()));
  });

  async function openSession(context: Context, visitor: Visitor): Promise<void> {
    const before = getCookie(context, sessionCookie);
    if (before !== undefined) await records.closeSession(hashOf(before));
    const session = newToken();
    await records.openSession({ ...visitor, hash: hashOf(session), hours: sessionHours });
    await records.note({ who: visitor.name, what: "sign in" });
    setCookie(context, sessionCookie, session, {
      ...(await cookieOptions(context)),
      path: "/",
      maxAge: sessionHours * 3600,
    });
  }

  /**
   * Lax, so that a link to a stack in a message keeps the session. Forms of other sites are refused by their origin.
   */
  async function cookieOptions(context: Context) {
    // The first of several is what the browser spoke.
    const spoken = context.req.header("x-forwarded-proto")?.split(",")[0]?.trim().toLowerCase();
    const isEncrypted = spoken === "https" || (await wanted())?.url.startsWith("https:") === true;
    return { httpOnly: true, sameSite: "Lax", secure: isEncrypted } as const;
  }

  return app;
}

/** A path within these pages; anything else becomes the start page. */
function pathIn(given: unknown): string {
  if (typeof given !== "string" || !/^\/(?![/\\])[^\p{Cc}]*$/u.test(given)) return "/";
  const base = "http://here";
  return URL.canParse(given, base) && new URL(given, base).origin === base ? given : "/";
}

/** What went wrong, without the values that were sent. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  return `${error.message}${cause}`.slice(0, 300);
}

/** A body that is no form has no fields. */
export const formIn = (context: Context): Promise<Readonly<Record<string, unknown>>> =>
  context.req.parseBody().catch(() => ({}));

/** Whether a form came from these pages; browsers tell. */
export function isSameSite(context: Context): boolean {
  const site = context.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin" || site === "none";
  const origin = context.req.header("origin");
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === context.req.header("host");
}

/**
 * Whether a page of another site may have sent this. Such a page has no token; its browser names it in each request that
 * it sends, and sends JSON for it only where this server permits that, which it never does.
 */
export function mayBeForged(context: Context): boolean {
  const said = (name: string): string | undefined => context.req.header(name);
  if (bearerOf(context) !== undefined || isSameSite(context)) return false;
  const namesItsPage = said("origin") !== undefined || said("sec-fetch-site") !== undefined;
  return namesItsPage || !/^application\/json\b/i.test(said("content-type") ?? "");
}

const door = (signIn: SignIn | undefined, to: string): PagePart => html`<h1>Sign in</h1>
${signIn === undefined ? "" : html`<p><a class="button primary" id="provider" href="/sign-in/provider?to=${encodeURIComponent(to)}">Sign in with ${new URL(signIn.issuer).hostname}</a></p><h2>Or with a token</h2>`}
<form method="post" action="/sign-in"><input type="hidden" name="to" value="${to}">
<div><label for="token">Token</label><input id="token" name="token" type="password" autocomplete="current-password" required></div>
<p><button class="${signIn === undefined ? "primary" : ""}">Sign in</button></p></form>
<p class="quiet">An operator makes one with <code>reconcile fleet token NAME</code>.</p>`;
