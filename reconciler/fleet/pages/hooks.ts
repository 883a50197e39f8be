/** Webhooks of pushes from GitHub and GitLab. */
import { createHmac } from "node:crypto";
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { fieldsIn, isObject, parsedJson } from "../../core/text/objects";
import { isSameSecret } from "../access";
import type { Pushed } from "../pushes";
import { SourceFailed } from "../sources/checkout";

export interface HookSetting {
  readonly pushed: (url: string, ref: string) => Promise<Pushed>;
  /** Something is new in a pull request of these repositories; false: none of them is of the fleet. */
  readonly pulled: (urls: readonly string[]) => Promise<boolean>;
  /** The secrets of each host; two while a secret is being changed. */
  readonly hooks: Readonly<Record<"github" | "gitlab", readonly string[]>>;
  readonly say: (text: string) => void;
}

/** What GitHub sends at most: a merge of some thousand commits is long. */
const mostBody = 25_000_000;

export function hookRoutes(setting: HookSetting): Hono {
  const app = new Hono();
  app.use(
    "/hooks/*",
    bodyLimit({ maxSize: mostBody, onError: (context) => context.json({ error: "too large" }, 413) }),
  );
  app.post("/hooks/github", (context) => hook(context, setting, "github"));
  app.post("/hooks/gitlab", (context) => hook(context, setting, "gitlab"));
  return app;
}

/** A request without the right signature is refused. */
async function hook(
  context: Context,
  { hooks, pushed, pulled, say }: HookSetting,
  kind: "github" | "gitlab",
): Promise<Response> {
  const secrets = hooks[kind];
  if (secrets.length === 0) return context.json({ error: `no secret for ${kind} is set` }, 404);
  const body = await context.req.text();
  const proof = kind === "github" ? context.req.header("x-hub-signature-256") : context.req.header("x-gitlab-token");
  const wanted = (secret: string): string =>
    kind === "github" ? `sha256=${createHmac("sha256", secret).update(body).digest("hex")}` : secret;
  if (!secrets.some((secret) => isSameSecret(proof ?? "", wanted(secret))))
    return context.json({ error: "the signature is wrong" }, 401);
  const given = parsedJson(body);
  if (given === undefined)
    return context.json({ error: "the body is no JSON: the webhook has another content type" }, 400);
  if (!isObject(given))
    return context.json({ error: `the body tells of nothing that ${kind} sends: it is no object` }, 400);
  const push = readPush(given);
  if (push === undefined) {
    // Pull requests and comments are looked up at the host; other things are told as well.
    const isKnown = await pulled(urlsIn(given));
    return context.json({ woken: [], looked: isKnown });
  }
  const woken: string[] = [];
  let isOurs = false;
  for (const url of push.urls) {
    const result = await pushed(url, push.ref).catch((error: unknown) => {
      // The workers look at the repository again. Where the database is away, whoever tells of the push has to tell it again.
      if (!(error instanceof SourceFailed)) throw error;
      say(`${url}: ${error.message}`);
      isOurs = true;
      return { fetched: false, woken: [] };
    });
    woken.push(...result.woken);
    isOurs ||= result.fetched;
    if (result.fetched) break;
  }
  // A mistyped address would be seen by nobody.
  if (!isOurs) say(`a push to ${push.urls[0] ?? "a repository"} ${push.ref}: no stack that is not paused uses it`);
  return context.json(isOurs ? { woken } : { woken, note: "no stack uses this repository and branch" });
}

/** The addresses of the repository, and the branch or tag that was pushed. */
function readPush(
  push: Readonly<Record<string, unknown>>,
): { readonly urls: readonly string[]; readonly ref: string } | undefined {
  const given = push["ref"];
  const ref = typeof given === "string" ? /^refs\/(?:heads|tags)\/([^\p{Cc}]+)$/u.exec(given)?.[1] : undefined;
  return ref === undefined ? undefined : { urls: urlsIn(push), ref };
}

function urlsIn(push: Readonly<Record<string, unknown>>): readonly string[] {
  const places = { ...fieldsIn(push["project"]), ...fieldsIn(push["repository"]) };
  const urls = ["clone_url", "git_http_url", "ssh_url", "git_ssh_url", "git_url"].flatMap((key) => {
    const url = places[key];
    return typeof url === "string" ? [url] : [];
  });
  return [...new Set(urls)];
}
