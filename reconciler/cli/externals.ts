/** The project of a command: what its flags say of its state and of what may be read, for the one way in. */

import { resolve } from "node:path";
import { asClosed, type Closed, isOpen } from "../core/model/desired";
import { isUrl } from "../core/text/outside-policy";
import { openProject, type Project } from "../open-project";
import { setting } from "../outside/environment";
import { refusedState } from "../outside/trust";
import { storesFrom } from "../store/open";
import type { Invocation } from "./command";
import { openStore, openWorkspaceService } from "./compose";
import type { Session } from "./session";
import type { Workspace } from "./workspace";

type OpenedSession = Pick<Session, "workspace" | "service" | "store" | "invocation">;

export function projectOfSession({ workspace, service, store, invocation: { flags } }: OpenedSession): Project {
  const { folder } = workspace;
  const given = flags.state ?? setting("RECONCILE_STATE");
  return openProject({
    ...{ files: workspace, folder, service, store },
    openRead: storesFrom(folder, {
      insecureHttp: flags["insecure-http"] === true,
      acceptsNewOf: flags["new-state-of"],
    }),
    refusedRead: ({ state, source }) =>
      refusedState(service.trust, isUrl(state) ? state : resolve(folder, state), given, source),
  });
}

/** For a command that needs no service otherwise: one is opened only where the files read elsewhere. */
export async function closedFiles(invocation: Invocation, workspace: Workspace): Promise<Closed> {
  if (!isOpen(workspace.desired)) return asClosed(workspace.desired);
  const service = await openWorkspaceService(workspace, invocation);
  try {
    return await projectOfSession({
      workspace,
      service,
      store: openStore(workspace, invocation.flags),
      invocation,
    }).close();
  } finally {
    await service.close();
  }
}
