/** `reconcile import ADDR ID`: takes an existing resource over. */

import { parseAddress } from "../../core/model/address";
import { hasErrors } from "../../core/model/diagnostic";
import type { RecordedResource, StateChange } from "../../core/model/recorded";
import { makePlan } from "../../core/plan/plan";
import { nearestName } from "../../core/text/nearest";
import { openState } from "../../engine/plan";
import { refresh } from "../../engine/refresh";
import { fail, newLineage } from "../compose";
import type { Invocation } from "../invocation";
import { withSession } from "../planning";
import { readWorkspace } from "../workspace";
import { changeState } from "../writing";

export function run(invocation: Invocation): Promise<number> {
  const [address, id] = invocation.args as [string, string];
  const { output } = invocation;
  if (parseAddress(address) === undefined)
    throw fail(
      "state/bad-address",
      `${address} is no address`,
      "an address is vm.KEY, volume.KEY or group.KEY, with [EACH] for for_each",
    );
  const workspace = readWorkspace(invocation, { args: [] });
  const declared = workspace.desired.resources.find((resource) => resource.address === address);
  if (declared === undefined) {
    const near = nearestName(
      address,
      workspace.desired.resources.map((resource) => resource.address),
    );
    throw fail(
      "plan/unknown-address",
      `${address} is not declared`,
      near === undefined ? "declare it first" : `did you mean ${near}?`,
    );
  }
  return withSession(invocation, workspace, async ({ store, service }) => {
    const { state } = openState(await store.read(), store.location, newLineage());
    const recorded = state.resources.get(address);
    if (recorded?.id !== undefined && !state.intents.has(address))
      throw fail(
        "state/occupied",
        `${address} is ${recorded.id} already`,
        `reconcile state rm ${address} (forgets it, leaves it alive), then import`,
      );
    const owner = [...state.resources.values()].find((record) => record.id === id && record.address !== address);
    if (owner !== undefined)
      throw fail(
        "state/occupied",
        `${id} is managed as ${owner.address} already`,
        `reconcile state mv ${owner.address} ${address}`,
      );
    // A create that is open knows what the resource was made with: only its id is missing.
    const made =
      state.intents.get(address)?.record ??
      (recorded !== undefined && recorded.id === undefined ? recorded : undefined);
    const desired = { ...workspace.desired, imports: [{ to: address, id }], moved: [], removed: [] };
    const bare =
      made === undefined
        ? state
        : // Other creates that are open stay so: what they made is no stranger.
          {
            ...state,
            intents: new Map([...state.intents].filter(([key]) => key !== address)),
            resources: new Map([...state.resources].filter(([key]) => key !== address)),
          };
    const seen = await refresh(service.client, desired, bare);
    const plan = makePlan({
      desired,
      state: bare,
      live: seen.live,
      has: (operation) => service.client.has(operation),
      options: { targets: [address] },
      findings: seen.findings,
    });
    const diagnostics = plan.diagnostics.filter(
      (diagnostic) => diagnostic.address === address || diagnostic.severity === "error",
    );
    if (hasErrors(diagnostics)) return output.finish({ exitCode: 1, diagnostics });
    const step = plan.steps.find((one) => one.address === address && one.action.operation === "record");
    const planned = step?.action.operation === "record" ? step.action.changes : [];
    const changes: readonly StateChange[] =
      made === undefined
        ? planned
        : [
            {
              type: "resource",
              address,
              // It may be building still: the next run waits for it.
              record: { ...made, id, ...(made.kind === "vm" ? { building: true } : {}) } as RecordedResource,
            },
            { type: "intent", address, intent: null },
          ];
    await changeState(invocation, store, () => changes);
    output.event({ type: "change", address, action: "import", fields: [], id });
    output.print(`${address} is ${id} now.`);
    return output.finish({
      exitCode: 0,
      diagnostics: diagnostics.filter((diagnostic) => diagnostic.severity !== "note"),
    });
  });
}
