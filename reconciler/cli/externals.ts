/**
 * Reads, before planning, what the file takes from elsewhere (`reads`, `lookups`). A saved plan holds only while the
 * same values are found.
 */
import { resolve } from "node:path";
import type { Desired } from "../core/model/desired";
import { hasErrors } from "../core/model/diagnostic";
import type { ExternalValues } from "../core/model/external";
import type { Json } from "../core/model/output";
import { canonicalJson } from "../core/text/canonical-json";
import { fetchExternal } from "../engine/externals";
import { setting } from "../outside/environment";
import { refusedState } from "../outside/trust";
import { storesFrom } from "../store/open";
import { fail, isUrl } from "./compose";
import { CommandFailed } from "./crash";
import type { Session } from "./session";

export async function withExternal({ workspace, service, invocation }: Session, desired: Desired): Promise<Desired> {
  const { external } = desired;
  if (external === undefined) return desired;
  const { flags } = invocation;
  const given = flags.state ?? setting("RECONCILE_STATE");
  const from = (state: string): string => (isUrl(state) ? state : resolve(workspace.folder, state));
  const refused = external.reads.flatMap(
    ({ state, source }) => refusedState(service.trust, from(state), given, source) ?? [],
  );
  if (refused.length > 0) throw new CommandFailed(refused);
  const open = storesFrom(workspace.folder, flags["insecure-http"] === true);
  const { values, diagnostics } = await fetchExternal(external, service.client, open);
  if (hasErrors(diagnostics)) throw new CommandFailed(diagnostics);
  if (external.values === undefined) return workspace.readAgain?.(values).desired ?? desired;
  const moved = differences(external.values, values);
  if (moved.length > 0)
    throw fail("plan/stale", `this plan is stale: ${moved.join("; ")}`, "plan again, review it, and apply the new one");
  return desired;
}

function differences(then: ExternalValues, now: ExternalValues): string[] {
  const compare = (root: string, before: Parts, after: Parts): string[] =>
    Object.entries(before).flatMap(([name, parts]) =>
      Object.entries(parts).flatMap(([part, value]) => {
        const present = after[name]?.[part];
        return present !== undefined && canonicalJson(present) === canonicalJson(value)
          ? []
          : [
              `\${${root}.${name}.${part}} was ${JSON.stringify(value)}, and is ${present === undefined ? "gone" : JSON.stringify(present)}`,
            ];
      }),
    );
  return [...compare("read", then.reads, now.reads), ...compare("lookup", then.lookups, now.lookups)];
}
type Parts = Readonly<Record<string, Readonly<Record<string, Json>>>>;
