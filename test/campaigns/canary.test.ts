import { readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { dialectOperations, token } from "../support/bench-world";
import { type Ran, runCli } from "../support/cli-process";
import { ownPlace } from "../support/own-place";
import { everything, stories } from "../support/stories";

const canary = "canary-5e8a1c";
const debug = ["--log-level", "debug"];
const consents = ["-y", "--allow-data-loss", "--allow-empty", "--confirm-flush", "all"];
const commands: readonly (readonly string[])[] = [
  ["validate"],
  ["plan", "--out", "saved.plan.json"],
  ["apply", "saved.plan.json"],
  ["apply", ...consents],
  ["drift"],
  ["doctor"],
  ["graph"],
  ["state", "list"],
  ["state", "pull"],
  ["orphans", "list"],
  ["vm", "snapshot", "vm.web", "--name", "kept"],
  ["import", "vm.base", "00000000-0000-4000-8000-000000000000"],
  ["destroy", "-y", "--allow-data-loss", "--confirm-flush", "all"],
];

describe("a credential shows nowhere", () => {
  const place = ownPlace({ with: everything });
  const run = (args: readonly string[], credential = token, url?: string): Promise<Ran> => {
    const { cwd, env } = place.surroundings(url);
    return runCli([...args, "--json"], { cwd, env: { ...env, RECONCILE_TOKEN: credential } });
  };
  beforeEach(() => {
    const {
      version: _,
      project: __,
      region: ___,
      ...blocks
    } = stories["create everything"]!.after as Record<string, unknown>;
    place.declare(blocks, { dialect: { operations: dialectOperations({ with: everything }) } });
  });

  const filesOf = (folder: string): string[] =>
    readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? filesOf(path) : [path];
    });
  const sightings = (secret: string, ran: readonly Ran[]): string[] => [
    ...ran.filter(({ stdout, stderr }) => `${stdout}${stderr}`.includes(secret)).map(({ stderr }) => stderr),
    ...filesOf(place.folder).filter((path) => readFileSync(path, "utf8").includes(secret)),
  ];

  it("in no output and no file of any command, whether it succeeds or not", async () => {
    const ran: Ran[] = [];
    for (const args of commands) ran.push(await run([...args, ...debug]));
    expect(ran.some(({ exitCode }) => exitCode === 0)).toBe(true);
    expect(sightings(token, ran)).toEqual([]);
  });

  it("not when the service refuses it", async () => {
    const ran: Ran[] = [];
    for (const args of commands) ran.push(await run([...args, ...debug], canary));
    expect(ran.some(({ exitCode }) => exitCode === 1)).toBe(true);
    expect(sightings(canary, ran)).toEqual([]);
  });

  it("not when the service repeats it in its answers, in every way an answer can be wrong", async () => {
    let turn = 0;
    const echo = createServer((incoming, outgoing) => {
      const said = `you said ${incoming.headers.authorization}`;
      const status = [400, 403, 404, 409, 200, 200][turn++ % 6]!;
      outgoing.writeHead(status, { "content-type": turn % 5 === 0 ? "text/html" : "application/json" });
      outgoing.end(
        turn % 5 === 0 ? `<h1>${said}</h1>` : JSON.stringify({ error: { code: status, message: said }, data: said }),
      );
    });
    await new Promise<void>((done) => echo.listen(0, "127.0.0.1", done));
    try {
      const base = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
      const ran: Ran[] = [];
      for (const args of commands) ran.push(await run([...args, ...debug, "--base-url", base], canary));
      expect(ran.some(({ exitCode }) => exitCode === 1)).toBe(true);
      expect(sightings(canary, ran)).toEqual([]);
    } finally {
      await new Promise((done) => echo.close(done));
    }
  });

  it("and the log names requests without the owner and the user id they carry", async () => {
    const ran = await run(["apply", ...consents, ...debug]);
    expect(ran.exitCode).toBe(0);
    expect(ran.stderr).toContain("POST /api/v1/vm/create");
    expect(ran.stderr).not.toContain("ops@acme.example");
    expect(ran.stderr).not.toContain('"1042"');
  });
});
