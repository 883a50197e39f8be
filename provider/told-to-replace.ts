/**
 * What the user has told the engine to replace. The engine asks no provider for a difference of that, and tells none
 * that its state has a former version; but its own command line says it. A URN there is in its state: the engine ends
 * before the program runs where it is not. Where the command line is not to be seen, nothing is known.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";

const flags = ["--replace", "--target-replace"];

/** The values of those flags, which stand behind them or are part of them. */
const toldBy = (args: readonly string[]): string[] =>
  args.flatMap((arg, index) => {
    const [flag = "", ...value] = arg.split("=");
    if (!flags.includes(flag)) return [];
    return [value.length > 0 ? value.join("=") : (args[index + 1] ?? "")];
  });

/** `**` stands for anything, `*` for anything without a colon. */
export function isAmong(told: readonly string[], urn: string): boolean {
  const quoted = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return told.some((pattern) => {
    const parts = pattern.split("**").map((part) => part.split("*").map(quoted).join("[^:]*"));
    return new RegExp(`^${parts.join(".*")}$`).test(urn);
  });
}

interface ProcessAbove {
  readonly parent: number;
  readonly args: readonly string[];
}

function lookUp(pid: number): ProcessAbove {
  if (process.platform === "linux") {
    const [, parent] = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return { parent: Number(parent), args: readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0") };
  }
  const [parent, ...args] = execFileSync("ps", ["-ww", "-o", "ppid=,args=", "-p", String(pid)], { encoding: "utf8" })
    .trim()
    .split(/\s+/);
  return { parent: Number(parent), args };
}

/** The engine is above this process, and there may be a launcher between the two. */
function toldAbove(): string[] {
  try {
    for (let pid = process.ppid; pid > 0; ) {
      const { parent, args } = lookUp(pid);
      const told = toldBy(args);
      // What is above an engine may be another one, whose program runs this one.
      if (told.length > 0 || basename(args[0] ?? "") === "pulumi") return told;
      pid = parent;
    }
  } catch {
    // A system without such a list, or a process that is hidden from us.
  }
  return [];
}

let told: readonly string[] | undefined;

export function isToldToReplace(urn: string): boolean {
  told ??= toldAbove();
  return told.length > 0 && isAmong(told, urn);
}
