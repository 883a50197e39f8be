/** A stack in a fleet of several tenants, planned in this process: what the plan says, or why there is none. */
import { join } from "node:path";
import { vi } from "vitest";
import { createProjectOpener } from "../../reconciler/cli/fleet/opener";
import { mayRead } from "../../reconciler/fleet/may-read";
import type { Planned } from "../../reconciler/fleet/project";
import { stackSpec } from "./fleet-stage";
import { makeFolder } from "./folder";

const never = new AbortController().signal;

interface Stacked {
  /** The address that the fleet's file says. */
  readonly service?: string | undefined;
  /** Left out: its tenant is not trusted. */
  readonly isClosed?: boolean;
  readonly readsAnything?: true;
}

export async function planStack(
  folder: string,
  { service, isClosed = true, readsAnything }: Stacked,
): Promise<Planned> {
  const spec = stackSpec("shop", { source: { kind: "folder", folder }, state: join(folder, "state.json") });
  const open = createProjectOpener({ cache: makeFolder() });
  const project = await open({
    stack: spec,
    checkout: { folder, root: folder, revision: "r", content: "c" },
    inputs: {},
    destroy: false,
    worker: "w",
    ...(isClosed ? { closedBy: "a fleet of several tenants" } : {}),
    signal: never,
    ...(service === undefined ? {} : { service: { name: "here", baseUrl: service, insecureHttp: false } }),
    mayRead: async (location) => (readsAnything === true ? { state: location } : mayRead(location, spec, {}, [])),
    siblings: async () => [],
  });
  try {
    return await project.plan(never);
  } finally {
    await project.close();
  }
}

export async function planClosed(folder: string, service: string | undefined, token: string): Promise<string> {
  vi.stubEnv("RECONCILE_TOKEN", token);
  try {
    const { body, errors } = await planStack(folder, { service });
    return [body.text, ...errors].join("\n");
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    vi.unstubAllEnvs();
  }
}
