/**
 * Programs and sockets that a plan may use: flush commands, health checks and the helper that prints the credential.
 * They run without a shell, without this program's secrets in their environment, and each has a time limit.
 */

import { type ExecFileException, execFile, spawn } from "node:child_process";
import { connect } from "node:net";
import type { HealthCheck } from "../core/model/desired";
import type { LiveVm } from "../core/model/live";
import { asError } from "../core/text/errors";
import { itemAt } from "../core/text/invariant";
import { waits } from "../core/text/outside-policy";
import { printable } from "../core/text/printable";
import type { CommandResult } from "../engine/ports";
import type { RunHelper } from "../service/credential";
import { withheldVariables } from "./environment";
import { tracing } from "./tracing";

const tryMs = 5000;
const keptOutput = 2000;
/** Flushing a large disk takes minutes; a connection that hangs would take for ever. */
const longestCommandMs = 15 * 60_000;
/** The time between asking a program to end and killing it. */
const graceMs = 2000;

/** Programs get no credentials; the address of the state is left out too, because it may hold one. */
function environmentWithoutSecrets(extra: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const traceparent = tracing()?.traceparent();
  const environment: NodeJS.ProcessEnv = {
    ...process.env,
    ...(traceparent === undefined ? {} : { TRACEPARENT: traceparent }),
    ...extra,
  };
  for (const name of withheldVariables()) delete environment[name];
  if (/^[a-z0-9+.-]+:\/\/[^/?#]*@/i.test(environment["RECONCILE_STATE"] ?? "")) delete environment["RECONCILE_STATE"];
  return environment;
}

export interface CommandOptions {
  readonly signal?: AbortSignal | undefined;
  /** Variables that are added to the program's environment. */
  readonly extra?: Readonly<Record<string, string>>;
  readonly limitMs?: number;
}

export function runCommand(
  argv: readonly string[],
  folder: string,
  { signal, extra, limitMs = longestCommandMs }: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = start(argv, folder, { signal, extra });
    if (child instanceof Error) return resolve({ exitCode: 127, output: printable(child.message) });
    let output = "";
    const end = (exitCode: number, said: string): void => {
      clearTimeout(timer);
      resolve({ exitCode, output: printable(said) });
    };
    const timer = setTimeout(() => {
      const said = output.trim();
      end(
        124,
        `it did not end within ${describeMs(limitMs)} and was stopped${said === "" ? "" : `; it said: ${said}`}`,
      );
      child.kill("SIGTERM");
      setTimeout(() => child.kill("SIGKILL"), graceMs).unref();
      // A process that the program started may hold the output open; nobody waits for it.
      child.stdout.destroy();
      child.stderr.destroy();
      child.unref();
    }, limitMs);
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString("utf8")).slice(-keptOutput);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", (error) => end(127, error.message));
    child.on("close", (code) => end(code ?? 128, output.trim()));
  });
}

export interface CommandAnswer {
  readonly exitCode: number;
  readonly stdout: string;
  /** What the program printed besides, for a message. */
  readonly said: string;
}

const longestAnswer = 16 * 1024 * 1024;

/** Runs a program that reads its whole input and prints an answer. */
export function askProgram(
  argv: readonly string[],
  folder: string,
  input: string,
  limitMs: number,
): Promise<CommandAnswer> {
  return new Promise((resolve) => {
    const child = execFile(
      argv[0] ?? "",
      argv.slice(1),
      {
        cwd: folder,
        env: environmentWithoutSecrets(),
        encoding: "utf8",
        timeout: limitMs,
        maxBuffer: longestAnswer,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 127;
        const why =
          error === null
            ? ""
            : error.killed === true
              ? `it did not end within ${describeMs(limitMs)}`
              : code === 127
                ? error.message
                : "";
        resolve({
          exitCode: code,
          stdout,
          said: printable([why, stderr.trim().slice(-keptOutput)].filter((part) => part !== "").join("; ")),
        });
      },
    );
    // A program may end without reading its input.
    child.stdin?.on("error", () => undefined).end(input);
  });
}

/** Starting a program throws for a word with a null byte in it, which a service may have put into a name. */
function start(argv: readonly string[], folder: string, { signal, extra }: CommandOptions) {
  try {
    return spawn(itemAt(argv, 0), argv.slice(1), {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: environmentWithoutSecrets(extra),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (error) {
    return asError(error);
  }
}

/** Runs the helper in the folder of the file that names it. */
export const runHelperIn =
  (folder: string): RunHelper =>
  ([program, ...argv]) =>
    new Promise((resolve) => {
      execFile(
        program ?? "",
        argv,
        {
          cwd: folder,
          env: environmentWithoutSecrets(),
          encoding: "utf8",
          timeout: waits.helper,
          maxBuffer: 1 << 20,
          windowsHide: true,
        },
        (error, stdout) => {
          if (error === null) resolve({ output: stdout });
          else resolve({ problem: describeFailure(error) });
        },
      ).stdin?.end();
    });

function describeFailure(error: ExecFileException): string {
  if (error.killed === true) return `it did not end within ${describeMs(waits.helper)}`;
  if (typeof error.signal === "string") return `it was ended by ${error.signal}`;
  if (typeof error.code === "number") return `it ended with exit code ${error.code}`;
  return error.code === "ENOENT" ? "it was not found" : `it could not be run (${error.code ?? "no reason given"})`;
}

const describeMs = (ms: number): string => (ms < 60_000 ? `${ms / 1000} s` : `${ms / 60_000} min`);

/** The address at which the VM answers. The reader of the record lets nothing through that is no IP address. */
const addressOf = (vm: LiveVm): string | undefined => vm.floatingIp ?? vm.privateIp;

export async function checkHealth(
  check: HealthCheck<string>,
  vm: LiveVm,
  folder: string,
  { signal, limitMs }: Pick<CommandOptions, "signal" | "limitMs"> = {},
): Promise<boolean> {
  const address = addressOf(vm);
  switch (check.kind) {
    case "tcp":
      return address !== undefined && answersTcp(address, check.port);
    case "http": {
      if (address === undefined) return !check.url.includes("{ip}") && answersHttp(check.url, signal);
      const host = address.includes(":") ? `[${address}]` : address;
      return answersHttp(check.url.replaceAll("[{ip}]", host).replaceAll("{ip}", host), signal);
    }
    case "command": {
      if (address === undefined && check.argv.some((word) => word.includes("{ip}"))) return false;
      const argv = check.argv.map((word) => (address === undefined ? word : word.replaceAll("{ip}", address)));
      const extra = {
        RECONCILE_VM_ID: vm.id,
        RECONCILE_VM_NAME: vm.name,
        ...(address === undefined ? {} : { RECONCILE_VM_IP: address }),
      };
      const result = await runCommand(argv, folder, { signal, extra, ...(limitMs === undefined ? {} : { limitMs }) });
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
