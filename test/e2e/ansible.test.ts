/** examples/ansible with the real ansible-playbook against a real sshd on loopback, which stands for every VM. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { appendFileSync, chmodSync, cpSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { root, runCli } from "../support/cli-process";
import { eventually } from "../support/eventually";
import { makeFolder, writeFiles } from "../support/folder";
import { ownPlace } from "../support/own-place";
import { freePort } from "../support/postgres-server";

const onPath = (name: string): string => {
  const folders = `${process.env["PATH"]}${delimiter}/usr/sbin`;
  return execFileSync("sh", ["-c", `command -v ${name}`], { env: { PATH: folders }, encoding: "utf8" }).trim();
};
const missing = ["ansible-playbook", "ssh", "ssh-keygen", "sshd", "python3"].filter((name) => {
  try {
    return onPath(name) === "";
  } catch {
    return true;
  }
});
if (missing.length > 0) console.error(`\n*** examples/ansible: no ${missing.join(", ")} on PATH: not tried ***\n`);

describe.skipIf(missing.length > 0)("examples/ansible", () => {
  const place = ownPlace();
  let sshd: ChildProcess | undefined;
  afterEach(() => sshd?.kill());

  it("provisions exactly the VM that is new, and again until its playbook ended well", async () => {
    const { folder } = place;
    const keys = makeFolder();
    for (const name of ["host", "user"])
      execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(keys, name)], { stdio: "pipe" });
    const port = await freePort();
    const settings = [
      ...[`Port ${port}`, "ListenAddress 127.0.0.1", `HostKey ${join(keys, "host")}`, "PidFile none"],
      ...[`AuthorizedKeysFile ${join(keys, "user.pub")}`, "StrictModes no", "UsePAM no", "PermitRootLogin yes"],
      "Subsystem sftp internal-sftp",
    ];
    writeFiles(keys, { sshd_config: `${settings.join("\n")}\n` });
    if (process.getuid?.() === 0) mkdirSync("/run/sshd", { recursive: true });
    sshd = spawn(onPath("sshd"), ["-D", "-e", "-f", join(keys, "sshd_config")], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    let said = "";
    sshd.stderr?.on("data", (text) => (said += String(text)));
    await eventually("sshd that listens", () => said.includes("Server listening") || undefined);

    cpSync(join(root, "examples/ansible"), folder, { recursive: true });
    const user = execFileSync("id", ["-un"], { encoding: "utf8" }).trim();
    const file = place
      .read("reconcile.yaml")
      .replace(
        "  base_url: embedded",
        "  timing: { poll_interval: 5ms, discovery_window: 100ms, vm_create_timeout: 3s }",
      )
      .replace("ssh: { user: ubuntu }", `ssh: { user: ${user}, port: ${port}, identity_file: ${join(keys, "user")} }`);
    place.write(file);
    const made = join(folder, "site");
    const python = execFileSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });
    writeFiles(folder, {
      "playbook/group_vars/web.yaml": `site_folder: ${made}\nansible_python_interpreter: ${python}`,
      "bin/reconcile": `#!/bin/sh\nexec ${process.execPath} ${join(root, "bin/reconcile.js")} "$@"\n`,
    });
    chmodSync(join(folder, "bin/reconcile"), 0o755);
    mkdirSync(made);
    // No VM of the emulated service has an address that leads anywhere.
    appendFileSync(
      join(folder, "ansible.cfg"),
      `remote_tmp = ${keys}\nlocal_tmp = ${keys}\n[ssh_connection]
ssh_args = -o ControlMaster=no -o HostName=127.0.0.1 -o UserKnownHostsFile=/dev/null\n`,
    );
    const { cwd, env } = place.surroundings();
    const path = `${join(folder, "bin")}${delimiter}${process.env["PATH"]}`;
    const reconcile = (...args: string[]) => runCli(args, { cwd, env: { ...env, PATH: path } });
    const done = async (...args: string[]) => {
      const ran = await reconcile(...args);
      expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
      return ran;
    };
    const pages = () => readdirSync(made).sort();

    await done("apply", "-y");
    expect(pages()).toEqual(["web-a.html", "web-b.html"]);
    expect(readFileSync(join(made, "web-b.html"), "utf8")).toBe("web-b is vm.web[b]\n");

    place.write(file.replace("for_each: [a, b]", "for_each: [a, b, c]"));
    for (const name of pages()) writeFiles(made, { [name]: "touched\n" });
    writeFiles(folder, {
      "playbook/site.yaml": place
        .read("playbook/site.yaml")
        .replace("tasks:", "tasks:\n    - ansible.builtin.fail: { msg: not today }\n  handlers:"),
    });
    const failed = await reconcile("apply", "-y");
    expect(failed.exitCode).toBe(1);
    expect(failed.stdout).toContain("after_ready of vm.web[c] ended with 2 and is still owed");
    expect(failed.stdout).toContain("not today");
    cpSync(join(root, "examples/ansible/playbook/site.yaml"), join(folder, "playbook/site.yaml"));
    await done("apply", "-y");
    expect(pages()).toEqual(["web-a.html", "web-b.html", "web-c.html"]);
    expect(readFileSync(join(made, "web-a.html"), "utf8")).toBe("touched\n");
    await done("plan", "--detailed-exitcode");
  });
});
