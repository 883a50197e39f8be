/** Slack, Teams, mail and the status of a commit: what each is sent, and that no secret is in what fails. */
import { createServer } from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  mailOf,
  placeOf,
  slackBody,
  statusIn,
  type Told,
  teamsBody,
  tell,
  toldIn,
} from "../../reconciler/fleet/channels";
import type { ChannelTarget, FleetSettings, Source } from "../../reconciler/fleet/model";
import { deliver, lettersOf } from "../../reconciler/fleet/notify";
import { statusCall } from "../../reconciler/fleet/pulls/host";
import { readFleet } from "../../reconciler/fleet/read-fleet";
import { readSecret } from "../../reconciler/fleet/secrets";
import { newStatus } from "../../reconciler/fleet/status";
import { scheduleProblem } from "../../reconciler/fleet/windows";

const revision = "1".repeat(40);
const told: Told = {
  event: "awaiting_approval",
  stack: "prod-shop",
  reason: "loses volume.data <script> & more",
  plan: "0123456789abcdef",
  url: "https://fleet.example/stacks/prod-shop",
  repository: "git@github.com:acme/infra.git",
  revision,
};

function statusRequest(letter: Told, to: { readonly api?: string }) {
  const found = statusIn(letter, to);
  if (found === undefined) return undefined;
  const { path, body } = statusCall(found.place, found.commit, found.status);
  return { url: `${found.place.root}/${path}`, body };
}

describe("the status of a commit", () => {
  const rows: readonly (readonly [string, string | undefined, string | undefined])[] = [
    ["https://github.com/acme/infra.git", undefined, `https://api.github.com/repos/acme/infra/statuses/${revision}`],
    ["git@github.com:acme/infra.git", undefined, `https://api.github.com/repos/acme/infra/statuses/${revision}`],
    ["https://ghe.acme.example/a/b", undefined, `https://ghe.acme.example/api/v3/repos/a/b/statuses/${revision}`],
    ["https://ghe.acme.example/a/b", "http://127.0.0.1:1/x/", `http://127.0.0.1:1/x/repos/a/b/statuses/${revision}`],
    [
      "ssh://git@gitlab.com:22/a/b/c.git",
      undefined,
      `https://gitlab.com/api/v4/projects/a%2Fb%2Fc/statuses/${revision}`,
    ],
    [
      "https://git.example/a/b",
      "https://git.example/api/v4",
      `https://git.example/api/v4/projects/a%2Fb/statuses/${revision}`,
    ],
    ["/srv/git/infra.git", undefined, undefined],
  ];
  test.each(rows)("of %s with the API %s is set at %s", (repository, api, url) =>
    expect(statusRequest({ ...told, repository }, api === undefined ? {} : { api })?.url).toBe(url),
  );
  test.each([
    ["applied", "success", "success"],
    ["failed", "failure", "failed"],
    ["awaiting_approval", "pending", "pending"],
  ])("says %s as %s and %s", (event, github, gitlab) => {
    const state = (repository: string) => statusRequest({ ...told, event, repository }, {})?.body;
    expect(state("https://github.com/a/b")).toMatchObject({ state: github, context: "reconcile/prod-shop" });
    expect(state("https://gitlab.com/a/b")).toMatchObject({ state: gitlab, name: "reconcile/prod-shop" });
  });
  test("a revision that is no commit has none", () =>
    expect(statusRequest({ ...told, revision: "folder:0123456789abcdef" }, {})).toBeUndefined());
});

describe("what is said", () => {
  test("Slack reads no markup of others", () => {
    expect(JSON.stringify(slackBody(told))).toContain("&lt;script&gt; &amp; more");
    expect(JSON.stringify(slackBody(told))).toContain('"url":"https://fleet.example/stacks/prod-shop"');
  });
  test("Teams shows no link that says another place than it leads to", () => {
    const reason = "[approve it here](https://evil.example) [a][b](c)";
    expect(JSON.stringify(teamsBody({ ...told, reason }))).not.toContain("](");
  });
  test("a mail has one line of subject, whatever the stack is called", () =>
    expect(mailOf({ ...told, stack: "a\r\nBcc: x@y" }).subject).toBe("a Bcc: x@y has a plan that waits for approval"));
});

