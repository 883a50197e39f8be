/** The programs that a file and a dialect name: where they run, what they are told, and that none is waited for for ever. */
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkHealth, runCommand } from "../../reconciler/outside/commands";
import { runCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { writeFiles } from "../support/folder";
import { ownPlace } from "../support/own-place";

const place = ownPlace();

const secrets = {
  RECONCILE_STATE_KEY: Buffer.alloc(32, 7).toString("base64"),
  RECONCILE_STATE_PASSWORD: "canary-state-password",
};
const head = "version: 1\nproject: acme\nregion: in-west-1\n";
const vm =
  "owner: ops@acme.example, user_id: '1042', image_id: ubuntu-24.04, flavor_id: FLAVOR, size: 10, lifecycle: { verify_resize: { check: CHECK, timeout: 60s } }";
const resized = (flavor: string, check: object): string =>
  `${head}service: { timing: { poll_interval: 5ms, discovery_window: 50ms } }\nvms: { web: { ${vm.replace("FLAVOR", flavor).replace("CHECK", JSON.stringify(check))} } }\n`;

describe("authorization.command", () => {
  const helper = `#!/bin/sh
env > "$PWD/environment"
echo ops-token
`;

  it.each([
    ["named by the file", "{ dialect: ./parts/my.dialect.yaml }", []],
    ["named by --dialect", "{}", ["--dialect", "parts/my.dialect.yaml"]],
  ])("of a dialect %s runs beside that dialect, without the state's key and password", async (_, service, args) => {
    writeFiles(place.folder, {
      "reconcile.yaml": `${head}service: ${service}\nvolumes: { data: { size: 5 } }\n`,
      "parts/my.dialect.yaml": "authorization: { command: [sh, ./helper.sh] }\n",
      "parts/helper.sh": helper,
    });
    const env = { ...secrets, RECONCILE_BASE_URL: place.emulator.url };
    const ran = await runCli(["apply", "-y", ...args], { cwd: place.folder, env });
    expect(ran.exitCode, ran.stderr).toBe(0);
    const told = readFileSync(join(place.folder, "parts/environment"), "utf8");
    expect(told).toContain("PATH=");
    expect(told).not.toContain(secrets.RECONCILE_STATE_PASSWORD);
    expect(told).not.toContain(secrets.RECONCILE_STATE_KEY);
  });

  it("written in the file itself runs beside the file", async () => {
    writeFiles(place.folder, {
      "infra/reconcile.yaml": `${head}service: { dialect: { authorization: { command: [sh, ./helper.sh] } } }\nvolumes: { data: { size: 5 } }\n`,
      "infra/helper.sh": helper,
    });
    const ran = await runCli(["apply", "infra", "-y"], {
      cwd: place.folder,
      env: { RECONCILE_BASE_URL: place.emulator.url },
    });
    expect(ran.exitCode, ran.stderr).toBe(0);
  });
});

describe("a flush command", () => {
  const file = (attached: string) =>
    `version: 1\nvolumes: { data: { size: 5, ${attached}flush: { via: command, command: [sh, ./flush.sh] } } }\n`;

  it("runs in the folder of the file that named it, also when that names it no more", async () => {
    const env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: place.emulator.url };
    const run = (...args: string[]) => runCli([...args], { cwd: place.folder, env });
    const told = join(place.folder, "told");
    const says = (what: string) => `echo ${what} >> '${told}'\n`;
    writeFiles(place.folder, {
      "reconcile.yaml": resized("m1.small", { command: ["true"] }),
      "parts/data.yaml": file("attach_to: web, "),
      "parts/flush.sh": says("parts"),
      "flush.sh": says("another"),
    });
    const both = ["-f", "reconcile.yaml", "-f", "parts/data.yaml"];
    expect((await run("apply", "-y", ...both)).exitCode).toBe(0);
    // As the state of an older version has it, which the next run brings up to date.
    const state = join(place.folder, "reconcile.state.json");
    writeFileSync(state, readFileSync(state, "utf8").replace(/"folder":"parts",/, ""));
    expect((await run("apply", "-y", ...both)).exitCode).toBe(0);
    expect((await run("plan", "--allow-data-loss", "--out", "saved")).exitCode).toBe(0);
    const ran = await run("apply", "saved", "--allow-data-loss", "-y");
    expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
    expect(readFileSync(told, "utf8")).toBe("parts\n");
    expect(place.emulator.dump().volumes.filter(({ name }) => name === "data")).toEqual([]);
  });
});

