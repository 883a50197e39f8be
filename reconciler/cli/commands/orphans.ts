/** `reconcile orphans …`: what deletes left alive, and ending it. */
import { orphanKey } from "../../core/model/recorded";
import { confirmVolumeGone } from "../../engine/confirm-gone";
import { failedBy } from "../../engine/perform";
import { openState } from "../../engine/plan";
import { fail, newLineage, openStore } from "../compose";
import type { Invocation } from "../invocation";
import { withSession } from "../planning";
import { readWorkspace } from "../workspace";
import { changeState } from "../writing";

export async function run(invocation: Invocation): Promise<number> {
  const workspace = readWorkspace(invocation, { args: [], needed: false });
  if (invocation.spec.name === "orphans delete") return remove(invocation, workspace);
  const { output } = invocation;
  const store = openStore(workspace, invocation.flags);
  const { state } = openState(await store.read(), store.location, newLineage());
  const orphans = [...state.orphans.values()];
  const { orphansText } = require("../../report/state-text") as typeof import("../../report/state-text");
  for (const orphan of orphans) output.event({ type: "orphan", ...orphan });
  output.print(orphansText(orphans));
  return output.finish({ exitCode: 0, orphans });
}

function remove(invocation: Invocation, workspace: ReturnType<typeof readWorkspace>): Promise<number> {
  const { args, flags, output } = invocation;
  return withSession(invocation, workspace, async ({ store, service }) => {
    if (!service.client.has("volume.delete"))
      throw fail(
        "service/unsupported",
        "this service cannot delete volumes",
        "delete them in its console, then: reconcile state list",
      );
    const { state } = openState(await store.read(), store.location, newLineage());
    const wanted = args.map((id) => {
      const orphan =
        state.orphans.get(orphanKey({ kind: "volume", id })) ??
        [...state.orphans.values()].find((one) => one.id === id);
      if (orphan === undefined) throw fail("state/no-orphan", `there is no orphan ${id}`, "reconcile orphans list");
      return orphan;
    });
    if (flags["allow-data-loss"] !== true)
      return output.finish({
        exitCode: 3,
        diagnostics: wanted.map((orphan) => ({
          severity: "error",
          code: "consent/data-loss",
          summary: `volume ${orphan.name} (${orphan.id}) would be deleted with its data`,
          fix: "--allow-data-loss",
        })),
      });
    for (const orphan of wanted) {
      const { client } = service;
      const outcome = await confirmVolumeGone(await client.deleteVolume(orphan.id), orphan.id, client);
      if (outcome.status !== "accepted") {
        const failure = failedBy(outcome);
        throw fail(failure.code ?? "service/unknown", `${orphan.id}: ${failure.message}`, failure.fix);
      }
      await changeState(invocation, store, () => [{ type: "orphan", key: orphanKey(orphan), orphan: null }]);
      output.print(`Deleted volume ${orphan.name} (${orphan.id}).`);
    }
    return output.finish({ exitCode: 0 });
  });
}
