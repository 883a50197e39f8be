import { describe, expect, test } from "vitest";
import { allStacks } from "../../reconciler/fleet/generate";
import type { StackSpec } from "../../reconciler/fleet/model";
import { readFleet } from "../../reconciler/fleet/read-fleet";
import { openingOf, scheduleProblem } from "../../reconciler/fleet/windows";
import { makeFolder } from "../support/folder";

const read = (...texts: string[]) =>
  readFleet(
    texts.map((text, index) => ({ file: `fleet${index || ""}.yaml`, text })),
    { resolvePath: (file, path) => (path.startsWith("/") ? path : `/beside/${file}/${path}`), scheduleProblem },
  );

const whole = `version: 1
services:
  in-west: { base_url: https://api.example, budget: { requests_per_second: 50 }, credential: { command: [vault, read] } }
tenants: { payments: { weight: 2, max_running: 8 } }
defaults: { interval: 5m, service: in-west, state: "postgres://db/fleet?state=\${stack}" }
windows: [ { kind: deny, schedule: "0 18 * * 5", duration: 62h, stacks: [prod-*] } ]
notify: [ { on: [stalled], to: { webhook: "https://hook.example", secret: { env: HOOK } } } ]
stacks:
  prod-network: { source: { git: "https://git.example/infra", path: network/ }, tenant: payments, approve: plan }
  prod-shop: { source: { folder: ./shop }, env: prod, vars: { size: 3 }, inputs: { db: "\${stack.prod-network.outputs.db_group}" } }
`;

