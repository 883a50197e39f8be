/** A service that puts the credential it was sent into the records it answers with. */
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { type Ran, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

const token = "canary-9b4e7d21-never-kept";
let emulator: RunningEmulator;
let echo: Server;
beforeEach(async () => {
  emulator = await startEmulator({ timeScale: 0, with: ["volume.list", "group.list", "group.get"] });
  echo = createServer(async (incoming, outgoing) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const answer = await fetch(emulator.url + incoming.url, {
      method: incoming.method ?? "GET",
      headers: { authorization: "Bearer ops-token", "content-type": "application/json" },
      ...(pieces.length === 0 ? {} : { body: Buffer.concat(pieces) }),
    });
    const said = incoming.headers.authorization!;
    const body = (await answer.text())
      .replaceAll(/"owner":"[^"]*"/g, () => `"owner":${JSON.stringify(said)}`)
      .replaceAll(/"description":"[^"]*"/g, () => `"description":"by ${Buffer.from(said).toString("base64")}"`)
      .replaceAll('"image_id":', () => `"requested_with":"${token}","image_id":`);
    outgoing.writeHead(answer.status, { "content-type": "application/json", "x-said": said });
    outgoing.end(body);
  });
  await new Promise<void>((done) => echo.listen(0, "127.0.0.1", done));
});
afterEach(async () => {
  await new Promise((done) => echo.close(done));
  await emulator.close();
});

it("gets it into no state, no plan, no report and no log, and makes no difference of it", async () => {
  const folder = makeFolder({
    "reconcile.yaml": `version: 1
project: acme
region: in-west-1
service:
  base_url: http://127.0.0.1:${(echo.address() as AddressInfo).port}
  timing: { poll_interval: 5ms, discovery_window: 50ms }
  dialect: { operations: { volume.list: { method: GET, path: /api/v1/volume/list }, group.list: { method: GET, path: /api/v1/security-group } } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms: { web: {} }
volumes: { data: { size: 5, attach_to: web } }
groups: { front: { description: Front, rules: [ { protocol: tcp, dst_port: 443 } ] } }
`,
  });
  const ran: Ran[] = [];
  const run = async (...args: string[]): Promise<Ran> => {
    const one = await runCli([...args, "--log-level", "debug"], { cwd: folder, env: { RECONCILE_TOKEN: token } });
    ran.push(one);
    return one;
  };
  expect((await run("apply", "-y")).exitCode).toBe(0);
  const again = await run("plan", "--out", "saved.plan.json", "--detailed-exitcode");
  expect([again.exitCode, again.stderr]).toEqual([0, expect.any(String)]);
  for (const args of [["drift"], ["state", "pull"], ["doctor", "--out", "d.dialect.yaml"], ["pull", "--out", "p.yaml"]])
    await run(...args);
  await run("destroy", "-y", "--allow-data-loss", "--confirm-flush", "all", "--json");
  const shown = [
    ...ran.map(({ stdout, stderr }) => stdout + stderr),
    ...readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [readFileSync(join(entry.parentPath, entry.name), "utf8")] : [],
    ),
  ];
  for (const spelling of [token, Buffer.from(token).toString("base64").slice(0, 30)])
    expect(shown.filter((text) => text.includes(spelling))).toEqual([]);
});
