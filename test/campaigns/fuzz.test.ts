import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { canonicalJson } from "../../reconciler/core/text/canonical-json";
import { fingerprint } from "../../reconciler/core/text/hash";
import { countCampaign } from "../support/campaign-count";
import { captureCommand, misbehaviour, pollution } from "../support/captured-command";
import { waitLimitMs } from "../support/eventually";
import { makeFolder } from "../support/folder";
import { mutateJson, mutateText, pick, randomFrom } from "../support/hostile-inputs";
import { stories } from "../support/stories";
import seeds from "./seeds.json";

/** Inputs in all. FUZZ_SEED starts elsewhere; what has failed once is in seeds.json and is tried every time. */
const inputs = Number(process.env["FUZZ_INPUTS"] ?? 400);
const firstSeed = Number(process.env["FUZZ_SEED"] ?? 1);
/** Shares of the inputs; an answer takes whole conversations and waits between tries. */
const shares: Readonly<Record<string, number>> = {
  "a file of the desired state": 0.3,
  "a dialect": 0.2,
  "a state": 0.2,
  "a journal": 0.15,
  "a saved plan": 0.14,
  "an answer of the service": 0.01,
};

let folder: string;
let emulator: RunningEmulator;
let liar: Server;
/** What the lying service says to the next requests. */
let lie: (body: string) => string = (body) => body;

const at = (name: string): string => join(folder, name);
const yaml = `version: 1
project: acme
region: in-west-1
vars: { env: { default: staging, description: Which } }
defaults: { vm: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
vms:
  web:
    for_each: [a, b]
    name: web-\${each}
  base: { power: running, lifecycle: { snapshot_before: [rebuild], verify_resize: { check: { tcp: 22 }, timeout: 2m } } }
volumes:
  data: { size: 20, attach_to: base, flush: { via: command, command: ["true"] } }
groups:
  front:
    rules:
      - { protocol: tcp, dst_port: 443, remote_ip: 0.0.0.0/0, description: HTTPS }
      - { protocol: tcp, dst_port: 5432, remote_group: front }
moved: [ { from: vm.old, to: vm.new } ]
removed: [ { from: volume.scratch, destroy: false } ]
`;
const dialect = JSON.stringify({
  operations: { "volume.list": { method: "GET", path: "/api/v1/volume/list" }, "group.list": null },
  records: { volume: { id: ["/id"], name: ["/name"] } },
  states: { vm: { running: ["ACTIVE"] } },
  pagination: { next: ["/page/next"], param: "page" },
  rules: { port_range: "{min}-{max}" },
  authorization: { header: "Bearer {token}" },
  errors: [{ is: "volume_attached", message: "attached" }],
});
let good: { file: string; state: string; journal: string; plan: string };

