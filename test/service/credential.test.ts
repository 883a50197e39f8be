import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, describe, expect, test } from "vitest";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { runHelperIn } from "../../reconciler/outside/commands";
import { Credential, findCredential } from "../../reconciler/service/credential";
import { createMasking } from "../../reconciler/service/masking";
import { checkBaseUrl } from "../../reconciler/service/transport";
import { makeFolder } from "../support/folder";
import { canary, closeAfterwards, makeClient, start } from "./make-client";
import { fault, json, type Script, startServer, text } from "./scripted-server";

const secret = canary.slice("Bearer ".length);
const header = "Bearer {token}";
const plain = { header, command: null };
const runHelper = runHelperIn(process.cwd());

describe("whose it is", () => {
  const basic = (said: string) => `Basic ${Buffer.from(said).toString("base64")}`;
  const part = (said: unknown) => Buffer.from(JSON.stringify(said)).toString("base64url");
  const signed = (claims: object) => `Bearer ${part({ alg: "none" })}.${part(claims)}.x`;
  const subjectOf = async (authorization: string) => {
    const { credential } = findCredential({ RECONCILE_AUTHORIZATION: authorization }, plain, runHelper);
    await credential!.reveal();
    return credential!.subject;
  };
  test.each([
    ["a password is no part of it", basic("ops:one"), basic("ops:two"), "same"],
    ["a user is", basic("ops:one"), basic("dev:one"), "other"],
    ["nor is when a token ends", signed({ sub: "1", exp: 1 }), signed({ sub: "1", exp: 2 }), "same"],
    ["a project is", signed({ sub: "1", project: "a" }), signed({ sub: "1", project: "b" }), "other"],
    ["a machine is one too", signed({ client_id: "1" }), signed({ client_id: "2" }), "other"],
  ])("%s", async (_, one, another, is) => {
    const [first, second] = [await subjectOf(one), await subjectOf(another)];
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(second === first).toBe(is === "same");
  });

  test.each([
    ["a user without a colon", basic("ops")],
    ["no user before the colon", basic(":one")],
    ["an opaque token", "Bearer abc"],
    ["two parts", `Bearer ${part({ alg: "none" })}.${part({ sub: "1" })}`],
    ["three parts that begin with no map", `Bearer x.${part({ sub: "1" })}.x`],
    ["three parts, and no map in the middle", `Bearer ${part({})}.${part([1])}.x`],
    ["nobody named", signed({ iss: "x" })],
  ])("%s says nothing of it", async (_, authorization) => expect(await subjectOf(authorization)).toBeUndefined());
});

describe("where it comes from", () => {
  test("RECONCILE_AUTHORIZATION is the whole value, and comes first", async () => {
    const environment = { RECONCILE_AUTHORIZATION: "Custom abc", RECONCILE_TOKEN: "t" };
    const { credential } = findCredential(environment, { header, command: ["never"] }, runHelper);
    expect(await credential!.reveal()).toBe("Custom abc");
  });

  test("RECONCILE_TOKEN is put into the dialect's header", async () => {
    const { credential } = findCredential(
      { RECONCILE_TOKEN: " $&tok " },
      { header: "Token {token}", command: null },
      runHelper,
    );
    expect(await credential!.reveal()).toBe("Token $&tok");
  });

  test("without any there is a diagnostic that names all three", () => {
    const { credential, diagnostics } = findCredential({ RECONCILE_TOKEN: " " }, plain, runHelper);
    expect(credential).toBeUndefined();
    expect(diagnostics).toMatchObject([
      {
        code: "service/no-credential",
        fix: expect.stringMatching(/RECONCILE_TOKEN.*RECONCILE_AUTHORIZATION.*authorization\.command/),
      },
    ]);
  });

  test.each(["a\r\nX-Evil: 1", "a\nb", "a\u0000b", "tök"])(
    "%j is refused: it could add a header of its own",
    (token) => {
      for (const variable of ["RECONCILE_TOKEN", "RECONCILE_AUTHORIZATION"]) {
        const { diagnostics } = findCredential({ [variable]: token }, plain, runHelper);
        expect(diagnostics).toMatchObject([{ code: "service/malformed-credential" }]);
        expect(JSON.stringify(diagnostics)).not.toContain("Evil");
      }
    },
  );
});

