/**
 * `reconcile orphans …`: resources that deletes left alive: lists them, looks whether they still exist, deletes them.
 */

import type { Desired } from "../../core/model/desired";
import { type Diagnostic, hasErrors } from "../../core/model/diagnostic";
import { isContradicted } from "../../core/model/evidence";
import { adviceText, fixText, toRun } from "../../core/model/fix";
import { allOfKind, kindRows, ofKind } from "../../core/model/kinds";
import type { Prices } from "../../core/model/prices";
import { type Orphan, orphanKey, type State } from "../../core/model/recorded";
import { costOfOrphans } from "../../core/plan/cost";
import { inShell } from "../../core/text/in-shell";
import { nearestText } from "../../core/text/nearest";
import { onlyDefined } from "../../core/text/objects";
import { canDeleteOrphan, deleteOrphan } from "../../engine/delete-orphan";
import { orphanDeleting } from "../../engine/record-step";
import { observeOrphans } from "../../engine/refresh";
import { assertSameScope, scopeOf } from "../../engine/scope";
import type { Watch } from "../../kinds/volume/watch";
import { orphanCostText } from "../../report/cost-text";
import { orphansText } from "../../report/state-text";
import type { ServiceClient } from "../../service/client";
import type { StateStore } from "../../store/store";
import { command, type Invocation, noArguments } from "../command";
import { fail, stateIn, systemClock } from "../compose";
import { commonFlags } from "../flags";
import { unlessStopped } from "../session";
import { openLocatedStore, withLockedSession, withSession } from "../with-session";
import { readWorkspace } from "../workspace";
import { changeState } from "../writing";

export const orphansListCommand = command({
  usage: "orphans list [--refresh]",
  summary: "what deletes left alive",
  section: "The state",
  examples: [
    ["reconcile orphans list", "what was left alive, and why; from the state alone"],
    ["reconcile orphans list --refresh", "and which of it the service still shows"],
  ],
  flags: ["file", "refresh", "prices", ...commonFlags],
  positionals: noArguments,
  run: listOrphans,
});

export const orphansDeleteCommand = command({
  usage: "orphans delete ID…|--all [--allow-data-loss]",
  summary: "deletes orphaned volumes and groups",
  section: "The state",
  examples: [
    ["reconcile orphans delete 59f5539a-ba27-4526-86ab-078ba76d038a --allow-data-loss", "ends one for good"],
    ["reconcile orphans delete --all --allow-data-loss", "ends every one that the list shows"],
  ],
  flags: ["file", "all", "allow-data-loss", "lock-timeout", ...commonFlags],
  positionals: { min: 0, max: Infinity, what: "" },
  complete: async (_, known) => orphanIds([...((await known.state())?.orphans.values() ?? [])]),
  run: removeOrphans,
});

/** Its id, or its kind and id where another orphan has that id as well. */
const chosenBy = (orphan: Orphan, orphans: readonly Orphan[]): string =>
  orphans.some((one) => one.id === orphan.id && one.kind !== orphan.kind) ? orphanKey(orphan) : orphan.id;

const orphanIds = (orphans: readonly Orphan[]) =>
  orphans.map((orphan) => ({ word: chosenBy(orphan, orphans), says: orphan.name }));

interface SearchedFrom {
  readonly client: ServiceClient;
  readonly desired: Desired;
}

async function listOrphans(invocation: Invocation): Promise<number> {
  const workspace = readWorkspace(invocation, { args: [], needed: false });
  const { prices } = workspace.desired;
  if (invocation.flags.refresh === "changed")
    throw fail("cli/bad-flag", "--refresh changed is for plans: an orphan does not change", "--refresh");
  if (invocation.flags.refresh !== "all")
    return showOrphans(invocation, openLocatedStore(invocation, workspace), prices);
  return withSession(invocation, workspace, ({ store, service }) =>
    showOrphans(invocation, store, prices, { client: service.client, desired: workspace.desired }),
  );
}

/**
 * `asked`: the service, which is asked about each orphan. A "not found" forgets no orphan here: a person decides what
 * it means.
 */
