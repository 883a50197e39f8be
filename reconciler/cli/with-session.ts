/** Runs a command with its store and its service, and under the lock where it writes. */

import { relative, resolve } from "node:path";
import { ifAny, onlyDefined } from "../core/text/objects";
import { isUrl } from "../core/text/outside-policy";
import { checkedOutCommit } from "../outside/commit";
import { uncommitted } from "../outside/git";
import type { Where } from "../report/json-lines";
import { holdStore } from "../store/held";
import { withStop } from "../store/patience";
import type { StateStore } from "../store/store";
import type { Invocation } from "./command";
import { addressGiven, commandHolder, openStore, openWorkspaceService, pathBesideFile, type Service } from "./compose";
import { asDiagnostics } from "./crash";
import type { Finish } from "./output";
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

/** The state of a command that asks no service. */
export function openLocatedStore({ flags, output }: Pick<Invocation, "flags" | "output">, workspace: Workspace) {
  const store = openStore(workspace, flags);
  const { project, environment, service } = workspace.desired;
  const baseUrl = addressGiven(flags) ?? service.baseUrl;
  output.locate(onlyDefined({ service: baseUrl, project, environment, state: shownLocation(store.location) }));
  return store;
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
  use: (session: Session, stop: Stop) => Promise<Finish>,
): Promise<number> => withSession(invocation, workspace, (opened) => lockedSession(opened, "released", use));

/**
 * The session under the lock, which is no longer waited for once the command was told to stop. It is taken before anything
 * is read, so that what is planned and shown is what will be changed. The command ends when the lock is let go: what goes
 * wrong there stands in its summary.
 */
export async function lockedSession(
  opened: Session,
  until: "run" | "released",
  use: (session: Session, stop: Stop) => Promise<Finish>,
): Promise<number> {
  const { command, output } = opened.invocation;
  const stop = listenForStop(output);
  const store = withStop(opened.store, stop.soft, stop.atOnce);
  try {
    const held = await holdStore(store, commandHolder(command), until, stop.soft);
    const work = () => use({ ...opened, store: held.store }, stop);
    return output.finish(await closedAfter(work, held.release, endedUnclosed));
  } finally {
    stop.close();
  }
}

function endedUnclosed(ended: Finish, error: Error): Finish {
  const diagnostics = asDiagnostics(error);
  if (diagnostics === undefined) throw error;
  const { diagnostics: said = [], forPrograms = said } = ended;
  return {
    ...ended,
    exitCode: 1,
    diagnostics: [...said, ...diagnostics],
    forPrograms: [...forPrograms, ...diagnostics],
  };
}