describe("an address that the service shows", () => {
  const applied = async (check: object) => {
    const env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: place.emulator.url };
    const run = (...args: string[]) => runCli(args, { cwd: place.folder, env });
    writeFileSync(join(place.folder, "reconcile.yaml"), resized("m1.small", check));
    expect((await run("apply", "-y")).exitCode).toBe(0);
    const seen = place.emulator.dump();
    const option = `-oProxyCommand=touch ${join(place.folder, "owned")}`;
    await place.emulator.load({
      ...seen,
      vms: seen.vms.map((one) => ({ ...one, floating_ip: option, private_ip: null })),
    });
    writeFileSync(join(place.folder, "reconcile.yaml"), resized("m1.large", check));
    return { plan: await run("plan", "--json"), ran: await run("apply", "-y") };
  };

  it("and that is an option of ssh reaches no command: the check fails and says why, and the plan notes it", async () => {
    const { plan, ran } = await applied({
      command: ["sh", "-c", 'printf "%s\\n" "$@" "$RECONCILE_VM_IP" >> told', "sh", "{ip}"],
    });
    expect(ran.exitCode).toBe(1);
    expect(() => readFileSync(join(place.folder, "told"), "utf8")).toThrow();
    expect(ran.stdout).toContain("the check needs the address of VM web, and the service's record shows no IP address");
    expect(plan.stdout + plan.stderr).toContain("the floating_ip of VM web is no IP address and counts as not shown");
    expect(ran.stdout).toContain("records.vm.floating_ip");
  });

  it("is in no environment either, and a check that needs none runs", async () => {
    const { ran } = await applied({ command: ["sh", "-c", 'echo "ip:$RECONCILE_VM_IP" > told'] });
    expect([ran.exitCode, readFileSync(join(place.folder, "told"), "utf8")]).toEqual([0, "ip:\n"]);
  });
});

describe("a program that does not end", () => {
  it("is stopped after its time, with what it said, even when what it started holds on", async () => {
    const script = "echo syncing; sleep 3600 & echo $! > held; wait";
    const result = await runCommand(["sh", "-c", script], place.folder, { limitMs: 500 });
    expect(result).toEqual({ exitCode: 124, output: "it did not end within 0.5 s and was stopped; it said: syncing" });
    const held = Number(readFileSync(join(place.folder, "held"), "utf8"));
    await eventually("the end of what it started", () => {
      try {
        return process.kill(held, 0) ? undefined : undefined;
      } catch {
        return true;
      }
    });
  });

  it("and does not listen is killed", async () => {
    const script = "trap '' TERM; echo $$ > deaf; while :; do sleep 0.1; done";
    await runCommand(["sh", "-c", script], place.folder, { limitMs: 500 });
    const pid = Number(readFileSync(join(place.folder, "deaf"), "utf8"));
    await eventually("its end", () => {
      try {
        return process.kill(pid, 0) ? undefined : undefined;
      } catch {
        return true;
      }
    });
  });

  it("as a health check, does not outlast the check's time", async () => {
    const live = { kind: "vm", id: "v", name: "web", phase: "running" } as const;
    const passed = await checkHealth({ kind: "command", argv: ["sleep", "3600"] }, live, place.folder, {
      limitMs: 200,
    });
    expect(passed).toBe(false);
  });

  it("nor is one started that a name of the service makes impossible to start", async () => {
    const live = { kind: "vm", id: "v", name: "a\u0000b", phase: "running" } as const;
    expect(await checkHealth({ kind: "command", argv: ["true"] }, live, place.folder)).toBe(false);
  });
});

describe("an http health check", () => {
  it("follows a redirect on the host that the file names, and to no other", async () => {
    const heard: string[] = [];
    const server = createServer(({ url = "", headers }, answer) => {
      heard.push(`${headers.host?.split(":")[0]}${url}`);
      const leadsTo = /^\/to\/(.*)$/.exec(url)?.[1];
      if (leadsTo === undefined) answer.end("well");
      else answer.writeHead(302, { location: decodeURIComponent(leadsTo) }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
    const { port } = server.address() as AddressInfo;
    const live = { kind: "vm", id: "v", name: "web", phase: "running", privateIp: "127.0.0.1" } as const;
    const asks = (path: string): Promise<boolean> =>
      checkHealth({ kind: "http", url: `http://{ip}:${port}${path}` }, live, place.folder);
    const to = (address: string): string => `/to/${encodeURIComponent(address)}`;
    expect(await asks("/well")).toBe(true);
    expect(await asks(to("/well"))).toBe(true);
    expect(await asks(to(to(`http://127.0.0.1:${port}/well`)))).toBe(true);
    heard.length = 0;
    for (const elsewhere of [
      `http://127.0.0.2:${port}/well`,
      `//127.0.0.2:${port}/well`,
      `http://localhost:${port}/well`,
    ])
      for (const path of [to(elsewhere), to(to(elsewhere))]) expect(await asks(path), path).toBe(false);
    expect(await asks(to("file:///etc/hostname"))).toBe(false);
    expect(heard.filter((one) => !one.startsWith("127.0.0.1/"))).toEqual([]);
    // One that leads to itself ends.
    server.removeAllListeners("request").on("request", (_, answer) => answer.writeHead(302, { location: "/x" }).end());
    expect(await asks("/x")).toBe(false);
    await new Promise((resolve) => server.close(resolve));
  });
});