describe("a fleet's file", () => {
  test("is read with its defaults", () => {
    const { fleet, diagnostics } = read(whole);
    expect(diagnostics).toEqual([]);
    expect(fleet?.services[0]).toMatchObject({ name: "in-west", budget: { perSecond: 50, burst: 50 } });
    expect(fleet?.stacks[0]).toMatchObject({
      source: { kind: "git", url: "https://git.example/infra", ref: "main", path: "network" },
      approve: "plan",
      intervalMs: 300_000,
      state: "postgres://db/fleet?state=prod-network",
      retry: { firstMs: 30_000, maxMs: 3_600_000, giveUpAfter: 8 },
    });
    expect(fleet?.stacks[1]).toMatchObject({
      source: { kind: "folder", folder: "/beside/fleet.yaml/./shop" },
      approve: "safe",
      tenant: "default",
      vars: { size: "3" },
      inputs: { db: { stack: "prod-network", output: "db_group" } },
      dependsOn: ["prod-network"],
    });
  });

  test.each([
    ["./stacks.git", "/beside/fleet.yaml/./stacks.git"],
    ["repositories/stacks", "/beside/fleet.yaml/repositories/stacks"],
    ["stacks.git", "/beside/fleet.yaml/stacks.git"],
    ["/srv/stacks.git", "/srv/stacks.git"],
    ["file:///srv/stacks.git", "file:///srv/stacks.git"],
    ["git.example:acme/stacks", "git.example:acme/stacks"],
    ["git@git.example:acme/stacks", "git@git.example:acme/stacks"],
  ])("the repository %s is %s, as git takes it from beside the file", (git, url) => {
    const { fleet } = read(`version: 1\nstacks: { a: { source: { git: "${git}" }, state: s } }\n`);
    expect(fleet?.stacks[0]?.source).toMatchObject({ kind: "git", url });
  });

  test.each([
    ["./network", "network"],
    [".", ""],
    ["/network//eu/./", "network/eu"],
    ["..network/.hidden", "..network/.hidden"],
  ])("the folder %s of a repository is %s, as git names it", (path, named) => {
    const text = `version: 1
defaults: { state: "s-\${stack}" }
stacks: { a: { source: { git: "https://git.example/infra", path: "${path}" } } }
generate: [ { git: "https://git.example/infra", folders: "${path}/*/x.yaml" } ]
`;
    const { fleet, diagnostics } = read(text);
    expect(diagnostics).toEqual([]);
    expect(fleet?.stacks[0]?.source).toMatchObject({ path: named });
    expect(fleet?.generators[0]?.folders).toBe([...(named === "" ? [] : [named]), "*/x.yaml"].join("/"));
  });

  test("what lasts longer than a century ends after one, for which there is a date", () => {
    const long = "9".repeat(11);
    const { fleet, diagnostics } = read(`version: 1
windows: [ { kind: deny, schedule: "0 0 * * *", duration: ${long}h } ]
stacks: { a: { source: { folder: ./a }, state: ./s, interval: ${long}h } }
`);
    expect(diagnostics).toEqual([]);
    const now = new Date();
    expect(new Date(now.getTime() + (fleet?.stacks[0]?.intervalMs ?? 0)).getUTCFullYear() - now.getUTCFullYear()).toBe(
      100,
    );
    for (const window of fleet?.windows ?? [])
      expect(openingOf([window], "a", "apply", now)).toMatchObject({ open: false, until: expect.any(Date) });
  });

  test("says from which size on a stack's opening waits for a person", () => {
    const text = (opensAt: string): string =>
      `version: 1\ndefaults: { state: "s-\${stack}", opens_at: /12 }\nstacks: { a: { source: { folder: . }, opens_at: ${opensAt} }, b: { source: { folder: . } } }\n`;
    expect(read(text("/8")).fleet?.stacks.map(({ opensAt }) => opensAt)).toEqual([8, 12]);
    expect(read(text("/33")).diagnostics[0]?.detail).toContain("such as /8");
  });

  test("how many people approve a stack's plans, and who may not; only Git tells who wrote a change", () => {
    const text = (source: string): string =>
      `version: 1\ndefaults: { state: "s-\${stack}", approvers: 2, not_the_author: true }\nstacks: { a: { source: { git: https://git.example/x }, approvers: 1 }, b: { source: { ${source} } } }\n`;
    expect(read(text("git: https://git.example/y")).fleet?.stacks).toMatchObject([
      { notTheAuthor: true },
      { approvers: 2, notTheAuthor: true },
    ]);
    expect(read(text("folder: .")).diagnostics).toMatchObject([
      { code: "fleet/bad-source", summary: expect.stringContaining("the stack b is not_the_author") },
    ]);
  });

  test("who may sign in is read, and written once", () => {
    const signIn = `version: 1
sign_in:
  issuer: https://login.example/realms/a
  client_id: fleet
  client_secret: { env: FLEET_CLIENT_SECRET }
  url: https://fleet.example/
  roles:
    - { role: operator, claim: groups, is: platform }
    - { role: approver, stacks: [prod-*], claim: groups, is: "payments-*" }
    - { role: viewer }
`;
    expect(read(whole, signIn).fleet?.signIn).toEqual({
      issuer: "https://login.example/realms/a",
      clientId: "fleet",
      clientSecret: { env: "FLEET_CLIENT_SECRET" },
      url: "https://fleet.example",
      scopes: ["profile", "email"],
      nameClaim: "email",
      roles: [
        { role: "operator", stacks: [], claim: "groups", is: "platform" },
        { role: "approver", stacks: ["prod-*"], claim: "groups", is: "payments-*" },
        { role: "viewer", stacks: [] },
      ],
    });
    expect(read(signIn, signIn).diagnostics.map(({ code, source }) => [code, source?.file])).toEqual([
      ["fleet/twice", "fleet1.yaml"],
    ]);
  });

  test.each([
    ["", "", "git@github.com:acme/b", []],
    ["", "", "https://gitlab.example/acme/b", ["fleet/bad-notify"]],
    ["", ", stacks: ['*']", "https://gitlab.example/acme/b", ["fleet/bad-notify"]],
    ["", ", stacks: [a]", "https://gitlab.example/acme/b", []],
    [", api: https://gitlab.example/api/v4", "", "https://gitlab.example/acme/b", []],
  ])("a token for statuses%s%s is sent to one host, also where a stack is at %s", (api, stacks, git, codes) => {
    const file = `version: 1
notify: [ { on: [applied], to: { commit_status: { token: { env: T }${api} } }${stacks} } ]
defaults: { state: "s-\${stack}" }
stacks: { a: { source: { git: "https://github.com/acme/a.git" } }, b: { source: { git: "${git}" } } }
`;
    expect(read(file).diagnostics.map(({ code }) => code)).toEqual(codes);
  });

  test.each(["follow: { git: https://git.example/fleet, path: fleet.yaml }", "history: { quiet: 1h }"])(
    "two files that both say %s are refused: one of them would count for nothing",
    (said) => {
      const file = `version: 1\n${said}\n`;
      expect(read(file, file).diagnostics.map(({ code, source }) => [code, source?.file, source?.line])).toEqual([
        ["fleet/twice", "fleet1.yaml", 2],
      ]);
    },
  );

  test("two files are one fleet, and the same stack in both is told once", () => {
    const second = "version: 1\nstacks:\n  prod-shop: { source: { folder: . }, state: s }\n";
    expect(
      read(whole, "version: 1\nstacks:\n  other: { source: { folder: . }, state: s }\n").fleet?.stacks,
    ).toHaveLength(3);
    expect(read(whole, second).diagnostics.map(({ code, source }) => [code, source?.file, source?.line])).toEqual([
      ["fleet/twice", "fleet1.yaml", 3],
    ]);
  });

  test.each([
    ["https://git.example/infra.git", true],
    ["ssh://git@git.example:22/infra", true],
    ["git@git.example:infra.git", true],
    ["git.example:infra.git", true],
    ["file:///srv/infra", true],
    ["/srv/infra", true],
    ["./infra", true],
    ["http://127.0.0.1:3000/infra", true],
    ["http://git.example/infra", false],
    ["git://git.example/infra", false],
    ["ftp://git.example/infra", false],
    ["ext::sh -c touch% x", false],
    ["fd::17", false],
    ["--upload-pack=touch x", false],
    ["-utouch", false],
    ["ssh://-oProxyCommand=touch/x", false],
    ["-oProxyCommand=x:y", false],
    ["git@-oProxyCommand=x:y", false],
  ])("the repository %s is taken: %s", (url, taken) => {
    const { diagnostics } = read(`version: 1\nstacks:\n  a: { source: { git: ${JSON.stringify(url)} }, state: s }\n`);
    expect(diagnostics.map(({ code }) => code)).toEqual(taken ? [] : ["fleet/bad-source"]);
  });
  test.each([
    ["main", true],
    ["release/2026.11", true],
    ["v1.0-rc.1", true],
    ["6f1c0e8f4c1de2a9", true],
    ["--output=x", false],
    ["a..b", false],
    ["a b", false],
    ["main^", false],
    ["a:b", false],
    ["HEAD", false],
    ["FETCH_HEAD", false],
    ["@", false],
    ["ahead", true],
  ])("the reference %s is taken: %s", (ref, taken) => {
    const { diagnostics } = read(
      `version: 1\nstacks:\n  a: { source: { git: "https://x/y", ref: ${JSON.stringify(ref)} }, state: s }\n`,
    );
    expect(diagnostics.map(({ code }) => code)).toEqual(taken ? [] : ["fleet/bad-source"]);
  });

  test("tells a number beside other problems, and takes an amount that ends in a zero", () => {
    const codes = (text: string) => read(text).diagnostics.map(({ code }) => code);
    expect(codes("version: 1\nx-id: 007\n")).toEqual(["config/unknown-key", "config/invalid-value"]);
    const amounts =
      "services: { west: { base_url: embedded, budget: { requests_per_second: 2.50 }, time_scale: 10.0 } }";
    expect(codes(`version: 1\n${amounts}\ntenants: { a: { weight: 1.0 } }\n`)).toEqual([]);
  });

  const mistakes: readonly [string, string, string, number][] = [
    ["an unknown key", "version: 1\nstakcs: {}\n", "config/unknown-key", 2],
    [
      "a number whose value says less than its spelling",
      "version: 1\nstacks:\n  a: { source: { folder: . }, state: s, vars: { id: 007 } }\n",
      "config/invalid-value",
      3,
    ],
    ["a bad duration", "version: 1\ndefaults: { interval: soon }\n", "config/wrong-type", 2],
    ["no state", "version: 1\nstacks:\n  a: { source: { folder: . } }\n", "fleet/no-state", 3],
    ["two sources", "version: 1\nstacks:\n  a: { source: { folder: ., git: x }, state: s }\n", "fleet/bad-source", 3],
    [
      "a source that leaves itself",
      "version: 1\nstacks:\n  a: { source: { git: x, path: ../y }, state: s }\n",
      "fleet/bad-source",
      3,
    ],
    [
      "an artifact without a digest",
      'version: 1\nstacks:\n  a: { source: { artifact: "https://x/a.tgz" }, state: s }\n',
      "fleet/bad-source",
      3,
    ],
    [
      "a password in a state",
      'version: 1\nstacks:\n  a: { source: { folder: . }, state: "postgres://u:p@h/d" }\n',
      "fleet/credential-in-url",
      3,
    ],
    [
      "a password in a repository",
      'version: 1\nstacks:\n  a: { source: { git: "https://u:p@h/d" }, state: s }\n',
      "fleet/credential-in-url",
      3,
    ],
    [
      "a password among the settings of a state's address",
      'version: 1\nstacks:\n  a: { source: { folder: . }, state: "postgres://u@h/d?password=p" }\n',
      "fleet/credential-in-url",
      3,
    ],
    [
      "a password in the state of generated stacks",
      'version: 1\ngenerate:\n  - folder: .\n    folders: "*/x.yaml"\n    state: "postgres://u:p@h/d?state=${stack}"\n',
      "fleet/credential-in-url",
      5,
    ],
    [
      "a password in the address of an artifact",
      `version: 1\nstacks:\n  a: { source: { artifact: "https://u:p@h/a.tgz", digest: "sha256:${"0".repeat(64)}" }, state: s }\n`,
      "fleet/credential-in-url",
      3,
    ],
    [
      "a password in the address of a webhook",
      'version: 1\nnotify:\n  - { on: [applied], to: { webhook: "https://u:p@h/hook" } }\n',
      "fleet/credential-in-url",
      3,
    ],
    [
      "a bad schedule",
      'version: 1\nwindows:\n  - { kind: deny, schedule: "0 18 * *  ", duration: 1h }\n',
      "fleet/bad-schedule",
      3,
    ],
    [
      "an input that is no output",
      "version: 1\nstacks:\n  a: { source: { folder: . }, state: s, inputs: { x: y } }\n",
      "fleet/bad-input",
      3,
    ],
    [
      "a service that is not there",
      "version: 1\nservices: { west: { base_url: embedded } }\nstacks:\n  a: { source: { folder: . }, state: s, service: wets }\n",
      "fleet/unknown-service",
      4,
    ],
    [
      "a service of generated stacks that is not there",
      'version: 1\ngenerate:\n  - { folder: ., folders: "*/x.yaml", state: "s-${stack}", service: wets }\n',
      "fleet/unknown-service",
      2,
    ],
    [
      "a tenant of generated stacks that is not there",
      'version: 1\ngenerate:\n  - { folder: ., folders: "*/x.yaml", state: "s-${stack}", tenant: labs }\n',
      "fleet/unknown-tenant",
      2,
    ],
    [
      "a circle",
      "version: 1\nstacks:\n  a: { source: { folder: . }, state: s, depends_on: [b] }\n  b: { source: { folder: . }, state: t, depends_on: [a] }\n",
      "fleet/circle",
      3,
    ],
    [
      "one state of two stacks, in two spellings",
      'version: 1\nstacks:\n  a: { source: { folder: . }, state: "postgres://db/f?state=x" }\n  b: { source: { folder: . }, state: "postgresql://u@db:5432/f?state=x" }\n',
      "fleet/same-state",
      4,
    ],
    [
      "a consent that is written twice",
      "version: 1\nstacks:\n  a: { source: { folder: . }, state: s, approve: auto, consents: [flush, flush] }\n",
      "config/wrong-type",
      3,
    ],
    [
      "a budget of nothing",
      "version: 1\nservices:\n  w: { base_url: embedded, budget: { requests_per_second: 0 } }\n",
      "config/wrong-type",
      3,
    ],
    [
      "a provider of identities that is not encrypted",
      "version: 1\nsign_in:\n  issuer: http://login.example\n  client_id: x\n  url: https://fleet.example\n  roles: [ { role: viewer } ]\n",
      "fleet/bad-sign-in",
      3,
    ],
    [
      "a place of the pages that holds a password",
      "version: 1\nsign_in:\n  issuer: https://login.example\n  client_id: x\n  url: https://u:p@fleet.example\n  roles: [ { role: viewer } ]\n",
      "fleet/bad-sign-in",
      5,
    ],
    [
      "a state that is nearly an address",
      "version: 1\nservices: { w: { base_url: embedded } }\nstacks:\n  a: { source: { folder: . }, service: w, state: postgres//host/fleet }\n",
      "config/invalid-value",
      4,
    ],
    [
      "a claim without what it is to be",
      "version: 1\nsign_in:\n  issuer: https://login.example\n  client_id: x\n  url: https://fleet.example\n  roles:\n    - { role: operator, claim: groups }\n",
      "config/missing",
      7,
    ],
  ];
  test.each(mistakes)("%s is an error at its place", (_, text, code, line) => {
    const { fleet, diagnostics } = read(text);
    expect(fleet).toBeUndefined();
    expect(diagnostics.map((one) => [one.code, one.source?.line])).toEqual([[code, line]]);
    expect(diagnostics[0]?.fix ?? diagnostics[0]?.detail).toBeTruthy();
  });

  test.each([
    ["services:", '  w: { base_url: "https://u:canary@h" }'],
    ["services:", "  w: { base_url: embedded, credential: canary 1 }"],
    ["services:", "  w: { base_url: embedded, credential: { env: canary 1 } }"],
    [
      "services: { w: { base_url: embedded } }\nstacks:",
      '  a: { source: { git: "https://u:canary@h/x" }, service: w }',
    ],
    [
      "services: { w: { base_url: embedded } }\nstacks:",
      '  a: { source: { git: "https://u:c/canary@h/x" }, service: w }',
    ],
    ["notify:", "  - { on: [applied], to: { webhook: https://h/, secret: canary } }"],
    ["notify:", '  - { on: [applied], to: { webhook: "https://u:canary@h/" } }'],
    ["generate:", '  - { folder: ., folders: "*/x.yaml", state: "https://u:canary@h/${stack}" }'],
    ["notify:", "  - { on: [applied], to: { slack: canary/x } }"],
    ["sign_in:", "  client_id: x\n  issuer: https://x:canary@h\n  url: https://h\n  roles: [ { role: viewer } ]"],
    [
      "sign_in:",
      "  client_id: x\n  issuer: https://h\n  url: https://h\n  client_secret: canary\n  roles: [ { role: viewer } ]",
    ],
  ])("no error shows a secret that stands in the file: %s%s", (section, text) => {
    const { diagnostics } = read(`version: 1\n${section}\n${text}\n`);
    expect(diagnostics[0]?.severity).toBe("error");
    expect(JSON.stringify(diagnostics)).not.toContain("canary");
  });

  test("generated stacks have a state each as well", async () => {
    const folder = makeFolder({ "one/reconcile.yaml": "", "two/reconcile.yaml": "" });
    const generator = (state: string): string =>
      `version: 1\ngenerate: [ { folder: "${folder}", folders: "*/reconcile.yaml", stack: "x-\${folder}", state: ${state} } ]\n`;
    const stacks = (state: string) => {
      const { fleet, diagnostics } = read(generator(state));
      if (fleet === undefined) throw new Error(JSON.stringify(diagnostics));
      return allStacks(fleet, folder);
    };
    expect(await stacks('"s-${stack}"')).toHaveLength(2);
    await expect(stacks("s")).rejects.toThrow("the stacks x-one and x-two have one state");
  });

  test("two generated stacks of one name are an error that names both, also of two generators", async () => {
    const folder = makeFolder({ "apps/web/reconcile.yaml": "", "libs/web/reconcile.yaml": "" });
    const stacks = (generators: string) => {
      const { fleet } = read(`version: 1\ndefaults: { state: "s-\${stack}" }\n${generators}`);
      if (fleet === undefined) throw new Error("the fleet cannot be read");
      return allStacks(fleet, folder);
    };
    const generator = (folders: string): string => `  - { folder: "${folder}", folders: "${folders}" }\n`;
    const names = (all: readonly StackSpec[]): string[] => all.map(({ name }) => name);
    const both = /^the stack web is generated twice: by \S+apps\/web \(folders: \S+\) and by \S+libs\/web \(folders/;
    await expect(stacks(`generate:\n${generator("*/*/reconcile.yaml")}`)).rejects.toThrow(both);
    const [apps, libs] = [generator("apps/*/reconcile.yaml"), generator("libs/*/reconcile.yaml")];
    await expect(stacks(`generate:\n${apps}${libs}`)).rejects.toThrow(both);
    await expect(stacks(`generate:\n${apps}${apps}`)).rejects.toThrow(/apps\/web .* and by \S+apps\/web/);
    // Whoever declares one says which is meant.
    const declared = `stacks: { web: { source: { folder: "${folder}" } } }\n`;
    expect(names(await stacks(`${declared}generate:\n${apps}${libs}`))).toEqual(["web"]);
  });

  test("a folder whose name is more than a name makes no stack: it would say where the state is", async () => {
    const { fleet } = read(
      `version: 1\ndefaults: { state: "postgres://db.example/f?state=\${stack}" }\ngenerate: [ { folder: ., folders: "*/reconcile.yaml" } ]\n`,
    );
    for (const name of ["x&host=evil.example", "x#", "a b", "-x", "ä"]) {
      const folder = makeFolder({ "web/reconcile.yaml": "", [`${name}/reconcile.yaml`]: "" });
      const generators = fleet!.generators.map((one) => ({ ...one, source: { kind: "folder", folder } as const }));
      await expect(allStacks({ stacks: [], generators }, folder)).rejects.toThrow("which is no name of a stack");
    }
  });

  test("all mistakes are told at once, and the nearest name with them", () => {
    const { diagnostics } = read(
      "version: 1\nservices: { west: { base_url: embedded } }\nstacks:\n  a: { source: { folder: . }, state: s, service: wets, tenant: x, depends_on: [c] }\n",
    );
    expect(diagnostics.map(({ code }) => code)).toEqual([
      "fleet/unknown-service",
      "fleet/unknown-stack",
      "fleet/unknown-tenant",
    ]);
    expect(diagnostics[0]?.fix).toBe("write west");
  });
});
