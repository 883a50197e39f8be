/**
 * Programs and sockets that a plan may use: flush commands, health checks, the policy, and the helper that prints the
 * credential. How a program is started, limited and listened to is programs.ts; here is what each of them means.
 */

import { connect } from "node:net";
import type { PolicyAnswer } from "../core/findings/policy-answer";
import type { HealthCheck } from "../core/model/desired";
import type { LiveVm } from "../core/model/live";
import { onlyDefined } from "../core/text/objects";
import { waits } from "../core/text/outside-policy";
import { printable } from "../core/text/printable";
import type { CommandResult } from "../engine/ports";
import type { RunHelper } from "../service/credential";
import { maskingFor, type Program, type ProgramEnd, runProgram } from "./programs";

const tryMs = 5000;
/** Flushing a large disk takes minutes; a connection that hangs would take for ever. */
const longestCommandMs = 15 * 60_000;

export interface CommandOptions extends Pick<Program, "env" | "signal"> {
  /** What the program is told for its purpose. */
  readonly extra?: Readonly<Record<string, string>>;
  readonly limitMs?: number;
}

/** Runs a program of which it matters how it ends. */
export async function runCommand(
  argv: readonly string[],
  folder: string,
  { extra, limitMs = longestCommandMs, ...options }: CommandOptions = {},
): Promise<CommandResult> {
  const end = await runProgram({ argv, folder, limitMs, ...options, ...onlyDefined({ values: extra }) });
  const output = endOfProgram(end, limitMs).split(/\r?\n/).map(printable).join("\n");
  return { exitCode: exitCodeOfProgram(end), output };
}

/** As a shell says it: 124 out of time, 127 not started, 128 ended by a signal. */
const exitCodeOfProgram = (end: ProgramEnd): number =>
  end.kind === "ended"
    ? end.exitCode
    : end.kind === "out_of_time"
      ? 124
      : end.kind === "not_started" || end.kind === "interrupted"
        ? 127
        : 128;

function endOfProgram(end: ProgramEnd, limitMs: number): string {
  const why = whyNotEnded(end, limitMs);
  if (why === undefined) return end.said;
  return end.said === "" ? why : `${why}; it said: ${end.said}`;
}

/** `undefined`: it ended by itself. */
function whyNotEnded(end: ProgramEnd, limitMs: number): string | undefined {
  switch (end.kind) {
    case "ended":
      return undefined;
    case "killed":
      return `it was ended by ${end.by}`;
    case "not_started":
      return end.why;
    case "out_of_time":
      return `it did not end within ${limitText(limitMs)} and was stopped`;
    case "too_long":
      return "it printed more than an answer may be long and was stopped";
    case "interrupted":
      return "it was stopped with this command";
  }
}

const longestAnswer = 16 * 1024 * 1024;

/** Runs a program that reads its whole input and prints an answer, which is shown. */
export async function askProgram(
  argv: readonly string[],
  folder: string,
  input: string,
  limitMs: number,
  env: readonly string[] = [],
): Promise<PolicyAnswer> {
  const end = await runProgram({ argv, folder, input, limitMs, longestAnswer, env });
  const parts = [whyNotEnded(end, limitMs) ?? "", end.said].filter((part) => part !== "");
  const stdout = maskingFor(env).text(end.stdout);
  return { exitCode: exitCodeOfProgram(end), stdout, said: printable(parts.join("; ")) };
}

const longestCredential = 1 << 20;

/** Runs the helper in the folder of the file that names it. The reason why it failed holds nothing that it printed. */
export const runHelperIn =
  (folder: string): RunHelper =>
  async (argv, env = []) => {
    const limitMs = waits.helper;
    const end = await runProgram({ argv, folder, limitMs, longestAnswer: longestCredential, env });
    if (end.kind === "ended")
      return end.exitCode === 0 ? { output: end.stdout } : { problem: `it ended with exit code ${end.exitCode}` };
    if (end.kind !== "not_started") return { problem: whyNotEnded(end, limitMs) ?? "" };
    return {
      problem: end.code === "ENOENT" ? "it was not found" : `it could not be run (${end.code ?? "no reason given"})`,
    };
  };

const limitText = (ms: number): string => (ms < 60_000 ? `${ms / 1000} s` : `${ms / 60_000} min`);

/** The address at which the VM answers. The reader of the record lets nothing through that is no IP address. */
const reachableAt = (vm: LiveVm): string | undefined => vm.floatingIp ?? vm.privateIp;

export async function checkHealth(
  check: HealthCheck<string>,
  vm: LiveVm,
  folder: string,
  { signal, limitMs }: Pick<CommandOptions, "signal" | "limitMs"> = {},
): Promise<boolean> {
  const address = reachableAt(vm);
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
        ...onlyDefined({ RECONCILE_VM_IP: address }),
      };
      const { env } = check;
      const options = onlyDefined({ limitMs, env });
      const result = await runCommand(argv, folder, { signal, extra, ...options });
      return result.exitCode === 0;
    }
  }
}

const answersTcp = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: tryMs });
    const end = (answered: boolean): void => {
      socket.destroy();
      resolve(answered);
    };
    socket.once("connect", () => end(true));
    socket.once("timeout", () => end(false));
    socket.once("error", () => end(false));
  });

const mostRedirects = 10;

/** A redirect is followed on the host that the file names alone: what answers says where it leads, and nobody read that. */
async function answersHttp(url: string, stop?: AbortSignal): Promise<boolean> {
  const signal = AbortSignal.any([AbortSignal.timeout(tryMs), ...(stop === undefined ? [] : [stop])]);
  try {
    let at = new URL(url);
    for (let redirects = 0; redirects <= mostRedirects; redirects++) {
      const answer = await fetch(at, { redirect: "manual", signal });
      await answer.body?.cancel();
      const leadsTo = answer.headers.get("location");
      if (answer.status < 300 || answer.status >= 400 || leadsTo === null) return answer.ok;
      const next = new URL(leadsTo, at);
      if (next.hostname !== at.hostname) return false;
      at = next;
    }
  } catch {
    // It does not answer.
  }
  return false;
}
