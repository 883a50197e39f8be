/** The files that put a fleet on machines name commands, ports, volumes and secrets that exist, and their helpers work. */
import { execFileSync, spawn } from "node:child_process";
import { createVerify, generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { allCommands } from "../../reconciler/cli/command";
import { readFleetFiles } from "../../reconciler/cli/fleet/read-file";
import { commands } from "../../reconciler/cli/registry";
import { eventually } from "../support/eventually";
import { makeFolder } from "../support/folder";

const root = join(__dirname, "..", "..");
const examples = join(root, "examples", "fleet");
const text = (...path: string[]): string => readFileSync(join(examples, ...path), "utf8");

/** The command that these words call takes all of their flags. */
function callsACommand(words: readonly string[]): void {
  const found = allCommands(commands).find(({ name }) => `${words.join(" ")} `.startsWith(`${name} `));
  expect(found?.name, words.join(" ")).toBeDefined();
  for (const word of words)
    if (word.startsWith("--") && words[0] === "fleet")
      expect(found?.flags, `${found?.name} ${word}`).toContain(word.slice(2));
}

interface Named {
  readonly name: string;
}
interface Container extends Named {
  readonly args: readonly string[];
  readonly ports?: readonly Named[];
  readonly volumeMounts: readonly Named[];
  readonly readinessProbe?: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly livenessProbe?: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly securityContext: object;
}
interface Resource {
  readonly kind: string;
  readonly metadata: Named;
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } & Readonly<Record<string, unknown>>;
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly containers: readonly Container[];
        readonly volumes: readonly Named[];
        readonly securityContext: object;
      };
    };
    readonly ports?: readonly { readonly targetPort: string }[];
  };
}

describe("the files for Kubernetes", () => {
  const kustomization: { resources: string[]; configMapGenerator: { name: string; files: string[] }[] } = parse(
    text("kubernetes", "kustomization.yaml"),
  );
  const resources = kustomization.resources.flatMap((name) =>
    parseAllDocuments(text("kubernetes", name)).map((one): Resource => one.toJS()),
  );
  const pods = resources.flatMap(({ metadata, spec: { template } = {} }) =>
    template === undefined ? [] : [{ ...metadata, ...template }],
  );

  test("every file beside the kustomization is used", () => {
    const used = [...kustomization.resources, ...kustomization.configMapGenerator.flatMap(({ files }) => files)];
    expect([...used, "kustomization.yaml"].sort()).toEqual(readdirSync(join(examples, "kubernetes")).sort());
    // The fleet's file that the sync writes is one.
    expect(readFleetFiles([join(examples, "kubernetes", "fleet.yaml")]).follow?.path).toBe("fleet.yaml");
  });

  test("containers call commands that exist, on ports and volumes that exist, as nobody in particular", () => {
    expect(pods.map(({ name }) => name)).toEqual([
      "reconcile-fleet-worker",
      "reconcile-fleet-pages",
      "reconcile-fleet-sync",
    ]);
    for (const { name, spec } of pods)
      for (const one of spec.containers) {
        callsACommand(one.args);
        const ports = one.ports?.map((port) => port.name) ?? [];
        for (const probe of [one.readinessProbe, one.livenessProbe])
          if (probe !== undefined) expect(ports).toContain(probe.httpGet.port);
        // A database that is away must not end a worker.
        if (name !== "reconcile-fleet-sync")
          expect([one.readinessProbe?.httpGet.path, one.livenessProbe?.httpGet.path]).toEqual(["/healthz", "/livez"]);
        expect(spec.volumes.map((volume) => volume.name)).toEqual(
          expect.arrayContaining(one.volumeMounts.map((mount) => mount.name)),
        );
        expect(one.securityContext).toMatchObject({ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true });
        expect(spec.securityContext).toMatchObject({ runAsNonRoot: true });
      }
  });

  test("what selects pods selects some, and services lead to ports that exist", () => {
    for (const { kind, metadata, spec } of resources) {
      if (!["Deployment", "PodDisruptionBudget"].includes(kind)) continue;
      const wanted = Object.entries(spec?.selector?.matchLabels ?? {});
      const chosen = pods.filter(({ metadata: { labels } }) => wanted.every(([key, value]) => labels[key] === value));
      expect(chosen.length, metadata.name).toBe(1);
    }
    const ports = pods.flatMap(({ spec }) =>
      spec.containers.flatMap((one) => one.ports?.map((port) => port.name) ?? []),
    );
    for (const { kind, spec } of resources)
      if (kind === "Service") for (const { targetPort } of spec?.ports ?? []) expect(ports).toContain(targetPort);
  });
});