describe("the helper command", () => {
  const folder = makeFolder();
  afterEach(() => rmSync(join(folder, "runs"), { force: true }));
  const helper = (script: string): string[] => {
    const path = join(folder, `helper-${script.length}.cjs`);
    writeFileSync(path, `require("node:fs").appendFileSync(${JSON.stringify(join(folder, "runs"))}, "x");\n${script}`);
    return [process.execPath, path];
  };
  const runs = () => readFileSync(join(folder, "runs"), "utf8").length;
  const tokens =
    (expected: string): Script =>
    (request, response) => {
      const known = request.authorization === `Bearer ${expected}`;
      (known ? json(200, []) : fault(401, "expired"))(request, response, undefined as never);
    };
  const counting = `console.log("token-" + require("node:fs").readFileSync(${JSON.stringify(join(folder, "runs"))}, "utf8").length);`;

  test("runs once for many requests, without a shell", async () => {
    const { credential } = findCredential(
      {},
      { header, command: [...helper(counting), "; touch /tmp/never"] },
      runHelper,
    );
    const { client, server } = await start([tokens("token-1")], { credential: credential! });
    const outcomes = await Promise.all([client.listVms(), client.listImages(), client.listFlavors()]);
    expect(outcomes.map(({ status }) => status)).toEqual(["accepted", "accepted", "accepted"]);
    expect(server.received).toHaveLength(3);
    expect(runs()).toBe(1);
  });

  test("a 401 runs it again, once for all requests that got one, and they are sent again", async () => {
    const { credential } = findCredential({}, { header, command: helper(counting) }, runHelper);
    const { client } = await start([tokens("token-2")], { credential: credential! });
    const outcomes = await Promise.all([client.listVms(), client.stopVm("v"), client.listFlavors()]);
    expect(outcomes.map(({ status }) => status)).toEqual(["accepted", "accepted", "accepted"]);
    expect(runs()).toBe(2);
  });

  test.each([
    ["a page that asks to sign in", text(200, "<html><title>Sign in</title></html>"), ""],
    [
      "a redirect to one",
      ((_request, response) => {
        response.writeHead(302, { location: "https://id.example/login" }).end();
      }) satisfies Script,
      "",
    ],
    [
      "what the dialect names so, also for a write",
      text(200, "<html>welcome</html>"),
      "errors: [{ is: unauthenticated, type: text/html }]",
    ],
  ])("%s runs it again, as a 401 does", async (_, refused, said) => {
    const { dialect } = readDialectText(said, "dialect.yaml");
    let ran = 0;
    const { credential } = findCredential({}, { header, command: ["x"] }, async () => ({ output: `token-${++ran}` }));
    const { client } = await start(
      [
        (request, ...rest) =>
          (request.authorization === "Bearer token-1" ? refused : json(200, { data: [] }))(request, ...rest),
      ],
      { credential: credential!, dialect },
    );
    expect(await (said === "" ? client.listVms() : client.stopVm("v"))).toMatchObject({ status: "accepted" });
    expect(ran).toBe(2);
  });

  test("a 401 that comes in late, on a value that was replaced since, does not run it again", async () => {
    let ran = 0;
    const { credential } = findCredential({}, { header, command: ["x"] }, async () => ({ output: `token-${++ran}` }));
    const first = await credential!.reveal();
    expect([await credential!.refresh(first), await credential!.refresh(first)]).toEqual([true, true]);
    expect([ran, await credential!.reveal()]).toEqual([2, "Bearer token-2"]);
  });

  test("a second 401 is the answer", async () => {
    const { credential } = findCredential({}, { header, command: helper(counting) }, runHelper);
    const { client, server } = await start([fault(401, "no")], { credential: credential! });
    expect(await client.listVms()).toMatchObject({ status: "rejected", condition: "unauthenticated" });
    expect(server.received).toHaveLength(2);
  });

  test("a fixed credential is not tried twice", async () => {
    const { client, server } = await start([fault(401, "no")]);
    expect(await client.listVms()).toMatchObject({ status: "rejected", condition: "unauthenticated" });
    expect(server.received).toHaveLength(1);
  });

  test.each([
    ["it fails", `console.log("${secret}"); console.error("${secret}"); process.exit(3)`, /exit code 3/],
    ["it prints nothing", "", /printed nothing/],
    ["it prints two lines", `console.log("${secret}\\n${secret}")`, /more than one line/],
  ])(
    "when %s the request is refused without being sent, and nothing it printed is shown",
    async (_title, script, words) => {
      const { credential } = findCredential({}, { header, command: helper(script) }, runHelper);
      const { client, server } = await start([json(200, [])], { credential: credential! });
      const outcome = await client.listVms();
      expect(outcome).toMatchObject({
        status: "rejected",
        condition: "unauthenticated",
        message: expect.stringMatching(words),
      });
      expect(JSON.stringify(outcome)).not.toContain(secret);
      expect(server.received).toEqual([]);
    },
  );

  test("a program that does not exist is named", async () => {
    const { credential } = findCredential({}, { header, command: ["no-such-helper-program"] }, runHelper);
    await expect(credential!.reveal()).rejects.toThrow(/no-such-helper-program failed: it was not found/);
  });
});

