/** The state for people. */
import type { Intent, Orphan, RecordedResource, State } from "../core/model/recorded";
export const stateListText = (state: State): string =>
  [...state.resources.values()]
    .map((record) => `${record.address}  ${record.id ?? "(id unknown)"}  ${record.name ?? ""}`)
    .join("\n");
export const stateShowText = (
  address: string,
  record: RecordedResource | undefined,
  intent: Intent | undefined,
): string => JSON.stringify({ address, record, intent }, undefined, 2);
export const orphansText = (orphans: readonly Orphan[]): string =>
  orphans.length === 0
    ? "No orphans."
    : orphans.map((orphan) => `${orphan.kind} ${orphan.id}  ${orphan.name}: ${orphan.reason}`).join("\n");
