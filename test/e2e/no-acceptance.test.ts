/** Answers of 200 that are no acceptance: a refusal in the service's own words, and a page that asks to sign in. */
import { afterEach, describe, expect, it } from "vitest";
import type { Answer, OtherService } from "../support/other-services/other-service";
import { type AtTheDoor, standAtTheDoor } from "../support/own-place";

let here: AtTheDoor;
afterEach(() => here.close());

const listing = "group.list: { method: GET, path: /api/v1/security-group }";
const world = (rules: readonly number[], dialect = ""): string => `version: 1
project: acme
region: in-west-1
service:
  timing: { poll_interval: 5ms, discovery_window: 200ms }
  dialect:
    operations: { ${listing}, group.rule.delete: { method: DELETE, path: "/api/v1/security-group/{id}/rule/{rule_id}" } }
    ${dialect}
groups: { front: { rules: [${rules.map((port) => `{ protocol: tcp, dst_port: ${port}, remote_ip: 10.0.0.0/8 }`)}] } }
`;

const stand = async (service: OtherService = {}): Promise<void> => {
  here = await standAtTheDoor(service, { with: ["group.list", "group.rule.delete"] });
};

const run = async (...args: string[]) => {
  const { exitCode, stdout, stderr } = await here.reconcile(...args);
  return { exitCode, said: stdout + stderr };
};

const named = (): string[] =>
  here.emulator
    .dump()
    .groups.filter(({ platform }) => !platform)
    .map(({ name }) => name);

const ownWords = `envelope: { error: { code: [{ in: "/*", value: /errorcode }], message: [{ in: "/*", value: /errortext }] } }
    errors: [{ is: conflict, code: 431 }]`;

describe("a refusal inside a 200 whose code no rule names", () => {
  it("is a refusal in the service's words, and the rule that stays is not said to be gone", async () => {
    await stand();
    here.write("reconcile.yaml", world([22, 443], ownWords));
    expect(await run("apply", "-y")).toMatchObject({ exitCode: 0 });
    here.door.become({
      hear: ({ operation }) =>
        operation === "group.rule.delete"
          ? { status: 200, body: { revokeresponse: { errorcode: 532, errortext: "Failed to revoke: agent is down" } } }
          : undefined,
    });
    here.write("reconcile.yaml", world([443], ownWords));
    for (let round = 1; round <= 2; round++) {
      const refused = await run("apply", "-y");
      expect(refused.exitCode, refused.said).toBe(1);
      expect(refused.said).toContain("Failed to revoke: agent is down");
      expect(refused.said).not.toContain("matches the file");
    }
    here.door.become({});
    expect(await run("apply", "-y")).toMatchObject({ exitCode: 0 });
  });

  it("ends a create at once, and leaves nothing open", async () => {
    const full = { status: 200, body: { createresponse: { errorcode: 535, errortext: "no room for groups" } } };
    await stand({ hear: ({ operation }) => (operation === "group.create" ? full : undefined) });
    here.write("reconcile.yaml", world([443], ownWords));
    const refused = await run("apply", "-y");
    expect(refused.exitCode, refused.said).toBe(1);
    expect(refused.said).toContain("no room for groups");
    expect(refused.said).not.toContain("outcome unknown");
    here.door.become({});
    expect(await run("apply", "-y")).toMatchObject({ exitCode: 0 });
    expect(named()).toEqual(["front"]);
  });

  it("that may as well be an acknowledgement is looked for: kept where it was made, refused where it was not", async () => {
    const said = (text: string): Answer => ({ status: 200, body: { fault: text } });
    await stand({ tell: ({ operation }) => (operation === "group.create" ? said("made group front") : undefined) });
    const dialect = "envelope: { error: { message: /fault } }";
    here.write("reconcile.yaml", world([443], dialect));
    expect(await run("apply", "-y")).toMatchObject({ exitCode: 0 });
    expect(named()).toEqual(["front"]);
    here.door.become({ hear: ({ operation }) => (operation === "group.create" ? said("no room") : undefined) });
    here.write("reconcile.yaml", `${world([443], dialect).replace("groups: {", "groups: { back: {},")}`);
    const refused = await run("apply", "-y");
    expect(refused.exitCode, refused.said).toBe(1);
    expect(refused.said).toContain("refused (HTTP 200): no room");
    expect(here.door.heard.filter(({ asked }) => asked.body["name"] === "back")).toHaveLength(1);
    here.door.become({});
    expect(await run("apply", "-y")).toMatchObject({ exitCode: 0 });
    expect(named()).toEqual(["front", "back"]);
  });
});