describe("a fleet's file", () => {
  const read = (to: string) =>
    readFleet(
      [
        {
          file: "fleet.yaml",
          text: `version: 1\ndefaults: { state: s }\nnotify: [ { on: [applied], to: ${to} } ]\nstacks: {}\n`,
        },
      ],
      { resolvePath: (_, path) => path, scheduleProblem },
    );
  const rows: readonly (readonly [string, ChannelTarget])[] = [
    ["{ slack: { env: SLACK } }", { kind: "slack", address: { env: "SLACK" } }],
    ["{ teams: https://teams.example/x }", { kind: "teams", address: "https://teams.example/x" }],
    [
      "{ email: ops@acme.example, from: fleet@acme.example, smtp: { env: SMTP } }",
      { kind: "email", to: ["ops@acme.example"], from: "fleet@acme.example", smtp: { env: "SMTP" } },
    ],
    ["{ commit_status: { token: { env: GITHUB_TOKEN } } }", { kind: "commit_status", token: { env: "GITHUB_TOKEN" } }],
  ];
  test.each(rows)("reads %s", (text, to) =>
    expect(read(text).fleet?.channels).toEqual([{ on: ["applied"], stacks: [], to }]),
  );
  test.each([
    "{}",
    "{ email: ops@acme.example }",
    "{ email: no-address, from: a@b, smtp: smtp://h }",
    "{ secret: { env: A } }",
    "{ slack: { env: A }, secret: { env: B } }",
  ])("refuses %s", (text) => expect(read(text).diagnostics.length).toBeGreaterThan(0));
  test("a password in the address of the mail server is refused", () =>
    expect(read("{ email: a@b.example, from: c@d.example, smtp: 'smtp://u:p4ss@h' }").diagnostics).toMatchObject([
      { code: "fleet/credential-in-url" },
    ]));
});

describe("a secret that a program prints", () => {
  const said = (script: string) => readSecret({ command: [process.execPath, "-e", script] });
  test("is what it printed", async () => expect(await said("console.log('s3cret')")).toBe("s3cret"));
  test.each([
    ["it printed nothing", "0"],
    ["it printed an empty line", "console.log('  ')"],
    ["it failed", "console.log('s3cret'); process.exit(1)"],
  ])("is none where %s", (_, script) => expect(said(script)).rejects.toThrow(/^the program \S+ gave no secret$/));
  test("is not waited for without end where the program heeds no signal", () => {
    const script = "process.on('SIGTERM', () => 0); setInterval(() => 0, 1000)";
    const asked = readSecret({ command: [process.execPath, "-e", script] }, 1000);
    return expect(asked).rejects.toThrow("gave no secret");
  });
});

