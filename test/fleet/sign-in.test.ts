/** Sign-in by OpenID Connect, over HTTP on loopback: with a real provider, and with one that lies. */

import { createServer } from "node:http";
import { serve } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Grant, grantsOf } from "../../reconciler/fleet/access";
import type { Database } from "../../reconciler/fleet/database/database";
import type { Records } from "../../reconciler/fleet/database/records";
import { createProvider } from "../../reconciler/fleet/identity";
import { noSettings, type SignIn } from "../../reconciler/fleet/model";
import { createPages } from "../../reconciler/fleet/pages/app";
import { idleQueue, newRecords } from "../support/fleet-stage";
import {
  clientSecret,
  type IdentityProvider,
  type Lies,
  startIdentityProvider,
  startLyingProvider,
} from "./identity-provider";

/** Keeps cookies by host, and follows no redirect by itself. */
function createBrowser() {
  const jar = new Map<string, Map<string, string>>();
  return {
    jar,
    async go(url: string, init: RequestInit = {}): Promise<Response> {
      const { host, origin } = new URL(url);
      const cookies = jar.get(host) ?? new Map<string, string>();
      jar.set(host, cookies);
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const answer = await fetch(url, {
        ...init,
        redirect: "manual",
        headers: { ...(cookie === "" ? {} : { cookie }), origin, ...init.headers },
      });
      for (const line of answer.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === "" || /max-age=0/i.test(line)) cookies.delete(name);
        else cookies.set(name, value);
      }
      return answer;
    },
    /** Follows redirects until a page is shown, and says where that is. */
    async follow(url: string): Promise<{ readonly url: string; readonly answer: Response }> {
      for (let at = url, left = 12; left > 0; left--) {
        const answer = await this.go(at);
        const to = answer.headers.get("location");
        if (to === null) return { url: at, answer };
        at = new URL(to, at).href;
      }
      throw new Error("too many redirects");
    },
  };
}