async function showOrphans(
  { output }: Invocation,
  store: StateStore,
  prices: Prices | undefined,
  asked?: SearchedFrom,
): Promise<number> {
  const state = await stateIn(store);
  const orphans = [...state.orphans.values()];
  const looked = asked === undefined ? undefined : await observeOrphans(asked.client, asked.desired, state, orphans);
  for (const orphan of orphans) {
    const seen = looked === undefined ? {} : { seen: looked.sight(orphan).seen };
    const { missingSince, record: _, deleting: __, replacedBy: ___, ...told } = orphan;
    const since = missingSince === undefined ? {} : { missing_since: missingSince };
    // sizeGb: scripts of before read that one.
    const size = onlyDefined({ size_gb: orphan.sizeGb });
    output.event({ type: "orphan", ...told, ...size, ...since, ...seen });
  }
  output.print(orphansText(orphans, looked?.sight));
  const cost = prices === undefined ? undefined : costOfOrphans(prices, orphans);
  if (cost !== undefined && orphans.length > 0) output.print(orphanCostText(cost));
  const diagnostics = looked?.findings ?? [];
  const extra = cost === undefined ? {} : { extra: { cost } };
  return output.finish({ exitCode: hasErrors(diagnostics) ? 1 : 0, orphans, diagnostics, ...extra });
}

function removeOrphans(invocation: Invocation): Promise<number> {
  const { args, flags, output } = invocation;
  if (flags.all === true ? args.length > 0 : args.length === 0)
    throw fail("cli/bad-flag", "orphans delete needs the ids of orphans, or --all", "reconcile orphans list");
  const workspace = readWorkspace(invocation, { args: [], needed: false });
  return withLockedSession(invocation, workspace, async ({ store, service }, stop) => {
    const { client } = service;
    const state = await stateIn(store);
    assertSameScope(state, scopeOf(client, workspace.desired));
    const wanted =
      flags.all === true ? [...state.orphans.values()] : [...new Set(args.map((id) => orphanCalled(id, state)))];
    if (wanted.length === 0) output.print("No orphans: there is nothing to delete.");
    const asked: SearchedFrom = { client, desired: workspace.desired };
    const isThere = ({ missingSince }: Orphan): boolean => missingSince === undefined;
    const deletable = wanted.filter((orphan) => isThere(orphan) && canDeleteOrphan(orphan, client.can));
    const doomed = allOfKind(deletable, "volume");
    if (doomed.length > 0 && flags["allow-data-loss"] !== true)
      return {
        exitCode: 3,
        diagnostics: doomed.map((orphan) => ({
          severity: "error",
          code: "consent/data-loss",
          summary: `volume ${orphan.name} (${orphan.id}) would be deleted with its data`,
          fix: "--allow-data-loss",
        })),
      };
    const watch: Watch = {
      client,
      clock: systemClock,
      timing: service.timing,
      signal: stop.soft,
      progress: (message) => output.note(message),
      waited: () => undefined,
    };
    const forget = async (orphan: Orphan): Promise<void> => {
      await changeState(invocation, store, () => [{ type: "orphan", key: orphanKey(orphan), orphan: null }]);
      output.print(`Forgot ${orphan.kind} ${orphan.name} (${orphan.id}): the service does not find it.`);
    };
    // Together, and before anything goes: one that shows is the proof that the others would be shown.
    const { sight } = await unlessStopped(stop.soft, observeOrphans(client, asked.desired, state, deletable));
    const known = deletable.filter((orphan) => !isContradicted(sight(orphan)));
    const there = known.filter((orphan) => sight(orphan).seen !== "gone");
    for (const orphan of known) if (!there.includes(orphan)) await forget(orphan);
    // Volumes last: what can be lost with one is lost only when everything else went well.
    const inOrder = [
      ...there.filter((orphan) => ofKind(orphan, "volume") === undefined),
      ...allOfKind(there, "volume"),
    ];
    for (const orphan of inOrder) {
      // A run that is cut off after the request leaves an orphan behind that was meant to go.
      await changeState(invocation, store, () => [orphanDeleting(orphan, true)]);
      const result = await deleteOrphan(orphan, watch, sight(orphan).seen === "yes");
      // A credential of another project is answered "not found" as well, so this orphan is forgotten only with the
      // proof that every "gone" takes.
      if (result === "not-found") {
        await changeState(invocation, store, () => [asBefore(orphan)]);
        const problems = await problemsOfGone([orphan], forget, store, asked);
        if (problems.length > 0) return { exitCode: 1, diagnostics: problems };
        continue;
      }
      if (result.end === "failed" && result.isSent !== true)
        await changeState(invocation, store, () => [asBefore({ ...orphan, ...result.learnt })]);
      if (result.end !== "done")
        throw fail(
          result.code ?? "service/unknown",
          `${orphan.kind} ${orphan.name} (${orphan.id}): ${result.message}`,
          result.fix === undefined ? undefined : adviceText(result.fix),
        );
      await changeState(invocation, store, () => [{ type: "orphan", key: orphanKey(orphan), orphan: null }]);
      output.print(`Deleted ${orphan.kind} ${orphan.name} (${orphan.id}).`);
      if (!result.effect.seen) output.note(unseenDeletion(orphan, result.effect.writes));
    }
    const ended = new Set(known);
    const diagnostics = await problemsOfGone(
      wanted.filter((orphan) => !ended.has(orphan)),
      forget,
      store,
      asked,
    );
    return { exitCode: hasErrors(diagnostics) ? 1 : 0, diagnostics };
  });
}

