#!/usr/bin/env node
// A credential helper for git: the token of a GitHub App's installation, which lives for an hour and is renewed by itself.
//   git config --global credential.https://github.com.helper '/etc/reconcile/github-app.mjs'
// It needs GITHUB_APP_ID, GITHUB_APP_INSTALLATION and GITHUB_APP_KEY_FILE (the app's private key, as GitHub gives it).
// `github-app.mjs token` prints the token alone, for `token: { command: [...] }` in the fleet's file.
import { createSign } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const word = process.argv[2];
// Git also asks to store and to erase what it used; there is nothing to do then.
if (word !== "get" && word !== "token") process.exit(0);

const { GITHUB_APP_ID: app, GITHUB_APP_INSTALLATION: installation, GITHUB_APP_KEY_FILE: keyFile } = process.env;
if (!app || !installation || !keyFile) {
  console.error("github-app: set GITHUB_APP_ID, GITHUB_APP_INSTALLATION and GITHUB_APP_KEY_FILE");
  process.exit(1);
}

const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "reconcile-github-app");
const kept = join(folder, `${app}-${installation}.json`);
const leftMs = 5 * 60_000;

function fromCache() {
  try {
    const { token, expires_at: until } = JSON.parse(readFileSync(kept, "utf8"));
    return Date.parse(until) - Date.now() > leftMs ? token : undefined;
  } catch {
    return undefined;
  }
}

async function anew() {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const now = Math.floor(Date.now() / 1000);
  // A minute earlier, should the clocks differ.
  const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iat: now - 60, exp: now + 540, iss: app })}`;
  const signature = createSign("RSA-SHA256").update(signed).sign(readFileSync(keyFile), "base64url");
  const api = process.env.GITHUB_API_URL ?? "https://api.github.com";
  const answer = await fetch(`${api}/app/installations/${installation}/access_tokens`, {
    method: "POST",
    headers: { authorization: `Bearer ${signed}.${signature}`, accept: "application/vnd.github+json" },
    signal: AbortSignal.timeout(15_000),
  });
  if (!answer.ok) throw new Error(`GitHub answered ${answer.status}: ${(await answer.text()).slice(0, 200)}`);
  const { token, expires_at } = await answer.json();
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Several calls of git may be here at once: the file appears whole or not at all.
  writeFileSync(`${kept}.${process.pid}`, JSON.stringify({ token, expires_at }), { mode: 0o600 });
  renameSync(`${kept}.${process.pid}`, kept);
  return token;
}

try {
  const token = fromCache() ?? (await anew());
  console.log(word === "token" ? token : `username=x-access-token\npassword=${token}`);
} catch (error) {
  console.error(`github-app: ${error.message}`);
  process.exit(1);
}
