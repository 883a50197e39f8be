/**
 * Reads one golden story: the file that was applied before, what happened since (in the service or in an interrupted
 * run), the file as it is now, and with which options and against what kind of service the plan is made.
 */

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import type { WorldChange } from "../../emulator/entities";
import type { EmulatorOperation as WorldOperation } from "../../emulator/operations";
import { applyChanges } from "../../emulator/world";
import { readDesired } from "../../reconciler/config/read/desired";
import type { PlanOptions } from "../../reconciler/core/diff/context";
import type { Address } from "../../reconciler/core/model/address";
import type { Desired } from "../../reconciler/core/model/desired";
import { orphanKey, type RecordedResource, type StateChange } from "../../reconciler/core/model/recorded";
import type { Plan } from "../../reconciler/core/plan/plan";
import { writeSnapshot } from "../../reconciler/core/state/text";
import { canonicalJson } from "../../reconciler/core/text/canonical-json";
import { type Capabilities, type VirtualWorld, virtualWorld } from "./virtual-world";

export interface Story {
  readonly title: string;
  /** The rule of the product it shows. */
  readonly teaches: string;
  readonly service?: Capabilities;
  /** What the service could do when before.yaml was applied, where that was different. */
  readonly service_before?: Capabilities;
  readonly meanwhile?: readonly Event[];
  readonly options?: Omit<PlanOptions, "targets"> & {
    readonly targets?: readonly string[];
    readonly refresh?: boolean;
  };
  /** False: every health check fails. */
  readonly healthy?: boolean;
}

/** In texts, `@vm:db`, `@volume:x`, `@group:web` stand for the id of what bears that name. */
type Event =
  | { readonly vm: string; readonly set: Record<string, unknown> | null }
  | { readonly volume: string; readonly set: Record<string, unknown> | null }
  | { readonly group: string; readonly set: Record<string, unknown> | null }
  | { readonly image: string; readonly set: Record<string, unknown> }
  | { readonly call: WorldOperation; readonly id?: string; readonly body?: unknown }
  | { readonly record: Address; readonly set: Record<string, unknown> | null }
  | { readonly intent: Record<string, unknown> & { readonly address: Address } }
  | { readonly orphan: { readonly kind: "volume"; readonly id: string } & Record<string, string> }
  | { readonly damage: Address };

const shared = (folder: string) => ({
  file: "defaults.yaml",
  text: readFileSync(join(folder, "..", "defaults.yaml"), "utf8"),
});

export function readStory(folder: string): Story {
  return parse(readFileSync(join(folder, "story.yaml"), "utf8")) as Story;
}

export function readDesiredOf(folder: string, name: string, stage?: VirtualWorld): Desired {
  const path = join(folder, name);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const files = text === "" ? [] : [{ file: name, text: stage === undefined ? text : withIds(text, stage) }];
  const { desired, diagnostics } = readDesired([shared(folder), ...files]);
  if (desired === undefined) throw new Error(`${name}: ${JSON.stringify(diagnostics, undefined, 1)}`);
  return desired;
}

/** The world and the state as the plan of the story finds them. */
export async function tell(folder: string, story: Story): Promise<VirtualWorld> {
  let healthy = true;
  const stage = virtualWorld(story.service_before ?? story.service, () => healthy);
  if (existsSync(join(folder, "before.yaml"))) {
    const report = await stage.apply(await stage.plan(readDesiredOf(folder, "before.yaml")));
    const failed = report?.steps.filter(({ result }) => result.end === "failed" || result.end === "unknown") ?? [];
    if (report === undefined || failed.length > 0)
      throw new Error(`before.yaml did not apply: ${JSON.stringify(failed, undefined, 1)}`);
    await stage.apply(await stage.plan(readDesiredOf(folder, "before.yaml")));
  }
  stage.setCapabilities(story.service ?? {});
  for (const event of story.meanwhile ?? []) await happen(event, stage);
  healthy = story.healthy ?? true;
  stage.takeSent();
  return stage;
}

