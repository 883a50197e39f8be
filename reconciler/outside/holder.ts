/** Who holds a lock of the state: this process, as somebody who finds it locked can recognise it. */
import { hostname, userInfo } from "node:os";
import type { Holder } from "../store/store";

export const holderOf = (command: string): Holder => ({
  who: userName(),
  host: hostname(),
  pid: process.pid,
  since: new Date().toISOString(),
  command,
});

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env["USER"] ?? "unknown";
  }
}
