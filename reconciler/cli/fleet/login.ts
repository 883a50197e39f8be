/** `reconcile fleet login`: the browser's sign-in for a command. What it gets is kept for this person alone. */

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmodSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { errorMessage, ifPossible } from "../../core/text/errors";
import { fieldsIn, fieldsOfJson, onlyDefined } from "../../core/text/objects";
import { printableLines } from "../../core/text/printable";
import { hashOf } from "../../fleet/access";
import { portOf } from "../../outside/port-of";
import { makeOwnFolder } from "../../outside/private-file";
import { fail } from "../compose";
import type { Output } from "../output";
import { folderOfUser } from "./folder-of-user";

interface KeptLogin {
  readonly token: string;
  readonly until: string;
}

const keptFile = (): string => join(folderOfUser("XDG_CONFIG_HOME"), "fleet-logins.json");

const allKept = (): Readonly<Record<string, unknown>> =>
  fieldsOfJson(ifPossible(() => readFileSync(keptFile(), "utf8")) ?? "");

/** What this person got from the server by signing in; absent: nothing, or it has ended. */
export function keptToken(server: URL): string | undefined {
  const { token, until } = fieldsIn(allKept()[server.origin]);
  return typeof token === "string" && typeof until === "string" && Date.parse(until) > Date.now() ? token : undefined;
}

function keepLogin(server: URL, login: KeptLogin | undefined): void {
  const file = keptFile();
  makeOwnFolder(dirname(file), 0o700);
  const part = `${file}.${process.pid}`;
  const others = Object.entries(allKept()).filter(([origin]) => origin !== server.origin);
  const all = Object.fromEntries(login === undefined ? others : [...others, [server.origin, login]]);
  writeFileSync(part, `${JSON.stringify(all, undefined, 2)}\n`, { mode: 0o600 });
  chmodSync(part, 0o600);
  renameSync(part, file);
}

const waitForLoginMs = 5 * 60_000;

const addressAt = (server: URL, path: string): URL => new URL(path, server.href.replace(/\/?$/, "/"));

/** Asks the pages' server with JSON. */
export async function postTo(
  server: URL,
  path: string,
  body: object,
  { token, limitMs = 15_000 }: { readonly token?: string | undefined; readonly limitMs?: number } = {},
): Promise<Response> {
  return fetch(addressAt(server, path), {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...onlyDefined({ authorization: token === undefined ? undefined : `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
    redirect: "error",
    signal: AbortSignal.timeout(limitMs),
  }).catch((error: unknown) => {
    const { code } = fieldsIn(error instanceof Error ? error.cause : undefined);
    const isLate = error instanceof Error && error.name === "TimeoutError";
    throw notReached(
      server,
      typeof code === "string" ? code : isLate ? `nothing within ${limitMs / 1000} s` : errorMessage(error),
    );
  });
}

export const notReached = (server: URL, why: string): Error =>
  asAway(
    fail(
      "fleet/server",
      `the fleet's server ${server.origin} did not answer: ${why}`,
      "check --server and that reconcile fleet serve runs there",
    ),
  );

/** The server, or its database, may have done what it was asked for. */
export const asAway = (failed: Error): Error => Object.assign(failed, { cause: { isAway: true } });

/** Waits on loopback for the code that the browser brings. */
async function codeFrom(ask: (port: number, state: string) => void): Promise<string> {
  const state = randomBytes(24).toString("base64url");
  const server = createServer();
  try {
    return await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(
        () =>
          reject(
            fail(
              "fleet/server",
              "nobody signed in within five minutes",
              "reconcile fleet login, and open the address that it prints",
            ),
          ),
        waitForLoginMs,
      );
      timer.unref();
      server.on("request", ({ url = "/" }, response) => {
        const searchParams = new URLSearchParams(url.replace(/^[^?]*/, ""));
        const code = searchParams.get("code");
        // Another page of the browser may ask here as well.
        const isMine = code !== null && searchParams.get("state") === state;
        response.writeHead(isMine ? 200 : 404, { "content-type": "text/html; charset=utf-8", connection: "close" });
        response.end(isMine ? "<!doctype html><title>Signed in</title><p>Signed in. You may close this window." : "");
        if (isMine) resolve(code);
      });
      server.on("error", reject);
      server.listen(0, "127.0.0.1", () => ask(portOf(server), state));
    });
  } finally {
    server.close();
  }
}

/** Nothing depends on it: the address is printed as well. */
function openBrowser(url: string): void {
  const [program, ...args] =
    process.platform === "darwin"
      ? ["open", url]
      : process.platform === "win32"
        ? ["explorer", url]
        : ["xdg-open", url];
  if (program === undefined || process.stderr.isTTY !== true) return;
  spawn(program, args, { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}

export async function signIn(server: URL, output: Output): Promise<number> {
  const secret = randomBytes(32).toString("base64url");
  const code = await codeFrom((port, state) => {
    const url = addressAt(server, "login");
    url.search = new URLSearchParams({
      port: String(port),
      state,
      challenge: hashOf(secret),
      machine: hostname(),
    }).toString();
    output.note(`Sign in here: ${url.href}`);
    openBrowser(url.href);
  });
  const answer = await postTo(server, "api/login", { code, secret });
  const { token, name, hours } = fieldsIn(await answer.json().catch(() => undefined));
  if (!answer.ok || typeof token !== "string" || typeof name !== "string" || typeof hours !== "number")
    throw fail(
      "fleet/server",
      `${server.host} did not take the sign-in (${answer.status})`,
      "reconcile fleet login once more",
    );
  keepLogin(server, { token, until: new Date(Date.now() + hours * 3_600_000).toISOString() });
  const said = `${name} is signed in at ${server.host} for ${hours} hours; reconcile fleet login --revoke ends it.`;
  // People choose their names at the provider.
  output.print(printableLines(said));
  return output.finish({ exitCode: 0 });
}

export async function signOut(server: URL, output: Output): Promise<number> {
  const token = keptToken(server);
  const answer = token === undefined ? undefined : await postTo(server, "api/logout", {}, { token });
  if (answer?.ok === false)
    throw fail(
      "fleet/server",
      `${server.host} did not end the session (${answer.status})`,
      "reconcile fleet login --revoke once more",
    );
  keepLogin(server, undefined);
  output.print(`Nobody is signed in at ${server.host} from here.`);
  return output.finish({ exitCode: 0 });
}
