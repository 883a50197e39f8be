/**
 * The doctor's questions at a real terminal: a person answers them one after the other, and what they said is tried and
 * written down. Skipped where no Python can open a terminal.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { parse } from "yaml";
import { cliPath } from "../support/cli-process";
import { type RunningOdd, startOdd } from "../support/odd/server";
import { odds } from "../support/odd/shapes";

let server: Pick<RunningOdd, "url" | "close"> | undefined;
afterEach(() => server?.close());

/** Runs a command at a terminal of its own, and types an answer to each question. */
const atTerminal = `
import json, os, pty, sys
answers = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
seen = ""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    sys.stdout.write(piece.decode("utf8", "replace"))
    seen += piece.decode("utf8", "replace")
    if "I do not know." in " ".join(seen.split()):
        seen = ""
        os.write(terminal, ((answers.pop(0) if answers else "") + "\\n").encode())
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
`;
const hasTerminals = spawnSync("python3", ["-c", "import pty"]).status === 0;

async function typed(folder: string, answers: readonly string[], command: readonly string[]) {
  const child = spawn("python3", ["-c", atTerminal, JSON.stringify(answers), process.execPath, cliPath, ...command], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, TERM: "xterm", NO_COLOR: "1", RECONCILE_TOKEN: "ops-token" },
  });
  let screen = "";
  child.stdout.on("data", (piece: Buffer) => {
    screen += piece.toString("utf8");
  });
  const exitCode = await new Promise((done) => child.on("close", done));
  return { exitCode, words: screen.replaceAll(/\s+/g, " ") };
}

test.skipIf(!hasTerminals)("a trial asks at most four questions, and tries what is answered", async () => {
  const odd = odds.find(({ keepsVolumes }) => keepsVolumes === true);
  if (odd === undefined) throw new Error("there is no such service");
  server = await startOdd(odd.shape);
  const folder = mkdtempSync(join(tmpdir(), "terminal-"));
  writeFileSync(
    join(folder, "reconcile.yaml"),
    `version: 1
project: acme
region: in-west-1
service: { base_url: "${server.url}", timing: { poll_interval: 20ms, discovery_window: 900ms, vm_create_timeout: 20s } }
vms: { web: { flavor_id: m1.small, image_id: ubuntu-24.04, owner: ops@acme.example, user_id: "1042", size: 10 } }
`,
  );
  const vm = `${server.url}/api/v1/machines/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11`;
  // What takes a resize back is found without a question.
  const answers = ["none", "none", `curl -X POST ${vm}/resize-ok`, "none"];
  const permitted = "m1.small,m1.medium,keep-volume";
  const command = [
    "doctor",
    "reconcile.yaml",
    "--trial",
    "--allow-trial",
    permitted,
    "--none",
    "volume.delete",
    "--out",
    "my.yaml",
  ];
  const { exitCode, words } = await typed(folder, answers, command);
  expect([exitCode, words.match(/I do not know\./g)?.length]).toEqual([0, 4]);
  const text = readFileSync(join(folder, "my.yaml"), "utf8");
  const { operations } = parse(text);
  expect(["volume.list", "group.list", "group.rule.delete"].map((name) => operations[name])).toEqual([
    null,
    null,
    null,
  ]);
  expect(operations["vm.resize.revert"].path).toBe("/api/v1/machines/{id}/resize-undo");
  expect(operations["vm.resize.confirm"].path).toBe("/api/v1/machines/{id}/resize-ok");
  expect(text.match(/# tried, and seen to work/g)).toHaveLength(2);
});

test.skipIf(!hasTerminals)("what is answered at the end takes away nothing that was learnt before it", async () => {
  const servers = Array.from({ length: 25 }, (_, nth) => ({
    id: `srv-${1000 + nth}`,
    name: `web-${nth}`,
    status: "up",
  }));
  const paged = createServer(({ url = "" }, response) => {
    const { pathname, searchParams } = new URL(url, "http://service.invalid");
    const page = Number(searchParams.get("page") ?? 1);
    const body =
      pathname === "/v2/servers" && searchParams.get("zone") === "west"
        ? { servers: servers.slice(page * 10 - 10, page * 10), page: { number: page, total_pages: 3 } }
        : pathname === "/v2/zones"
          ? { zones: [{ id: "west" }, { id: "east" }] }
          : undefined;
    response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(body ?? { error: { code: 404, message: "not found" } }));
  });
  server = await new Promise(
    (done) =>
      paged.listen(0, "127.0.0.1", () =>
        done({
          url: `http://127.0.0.1:${(paged.address() as AddressInfo).port}`,
          close: async () => void paged.close(),
        }),
      ), // It listens at a port.
  );
  const { url = "" } = server ?? {};
  const folder = mkdtempSync(join(tmpdir(), "terminal-"));
  const rule = `curl -X DELETE ${url}/v2/firewalls/fw-1000007/rules/rule-1000008`;
  const told = ["--curl", `vm.list=curl '${url}/v2/servers?zone=west'`, "--none", "volume.list,group.list"];
  await typed(folder, [rule], ["doctor", "--base-url", url, ...told, "--out", "my.yaml"]);
  const { operations, pagination, todo } = parse(readFileSync(join(folder, "my.yaml"), "utf8"));
  expect(operations["group.rule.delete"].path).toBe("/v2/firewalls/{id}/rules/{rule_id}");
  expect(operations["vm.list"].pagination ?? pagination).toEqual({ number: 1, param: "page" });
  expect(todo).toContainEqual(expect.stringContaining("of region east the list was not shown"));
});
