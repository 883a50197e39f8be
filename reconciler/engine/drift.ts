/** What the service shows that is not as the state has it. Looks at no file, sends only reads, writes nothing. */
import type { FieldValue } from "../core/diff/changes";
import { compareAddresses } from "../core/model/address";
import type { Diagnostic } from "../core/model/diagnostic";
import type { State } from "../core/model/recorded";
import { desiredAsRecorded } from "../core/plan/as-recorded";
import { makePlan } from "../core/plan/plan";
import type { ServiceClient } from "../service/client";
import { refresh } from "./refresh";

export interface Drift {
  readonly address: string;
  readonly name: string;
  readonly id?: string;
  readonly gone: boolean;
  /** `before`: as recorded; `after`: as the service shows it now. */
  readonly fields: readonly { readonly field: string; readonly before: FieldValue; readonly after: FieldValue }[];
}

export interface DriftReport {
  readonly drifts: readonly Drift[];
  readonly compared: number;
  readonly diagnostics: readonly Diagnostic[];
}

export async function findDrift(client: ServiceClient, state: State): Promise<DriftReport> {
  const desired = desiredAsRecorded(state);
  const seen = await refresh(client, desired, state);
  const plan = makePlan({
    desired,
    state,
    live: seen.live,
    has: (operation) => client.has(operation),
    options: {},
    findings: seen.findings,
  });
  const drifts = plan.changes
    .filter((change) => change.reason === "gone" || change.fields.length > 0)
    .map(
      (change): Drift => ({
        address: change.address,
        name: change.name,
        ...(state.resources.get(change.address)?.id === undefined
          ? {}
          : { id: state.resources.get(change.address)!.id! }),
        gone: change.reason === "gone",
        fields:
          change.reason === "gone"
            ? []
            : change.fields.map(({ field, before, after }) => ({ field, before: after, after: before })),
      }),
    )
    .sort((a, b) => compareAddresses(a.address, b.address));
  // What a plan would object to is no drift; what could not be read is.
  const diagnostics = plan.diagnostics.filter(
    (diagnostic) =>
      /^(service|state)\//.test(diagnostic.code) ||
      diagnostic.code.endsWith("unobserved") ||
      diagnostic.code === "plan/forbidden",
  );
  return { drifts, compared: state.resources.size, diagnostics };
}