describe("signing in with a provider", () => {
  let database: Database;
  let records: Records;
  let base: string;
  let server: ReturnType<typeof serve>;
  let real: IdentityProvider;
  let liar: IdentityProvider;
  let lies: Lies = {};
  let secret = clientSecret;
  const said: string[] = [];

  beforeAll(async () => {
    ({ database, records } = await newRecords());
    const port = await freePort();
    base = `http://127.0.0.1:${port}`;
    const pages = createPages({
      records,
      queue: idleQueue,
      local: async () => undefined,
      provider: createProvider(async () => secret),
      pulled: async () => false,
      pushed: async () => ({ fetched: false, woken: [] }),
      hooks: { github: [], gitlab: [] },
      metrics: async () => "up 1\n",
      say: (text) => said.push(text),
    });
    server = serve({ fetch: pages.fetch, hostname: "127.0.0.1", port });
    real = await startIdentityProvider(
      [
        { sub: "ann", email: "ann@example.com", groups: ["payments", "everyone"] },
        { sub: "eve", email: "eve@example.com", groups: ["strangers"] },
      ],
      `${base}/sign-in/done`,
    );
    liar = await startLyingProvider(() => lies);
  });
  afterAll(async () => {
    server.close();
    await Promise.all([real.close(), liar.close()]);
    await database.close();
  });

  const signInWith = async (
    { issuer }: IdentityProvider,
    roles: SignIn["roles"],
    more: Partial<SignIn> = {},
  ): Promise<void> =>
    records.saveSettings({
      ...noSettings,
      signIn: {
        issuer,
        clientId: "fleet",
        clientSecret: { env: "X" },
        url: base,
        scopes: ["profile", "email"],
        nameClaim: "email",
        roles,
        ...more,
      },
    });
  const byGroup: SignIn["roles"] = [
    { role: "viewer", stacks: [], claim: "groups", is: "everyone" },
    { role: "approver", stacks: ["prod-*"], claim: "groups", is: "pay*" },
  ];

  /** What a person does at the provider: its own form, then its question whether these pages may know. */
  async function throughRealProvider(browser: ReturnType<typeof createBrowser>, name: string) {
    let at = await browser.follow(`${base}/sign-in/provider?to=${encodeURIComponent("/history?x=1")}`);
    for (let form = 0; form < 2; form++) {
      const text = await at.answer.text();
      const action = /<form[^>]+action="([^"]+)"/.exec(text)?.[1];
      if (action === undefined) throw new Error(`no form at ${at.url}: ${text.slice(0, 300)}`);
      const prompt = /name="prompt" value="([^"]+)"/.exec(text)?.[1] ?? "";
      const answer = await browser.go(new URL(action, at.url).href, {
        method: "POST",
        body: new URLSearchParams({ prompt, login: name, password: "any" }),
      });
      at = await browser.follow(new URL(answer.headers.get("location") ?? "", at.url).href);
      if (at.url.startsWith(base)) break;
    }
    return at;
  }

  test("after the client's secret became another, one sign-in fails, and the next one reads it anew", async () => {
    await signInWith(real, byGroup);
    secret = "the one before";
    expect((await throughRealProvider(createBrowser(), "ann")).url).toContain(`${base}/sign-in?refused=`);
    secret = clientSecret;
    expect((await throughRealProvider(createBrowser(), "ann")).url).toBe(`${base}/history?x=1`);
    await database.query("DELETE FROM reconcile_fleet.sessions");
  });

  test("a real provider: in with the roles of the groups, back to where one wanted to go, and out again", async () => {
    await signInWith(real, byGroup);
    const browser = createBrowser();
    const at = await throughRealProvider(browser, "ann");
    expect([at.url, at.answer.status]).toEqual([`${base}/history?x=1`, 200]);
    expect(await at.answer.text()).toContain("ann@example.com (approver)");
    const [session = ""] = [...(browser.jar.get(new URL(base).host)?.values() ?? [])];
    const rows = await database.query("SELECT name, grants FROM reconcile_fleet.sessions");
    expect(rows).toEqual([
      {
        name: "ann@example.com",
        grants: [
          { role: "viewer", stacks: [] },
          { role: "approver", stacks: ["prod-*"] },
        ],
      },
    ]);
    expect((await records.decisions(undefined, 1))[0]).toMatchObject({ who: "ann@example.com", what: "sign in" });
    // A form of another site closes nothing.
    const forged = await browser.go(`${base}/sign-out`, {
      method: "POST",
      headers: { origin: "https://evil.example" },
    });
    expect(forged.status).toBe(403);
    expect((await browser.go(`${base}/`)).status).toBe(200);
    await browser.go(`${base}/sign-out`, { method: "POST" });
    expect((await browser.go(`${base}/`, { headers: { cookie: `reconcile_fleet=${session}` } })).status).toBe(302);
  });

  test("who signed in with the provider keeps no role that the file gives no more, whatever token has that name", async () => {
    await signInWith(real, byGroup);
    const viewer = { role: "viewer", stacks: [] } as const;
    await records.addToken({ hash: "t", name: "ann@example.com", ...viewer, stacks: [] });
    const session = (hash: string, ...grants: Grant[]) =>
      records.openSession({ hash, name: "ann@example.com", hours: 1, grants });
    await session("by the provider", viewer, { role: "operator", stacks: [] });
    await session("also by it", { role: "operator", stacks: [] });
    await session("by the token", viewer);
    await signInWith(real, byGroup.slice(0, 1));
    const left = await database.query("SELECT hash FROM reconcile_fleet.sessions");
    expect(left.map(({ hash }) => hash)).toEqual(["by the token"]);
    await records.dropTokens("ann@example.com");
  });

  test("whom no line of the file fits cannot come in", async () => {
    await signInWith(real, byGroup);
    const at = await throughRealProvider(createBrowser(), "eve");
    expect(at.url).toBe(`${base}/sign-in?refused=nobody`);
    expect(await at.answer.text()).toContain("gives you no role");
  });

  test("an answer is taken once, and only by the browser that began", async () => {
    lies = {};
    await signInWith(liar, [{ role: "viewer", stacks: [] }]);
    const browser = createBrowser();
    const begun = await browser.go(`${base}/sign-in/provider`);
    const back = (await browser.go(begun.headers.get("location") ?? "")).headers.get("location") ?? "";
    const other = createBrowser();
    expect((await other.go(back)).headers.get("location")).toBe("/sign-in?refused=expired");
    const kept = new Map(browser.jar.get(new URL(base).host));
    expect((await browser.go(back)).headers.get("location")).toBe("/");
    // The same again, with the cookie that it was begun with.
    browser.jar.set(new URL(base).host, kept);
    expect((await browser.go(back)).headers.get("location")).toBe("/sign-in?refused=expired");
    // Another state than the one that was begun with.
    const again = createBrowser();
    await again.go((await again.go(`${base}/sign-in/provider`)).headers.get("location") ?? "");
    expect((await again.go(`${base}/sign-in/done?code=x&state=guess`)).headers.get("location")).toBe(
      "/sign-in?refused=expired",
    );
  });

  const hourAgo = Math.floor(Date.now() / 1000) - 3600;
  const untrue: readonly [string, Lies][] = [
    ["an ID token of another issuer", { claims: { iss: "https://other.example" } }],
    ["an ID token for somebody else", { claims: { aud: "another client" } }],
    ["an ID token that has expired", { claims: { iat: hourAgo - 600, exp: hourAgo } }],
    ["an ID token of another sign-in", { claims: { nonce: "another" } }],
    ["an ID token that another key signed", { otherKey: true }],
    ["an answer of another issuer", { iss: "https://other.example" }],
  ];
  test.each(untrue)("%s is refused, and the log says why without a token", async (_, told) => {
    lies = told;
    said.length = 0;
    await signInWith(liar, [{ role: "operator", stacks: [] }]);
    const browser = createBrowser();
    const at = await browser.follow(`${base}/sign-in/provider`);
    expect(at.url).toBe(`${base}/sign-in?refused=provider`);
    expect(browser.jar.get(new URL(base).host)?.size).toBe(0);
    expect(said).toEqual([expect.stringContaining("was not accepted")]);
    expect(said.join()).not.toMatch(/canary|eyJ/);
  });

  const byMail: SignIn["roles"] = [{ role: "operator", stacks: [], claim: "email", is: "*@example.com" }];
  test.each([
    [false, false, false],
    [false, "false", false],
    [false, "true", false],
    [false, 0, false],
    [false, 1, false],
    [false, null, false],
    [false, undefined, false],
    [false, true, true],
    [true, undefined, true],
    [true, "false", false],
    [true, false, false],
  ])("where silence counts as %s, email_verified: %j lets the address in: %s", async (accepted, verified, isIn) => {
    lies = { claims: { email: "boss@example.com", email_verified: verified } };
    await signInWith(liar, byMail, accepted ? { acceptUnverifiedEmail: true } : {});
    const at = await createBrowser().follow(`${base}/sign-in/provider`);
    expect(at.url).toBe(isIn ? `${base}/` : `${base}/sign-in?refused=nobody`);
  });

  test("a provider that is away is said, and nothing else breaks", async () => {
    await signInWith({ issuer: "http://127.0.0.1:9", close: async () => undefined }, [{ role: "viewer", stacks: [] }]);
    expect((await createBrowser().follow(`${base}/sign-in/provider`)).url).toBe(`${base}/sign-in?refused=unreachable`);
  });

  test("nobody is led away from these pages", async () => {
    lies = {};
    await signInWith(liar, [{ role: "viewer", stacks: [] }]);
    for (const to of ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"]) {
      const at = await createBrowser().follow(`${base}/sign-in/provider?to=${encodeURIComponent(to)}`);
      expect(at.url).toBe(`${base}/`);
    }
  });

  test("no table holds a cookie, a state, a verifier, a token or the client's secret", async () => {
    lies = {};
    await signInWith(liar, [{ role: "viewer", stacks: [] }]);
    const browser = createBrowser();
    const begun = new URL((await browser.go(`${base}/sign-in/provider`)).headers.get("location") ?? "");
    const finished = createBrowser();
    await finished.follow(`${base}/sign-in/provider`);
    const secrets = [
      ...[browser, finished].flatMap(({ jar }) => [...(jar.get(new URL(base).host)?.values() ?? [])]),
      begun.searchParams.get("state") ?? "",
      begun.searchParams.get("nonce") ?? "",
      clientSecret,
      "canary-access-t0ken",
    ];
    expect(secrets.every((secret) => secret.length > 15)).toBe(true);
    const tables = await database.query(
      "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema LIKE 'reconcile%'",
    );
    const all = await Promise.all(
      tables.map((table) => database.query(`SELECT * FROM ${table["table_schema"]}.${table["table_name"]}`)),
    );
    for (const secret of secrets) expect(JSON.stringify(all)).not.toContain(secret);
  });
});

test("a claim may be a text, a list, or lie deeper", () => {
  const roles: SignIn["roles"] = [
    { role: "viewer", stacks: [], claim: "email", is: "*@example.com" },
    { role: "approver", stacks: ["a"], claim: "realm_access.roles", is: "fleet" },
    { role: "operator", stacks: [], claim: "https://example.com/groups", is: "ops" },
  ];
  const granted = (claims: object): string[] => grantsOf({ ...claims }, roles).map(({ role }) => role);
  expect(granted({ email: "a@example.com" })).toEqual(["viewer"]);
  expect(granted({ realm_access: { roles: ["x", "fleet"] } })).toEqual(["approver"]);
  expect(granted({ "https://example.com/groups": ["ops"] })).toEqual(["operator"]);
  expect(granted({ email: "a@example.org", realm_access: "fleet", constructor: "x" })).toEqual([]);
});

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const address = probe.address();
      const port = typeof address === "object" && address !== null ? address.port : 0;
      probe.close(() => resolve(port));
    });
  });
