import { readFileSync } from "node:fs";
import { errorCode } from "../core/text/errors";

/** Also one that was killed and that its parent has not collected, as in a container without an init: it does nothing. */
export function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === "ESRCH";
  }
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .startsWith("Z");
  } catch {
    // Another system, or a process that is hidden from us.
    return false;
  }
}
