/** The description of this process in a lock of the state, for a person who finds the state locked. */

import { hostname, userInfo } from "node:os";
import { ifPossible } from "../core/text/errors";
import type { Holder } from "../store/store";

export const holderOf = (command: string): Holder => ({
  who: userName(),
  host: hostname(),
  pid: process.pid,
  since: new Date().toISOString(),
  command,
});

export const userName = (): string => ifPossible(() => userInfo().username) ?? process.env["USER"] ?? "unknown";
