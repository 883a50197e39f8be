// A Git server for trying: what is below a folder, over HTTP, for everybody who reaches it. `git http-backend` does the work.
//   node server.mjs FOLDER PORT [SEED]     SEED: the files of a first repository, fleet.git
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const [given, port, seed] = process.argv.slice(2);
const root = resolve(given);
const git = (cwd, ...args) =>
  execFileSync("git", ["-c", "user.name=you", "-c", "user.email=you@example.com", ...args], { cwd, stdio: "inherit" });

mkdirSync(root, { recursive: true });
const first = join(root, "fleet.git");
if (seed !== undefined && !existsSync(first)) {
  const work = mkdtempSync(join(tmpdir(), "seed-"));
  cpSync(seed, work, { recursive: true });
  git(work, "init", "--quiet", "--initial-branch=main");
  git(work, "add", "--all");
  git(work, "commit", "--quiet", "--message", "the first stacks");
  git(root, "clone", "--quiet", "--bare", work, first);
  git(first, "config", "http.receivepack", "true");
}

createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://here");
  if (pathname === "/livez") return response.end("alive\n");
  const { headers } = request;
  const backend = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: searchParams.toString(),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: headers["content-encoding"] ?? "",
      GIT_PROTOCOL: headers["git-protocol"] ?? "",
      REMOTE_USER: "you",
      // The repositories belong to whoever serves them.
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "safe.directory",
      GIT_CONFIG_VALUE_0: "*",
    },
  });
  request.pipe(backend.stdin).on("error", () => undefined);
  let head = Buffer.alloc(0);
  backend.stdout.on("data", (chunk) => {
    if (response.headersSent) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    const fields = head
      .subarray(0, end)
      .toString()
      .split("\r\n")
      .map((line) => line.split(/:\s*(.*)/, 2));
    const status = fields.find(([name]) => name.toLowerCase() === "status");
    response.writeHead(
      Number.parseInt(status?.[1] ?? "200", 10),
      Object.fromEntries(fields.filter((one) => one !== status)),
    );
    response.write(head.subarray(end + 4));
  });
  backend.stderr.pipe(process.stderr);
  backend.on("close", () => response.end());
}).listen(Number(port), () => console.log(`Git repositories at port ${port}: /fleet.git`));
process.on("SIGTERM", () => process.exit(0));