describe("sent over real connections", () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });
  const sending = { fetch, signal: new AbortController().signal };

  async function hook(status: number, message = "") {
    const got: {
      readonly url: string;
      readonly headers: Record<string, unknown>;
      readonly body: Record<string, unknown>;
    }[] = [];
    const server = createServer((request, response) => {
      let text = "";
      request.on("data", (chunk) => {
        text += chunk;
      });
      request.on("end", () => {
        got.push({ url: request.url ?? "", headers: request.headers, body: JSON.parse(text) });
        response.writeHead(status).end(JSON.stringify({ message }));
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    closers.push(() => server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, got };
  }

  test("a letter of a run reaches Slack, Teams and the commit of the stack's repository", async () => {
    const { url, got } = await hook(200);
    process.env["CHANNEL_TEST_HOOK"] = `${url}/services/T0/canary`;
    process.env["CHANNEL_TEST_TOKEN"] = "canary-token";
    closers.push(() => {
      delete process.env["CHANNEL_TEST_HOOK"];
      delete process.env["CHANNEL_TEST_TOKEN"];
    });
    const to: readonly ChannelTarget[] = [
      { kind: "slack", address: { env: "CHANNEL_TEST_HOOK" } },
      { kind: "teams", address: `${url}/teams` },
      { kind: "commit_status", token: { env: "CHANNEL_TEST_TOKEN" }, api: url },
    ];
    const settings: Pick<FleetSettings, "receivers" | "channels"> = {
      receivers: [],
      channels: to.map((target) => ({ on: ["applied"], stacks: ["prod-*"], to: target })),
    };
    const source: Source = { kind: "git", url: "https://x:s3cret@github.com/acme/infra", ref: "main", path: "" };
    const status = { ...newStatus, observedRevision: revision };
    const letters = lettersOf(
      settings,
      ["prod-shop", "lab"].map((stack) => ({ occasion: "applied", stack, tenant: "t", source, status })),
      new Date(),
    );
    expect(letters).toHaveLength(3);
    expect(JSON.stringify(letters)).not.toMatch(/canary|s3cret/);
    for (const letter of letters) await deliver(letter, "7", sending);
    expect(got.map((one) => one.url)).toEqual([
      "/services/T0/canary",
      "/teams",
      `/repos/acme/infra/statuses/${revision}`,
    ]);
    expect(got[2]).toMatchObject({ headers: { authorization: "Bearer canary-token" }, body: { state: "success" } });
    expect(got[0]?.body["text"]).toBe("prod-shop was applied");
  });

  test.each([
    [400, "Cannot transition status via :enqueue from :pending", undefined],
    [422, `No commit found for SHA: ${revision}`, undefined],
    [404, "404 Commit Not Found", undefined],
    [404, "404 Project Not Found", /answered 404 to POST .*Project Not Found$/],
    [403, "canary", /answered 403/],
  ])("the status of a commit that is answered %i %s", async (status, message, fails) => {
    vi.stubEnv("CHANNEL_TEST_TOKEN", "token-canary");
    closers.push(() => vi.unstubAllEnvs());
    const { url, got } = await hook(status, message);
    const sent = tell({ kind: "commit_status", token: { env: "CHANNEL_TEST_TOKEN" }, api: url }, told, "1", sending);
    if (fails === undefined) await sent;
    else await expect(sent).rejects.toThrow(fails);
    expect(got).toHaveLength(1);
    await sent.catch((error: unknown) => expect(String(error)).not.toContain("token-canary"));
  });

  test("what fails names neither the address nor the token", async () => {
    const { url } = await hook(403);
    for (const address of [`${url}/services/canary`, "http://127.0.0.1:9/services/canary"])
      await expect(tell({ kind: "slack", address }, told, "1", sending)).rejects.toThrow(
        /^slack (answered 403|could not be reached)/,
      );
    await expect(tell({ kind: "slack", address: `${url}/canary` }, told, "1", sending)).rejects.not.toThrow("canary");
    expect(placeOf({ kind: "slack", address: "https://hooks.example/canary" })).not.toContain("canary");
  });

  test("a mail is taken by a mail server, and has the same id when it is sent again", async () => {
    const mails: string[] = [];
    const server = createSocketServer((socket) => {
      let data: string | undefined;
      let rest = "";
      socket.on("error", () => undefined);
      socket.write("220 here ESMTP\r\n");
      socket.setEncoding("utf8").on("data", (chunk: string) => {
        rest += chunk;
        for (let end = rest.indexOf("\r\n"); end >= 0; end = rest.indexOf("\r\n")) {
          const line = rest.slice(0, end);
          rest = rest.slice(end + 2);
          if (data !== undefined) {
            if (line !== ".") data += `${line}\n`;
            else {
              mails.push(data);
              data = undefined;
              socket.write("250 taken\r\n");
            }
          } else if (/^DATA/i.test(line)) {
            data = "";
            socket.write("354 go on\r\n");
          } else if (/^QUIT/i.test(line)) socket.end("221 bye\r\n");
          else socket.write("250 ok\r\n");
        }
      });
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    closers.push(() => server.close());
    const smtp = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const to: ChannelTarget = { kind: "email", to: ["ops@acme.example"], from: "fleet@acme.example", smtp };
    for (let times = 0; times < 2; times++)
      await tell(to, toldIn({ ...told, observed_revision: revision }), "42", sending);
    expect(mails).toHaveLength(2);
    const ids = mails.map((mail) => /^Message-ID: (.*)$/m.exec(mail)?.[1]);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[0]).toMatch(/^<42\./);
    expect(mails[0]).toContain("Subject: prod-shop has a plan that waits for approval");
    await expect(tell({ ...to, smtp: "smtp://u:canary@127.0.0.1:9" }, told, "1", sending)).rejects.not.toThrow(
      "canary",
    );
  });

  test("a mail server that says a little now and then holds nobody for longer than the letter has", async () => {
    const given = new AbortController();
    const server = createSocketServer((socket) => {
      socket.on("error", () => undefined);
      socket.write("220-wait\r\n");
      setTimeout(() => given.abort(), 20);
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    closers.push(() => server.close());
    const smtp = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const to: ChannelTarget = { kind: "email", to: ["ops@acme.example"], from: "fleet@acme.example", smtp };
    await expect(tell(to, told, "1", { ...sending, signal: given.signal })).rejects.toThrow("in time");
  });
});