beforeAll(async () => {
  folder = makeFolder();
  emulator = await startEmulator({ timeScale: 0 });
  liar = createServer(async (incoming, outgoing) => {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const body = Buffer.concat(pieces);
    const answer = await fetch(emulator.url + incoming.url, {
      method: incoming.method,
      headers: { authorization: "Bearer ops-token", "content-type": "application/json" },
      ...(body.length === 0 ? {} : { body }),
    });
    outgoing.writeHead(answer.status, { "content-type": "application/json" });
    outgoing.end(lie(await answer.text()));
  });
  await new Promise<void>((done) => liar.listen(0, "127.0.0.1", done));
  process.env["RECONCILE_TOKEN"] = "ops-token";
  process.env["RECONCILE_BASE_URL"] = `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
  const story = stories["create everything"]!;
  const timing = { poll_interval: "2ms", discovery_window: "10ms", vm_create_timeout: "300ms", request_timeout: "1s" };
  // What is true from here on has all the time that it needs; a lie is waited for no longer than a second.
  writeFileSync(at("reconcile.yaml"), JSON.stringify(story.after));
  const applied = await captureCommand(["apply", at("reconcile.yaml"), "-y"]);
  if (applied.exitCode !== 0) throw new Error(applied.text);
  const file = JSON.stringify({ ...story.after, service: { timing } });
  writeFileSync(at("reconcile.yaml"), file);
  const edited = JSON.stringify({ ...stories["delete a VM, its volumes and a group"]!.after, service: { timing } });
  writeFileSync(at("edited.yaml"), edited);
  const state = readFileSync(at("reconcile.state.json"), "utf8");
  const planned = await captureCommand([
    "plan",
    at("edited.yaml"),
    "--state",
    at("reconcile.state.json"),
    "--out",
    at("good.plan.json"),
  ]);
  if (planned.exitCode !== 0) throw new Error(planned.text);
  good = { file, state, journal: journalOf(state), plan: readFileSync(at("good.plan.json"), "utf8") };
});

afterAll(async () => {
  await new Promise((done) => liar.close(done));
  await emulator.close();
});

/** The records of a state as the lines of a journal. */
function journalOf(state: string): string {
  const { resources } = JSON.parse(state) as { resources: Record<string, object> };
  return Object.entries(resources)
    .map(([address, record], index) => line({ n: 1000 + index, e: 99, c: { type: "resource", address, record } }))
    .join("");
}

/** With the right checksum for the wrong content. */
const line = (entry: object | string): string => {
  const body = typeof entry === "string" ? entry : JSON.stringify(entry);
  return `${fingerprint(body)} ${body}\n`;
};

/** Each sort puts its files in place and says which command reads them. */
const sorts: Readonly<Record<string, (seed: number) => readonly string[]>> = {
  "a file of the desired state": (seed) => {
    const random = randomFrom(seed);
    writeFileSync(at("x.yaml"), random() < 0.7 ? mutateText(yaml, random) : mutateJson(good.file, random));
    return ["validate", at("x.yaml"), ...(random() < 0.3 ? ["--json"] : [])];
  },
  "a dialect": (seed) => {
    const random = randomFrom(seed);
    writeFileSync(at("x.dialect.yaml"), random() < 0.4 ? mutateText(dialect, random) : mutateJson(dialect, random));
    return [
      "plan",
      at("edited.yaml"),
      "--state",
      at("reconcile.state.json"),
      "--no-refresh",
      "--dialect",
      at("x.dialect.yaml"),
    ];
  },
  "a state": (seed) => {
    const random = randomFrom(seed);
    writeFileSync(at("x.state.json"), random() < 0.4 ? mutateText(good.state, random) : mutateJson(good.state, random));
    return random() < 0.5
      ? ["plan", at("edited.yaml"), "--state", at("x.state.json"), "--no-refresh"]
      : ["state", pick(random, ["list", "pull"]), "--state", at("x.state.json")];
  },
  "a journal": (seed) => {
    const random = randomFrom(seed);
    const lines = good.journal.trimEnd().split("\n");
    const changed = lines
      .map((text) => (random() < 0.4 ? line(mutateJson(text.slice(17), random)) : `${text}\n`))
      .join("");
    writeFileSync(at("y.state.json"), good.state);
    writeFileSync(at("y.state.json.journal"), random() < 0.4 ? mutateText(good.journal, random) : changed);
    return [
      "plan",
      at("edited.yaml"),
      "--state",
      at("y.state.json"),
      "--no-refresh",
      ...(random() < 0.3 ? ["--json"] : []),
    ];
  },
  "a saved plan": (seed) => {
    const random = randomFrom(seed);
    let text = random() < 0.3 ? mutateText(good.plan, random) : mutateJson(good.plan, random);
    try {
      const { format, version, id: _, ...body } = JSON.parse(text) as Record<string, unknown>;
      // As if made by somebody who knows how.
      if (random() < 0.8)
        text = JSON.stringify({
          format,
          version,
          id: createHash("sha256").update(canonicalJson(body)).digest("hex"),
          ...body,
        });
    } catch {
      // Not JSON any more: so be it.
    }
    writeFileSync(at("x.plan.json"), text);
    writeFileSync(at("z.state.json"), good.state);
    return ["apply", at("x.plan.json"), "--state", at("z.state.json"), "--no-refresh"];
  },
  "an answer of the service": (seed) => {
    const random = randomFrom(seed);
    const once = random() < 0.5 ? Math.floor(random() * 8) : -1;
    let asked = 0;
    lie = (body) => {
      if (once >= 0 && asked++ !== once) return body;
      try {
        return random() < 0.3 ? mutateText(body, random) : mutateJson(body, random);
      } catch {
        return mutateText(body, random);
      }
    };
    return random() < 0.9
      ? ["plan", at("edited.yaml"), "--state", at("reconcile.state.json"), ...(random() < 0.3 ? ["--json"] : [])]
      : ["drift", at("edited.yaml"), "--state", at("reconcile.state.json")];
  },
};

describe("hostile input ends in a diagnostic and an exit code", () => {
  it.each(Object.keys(sorts))("%s", async (sort) => {
    const count = Math.ceil(inputs * shares[sort]!);
    const known = (seeds as Record<string, number[]>)[sort] ?? [];
    const violations: string[] = [];
    const before = readdirSync(folder).length;
    for (let index = 0; index < count + known.length; index++) {
      const seed = known[index] ?? firstSeed + index - known.length;
      lie = (body) => body;
      const argv = sorts[sort]!(seed);
      const started = performance.now();
      const captured = await captureCommand(argv);
      const problems = [...misbehaviour(captured), ...pollution()];
      if (performance.now() - started > waitLimitMs) problems.push("it hung");
      for (const problem of problems) violations.push(`seed ${seed}: ${problem}`);
      if (violations.length > 20) break;
    }
    if (readFileSync(at("reconcile.state.json"), "utf8") !== good.state) violations.push("the state was written");
    if (readdirSync(folder).length > before + 4) violations.push(`files lie about: ${readdirSync(folder).join(", ")}`);
    countCampaign(`hostile inputs: ${sort}`, count + known.length, violations.length);
    expect(violations.join("\n")).toEqual("");
  });
});
