/** Reads, before a command plans, what the file takes from elsewhere (`reads`, `lookups`). */
import { resolve } from "node:path";
import { asClosed, type Closed, isOpen } from "../core/model/desired";
import { closeDesired } from "../engine/externals";
import { setting } from "../outside/environment";
import { refusedState } from "../outside/trust";
import { storesFrom } from "../store/open";
import type { Invocation } from "./command";
import { isUrl, openWorkspaceService } from "./compose";
import { CommandFailed } from "./crash";
import type { Session } from "./session";
import type { Workspace } from "./workspace";

export async function closedWorkspace(
  { workspace, service, invocation: { flags } }: Pick<Session, "workspace" | "service" | "invocation">,
  { destroy }: { readonly destroy?: boolean } = {},
): Promise<Closed> {
  const given = flags.state ?? setting("RECONCILE_STATE");
  const from = (state: string): string => (isUrl(state) ? state : resolve(workspace.folder, state));
  const refused = (workspace.desired.external?.reads ?? []).flatMap(
    ({ state, source }) => refusedState(service.trust, from(state), given, source) ?? [],
  );
  if (refused.length > 0) throw new CommandFailed(refused);
  const open = storesFrom(workspace.folder, {
    insecureHttp: flags["insecure-http"] === true,
    acceptsNew: flags["new-state"] === true,
  });
  const closed = await closeDesired(workspace, { client: service.client, open }, { destroy: destroy === true });
  if ("problems" in closed) throw new CommandFailed(closed.problems);
  return closed.desired;
}

/** For a command that needs no service otherwise: one is opened only where the files read elsewhere. */
export async function closedFiles(invocation: Invocation, workspace: Workspace): Promise<Closed> {
  if (!isOpen(workspace.desired)) return asClosed(workspace.desired);
  const service = await openWorkspaceService(workspace, invocation);
  try {
    return await closedWorkspace({ workspace, service, invocation });
  } finally {
    await service.close();
  }
}
