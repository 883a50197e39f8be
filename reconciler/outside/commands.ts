/** Programs and sockets that a plan may call on: flush commands and health checks. No shell, no environment secrets. */
import { spawn } from "node:child_process";
import { connect } from "node:net";
import type { HealthCheck } from "../core/model/desired";
import type { LiveVm } from "../core/model/live";
import { printable } from "../core/text/printable";
import type { CommandResult } from "../engine/ports";

const tryMs = 5000;
const keptOutput = 2000;

const secretVariables = [
  "RECONCILE_TOKEN",
  "RECONCILE_AUTHORIZATION",
  "RECONCILE_STATE_PASSWORD",
  "RECONCILE_STATE_KEY",
  "RECONCILE_STATE_KEY_PREVIOUS",
];

/** The credentials are ours, not the command's. */
function environmentWithoutCredential(extra: Record<string, string>): NodeJS.ProcessEnv {
  const environment = { ...process.env, ...extra };
  for (const name of secretVariables) delete environment[name];
  return environment;
}

export function runCommand(
  argv: readonly string[],
  folder: string,
  signal?: AbortSignal,
  extra: Record<string, string> = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = spawn(argv[0]!, argv.slice(1), {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: environmentWithoutCredential(extra),
      ...(signal === undefined ? {} : { signal }),
    });
    let output = "";
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString("utf8")).slice(-keptOutput);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) => resolve({ exitCode: 127, output: printable(error.message) }));
    child.on("close", (code) => resolve({ exitCode: code ?? 128, output: printable(output.trim()) }));
  });
}

export async function checkHealth(
  check: HealthCheck,
  vm: LiveVm,
  folder: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const address = vm.floatingIp ?? vm.privateIp;
  switch (check.kind) {
    case "tcp":
      return address !== undefined && answersTcp(address, check.port);
    case "http":
      return answersHttp(address === undefined ? check.url : check.url.replaceAll("{ip}", address), signal);
    case "command": {
      const argv = check.argv.map((word) => (address === undefined ? word : word.replaceAll("{ip}", address)));
      const result = await runCommand(argv, folder, signal, {
        RECONCILE_VM_ID: vm.id,
        RECONCILE_VM_NAME: vm.name,
        ...(address === undefined ? {} : { RECONCILE_VM_IP: address }),
      });
      return result.exitCode === 0;
    }
    default:
      return check satisfies never;
  }
}

function answersTcp(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: tryMs });
    const end = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });
}

async function answersHttp(url: string, signal?: AbortSignal): Promise<boolean> {
  try {
    const answer = await fetch(url, {
      redirect: "follow",
      signal: AbortSignal.any([AbortSignal.timeout(tryMs), ...(signal === undefined ? [] : [signal])]),
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
