/** Runs a command with its store and its service, and under the lock where it writes. */

import { relative, resolve } from "node:path";
import { ifAny } from "../core/text/objects";
import { isUrl } from "../core/text/outside-policy";
import { checkedOutCommit } from "../outside/commit";
import { uncommitted } from "../outside/git";
import type { Where } from "../report/json-lines";
import { holdStore } from "../store/held";
import { withStop } from "../store/patience";
import type { StateStore } from "../store/store";
import type { Invocation } from "./command";
import { commandHolder, openStore, openWorkspaceService, pathBesideFile, type Service } from "./compose";
import type { Session } from "./session";
import { listenForStop, type Stop } from "./stop-signals";
import { filesOfFlags, type Workspace } from "./workspace";
import { closedAfter } from "./writing";

export async function withSession(
  invocation: Invocation,
  workspace: Workspace,
  use: (session: Session) => Promise<number>,
): Promise<number> {
  const store = openStore(workspace, invocation.flags);
  const service = await openWorkspaceService(workspace, invocation);
  invocation.output.locate(whereOfSession(workspace, service, store, invocation.flags));
  try {
    return await use({ invocation, workspace, service, store });
  } finally {
    await service.close();
  }
}

function whereOfSession(
  { desired, sources, folder }: Workspace,
  service: Service,
  store: StateStore,
  flags: Invocation["flags"],
): Where {
  const { project, environment } = desired;
  const commit = sources.length === 0 ? undefined : checkedOutCommit(folder);
  const { dialect } = desired.service;
  const beside = dialect !== undefined && "path" in dialect ? [pathBesideFile(dialect)] : [];
  const files = [...sources.map(({ file }) => file), ...beside, ...filesOfFlags(flags)];
  const changed = commit === undefined ? [] : uncommitted(files, folder);
  return {
    service: service.baseUrl,
    state: shownLocation(store.location),
    project,
    environment,
    commit: commit === undefined ? undefined : changed.length === 0 ? commit : `${commit}-dirty`,
    uncommitted: ifAny(changed),
  };
}

/** A state's path as seen from the working folder. */
const shownLocation = (location: string): string => {
  if (isUrl(location)) return location;
  const path = relative(process.cwd(), resolve(location));
  return path.startsWith("..") ? resolve(location) : path;
};

/** As `withSession`, under the lock, for commands that write the state or the service without a plan of the whole. */
export const withLockedSession = (
  invocation: Invocation,
  workspace: Workspace,
  use: (session: Session, stop: Stop) => Promise<number>,
): Promise<number> => withSession(invocation, workspace, (opened) => lockedSession(opened, "released", use));

/** The session under the lock, which is no longer waited for once the command was told to stop. */
export async function lockedSession(
  opened: Session,
  until: "run" | "released",
  use: (session: Session, stop: Stop) => Promise<number>,
): Promise<number> {
  const { invocation, store } = opened;
  const stop = listenForStop(invocation.output);
  const session = { ...opened, store: withStop(store, stop.soft, stop.atOnce) };
  try {
    return await underLock(session, invocation, until, (held) => use(held, stop), stop.soft);
  } finally {
    stop.close();
  }
}

/**
 * Locks the state before anything that writes the state or the service, so that what is read, planned and shown is what
 * will be changed.
 */
export async function underLock<S extends { readonly store: StateStore }, T>(
  session: S,
  invocation: Invocation,
  until: "run" | "released",
  use: (held: S) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const held = await holdStore(session.store, commandHolder(invocation.command), until, signal);
  return closedAfter(() => use({ ...session, store: held.store }), held.release);
}