describe("the files for compose", () => {
  interface Service {
    readonly command?: readonly string[];
    readonly entrypoint?: readonly string[];
    readonly volumes?: readonly string[];
    readonly depends_on?: Readonly<Record<string, object>>;
    readonly deploy?: { readonly replicas: number };
  }
  const file: { services: Record<string, Service>; volumes: object } = parse(text("compose", "compose.yaml"), {
    merge: true,
  });

  test("PostgreSQL, two workers, the pages and a Git server, with commands that exist", () => {
    expect(Object.keys(file.services).sort()).toEqual(["cloud", "git", "pages", "postgres", "setup", "worker"]);
    expect(file.services["worker"]?.deploy?.replicas).toBe(2);
    for (const [name, { command = [], entrypoint, depends_on: after = {}, volumes = [] }] of Object.entries(
      file.services,
    )) {
      if (entrypoint === undefined && name !== "postgres") callsACommand(command);
      for (const [, called = ""] of command.join(" ").matchAll(/reconcile (fleet [^;&|]+)/g))
        callsACommand(called.trim().split(" "));
      expect(Object.keys(file.services)).toEqual(expect.arrayContaining(Object.keys(after)));
      for (const volume of volumes) {
        const [from = ""] = volume.split(":");
        if (from.startsWith("."))
          expect(
            readFileSync(join(examples, "compose", from, from.endsWith("stacks") ? "fleet.yaml" : "")),
          ).toBeDefined();
        else expect(Object.keys(file.volumes)).toContain(from);
      }
    }
  });

  test("its fleet is one, and follows itself", () => {
    const { follow, stacks } = readFleetFiles([join(examples, "compose", "stacks", "fleet.yaml")]);
    expect(follow?.url).toBe("http://127.0.0.1:8481/fleet.git");
    expect(stacks.map(({ name }) => name)).toEqual(["network", "shop"]);
  });

  test("its Git server has the stacks, and takes a push", async () => {
    const folder = makeFolder({});
    const port = await freePort();
    const server = spawn(
      process.execPath,
      [join(examples, "git", "server.mjs"), join(folder, "served"), String(port), join(examples, "compose", "stacks")],
      { stdio: "ignore" },
    );
    try {
      const url = `http://127.0.0.1:${port}/fleet.git`;
      await eventually("that it serves", () =>
        fetch(`http://127.0.0.1:${port}/livez`).then(
          ({ ok }) => ok || undefined,
          () => undefined,
        ),
      );
      const git = (cwd: string, ...args: string[]): string =>
        execFileSync("git", ["-c", "user.name=me", "-c", "user.email=me@example.com", ...args], {
          cwd,
          encoding: "utf8",
          stdio: ["ignore", "pipe", "ignore"],
        });
      git(folder, "clone", "--quiet", url, "mine");
      const mine = join(folder, "mine");
      expect(readdirSync(mine).sort()).toEqual([".git", "fleet.yaml", "network", "shop"]);
      writeFileSync(join(mine, "new"), "x");
      git(mine, "add", "new");
      git(mine, "commit", "--quiet", "--message", "a change");
      git(mine, "push", "--quiet", "origin", "main");
      expect(git(folder, "ls-remote", url, "main").slice(0, 40)).toBe(git(mine, "rev-parse", "HEAD").trim());
    } finally {
      server.kill();
    }
  });
});

test("the image has a first process, a user and a check", () => {
  const image = readFileSync(join(root, "images/Containerfile"), "utf8");
  expect(image).toMatch(/^ENTRYPOINT \["tini", "--", "reconcile"\]$/m);
  expect(image).toMatch(/^USER 1000:1000$/m);
  const [, check = "[]"] = /^HEALTHCHECK [^[]*CMD (\[.*\])$/m.exec(image.replaceAll("\\\n", "")) ?? [];
  const [program, flag, script]: string[] = JSON.parse(check);
  expect([program, flag]).toEqual(["node", "-e"]);
  expect(script).toContain("/livez");
});

describe("the credential of a GitHub App", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const [head = "", body = "", signature = ""] = (request.headers.authorization ?? "")
      .replace("Bearer ", "")
      .split(".");
    const isSigned = createVerify("RSA-SHA256").update(`${head}.${body}`).verify(publicKey, signature, "base64url");
    const { iss } = JSON.parse(Buffer.from(body, "base64url").toString());
    asked.push(`${request.method} ${request.url} ${iss} ${isSigned}`);
    response
      .writeHead(isSigned ? 201 : 401)
      .end(JSON.stringify({ token: "ghs_made", expires_at: new Date(Date.now() + 3_600_000) }));
  });
  afterAll(() => void server.close());

  test("is made once an hour, and given to git", async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const folder = makeFolder({ "app.pem": privateKey.export({ type: "pkcs8", format: "pem" }).toString() });
    const call = (word: string, more: Record<string, string> = {}) =>
      new Promise<string>((resolve, reject) => {
        const child = spawn(process.execPath, [join(examples, "git", "github-app.mjs"), word], {
          env: {
            PATH: process.env["PATH"],
            XDG_CACHE_HOME: join(folder, "cache"),
            GITHUB_API_URL: `http://127.0.0.1:${port}`,
            GITHUB_APP_ID: "12",
            GITHUB_APP_INSTALLATION: "34",
            GITHUB_APP_KEY_FILE: join(folder, "app.pem"),
            ...more,
          },
        });
        let said = "";
        child.stdout.on("data", (chunk: Buffer) => {
          said += chunk;
        });
        child.on("close", (code) => (code === 0 ? resolve(said) : reject(new Error(`it ended with ${code}`))));
      });
    expect(await call("get")).toBe("username=x-access-token\npassword=ghs_made\n");
    expect(await call("token")).toBe("ghs_made\n");
    expect(await call("store")).toBe("");
    expect(asked).toEqual(["POST /app/installations/34/access_tokens 12 true"]);
    await expect(call("get", { GITHUB_APP_ID: "" })).rejects.toThrow("it ended with 1");
  });
});

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};