/** What was noted before the delete is taken back, unless an earlier command has sent one. */
const asBefore = (orphan: Orphan) => orphanDeleting(orphan, orphan.deleting === true ? true : undefined);

/** The service has accepted it, and nobody can look whether it is gone. */
const unseenDeletion = ({ kind, id }: Orphan, writes: readonly { readonly blind?: string }[]): string =>
  `Nobody can see whether ${kind} ${id} is gone: ${writes.map(({ blind = "it was not looked for" }) => blind).join("; ")}. The service's console tells.`;

/** By its id, or where two kinds share that, by kind and id: volume:106. */
function orphanCalled(id: string, { orphans }: State): Orphan {
  const keyed = orphans.get(id);
  const [orphan, ...others] = keyed === undefined ? [...orphans.values()].filter((one) => one.id === id) : [keyed];
  if (orphan !== undefined && others.length > 0)
    throw fail(
      "state/no-orphan",
      `${others.length + 1} orphans have the id ${id}: ${[orphan, ...others].map(({ kind, name }) => `${kind} ${name}`).join(", ")}`,
      fixText(...[orphan, ...others].map((one) => toRun(["orphans delete", orphanKey(one)], one.name))),
    );
  if (orphan !== undefined) return orphan;
  const ids = [...orphans.values()].map((one) => one.id);
  throw fail(
    "state/no-orphan",
    `there is no orphan ${id}`,
    nearestText(id, ids, (near) => `did you mean ${near}? All of them: reconcile orphans list`) ??
      "reconcile orphans list",
  );
}

/**
 * Takes orphans off the list that were deleted in the service's console: their user says so, and the service proves it.
 * The answer is what it does not prove.
 */
async function problemsOfGone(
  wanted: readonly Orphan[],
  forget: (orphan: Orphan) => Promise<void>,
  store: StateStore,
  { client, desired }: SearchedFrom,
): Promise<readonly Diagnostic[]> {
  if (wanted.length === 0) return [];
  // What this command has deleted by now is not looked for.
  const state = await stateIn(store);
  const { sight, findings } = await observeOrphans(client, desired, state, wanted);
  const diagnostics = [...findings];
  for (const orphan of wanted) {
    const { kind, name, id } = orphan;
    const sighting = sight(orphan);
    if (sighting.seen === "gone") await forget(orphan);
    else if (sighting.seen === "yes" && canDeleteOrphan(orphan, client.can))
      diagnostics.push({
        severity: "error",
        ...(orphan.missingSince === undefined
          ? {
              code: "service/not_found",
              summary: `${kind} ${name} (${id}): the service answered its delete with "not found", and yet shows it`,
              fix: "run the same command again: it looks first; if it does not help, delete it in the service's console",
            }
          : {
              code: "plan/shown-again",
              summary: `${kind} ${name} (${id}) was missing and shows again`,
              fix: "run reconcile apply; after that it is an orphan like any other",
            }),
      });
    else
      diagnostics.push({
        severity: "error",
        code: "service/unsupported",
        summary: `${kind} ${name} (${id}) is not known to be gone${sighting.seen === "unobserved" ? `: ${sighting.reason}` : ""}${kind !== "image" && !client.can.deletes(kind) ? `, and this service cannot delete ${kindRows[kind].noun}s` : ""}`,
        fix:
          sighting.seen === "unobserved" && sighting.vanished !== undefined
            ? `use a credential that is shown it; if it is gone, leave it on the list: it is harmless there`
            : `delete it in the service's console, then: reconcile orphans delete ${inShell(chosenBy(orphan, [...state.orphans.values()]))}`,
      });
  }
  return diagnostics;
}
