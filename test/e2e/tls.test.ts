/** The service and the state behind TLS: a certificate of one's own authority is taken when Node is told of it, and no other. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request as send } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { jsonLines, type Ran, runCli } from "../support/cli-process";
import { makeFolder } from "../support/folder";
import { type StateServer, startStateServer } from "../support/state-server";

const hasOpenssl = spawnSync("openssl", ["version"]).status === 0;
if (!hasOpenssl) process.stderr.write("\n*** TLS NOT tested: there is no openssl on PATH ***\n\n");

const token = "ops-token";
const password = "canary-state-pw";

describe.skipIf(!hasOpenssl)("over https", () => {
  let folder: string;
  let emulator: RunningEmulator;
  let states: StateServer;
  const servers: Server[] = [];
  let service: string;
  let state: string;

  beforeAll(async () => {
    folder = makeFolder();
    makeCertificates(folder);
    emulator = await startEmulator({ timeScale: 0 });
    states = await startStateServer({ kind: "gitlab", username: "ci", password });
    service = await behindTls(emulator.url, "trusted");
    state = await behindTls(states.url, "trusted");
    writeFileSync(
      join(folder, "reconcile.yaml"),
      `version: 1
project: acme
region: in-west-1
vms: { web: { owner: ops@acme.example, user_id: "1042", image_id: ubuntu-24.04, flavor_id: m1.small, size: 10 } }
`,
    );
  });
  afterAll(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
    await states.stop();
    await emulator.close();
  });

  async function behindTls(target: string, certificate: string): Promise<string> {
    const { hostname, port, pathname } = new URL(target);
    const at = (name: string) => readFileSync(join(folder, name));
    const server = createServer({ key: at("server.key"), cert: at(`${certificate}.pem`) }, (incoming, outgoing) => {
      const { method, url: path, headers } = incoming;
      const forwarded = send({ hostname, port, method, path, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(outgoing);
      });
      forwarded.on("error", () => outgoing.destroy());
      incoming.pipe(forwarded);
    });
    servers.push(server);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}${pathname === "/" ? "" : pathname}`;
  }

  const reconcile = (args: readonly string[], baseUrl: string, env: Record<string, string> = {}): Promise<Ran> =>
    runCli(args, {
      cwd: folder,
      env: {
        RECONCILE_TOKEN: token,
        RECONCILE_BASE_URL: baseUrl,
        RECONCILE_STATE_USERNAME: "ci",
        RECONCILE_STATE_PASSWORD: password,
        ...env,
      },
    });
  const known = () => ({ NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") });
  const isPlain = ({ exitCode, stdout, stderr }: Ran): void => {
    expect(exitCode, stderr).toBe(1);
    expect(stderr).not.toMatch(/^\s+at /m);
    for (const secret of [token, password, Buffer.from(`ci:${password}`).toString("base64")])
      expect(stdout + stderr).not.toContain(secret);
  };

  it("the service and the state are taken with NODE_EXTRA_CA_CERTS, from plan to nothing left to do", async () => {
    const args = ["--state", `${state}/good`];
    const applied = await reconcile(["apply", "-y", ...args], service, known());
    expect(applied.exitCode, applied.stderr).toBe(0);
    const again = await reconcile(["plan", "--detailed-exitcode", ...args], service, known());
    expect([again.exitCode, again.stderr]).toEqual([0, ""]);
    expect(emulator.dump().vms.map(({ name }) => name)).toEqual(["web"]);
    expect(states.documentOf("good")).toContain("vm.web");
  });

  it.each([
    [
      "an unknown authority's",
      "trusted",
      false,
      /signed by an authority that is not known here; NODE_EXTRA_CA_CERTS/,
      /set NODE_EXTRA_CA_CERTS to a PEM file/,
    ],
    [
      "one signed by itself",
      "lonely",
      true,
      /signed by itself alone; NODE_EXTRA_CA_CERTS/,
      /set NODE_EXTRA_CA_CERTS to a PEM file/,
    ],
    ["another host's", "elsewhere", true, /is for another host/, /an address whose host the certificate names/],
    ["an expired one", "expired", true, /has expired/, /have it renewed/],
  ])(
    "a certificate of the service is refused at once, with what would make it believed: %s",
    async (_, certificate, knowsAuthority, words, fix) => {
      const before = emulator.requests().log.length;
      const url = await behindTls(emulator.url, certificate);
      const args = ["plan", "--json", "--log-level", "debug", "--state", "new.json"];
      const ran = await reconcile(args, url, knowsAuthority ? known() : {});
      isPlain(ran);
      const { diagnostics } = jsonLines(ran.stdout).at(-1) as { diagnostics: { severity: string; fix: string }[] };
      const [error] = diagnostics.filter(({ severity }) => severity === "error");
      expect([ran.stdout, error?.fix]).toEqual([expect.stringMatching(words), expect.stringMatching(fix)]);
      expect(ran.stderr).not.toContain("attempt 2");
      expect(emulator.requests().log.length).toBe(before);
    },
  );

  it("a certificate of the state is refused before anything is asked of the service", async () => {
    const before = emulator.requests().log.length;
    const ran = await reconcile(["apply", "-y", "--state", `${state}/other`], service);
    isPlain(ran);
    expect(ran.stderr).toMatch(
      /the state \S+ is not believed: .*authority that is not known here.*NODE_EXTRA_CA_CERTS/,
    );
    expect(emulator.requests().log.length).toBe(before);
    expect(states.documentOf("other")).toBeUndefined();
  });
});

/** An authority with three certificates of one key: for this host, for another, and one that is over; and one by itself. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]): void => {
    execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl("req", "-x509", ...key, "-keyout", "authority.key", "-out", "authority.pem", "-subj", "/CN=test authority");
  openssl("req", ...key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=server");
  const sign = (name: string, host: string, ...more: string[]): void => {
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=${host}\n`);
    openssl(
      ...["x509", "-req", "-in", "server.csr", "-CA", "authority.pem", "-CAkey", "authority.key", "-CAcreateserial"],
      ...["-extfile", `${name}.ext`, "-out", `${name}.pem`, ...more],
    );
  };
  sign("trusted", "IP:127.0.0.1", "-days", "2");
  sign("elsewhere", "DNS:elsewhere.example", "-days", "2");
  sign("expired", "IP:127.0.0.1", "-days", "-1");
  writeFileSync(join(folder, "lonely.cnf"), "subjectAltName=IP:127.0.0.1\n");
  openssl(
    "x509",
    "-req",
    "-in",
    "server.csr",
    "-signkey",
    "server.key",
    "-extfile",
    "lonely.cnf",
    "-out",
    "lonely.pem",
  );
}