describe("it is never shown", () => {
  test("text, JSON, inspection and its own keys give a mask", () => {
    const credential = new Credential(canary, { kind: "fixed" });
    const holder = { options: { credential } };
    const shown = [
      `${credential}`,
      String(credential),
      JSON.stringify(holder),
      inspect(holder, { depth: 9, showHidden: true }),
      Object.entries(credential).join(),
      JSON.stringify({ ...credential }),
      JSON.stringify(Object.getOwnPropertyDescriptors(credential)),
    ];
    for (const one of shown) expect(one).not.toContain(secret);
    expect(shown[0]).toBe("********");
  });

  /** Each as it may stand between the quotes of a JSON text. */
  const spellings: Readonly<Record<string, string>> = {
    "as it is": secret,
    "with its scheme": canary,
    "escaped for JSON, letter by letter": [...secret]
      .map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
    "escaped for JSON in part": secret.replaceAll("e", "\\u0065"),
    "in base64": Buffer.from(secret).toString("base64"),
    "in base64, with its scheme": Buffer.from(canary).toString("base64"),
    "in base64, within something longer": Buffer.from(`user:${secret}:x`).toString("base64"),
    "in base64 for URLs": Buffer.from(`xy${secret}`).toString("base64url"),
    "in hexadecimal": Buffer.from(secret).toString("hex"),
    "in a URL": `https://x.example/?token=${encodeURIComponent(canary)}`,
  };
  const leaks = (told: unknown, spelling: string): boolean => {
    const all = JSON.stringify(told);
    return [secret, spelling, ...Object.values(spellings)].some((one) => all.includes(one));
  };

  test.each(Object.entries(spellings))(
    "a service that repeats it in a record it accepts, %s, gets it into no record",
    async (_, spelt) => {
      const raw = `{"data":[{"id":"v-1","name":"web","status":"${spelt}","flavor_id":"x ${spelt} y","owner":"${spelt}","volumes":[]}]}`;
      const { client } = await start([text(200, raw, "application/json")]);
      const outcome = await client.listVms();
      expect(outcome).toMatchObject({ status: "accepted", value: [{ id: "v-1", name: "web" }] });
      expect(leaks(outcome, spelt)).toBe(false);
      // What is not known is not another owner and not another flavor.
      expect(outcome.status === "accepted" && [outcome.value[0]?.owner, outcome.value[0]?.flavor]).toEqual([
        undefined,
        undefined,
      ]);
    },
  );

  test.each(Object.entries(spellings))(
    "an id or a name that holds it, %s, is refused: it is nobody's",
    async (_, spelt) => {
      for (const fields of [`"id":"${spelt}","name":"web"`, `"id":"v-1","name":"a ${spelt}"`]) {
        const { client } = await start([text(200, `[{${fields}}]`, "application/json")]);
        const outcome = await client.listVms();
        expect(outcome).toMatchObject({ status: "rejected", condition: "unreadable" });
        expect(leaks(outcome, spelt)).toBe(false);
      }
    },
  );

  test("the password of a Basic credential is masked by itself", async () => {
    const credential = new Credential(`Basic ${Buffer.from("ci:long-password").toString("base64")}`, { kind: "fixed" });
    const { client } = await start([json(200, [{ id: "v-1", name: "web", owner: "long-password" }])], { credential });
    expect(JSON.stringify(await client.listVms())).not.toContain("long-password");
  });

  test.each([
    ["a cookie's token", { RECONCILE_TOKEN: "s3cr-et" }, "session={token}", "s3cr-et"],
    ["a token behind another sign", { RECONCILE_TOKEN: "s3cr-et" }, "key:{token}", "s3cr-et"],
    [
      "a named part of a whole value",
      { RECONCILE_AUTHORIZATION: 'Token token="s3cret-part="' },
      header,
      "s3cret-part=",
    ],
  ])("%s is masked without what stands around it", (_, environment, said, part) => {
    const { credential } = findCredential(environment, { header: said, command: null }, runHelper);
    expect(credential!.scrub(`there is no ${part} here`)).not.toContain(part);
  });

  test("what a helper prints is masked without what the header puts around it", async () => {
    const helper = async () => ({ output: "s3cr-et\n" });
    const { credential } = findCredential({}, { header: "session={token}", command: ["helper"] }, helper);
    expect(await credential!.reveal()).toBe("session=s3cr-et");
    expect(credential!.scrub("there is no s3cr-et")).not.toContain("s3cr-et");
  });

  test("escapes and words that only resemble it are read as they are", async () => {
    const credential = new Credential("Bearer dev", { kind: "fixed" });
    const raw = String.raw`[{"id":"v-1","name":"dev-web","status":"a\\u0041\u0022\u005c\/\u0041"}]`;
    const { client } = await start([text(200, raw, "application/json")], { credential });
    expect(await client.listVms()).toMatchObject({ value: [{ name: "dev-web", status: 'a\\u0041"\\/A' }] });
  });

  test("who asks and where, named beside a token, is read as it stands in a record", async () => {
    const said = 'Token token="s3cret-part=", email=ops@acme.example, tenant_id="acme-prod"';
    const credential = new Credential(said, { kind: "fixed" });
    const raw = JSON.stringify([
      { id: "v-1", name: "acme-prod-web", owner: "ops@acme.example", status: "s3cret-part=" },
    ]);
    const { client } = await start([text(200, raw, "application/json")], { credential });
    expect(await client.listVms()).toMatchObject({
      value: [{ name: "acme-prod-web", owner: "ops@acme.example" }],
    });
  });

  test("a token of any length is read once", () => {
    const credential = new Credential(`Bearer ${"a".repeat(1_000_000)}`, { kind: "fixed" });
    expect(credential.scrub(`it was ${"a".repeat(1_000_000)}`)).not.toContain("aaaa");
  });

  test("a service that repeats it in messages, headers, redirects and keys gets it into no outcome and no event", async () => {
    const echo: Script[] = [
      fault(400, `bad token ${canary}`),
      // Cut in the middle it would still be a piece of a credential.
      fault(403, `${"x".repeat(490)}${secret}`),
      json(302, {}, { location: `https://${secret}.example/` }),
      json(200, { error: { code: 1, message: canary } }),
      json(429, { error: { message: secret } }, { "retry-after": "9999" }),
      json(503, secret),
      json(200, { data: [], page: { next: `/api/${secret}?t=${secret}` } }),
      json(200, { data: { [secret]: 1 } }),
    ];
    const { client, events } = await start(echo);
    const outcomes = [
      await client.stopVm("v"),
      await client.stopVm("v"),
      await client.stopVm("v"),
      await client.stopVm("v"),
      await client.stopVm("v"),
      await client.stopVm("v"),
      await client.listVms(),
    ];
    const shown = `${JSON.stringify(outcomes)}${JSON.stringify(events)}${inspect([outcomes, events], { depth: 9 })}`;
    expect(events.length).toBeGreaterThanOrEqual(8);
    for (let length = secret.length; length >= 9; length--) expect(shown).not.toContain(secret.slice(0, length));
    expect(inspect(client, { depth: 9, showHidden: true })).not.toContain(secret);
  });

  test("what a broken connection leaves behind does not hold it", async () => {
    const server = await startServer(json(200, []));
    await server.close();
    const { client, events } = makeClient(server.baseUrl);
    closeAfterwards(client);
    expect(inspect([await client.listVms(), events], { depth: 9 })).not.toContain(secret);
  });
});