async function happen(written: Event, stage: VirtualWorld): Promise<void> {
  const { emulated } = stage;
  const event = resolveIds(written, stage) as Event;
  if ("call" in event) {
    const decision = emulated.call(event.call, event.body, event.id === undefined ? {} : { id: event.id });
    if (decision.status >= 300) throw new Error(JSON.stringify(decision.body));
    if (event.call === "vm.create") await stage.clock.sleep(120_000);
    return;
  }
  if ("record" in event) {
    const before = (await stage.state()).resources.get(event.record);
    const record =
      event.set === null ? null : (withoutNulls({ ...before, ...event.set }) as unknown as RecordedResource);
    await stage.record([{ type: "resource", address: event.record, record }]);
    return;
  }
  if ("intent" in event) {
    await stage.record([
      { type: "intent", address: event.intent.address, intent: event.intent } as unknown as StateChange,
    ]);
    return;
  }
  if ("orphan" in event) {
    const { orphan } = event;
    await stage.record([{ type: "orphan", key: orphanKey(orphan), orphan } as unknown as StateChange]);
    return;
  }
  if ("damage" in event) {
    const state = await stage.state();
    const snapshot = writeSnapshot(state).replace(
      `"address":"${event.damage}"`,
      `"address":"${event.damage.toUpperCase()}"`,
    );
    stage.store.stored = { snapshot, journal: [] };
    return;
  }
  const [kind, name] = (["vm", "volume", "group", "image"] as const)
    .filter((one) => one in event)
    .map((one) => [one, (event as unknown as Record<string, string>)[one]!] as const)[0]!;
  const entity = [...emulated.world.tables[kind].values()].find((one) => one.name === name);
  if (entity === undefined) throw new Error(`there is no ${kind} ${name}`);
  // What is set has happened: the entity is on its way nowhere, unless that is what is set.
  const settled = kind === "vm" ? { pending: null } : {};
  const change =
    event.set === null ? { drop: kind, id: entity.id } : { put: kind, value: { ...entity, ...settled, ...event.set } };
  applyChanges(emulated.world, [change as WorldChange]);
}

/** Every id that exists now, by what it identifies. */
export function idsByName(stage: VirtualWorld): Map<string, string> {
  const { tables } = stage.emulated.world;
  const names = new Map<string, string>();
  for (const kind of ["vm", "volume", "group", "image", "flavor"] as const)
    for (const entity of tables[kind].values()) {
      let label = `@${kind}:${entity.name}`;
      for (let n = 2; names.has(label); n++) label = `@${kind}:${entity.name}#${n}`;
      names.set(label, entity.id);
    }
  return names;
}

function resolveIds(value: unknown, stage: VirtualWorld): unknown {
  return JSON.parse(withIds(JSON.stringify(value), stage));
}

/** `@vm:db` as the id of what bears that name. */
export function withIds(text: string, stage: VirtualWorld): string {
  if (!text.includes("@")) return text;
  const ids = idsByName(stage);
  return text.replace(/@(?:vm|volume|group|image|flavor):[\w#.-]+/g, (label) => ids.get(label) ?? label);
}

const withoutNulls = (value: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(value).filter(([, item]) => item !== null));

/* A plan as the golden stories show it: one line a step, with what it needs and why, and ids by what they identify. */

export function planLines(plan: Plan): string[] {
  const lines: string[] = [];
  for (const change of plan.changes) {
    lines.push(`${change.address}: ${change.action} (${change.because})`);
    for (const field of change.fields)
      lines.push(`    ${field.verb} ${field.field}: ${JSON.stringify(field.before)} -> ${JSON.stringify(field.after)}`);
    for (const loss of change.losses) lines.push(`    LOST: ${loss.detail}`);
    for (const rest of change.leaves ?? []) lines.push(`    left behind: ${rest}`);
  }
  if (plan.changes.length === 0) lines.push("no changes");
  lines.push(`unchanged: ${plan.unchanged}`, "");
  for (const [index, step] of plan.steps.entries()) {
    const needs = step.needs.map((need) => `${need.on === "done" ? "" : `${need.on} of `}${need.step}`).join(", ");
    lines.push(`${index + 1}. ${step.id} [${step.action.operation}] ${step.title}`);
    if (needs !== "") lines.push(`    after ${needs}`);
  }
  if (plan.steps.length === 0) lines.push("no steps");
  if (plan.consents.length > 0) lines.push("");
  for (const consent of plan.consents) lines.push(`consent ${consent.kind}: ${consent.detail} -> ${consent.grant}`);
  if (plan.diagnostics.length > 0) lines.push("");
  for (const { severity, code, summary, fix } of plan.diagnostics)
    lines.push(`${severity} ${code}: ${summary}${fix === undefined ? "" : ` -> ${fix}`}`);
  if (plan.bookkeeping.length > 0) lines.push("");
  for (const change of plan.bookkeeping) lines.push(`the state learns: ${canonicalJson(change)}`);
  const down = Object.entries(plan.estimate.downtimeMs).map(([address, ms]) => `${address} down ${ms / 1000} s`);
  lines.push("", `estimate: ${[`${plan.estimate.durationMs / 1000} s`, ...down].join(", ")}`);
  return lines;
}

/** Ids by what they identify, so that the files can be read and do not change with the order in which ids were given. */
export function nameIds(text: string, ids: ReadonlyMap<string, string>): string {
  const labels = new Map([...ids].map(([label, id]) => [id, label]));
  return text
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}/g, (id) => labels.get(id) ?? "@other")
    .replace(/-old-[0-9a-f]{6}\b/g, "-old-@id");
}
