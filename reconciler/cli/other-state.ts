/** The other one of two states between which records move: how it is opened, and how each is named in the other's note. */

import { dirname, isAbsolute, relative, resolve } from "node:path";
import { isUrl } from "../core/text/outside-policy";
import { openProtectedStore } from "../store/open";
import { withPatience } from "../store/patience";
import { StateSealed, type StateStore } from "../store/store";
import { lockTimeoutMs, tellHolder } from "./compose";
import type { Flags } from "./flags";

/** A key of its own for the other state, where the two are encrypted under different ones; an empty one means none. */
function environmentOfOther(): Readonly<Record<string, string | undefined>> {
  const key = process.env["RECONCILE_OTHER_STATE_KEY"];
  if (key === undefined) return process.env;
  const { RECONCILE_STATE_KEY_COMMAND: _, RECONCILE_STATE_KEY_PREVIOUS: __, ...others } = process.env;
  return { ...others, RECONCILE_STATE_KEY: key, RECONCILE_STATE_ENCRYPTION: key === "" ? "optional" : "required" };
}

/** The usual advice for a key that is missing or wrong would give the key of one state to the other. */
function withKeyOfOther(store: StateStore): StateStore {
  const told = (error: unknown): never => {
    if (!(error instanceof StateSealed) || !["state/key-missing", "state/key-wrong"].includes(error.code)) throw error;
    throw new StateSealed(error.code, error.message, "give the key of that state as RECONCILE_OTHER_STATE_KEY");
  };
  return {
    ...store,
    read: () => store.read().catch(told),
    lock: (holder, signal) => store.lock(holder, signal).catch(told),
  };
}

/** `own`: it is the state of the command's own files, whose key is the usual one. */
export function openMoving(
  location: string,
  { folder, flags, own = false }: { readonly folder: string; readonly flags: Flags; readonly own?: boolean },
): StateStore {
  const opened = openProtectedStore(location, {
    environment: own ? process.env : environmentOfOther(),
    insecureHttp: flags["insecure-http"] === true,
    ...(own ? { acceptsNew: flags["new-state"] === true } : { acceptsNewOf: flags["new-state-of"] ?? [] }),
    folder,
  });
  const store = own ? opened : withKeyOfOther(opened);
  const waitMs = lockTimeoutMs(flags);
  return waitMs === 0 ? store : withPatience(store, { waitMs, onWait: tellHolder });
}

/** The folder beside a state: of a file its own, of a state elsewhere the one that is given. */
export const folderBeside = (location: string, otherwise: string): string =>
  isUrl(location) ? otherwise : dirname(resolve(location));

/** As the note of one state names the other: without a password, and a file as seen from the state's own folder. */
export function locationFrom(own: string, other: string): string {
  if (!isUrl(other)) return isUrl(own) ? resolve(other) : relative(dirname(resolve(own)), resolve(other));
  if (!URL.canParse(other)) return other;
  const url = new URL(other);
  url.password = "";
  url.searchParams.delete("password");
  return url.toString();
}

/** The way back from a note to a location. */
export const locationNamed = (own: string, named: string): string =>
  isUrl(named) || isAbsolute(named) ? named : resolve(isUrl(own) ? "." : dirname(resolve(own)), named);
