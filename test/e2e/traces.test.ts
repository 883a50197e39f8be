/** Traces as a collector of OpenTelemetry gets them: over HTTP, from the command as anybody runs it. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startEmulator } from "../../emulator";
import { traceToCollector } from "../../reconciler/outside/tracing-otlp";
import { runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

let spans: SentSpan[];
let bodies: string;
let asked: { readonly url: string | undefined; readonly key: string | string[] | undefined }[];
let status: number;
let collector: Server;
let url: string;
beforeEach(async () => {
  spans = [];
  bodies = "";
  asked = [];
  status = 200;
  collector = createServer((request, response) => {
    asked.push({ url: request.url, key: request.headers["x-key"] });
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text;
    });
    request.on("end", () => {
      bodies += body;
      for (const { scopeSpans } of JSON.parse(body).resourceSpans)
        for (const { spans: sent } of scopeSpans) spans.push(...sent);
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
});
afterEach(() => void collector.close());

const traceId = "0af7651916cd43dd8448eb211c80319c";
const token = "ops-token";
const file = `
version: 1
project: acme
region: in-west-1
volumes: { data: { name: ${token}-data, size: 1 } }
`;

describe("traces", () => {
  it("have a span for the command, its plan, each step and each request, and no credential", async () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "reconcile.yaml"), file);
    const emulator = await startEmulator({ timeScale: 0 });
    const env = { RECONCILE_BASE_URL: emulator.url, RECONCILE_TOKEN: token };
    try {
      const ran = await runCli(["apply", "-y", "--profile", "run.json"], {
        cwd: folder,
        env: {
          ...env,
          OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/`,
          OTEL_EXPORTER_OTLP_HEADERS: "x-key=a%20key",
          TRACEPARENT: `00-${traceId}-b7ad6b7169203331-01`,
        },
      });
      expect([ran.exitCode, ran.stderr]).toEqual([0, expect.not.stringContaining("Traces")]);
    } finally {
      await emulator.close();
    }
    expect(asked).toEqual([{ url: "/v1/traces", key: "a key" }]);
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    const named = (name: string) => spans.filter((span) => span.name === name);
    const [command] = named("reconcile apply");
    expect(command?.parentSpanId).toBe("b7ad6b7169203331");
    const [step] = named("volume.create volume.data");
    expect(step?.parentSpanId).toBe(command?.spanId);
    const [request] = named("POST volume.create");
    expect(request).toMatchObject({ parentSpanId: step?.spanId, kind: 3 });
    expect(request?.attributes).toContainEqual({ key: "http.response.status_code", value: { intValue: "201" } });
    const [planned] = named("refresh and plan");
    expect(
      named("GET image.list")
        .concat(named("GET vm.list"))
        .every((one) => one.parentSpanId === planned?.spanId),
    ).toBe(true);
    for (const span of spans) expect(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano)).toBe(true);
    expect(bodies).not.toContain(token);
    const profile = readFileSync(join(folder, "run.json"), "utf8");
    expect(profile).not.toContain(token);
    expect(JSON.parse(profile).otherData).toMatchObject({
      command: "reconcile apply",
      critical_path: [{ step: "volume.data/create" }],
      requests: { "volume.create": 1 },
    });
  });

  it("go on in the commands that a step runs", async () => {
    const folder = makeFolder();
    writeFileSync(
      join(folder, "reconcile.yaml"),
      `
version: 1
project: acme
region: in-west-1
service: { base_url: embedded, timing: { poll_interval: 5ms } }
vars: { size: { default: 1 } }
vms: { db: { name: shop-db, owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 1 } }
volumes:
  data: { size: "${"${var.size}"}", attach_to: db, flush: { via: command, command: [sh, -c, 'echo "$TRACEPARENT" > seen'] } }
`,
    );
    const env = { RECONCILE_TIME_SCALE: "0" };
    expect((await runCli(["apply", "-y"], { cwd: folder, env })).exitCode).toBe(0);
    expect(spans).toEqual([]);
    const grown = await runCli(["apply", "-y", "--var", "size=2"], {
      cwd: folder,
      env: { ...env, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/here` },
    });
    expect(grown.exitCode, grown.stderr).toBe(0);
    expect(asked[0]?.url).toBe("/here");
    const [, of, parent] = /^00-(\w+)-(\w+)-01\n$/.exec(readFileSync(join(folder, "seen"), "utf8")) ?? [];
    expect(spans.find((span) => span.spanId === parent)).toMatchObject({ traceId: of, name: "flush volume.data" });
  });

  it("tell of a collector that cannot be used without the password in its address", async () => {
    const exporting = { url: "http://me:canary@127.0.0.1/v1/traces", headers: {}, timeoutMs: 1000, resource: {} };
    const tracing = traceToCollector(exporting, undefined, (text) => text);
    tracing.start("a", "internal").end();
    expect(await tracing.flush()).toMatch(/^1 span was not sent to (?!.*canary).*http:\/\/\*\*\*@127\.0\.0\.1/);
  });

  it("tell of no header and of no address what may be a credential, whatever is wrong with it", async () => {
    const told = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<string | undefined> => {
      const tracing = traceToCollector({ url, headers, timeoutMs: 1000, resource: {} }, undefined, (text) => text);
      tracing.start("a", "internal").end();
      return tracing.flush();
    };
    expect(await told(url, { authorization: "Basic canary\ncanary" })).toBe(
      `1 span was not sent to ${url}/: a header of OTEL_EXPORTER_OTLP_HEADERS is none that can be sent`,
    );
    for (const address of [
      "me:canary@collector.example/v1/traces",
      "collector.example:4317/canary",
      "htp//me:canary@x",
    ])
      expect(await told(address)).toMatch(
        /^1 span was not sent to OTEL_EXPORTER_OTLP_ENDPOINT, which is no URL of http: (?!.*canary)/,
      );
  });

  it("wait for a collector that never answers as long as for one batch, however many there are", async () => {
    let posted = 0;
    const silent = createServer(() => void posted++);
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const exporting = { url: `http://127.0.0.1:${port}`, headers: {}, timeoutMs: 200, resource: {} };
    const tracing = traceToCollector(exporting, undefined, (text) => text);
    for (let count = 0; count < 6000; count++) tracing.start("a", "internal").end();
    expect(await tracing.flush()).toMatch(/^6000 spans were not sent .*: it took too long$/);
    silent.closeAllConnections();
    silent.close();
    // The one under way, and where its limit was the first to end, one more.
    expect(posted).toBeLessThan(3);
  });

  it("cost a note and no run where the collector takes none", async () => {
    const folder = makeFolder();
    writeFileSync(
      join(folder, "reconcile.yaml"),
      "version: 1\nservice: { base_url: embedded }\nvolumes: { data: { size: 1 } }\n",
    );
    status = 503;
    const refused = await runCli(["plan"], {
      cwd: folder,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/base?key=hidden` },
    });
    expect(refused.exitCode).toBe(0);
    expect(refused.stderr).toMatch(/Traces: \d+ spans were not sent to http:\S+: it answered 503\./);
    expect(refused.stderr).not.toContain("hidden");
    const off = await runCli(["plan"], {
      cwd: folder,
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: "true" },
    });
    expect([off.exitCode, off.stderr, asked.length]).toEqual([0, expect.not.stringContaining("Traces"), 1]);
  });
});
