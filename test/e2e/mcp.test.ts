/** `reconcile mcp` as a client of the protocol uses it: a line a message, over the process's own input and output. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { startEmulator } from "../../emulator";
import { approvalOf, approved, newApprover, readApprover, writeApprover } from "../../reconciler/cli/approvals";
import { jsonLines, runCli, startCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { converse } from "./json-rpc-clients";

let folder: string;
beforeEach(() => {
  folder = makeFolder();
  writeFileSync(
    join(folder, "reconcile.yaml"),
    "version: 1\nservice: { base_url: embedded, timing: { poll_interval: 5ms } }\nvolumes: { data: { size: 1 } }\n",
  );
});

async function talk(...messages: (object | string)[]) {
  const input = messages.map((one) => (typeof one === "string" ? one : JSON.stringify({ jsonrpc: "2.0", ...one })));
  const ran = await runCli(["mcp"], { cwd: folder, input: `${input.join("\n")}\n` });
  expect(ran.exitCode, ran.stderr).toBe(0);
  return new Map(jsonLines(ran.stdout).map((message) => [message["id"], message]));
}
const call = (id: number, name: string, input: object = {}) => ({
  id,
  method: "tools/call",
  params: { name, arguments: input },
});

describe("reconcile mcp", () => {
  it("greets, lists its tools with what they change, and refuses what is no request", async () => {
    const answers = await talk(
      { id: 1, method: "initialize", params: { protocolVersion: "2025-03-26", capabilities: {} } },
      { method: "notifications/initialized" },
      { id: 2, method: "tools/list" },
      { id: 3, method: "resources/list" },
      "no json",
      { id: 4, method: "ping" },
    );
    expect(answers.get(1)?.["result"]).toMatchObject({ protocolVersion: "2025-03-26", capabilities: { tools: {} } });
    expect(answers.get(1)?.["result"].instructions).toContain("--approve");
    const tools = answers.get(2)?.["result"].tools;
    expect(
      tools.map(({ name, annotations }: { name: string; annotations: { readOnlyHint: boolean } }) => [
        name,
        annotations.readOnlyHint,
      ]),
    ).toEqual([
      ["validate", true],
      ["plan", true],
      ["explain", true],
      ["exposure", true],
      ["drift", true],
      ["rehearse", true],
      ["apply", false],
    ]);
    expect(answers.get(3)?.["error"].code).toBe(-32601);
    expect(answers.get(null)?.["error"].code).toBe(-32700);
    expect(answers.get(4)?.["result"]).toEqual({});
    expect(answers.size).toBe(5);
  });

  it("answers a list of messages in one list, and a name that is no text as one that is not known", async () => {
    const lines = [
      [{ id: 1, method: "ping" }, { method: "notifications/initialized" }, { id: 2, method: "none" }, 3],
      [{ method: "notifications/initialized" }],
      [],
      { id: 4, method: "tools/call", params: { name: { toString: 1, valueOf: 1 } } },
    ];
    const ran = await runCli(["mcp"], { cwd: folder, input: lines.map((one) => `${JSON.stringify(one)}\n`).join("") });
    expect(ran.exitCode, ran.stderr).toBe(0);
    const answers = ran.stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers).toHaveLength(3);
    expect(answers).toContainEqual([
      { jsonrpc: "2.0", id: 1, result: {} },
      { jsonrpc: "2.0", id: 2, error: { code: -32601, message: "this server has no none" } },
      { jsonrpc: "2.0", id: null, error: { code: -32600, message: "this is no request" } },
    ]);
    // An empty list is no request at all.
    expect(answers).toContainEqual(
      expect.objectContaining({ id: null, error: expect.objectContaining({ code: -32600 }) }),
    );
    expect(answers).toContainEqual(
      expect.objectContaining({ id: 4, error: expect.objectContaining({ code: -32602 }) }),
    );
  });

  it("applies only a plan that a person approved, and no word becomes a flag", async () => {
    const planned = (await talk(call(1, "plan"))).get(1)?.["result"];
    expect(planned.isError, planned.content[0].text).toBe(false);
    expect(planned.content[0].text).not.toContain("reconcile apply .reconcile");
    const id = /^plan id: ([0-9a-f]{12})$/m.exec(planned.content[0].text)?.[1];
    const answers = await talk(
      call(1, "apply", { plan: id }),
      call(2, "plan", { files: ["--destroy"] }),
      call(3, "apply", { plan: "../../reconcile" }),
      call(4, "explain", { what: "consent/flush" }),
      call(5, "plan", { targets: ["volume.data"] }),
      call(6, "apply"),
      call(7, "plan"),
      { method: "notifications/cancelled", params: { requestId: 7 } },
    );
    // A word that is not understood is not left out: the plan of one address would be one of all.
    expect(answers.get(5)?.["error"].message).toBe("plan takes no targets; did you mean target?");
    expect(answers.get(6)?.["error"].message).toBe("apply needs plan");
    expect(answers.has(7)).toBe(false);
    expect(answers.get(1)?.["result"]).toMatchObject({ isError: true });
    expect(answers.get(1)?.["result"].content[0].text).toContain("is not approved");
    expect(answers.get(2)?.["result"].isError).toBe(true);
    expect(answers.get(3)?.["result"].isError).toBe(true);
    expect(answers.get(4)?.["result"].content[0].text).toContain("consent/flush");
    const unasked = await runCli(["mcp", "--approve", id!], { cwd: folder });
    expect(unasked.exitCode).toBe(1);
    expect(unasked.stderr).toContain("only a person at a terminal");

    // What every program could write is no approval.
    const file = join(folder, ".reconcile/mcp", `${id}.plan.json`);
    const mark = createHash("sha256").update(readFileSync(file)).digest("hex");
    const forged = [mark, JSON.stringify({ flushed: [], signature: "AAAA" }), "yes"];
    for (const one of forged) {
      writeFileSync(join(folder, ".reconcile/mcp", `${id}.approved`), `${one}\n`);
      expect((await talk(call(1, "apply", { plan: id }))).get(1)?.["result"].isError).toBe(true);
    }
  });
});

const idIn = (text: string): string => /^plan id: ([0-9a-f]{12})$/m.exec(text)![1]!;
const accept = (values: (name: string) => boolean) => (schema: { properties: object }) => ({
  action: "accept",
  content: Object.fromEntries(Object.keys(schema.properties).map((name) => [name, values(name)])),
});

describe("a person approves", () => {
  it("in the client's window, after the plan was shown there, once and only what was planned", async () => {
    const questions = await converse(
      folder,
      accept(() => true),
      async (tool) => {
        const id = idIn((await tool("plan")).text);
        // The file of the plan is not what counts.
        writeFileSync(join(folder, ".reconcile/mcp", `${id}.plan.json`), "{}");
        const applied = await tool("apply", { plan: id });
        expect(applied.isError, applied.text).toBe(false);
        expect((await tool("apply", { plan: id })).isError).toBe(true);
      },
    );
    expect(questions[0]).toContain("+ volume.data  create");
  });

  it("in a window that shows the end of a long plan too, where it says what is lost", async () => {
    const volumes = (count: number): string =>
      `volumes: { ${Array.from({ length: count }, (_, n) => `a${n}: { size: ${n + 1} }`).join(", ")} }`;
    const write = (blocks: string): void =>
      writeFileSync(join(folder, "reconcile.yaml"), `version: 1\nservice: { base_url: embedded }\n${blocks}\n`);
    write("volumes: { zz: { size: 7 } }");
    expect((await runCli(["apply", "-y"], { cwd: folder, env: { RECONCILE_TIME_SCALE: "0" } })).exitCode).toBe(0);
    write(`${volumes(60)}\ngroups: { web: { rules: [ { protocol: tcp, dst_port: 22 } ] } }`);
    const [question] = await converse(
      folder,
      () => ({ action: "decline" }),
      async (tool) => void (await tool("apply", { plan: idIn((await tool("plan")).text) })),
    );
    expect(question!.split("\n").length).toBeLessThan(90);
    expect(question).toContain("+ volume.a0  create");
    expect(question).toMatch(/lines more: reconcile show/);
    expect(question).toMatch(/DATA LOSS: .*\n +volume\.zz /);
    expect(question).toContain("61 to create");
    expect(question).toContain("SSH (tcp 22) is now open to the world");
  });

  it.each([
    ["declines", () => ({ action: "decline" })],
    ["closes the window", () => ({ action: "cancel" })],
    ["says no", accept(() => false)],
    ["answers nothing", () => ({ action: "accept" })],
  ])("and nothing is applied when they do not: %s", async (_, answer) => {
    await converse(folder, answer, async (tool) => {
      const applied = await tool("apply", { plan: idIn((await tool("plan")).text) });
      expect([applied.isError, applied.text]).toEqual([true, expect.stringContaining("is not approved")]);
    });
  });

  const declare = (vm: object, volumes: object): void =>
    writeFileSync(
      join(folder, "reconcile.yaml"),
      JSON.stringify({
        version: 1,
        project: "p",
        region: "in-west-1",
        service: { base_url: "embedded", timing: { poll_interval: "5ms" } },
        vms: {
          web: {
            owner: "ops@acme.example",
            user_id: "1",
            image_id: "ubuntu-24.04",
            flavor_id: "m1.small",
            size: 1,
            ...vm,
          },
        },
        volumes,
      }),
    );
  it("in no way, where the plan changes what is protected: no tool lifts a protection", async () => {
    writeFileSync(
      join(folder, "reconcile.yaml"),
      "version: 1\nservice: { base_url: embedded }\nvolumes: { data: { size: 1, lifecycle: { prevent_destroy: true } } }\n",
    );
    expect((await runCli(["apply", "-y"], { cwd: folder })).exitCode).toBe(0);
    writeFileSync(join(folder, "reconcile.yaml"), "version: 1\nservice: { base_url: embedded }\nvolumes: {}\n");
    const asked: string[] = [];
    const person = accept((name) => asked.push(name) > 0);
    await converse(folder, person, async (tool) => {
      const planned = await tool("plan");
      expect(planned.text).toContain("whoever applies it adds --unprotect volume.data");
      const id = idIn(planned.text);
      expect(await tool("apply", { plan: id })).toMatchObject({ isError: true });
      const approving = await runCli(["mcp", "--approve", id], { cwd: folder });
      expect(approving.stderr).toContain(`reconcile apply .reconcile/mcp/${id}.plan.json --unprotect volume.data`);
    });
    expect(asked).toEqual([]);
  });

  it.each<[string, object]>([
    ["a check asks an address that only the file names", { http: "http://10.9.9.9/" }],
    ["apply needs its check: true", { command: ["true"] }],
  ])("in no way, and nobody is asked, where a closed run refuses it: %s", async (why, check) => {
    const lifecycle = { verify_resize: { check } };
    const env = { RECONCILE_TIME_SCALE: "0" };
    declare({ lifecycle }, {});
    expect((await runCli(["apply", "-y"], { cwd: folder, env })).exitCode).toBe(0);
    declare({ lifecycle, flavor_id: "m1.medium" }, {});
    const asked: string[] = [];
    const tools = async (tool: (name: string, input?: object) => Promise<{ text: string; isError: boolean }>) => {
      const planned = await tool("plan");
      expect(planned.text).toContain(`The tool apply cannot apply it: vm.web: ${why}`);
      expect(await tool("apply", { plan: idIn(planned.text) })).toMatchObject({ isError: true });
    };
    await converse(
      folder,
      accept((name) => asked.push(name) > 0),
      tools,
      env,
    );
    expect(asked).toEqual([]);
  });

  it("with the word that a volume is flushed, where the plan needs it", async () => {
    declare({}, { data: { size: 1, attach_to: "web" } });
    expect((await runCli(["apply", "-y"], { cwd: folder, env: { RECONCILE_TIME_SCALE: "0" } })).exitCode).toBe(0);
    declare({}, { data: { size: 1 } });
    const env = { RECONCILE_TIME_SCALE: "0" };
    await converse(
      folder,
      accept((name) => name === "apply"),
      async (tool) => {
        const planned = await tool("plan");
        expect(planned.text).toContain("with the word that volume.data is flushed");
        expect((await tool("apply", { plan: idIn(planned.text) })).isError).toBe(true);
      },
      env,
    );
    await converse(
      folder,
      accept(() => true),
      async (tool) => {
        const applied = await tool("apply", { plan: idIn((await tool("plan")).text) });
        expect(applied.isError, applied.text).toBe(false);
      },
      env,
    );
  });

  it("at a terminal, by a signature that only the passphrase makes", () => {
    const plan = Buffer.from("{}");
    const approver = newApprover("correct horse battery");
    const approval = approvalOf(approver, "correct horse battery", plan, ["volume.data"])!;
    expect(approvalOf(approver, "another passphrase", plan, [])).toBeUndefined();
    expect(approved(readApprover(writeApprover(approver))!, approval, plan)).toEqual(["volume.data"]);
    expect(approved(approver, approval, Buffer.from("{ }"))).toBeUndefined();
    expect(approved(approver, approval.replace("volume.data", "volume.logs"), plan)).toBeUndefined();
    expect(approved(newApprover("somebody else's words"), approval, plan)).toBeUndefined();
    // The configurations of clients keep what an earlier version printed.
    const former = readApprover("M6XvkInFopGMoKP5yhl0UfvsLOLUPpu8xWHyf-Wnc_TdAj-BrKfhLAFG6lfF_N04")!;
    expect(approvalOf(former, "correct horse battery staple", plan, [])).toBeDefined();
    for (const text of ["", "yes", "null", "{}", '{"flushed":[],"signature":""}'])
      expect(approved(approver, text, plan)).toBeUndefined();
  });

  it("and the server takes such a signature", async () => {
    const approver = newApprover("correct horse battery");
    const env = { RECONCILE_APPROVER: writeApprover(approver) };
    await converse(
      folder,
      undefined,
      async (tool) => {
        const id = idIn((await tool("plan")).text);
        expect((await tool("apply", { plan: id })).text).toContain(`reconcile mcp --approve ${id}`);
        const bytes = readFileSync(join(folder, ".reconcile/mcp", `${id}.plan.json`));
        const approval = approvalOf(approver, "correct horse battery", bytes, [])!;
        writeFileSync(join(folder, ".reconcile/mcp", `${id}.approved`), approval);
        const applied = await tool("apply", { plan: id });
        expect(applied.isError, applied.text).toBe(false);
      },
      env,
    );
  });
});

describe("what a tool may name", () => {
  const secrets = { RECONCILE_TOKEN: "canary-token", RECONCILE_STATE_PASSWORD: "canary-password" };
  it("files below the server's folder, after all links; anything else is an answer, and the server lives on", async () => {
    const outside = makeFolder();
    writeFileSync(join(outside, "reconcile.yaml"), "version: 1\nservice: { base_url: embedded }\n");
    symlinkSync(outside, join(folder, "link"));
    const alien = [
      outside,
      join(outside, "reconcile.yaml"),
      "..",
      "link",
      "link/reconcile.yaml",
      "/etc/passwd",
      "a\u0000b",
    ];
    await converse(folder, undefined, async (tool) => {
      for (const file of alien)
        for (const name of ["plan", "validate", "drift", "exposure", "rehearse"])
          expect([file, name, (await tool(name, { files: [file] })).isError]).toEqual([file, name, true]);
      expect((await tool("plan", { target: ["volume.\u0000"] })).isError).toBe(true);
      expect((await tool("plan", { files: ["reconcile.yaml"] })).isError).toBe(false);
    });
    // The commands refuse a link only where the run is closed.
    await converse(
      folder,
      undefined,
      async (tool) => {
        for (const file of alien)
          expect([file, (await tool("validate", { files: [file] })).isError]).toEqual([file, true]);
        expect((await tool("validate")).isError).toBe(false);
      },
      { RECONCILE_PROGRAMS: "run" },
    );
  });

  it("no program and no address: a file that changed after the start gets neither run nor token", async () => {
    const heard: string[] = [];
    const canary = createServer((request, answer) => {
      heard.push(`${request.url} ${request.headers.authorization}`);
      answer.end("{}");
    }).listen(0, "127.0.0.1");
    await once(canary, "listening");
    const url = `http://127.0.0.1:${(canary.address() as AddressInfo).port}`;
    const touch = ["sh", "-c", "touch ran; echo []"];
    const files: Readonly<Record<string, object>> = {
      policy: { service: { base_url: "embedded" }, policy: { command: touch }, volumes: { data: { size: 1 } } },
      address: { service: { base_url: url }, volumes: { data: { size: 1 } } },
      state: { service: { base_url: "embedded" }, state: `${url}/state` },
      reads: {
        service: { base_url: "embedded" },
        reads: { other: { state: `${url}/state` } },
        outputs: { x: { value: "${read.other.x}" } },
      },
      helper: {
        service: { base_url: url, dialect: { authorization: { command: touch } } },
        volumes: { data: { size: 1 } },
      },
    };
    await converse(
      folder,
      undefined,
      async (tool) => {
        for (const [name, file] of Object.entries(files)) {
          writeFileSync(join(folder, "reconcile.yaml"), JSON.stringify({ version: 1, ...file }));
          for (const look of ["plan", "drift", "rehearse"]) await tool(look);
          expect([name, heard, existsSync(join(folder, "ran"))]).toEqual([name, [], false]);
        }
      },
      secrets,
    );
    canary.close();
  });

  it("what the file said at the start goes on working, and with programs no tool that plans is called a mere look", async () => {
    const emulator = await startEmulator({ timeScale: 0 });
    writeFileSync(
      join(folder, "reconcile.yaml"),
      `version: 1\nservice: { base_url: "${emulator.url}" }\nvolumes: { data: { size: 1 } }\n`,
    );
    await converse(folder, undefined, async (tool) => expect((await tool("plan")).isError).toBe(false), {
      RECONCILE_TOKEN: "ops-token",
    });
    await emulator.close();
    const ran = await runCli(["mcp"], {
      cwd: folder,
      env: { RECONCILE_PROGRAMS: "run" },
      input: `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })}\n`,
    });
    const tools: { name: string; annotations: { readOnlyHint: boolean } }[] = jsonLines(ran.stdout)[0]!["result"].tools;
    expect(tools.filter(({ annotations }) => annotations.readOnlyHint).map(({ name }) => name)).toEqual([
      "validate",
      "explain",
    ]);
  });
});

describe("reconcile docs", () => {
  it("lists the pages, prints one, and finds sections by their words", async () => {
    const list = await runCli(["docs"], { cwd: folder });
    expect(list.stdout).toMatch(/^safety {2,}\S/m);
    expect((await runCli(["docs", "trouble"], { cwd: folder })).stdout).toMatch(/^# Trouble/);
    expect((await runCli(["docs", "flush", "volume"], { cwd: folder })).stdout).toMatch(/^gitops: /m);
    // The page that tells about it comes first, with its sentence.
    for (const [asked, answer] of [
      ["rollback", "trouble: Is there a rollback?\n    Not by itself"],
      ["tags", "trouble: Where are tags?\n    The service has none"],
      ["cloud-init", "trouble: Where is cloud-init, or user data?\n    The service has no call for it"],
      ["module", "from-terraform: Words\n    | `module` | a [component]"],
    ] as const)
      expect((await runCli(["docs", asked], { cwd: folder })).stdout.startsWith(answer), asked).toBe(true);
    const unserved = await runCli(["docs", "saftey", "--serve"], { cwd: folder });
    expect([unserved.exitCode, unserved.stderr]).toEqual([1, expect.stringContaining("saftey is no page")]);
    const none = await runCli(["docs", "saftey"], { cwd: folder });
    expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("reconcile docs safety")]);
  });

  it("serves them as pages that fetch nothing from elsewhere, and nothing beside them, until it is stopped", async () => {
    // In a checkout nobody has to make them first.
    const { child, finished, says } = startCli(["docs", "safety", "--serve"], { cwd: folder });
    const [shown = "", url = ""] = await says("its address", ({ stdout }) =>
      /^(http:\S+)\/safety\.html(?=\n)/.exec(stdout),
    );
    const page = await fetch(shown);
    expect(page.headers.get("content-security-policy")).toBe("default-src 'self'; frame-ancestors 'none'");
    const named = (host: string): Promise<number | undefined> =>
      new Promise((resolve) => get(url, { headers: { host } }, ({ statusCode }) => resolve(statusCode)));
    expect(await Promise.all(["evil.example", "127.evil.example", "localhost:1", "127.0.0.1"].map(named))).toEqual([
      421, 421, 200, 200,
    ]);
    expect(await page.text()).not.toMatch(/(?:src|<link[^>]*href)="(?:https?:)?\/\//);
    expect(await (await fetch(url)).text()).toContain("search");
    for (const path of [
      "/../cli/main.js",
      "/..%2f..%2fpackage.json",
      "/%2e%2e/%2e%2e/package.json",
      "/%",
      "/none.html",
    ])
      expect([path, (await fetch(url + path)).status]).toEqual([path, 404]);
    child.kill("SIGTERM");
    expect((await finished).exitCode).toBe(0);
  });
});