describe("where it may go", () => {
  test.each([
    "https://cloud.example",
    "https://cloud.example/base",
    "http://127.0.0.1:80",
    "http://127.9.9.9",
    "http://localhost:3000",
    "http://[::1]:9",
    "http://2130706433",
  ])("%s is taken", (url) => expect(checkBaseUrl(url, false)).toBeUndefined());

  test.each([
    ["http://cloud.example", "service/insecure-http"],
    ["http://127.0.0.1.example", "service/insecure-http"],
    ["http://localhost.example", "service/insecure-http"],
    ["http://[::ffff:10.0.0.1]", "service/insecure-http"],
    ["http://0.0.0.0", "service/insecure-http"],
    ["http://128.0.0.1", "service/insecure-http"],
    ["ftp://cloud.example", "service/base-url"],
    ["cloud.example", "service/base-url"],
    ["https://user:pw@cloud.example", "service/base-url"],
    ["https://cloud.example?x=1", "service/base-url"],
  ])("%s is refused as %s", (url, code) => {
    expect(checkBaseUrl(url, false)).toMatchObject({ code });
    expect(JSON.stringify(checkBaseUrl(url, false))).not.toContain("pw");
  });

  test("--insecure-http permits plain http, and a client for a refused URL is a bug", () => {
    expect(checkBaseUrl("http://cloud.example", true)).toBeUndefined();
    expect(() => makeClient("http://cloud.example")).toThrow(/bug/);
  });
});

test.each([
  ["HTML", "long&amp;&lt;pass&gt;&quot;w&#39;d"],
  ["XML", "long&amp;&lt;pass&gt;&quot;w'd"],
  ["HTML, in numbers", "long&#38;&#60;pass&#62;&#34;w&#39;d"],
])("a secret that is escaped for %s is masked", (_, written) => {
  const { text } = createMasking(new Set([`long&<pass>"w'd`]));
  expect(text(`<p>${written}</p>`)).toBe("<p>********</p>");
});
