/** A stack in a fleet of several tenants, planned in this process: what the plan says, or why there is none. */
import { join } from "node:path";
import { vi } from "vitest";
import { createProjectOpener } from "../../reconciler/cli/fleet/open-project";
import { mayRead } from "../../reconciler/fleet/may-read";
import { stackSpec } from "./fleet-stage";
import { makeFolder } from "./folder";

const never = new AbortController().signal;

/** `service`: the address that the fleet's file says. */
export async function planClosed(folder: string, service: string | undefined, token: string): Promise<string> {
  vi.stubEnv("RECONCILE_TOKEN", token);
  const spec = stackSpec("shop", { source: { kind: "folder", folder }, state: join(folder, "state.json") });
  const open = createProjectOpener({ cache: makeFolder(), concurrency: 1 });
  try {
    const project = await open({
      stack: spec,
      checkout: { folder, root: folder, revision: "r", content: "c" },
      inputs: {},
      destroy: false,
      worker: "w",
      isClosed: true,
      signal: never,
      ...(service === undefined ? {} : { service: { name: "here", baseUrl: service, insecureHttp: false } }),
      mayRead: async (location) => mayRead(location, spec, {}, []),
    });
    try {
      const { body, errors } = await project.plan(never);
      return [body.text, ...errors].join("\n");
    } finally {
      await project.close();
    }
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    vi.unstubAllEnvs();
  }
}
