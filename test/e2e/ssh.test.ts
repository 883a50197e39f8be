import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli-process";
import { done, ownPlace, said } from "../support/own-place";

const place = ownPlace();
const { reconcile } = place;

/** An ssh that writes down how it was called and with which of our variables, and ends with 7. */
function fakeSsh(): { readonly path: string; called(): string[] } {
  const bin = join(place.folder, "bin");
  const log = join(place.folder, "called");
  mkdirSync(bin, { recursive: true });
  writeFileSync(
    join(bin, "ssh"),
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${log}'\nenv | grep '^RECONCILE_' >> '${log}'\nexit 7\n`,
    { mode: 0o755 },
  );
  chmodSync(join(bin, "ssh"), 0o755);
  return { path: bin, called: () => readFileSync(log, "utf8").trimEnd().split("\n") };
}

const world = (ssh: object) => ({
  ssh,
  vms: { bastion: { name: "bastion-1" }, db: { name: "db-1", skip_floating_ip: true } },
  outputs: { gate: "${vm.bastion.floating_ip}" },
});
const vmNamed = (name: string) => place.emulator.dump().vms.find((vm) => vm.name === name);

const sshWith = (path: string, ...args: string[]) => {
  const { cwd, env } = place.surroundings();
  return runCli(["ssh", ...args], { cwd, env: { ...env, PATH: `${path}${delimiter}${process.env["PATH"]}` } });
};

