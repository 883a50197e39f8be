import { readFileSync } from "node:fs";
import { errorCode, ifPossible } from "../core/text/errors";

/** Also one that was killed and that its parent has not collected, as in a container without an init: it does nothing. */
export function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === "ESRCH";
  }
  // None: another system, or a process that is hidden from us.
  const stat = ifPossible(() => readFileSync(`/proc/${pid}/stat`, "utf8")) ?? "";
  return stat.replace(/^.*\) /s, "").startsWith("Z");
}