describe("an attach that is answered with words alone, where refusals have theirs", () => {
  const file = (attach: string): string => `version: 1
project: acme
region: in-west-1
service:
  timing: { poll_interval: 5ms, discovery_window: 200ms }
  dialect: { envelope: { error: { message: /fault } } }
vms: { one: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
volumes: { data: { size: 7${attach} } }
`;
  it.each([
    ["was done", "tell", 0, "matches the file"],
    ["was refused", "hear", 1, "refused (HTTP 200): slot 2"],
  ] as const)("%s as a look says, and is sent once", async (_, door, exitCode, says) => {
    await stand();
    here.write("reconcile.yaml", file(""));
    expect(await run("apply", "-y")).toMatchObject({ exitCode: 0 });
    here.door.open({
      [door]: ({ operation }: { operation: string }) =>
        operation === "volume.attach" ? { status: 200, body: { fault: "slot 2" } } : undefined,
    });
    here.write("reconcile.yaml", file(", attach_to: one"));
    const ran = await run("apply", "-y");
    expect(ran.exitCode, ran.said).toBe(exitCode);
    expect(ran.said).toContain(says);
    expect(here.door.heard.filter(({ asked }) => asked.operation === "volume.attach")).toHaveLength(1);
  });
});

const signIn: Answer = {
  status: 200,
  headers: { "content-type": "text/html; charset=utf-8" },
  text: "<!doctype html><html><head><title>Sign in</title></head><body><input type=password></body></html>",
};

describe("a page that asks to sign in, under 200", () => {
  it.each([
    ["before", "hear"],
    ["after", "tell"],
  ] as const)(
    "in place of a create's answer, %s the effect: the group is looked for and made once",
    async (_, door) => {
      await stand({
        [door]: ({ operation, nthOfItsKind }: { operation: string; nthOfItsKind: number }) =>
          operation === "group.create" && nthOfItsKind === 1 ? signIn : undefined,
      });
      here.write("reconcile.yaml", world([443]));
      const ran = await run("apply", "-y");
      expect(ran.exitCode, ran.said).toBe(0);
      expect(named()).toEqual(["front"]);
      expect(await run("plan", "--detailed-exitcode")).toMatchObject({ exitCode: 0 });
    },
  );

  it("in mid-run, to everything: the credential is named, and a valid one converges without a person's word", async () => {
    let over = false;
    await stand({
      hear({ operation }) {
        over ||= operation === "group.create";
        return over ? signIn : undefined;
      },
    });
    here.write("reconcile.yaml", world([443]));
    const ran = await run("apply", "-y");
    expect(ran.exitCode, ran.said).toBe(1);
    expect(ran.said).toContain("the credential may have expired");
    expect(await run("plan")).toMatchObject({ exitCode: 1, said: expect.stringContaining("RECONCILE_TOKEN") });
    here.door.become({});
    const again = await run("apply", "-y");
    expect(again.exitCode, again.said).toBe(0);
    expect(named()).toEqual(["front"]);
  });

  it("is what the dialect says by its type, and a redirect by its place", async () => {
    const redirect: Answer = { status: 302, headers: { location: "https://portal.example/welcome" }, text: "" };
    let answer = signIn;
    await stand({ hear: ({ method }) => (method === "GET" ? undefined : answer) });
    const dialect = `errors:
      - { is: forbidden, status: 200, type: text/html }
      - { is: forbidden, location: portal.example }`;
    here.write("reconcile.yaml", world([443], dialect));
    for (answer of [signIn, redirect]) {
      const refused = await here.reconcile("apply", "-y", "--json");
      expect(refused.exitCode, refused.stdout).toBe(1);
      expect(refused.stdout).toContain('"code":"service/forbidden"');
    }
    expect(named()).toEqual([]);
  });
});