describe("reconcile ssh", () => {
  it("starts the machine's own ssh with the way to the VM, and ends as it ends", async () => {
    place.declare(world({ user: "ubuntu", jump: "vm.bastion", identity_file: "keys/k", port: 2222 }));
    await done(reconcile("apply", "-y"));
    const ssh = fakeSsh();
    const [gate, db] = [vmNamed("bastion-1"), vmNamed("db-1")];
    const key = join(place.folder, "keys/k");

    const there = await sshWith(ssh.path, "vm.db", "--", "uptime", "-print", "--json");
    expect([there.exitCode, there.stdout]).toEqual([7, ""]);
    expect(ssh.called()).toEqual([
      ...["-l", "ubuntu", "-p", "2222", "-i", key, "-o"],
      `ProxyCommand=ssh -l ubuntu -p 2222 -i ${key} -W '[%h]:%p' ${gate?.floating_ip}`,
      ...[db?.private_ip, "--", "uptime", "-print", "--json"],
    ]);
    // By the name of an output, with the command line before the file.
    await sshWith(ssh.path, "gate", "--user", "me");
    expect(ssh.called()).toEqual(["-l", "me", "-p", "2222", "-i", key, gate?.floating_ip]);
    // The service is the one that a flag or the environment names, before the one of the file.
    place.declare(world({}), { base_url: "embedded" });
    await sshWith(ssh.path, "gate");
    expect(ssh.called()).toEqual([gate?.floating_ip]);
    const nowhere = await sshWith(ssh.path, "gate", "--base-url", "embedded");
    expect([nowhere.exitCode, said(nowhere)]).toEqual([1, expect.stringContaining("lives in the embedded service")]);

    const near = await sshWith(ssh.path, "db");
    expect([near.exitCode, said(near)]).toEqual([1, expect.stringContaining("did you mean vm.db?")]);
    const noJump = await sshWith(ssh.path, "vm.db", "--jump", "vm.gate");
    expect([noJump.exitCode, said(noJump)]).toEqual([1, expect.stringContaining("no VM vm.gate to go through")]);
    const asHost = await sshWith(ssh.path, "vm.db", "--jump", "me@vm.bastion");
    expect([asHost.exitCode, said(asHost)]).toEqual([1, expect.stringContaining("names a VM of this project like a")]);
    const { cwd, env } = place.surroundings();
    const none = await runCli(["ssh", "vm.bastion"], { cwd, env: { ...env, PATH: join(place.folder, "empty") } });
    expect([none.exitCode, said(none)]).toEqual([1, expect.stringContaining("cli/no-ssh")]);
  });

  it("asks the service for an address that the state does not have", async () => {
    place.declare(world({}));
    await done(reconcile("apply", "-y"));
    const whole = place.read("reconcile.state.json");
    expect(whole).toContain('"floatingIp":');
    place.write(whole.replaceAll(/,"(?:floatingIp|privateIp)":"[^"]*"/g, ""), "reconcile.state.json");
    expect(place.read("reconcile.state.json")).not.toContain("floatingIp");
    const ssh = fakeSsh();
    const ran = await sshWith(ssh.path, "vm.bastion", "--new-state");
    expect([ran.exitCode, said(ran)]).toEqual([7, expect.any(String)]);
    expect(ssh.called()).toEqual([vmNamed("bastion-1")?.floating_ip]);
  });
});

describe("output --write", () => {
  it("writes a file whole, replaces its own block alone, and no file that has none", async () => {
    place.declare(world({ user: "ubuntu" }));
    await done(reconcile("apply", "-y"));
    const config = join(place.folder, "acme.conf");
    const write = (...more: string[]) => reconcile("output", "--format", "ssh-config", "--write", "acme.conf", ...more);
    expect((await done(write())).stdout).toBe("");
    const first = readFileSync(config, "utf8");
    expect(first).toMatch(
      /^# BEGIN reconcile acme \(.*\)\n# vm.bastion\nHost bastion-1\n[\s\S]*\n# END reconcile acme\n$/,
    );
    expect(statSync(config).mode & 0o777).toBe(0o600);
    const again = await done(write("--json"));
    expect(JSON.parse(again.stdout)).toMatchObject({ type: "summary", command: "output", exit_code: 0 });
    expect(readFileSync(config, "utf8")).toBe(first);

    writeFileSync(config, `Host other\r\n  Port 1\n\n${first}\n# mine  \nHost *\n\tUser me`, { mode: 0o644 });
    chmodSync(config, 0o644);
    await done(write("--jump", "vm.bastion"));
    const second = readFileSync(config, "utf8");
    expect(second).toContain("  ProxyJump bastion-1\n");
    expect(second.startsWith("Host other\r\n  Port 1\n\n# BEGIN reconcile acme (")).toBe(true);
    expect(second.endsWith("# END reconcile acme\n\n# mine  \nHost *\n\tUser me")).toBe(true);
    expect(statSync(config).mode & 0o777).toBe(0o644);

    // Marks that an editor of Windows wrote: the block has their line ends.
    writeFileSync(config, "Host other\r\n# BEGIN reconcile acme\r\n# END reconcile acme\r\n");
    await done(write());
    expect(readFileSync(config, "utf8")).toBe(`Host other\r\n${first.replaceAll("\n", "\r\n")}`);

    // A file of another encoding keeps its bytes.
    const old = Buffer.concat([Buffer.from("# caf\xe9\n", "latin1"), Buffer.from(first)]);
    writeFileSync(config, old);
    await done(write());
    expect(readFileSync(config)).toEqual(old);
    await done(write("--jump", "vm.bastion"));
    expect(readFileSync(config).subarray(0, 7)).toEqual(old.subarray(0, 7));

    expect((await done(reconcile("output", "--format", "hosts", "--json-into", "lines"))).stdout).toContain("db-1");
    expect(JSON.parse(readFileSync(join(place.folder, "lines"), "utf8"))).toMatchObject({ type: "summary" });

    const pipe = join(place.folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    const [piped] = await Promise.all([
      readFile(pipe, "utf8"),
      done(reconcile("output", "--format", "hosts", "--write", "pipe")),
    ]);
    expect(piped).toContain("db-1");
    const folder = await reconcile("output", "--format", "hosts", "--write", ".");
    expect([folder.exitCode, said(folder)]).toEqual([1, expect.stringContaining("cannot be written")]);

    writeFileSync(config, "Host mine\n");
    const refused = await write();
    expect([refused.exitCode, said(refused)]).toEqual([1, expect.stringContaining("# BEGIN reconcile acme")]);
    expect(readFileSync(config, "utf8")).toBe("Host mine\n");

    const inventory = ["output", "--format", "ansible", "--write", "inventory.json"];
    await done(reconcile(...inventory));
    await done(reconcile(...inventory));
    expect(JSON.parse(place.read("inventory.json"))._meta.hostvars["db-1"]).toMatchObject({ ansible_user: "ubuntu" });
    for (const other of ["[web]\n", '{ "name": "a-package" }\n', "[]\n"]) {
      place.write(other, "inventory.json");
      expect((await reconcile(...inventory)).exitCode).toBe(1);
      expect(place.read("inventory.json")).toBe(other);
    }
    const nowhere = await reconcile("output", "--jump", "vm.bastion");
    expect([nowhere.exitCode, said(nowhere)]).toEqual([1, expect.stringContaining("--jump has no meaning here")]);
  });
});
