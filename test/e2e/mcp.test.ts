/** `reconcile mcp` as a client of the protocol uses it: a line a message, over the process's own input and output. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeEach, describe, expect, it } from "vitest";
import { jsonLines, root, runCli, startCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { makeFolder } from "../support/folder";

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

    // As the answer yes at a terminal leaves it; for another plan it says nothing.
    const file = join(folder, ".reconcile/mcp", `${id}.plan.json`);
    const mark = createHash("sha256").update(readFileSync(file)).digest("hex");
    writeFileSync(join(folder, ".reconcile/mcp", `${id}.approved`), `${mark.replace(/^./, "x")}\n`);
    expect((await talk(call(1, "apply", { plan: id }))).get(1)?.["result"].isError).toBe(true);
    writeFileSync(join(folder, ".reconcile/mcp", `${id}.approved`), `${mark}\n`);
    const applied = (await talk(call(1, "apply", { plan: id }))).get(1)?.["result"];
    expect(applied.isError, applied.content[0].text).toBe(false);
    expect(applied.content[0].text).toContain('"exit_code":0');
  });
});

describe("reconcile docs", () => {
  it("lists the pages, prints one, and finds sections by their words", async () => {
    const list = await runCli(["docs"], { cwd: folder });
    expect(list.stdout).toMatch(/^safety {2,}\S/m);
    expect((await runCli(["docs", "trouble"], { cwd: folder })).stdout).toMatch(/^# Trouble/);
    expect((await runCli(["docs", "flush", "volume"], { cwd: folder })).stdout).toMatch(/^gitops: /m);
    const none = await runCli(["docs", "saftey"], { cwd: folder });
    expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining("reconcile docs safety")]);
  });

  it("serves them as pages that fetch nothing from elsewhere, and nothing beside them, until it is stopped", async () => {
    await promisify(execFile)(process.execPath, [join(root, "scripts/generate-site.mjs")]);
    const { child, finished, output } = startCli(["docs", "--serve"], { cwd: folder });
    const url = await eventually("its address", () => /^http:\S+(?=\n)/.exec(output().stdout)?.[0]);
    const page = await fetch(`${url}/safety.html`);
    expect(page.headers.get("content-security-policy")).toBe("default-src 'self'");
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
