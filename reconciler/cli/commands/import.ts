/**
 * `reconcile import ADDR ID`: takes an existing resource over. With `--generate` it prints the YAML as well; for an
 * address that is not declared yet it prints the block with its imports entry and records nothing.
 */

import { isUuid } from "../../core/canonical/catalogue";
import { nameProblem } from "../../core/canonical/names";
import { keepersIn } from "../../core/diff/context";
import { pairResources } from "../../core/diff/pair";
import {
  type Address,
  type AddressParts,
  formatAddress,
  type Kind,
  kindOf,
  parseAddress,
} from "../../core/model/address";
import { hasErrors } from "../../core/model/diagnostic";
import { type Advice, adviceText, fixText, toAsk, toRun } from "../../core/model/fix";
import { identity } from "../../core/model/identity";
import { definitionOf, kindRows } from "../../core/model/kinds";
import type { RecordedResource, State } from "../../core/model/recorded";
import { idProblem } from "../../core/text/id-problem";
import { inShell } from "../../core/text/in-shell";
import { nearestText } from "../../core/text/nearest";
import { printable } from "../../core/text/printable";
import { listOfKind } from "../../engine/observe";
import { assertSameScope, scopeOf } from "../../engine/scope";
import type { ServiceClient } from "../../service/client";
import { type CompletionSources, command, type Invocation, type Suggestion, two } from "../command";
import { fail, stateIn } from "../compose";
import { CommandFailed } from "../crash";
import { projectOfSession } from "../externals";
import { commonFlags } from "../flags";
import { unlessStopped } from "../session";
import { heldBySibling } from "../siblings";
import {
  assertExists,
  changesThatForget,
  printYaml,
  settleUndeclared,
  takeOverResource,
  type Wish,
} from "../take-over";
import { withLockedSession, withSession } from "../with-session";
import { readWorkspace, type Workspace } from "../workspace";

export const importCommand = command({
  usage: "import ADDR ID [--generate]",
  summary: "takes an existing resource over",
  section: "Taking over and handing on",
  examples: [
    [
      "reconcile import vm.db 8fc19b74-c152-4a95-b91b-9f72680463d9",
      "vm.db must be declared; nothing changes in the service",
    ],
    [
      "reconcile import vm.db 8fc19b74-c152-4a95-b91b-9f72680463d9 --generate",
      "prints the YAML that declares it as it is",
    ],
  ],
  flags: ["file", "generate", "lock-timeout", ...commonFlags],
  positionals: two("an address and an id"),
  complete: suggestUndeclared,
  async run(invocation) {
    const [address, given] = invocation.args;
    const { flags } = invocation;
    const parts = readWords(address, given);
    const workspace = readWorkspace(invocation, { args: [], needed: flags.generate !== true });
    const isDeclared = workspace.desired.resources.some((resource) => resource.address === address);
    if (!isDeclared && flags.generate === true) {
      const { each, ...block } = parts;
      if (each !== undefined)
        throw fail(
          "import/for-each",
          `${address} is one instance of a for_each, whose block cannot be told from one of them`,
          `reconcile import ${inShell(formatAddress({ ...block, key: `${block.key}-${each}` }))} ${inShell(given)} --generate`,
        );
      return generate(invocation, workspace, address, given);
    }
    return withLockedSession(invocation, workspace, async (session, stop) => {
      const look = <T>(looking: Promise<T>): Promise<T> => unlessStopped(stop.soft, looking);
      const { store, service } = session;
      const { client } = service;
      const state = await stateIn(store);
      if (!isDeclared && !isCreateOpen(state, address)) throw undeclaredAddress(address, given, workspace);
      assertSameScope(state, scopeOf(client, workspace.desired));
      const id =
        definitionOf(parts.kind).takenByName === true ? await look(idOfNamed(parts.kind, client, given)) : given;
      const recorded = state.resources.get(address);
      const isManaged = recorded?.id !== undefined && !state.intents.has(address);
      const gone = isManaged ? await look(changesThatForget(client, workspace, state, address)) : undefined;
      refuseMoved(workspace, state, address);
      refuseManaged(workspace, state, address, id);
      if (isManaged && gone === undefined) {
        // Nobody is told to forget what is there for the sake of what is not.
        await look(assertExists(client, workspace, state, { to: address, id }));
        throw fail(
          "state/occupied",
          `${address} is ${recorded.id} already`,
          `${fixText(toRun(["state rm", address], "forgets it, leaves it alive"))}, then import`,
        );
      }
      const held = await look(heldBySibling(session, parts.kind, address, id));
      if (hasErrors(held)) throw new CommandFailed(held);
      for (const { summary, fix } of held) invocation.output.note(`${summary}; ${fix}`);
      // An open create knows what the resource was made with: only the id of the resource is missing.
      const made = state.intents.get(address)?.record ?? (isWithoutId(recorded) ? recorded : undefined);
      const wish: Wish = { invocation, workspace, store, client, state, address, id, made, gone, look };
      return !isDeclared && made !== undefined
        ? settleUndeclared(wish, made)
        : takeOverResource(wish, await look(projectOfSession(session).close()));
    });
  },
});

async function suggestUndeclared(args: readonly string[], known: CompletionSources): Promise<readonly Suggestion[]> {
  if (args.length > 0) return [];
  const managed = new Set((await known.recorded()).map(({ word }) => word));
  return known.declared().filter(({ word }) => !managed.has(word));
}

function readWords(address: string, given: string): AddressParts {
  const parts = parseAddress(address);
  if (parts === undefined)
    throw fail(
      "state/bad-address",
      `${address} is no address`,
      "an address is vm.KEY, volume.KEY or group.KEY, with [EACH] for for_each",
    );
  const unusable = idProblem(given);
  if (unusable !== undefined)
    throw fail(
      "service/invalid_id",
      `the id ${JSON.stringify(printable(given.slice(0, 80)))} ${unusable}`,
      "give the id as the service shows it",
    );
  return parts;
}

function undeclaredAddress(address: Address, given: string, { desired }: Workspace) {
  const declared = desired.resources.map((resource) => resource.address);
  return fail(
    "plan/unknown-address",
    `${address} is not declared`,
    nearestText(address, declared, (near) => `did you mean ${near}?`) ??
      `declare it first; reconcile import ${inShell(address)} ${inShell(given)} --generate prints its YAML`,
  );
}

/** What is to have this address by a moved entry would stand in the way of what was imported there. */
function refuseMoved({ desired }: Workspace, state: State, address: Address): void {
  const { movedFrom } = pairResources(desired, state).pairs.find((pair) => pair.address === address) ?? {};
  if (movedFrom !== undefined)
    throw fail(
      "state/occupied",
      `a moved entry gives ${address} what the state has as ${movedFrom}`,
      `${fixText(toRun(["state mv", movedFrom, address]))}, then import`,
    );
}

/** An address that has a record or an open create is no place to move to. A freed id may be the one that it was given. */
function instead(state: State, address: Address, owner: Address): Advice {
  if (state.intents.has(address))
    return [
      toAsk("another id"),
      toRun(["state rm", owner], `then import again, where ${owner} is gone and its id was given to ${address}`),
    ];
  return [state.resources.has(address) ? toAsk("another id") : toRun(["state mv", owner, address])];
}

function refuseManaged({ desired }: Workspace, state: State, address: Address, id: string): void {
  const owner = [...state.resources.values()].find(
    (record) => record.kind === kindOf(address) && record.id === id && record.address !== address,
  );
  if (owner !== undefined)
    throw fail(
      "state/occupied",
      `${id} is managed as ${owner.address} already`,
      adviceText(instead(state, address, owner.address)),
    );
  const keeper = keepersIn(desired, state)(identity(kindOf(address), id));
  if (keeper !== undefined)
    throw fail(
      "state/occupied",
      `${id} is the own data volume of ${keeper}`,
      `leave it to ${keeper}, whose size grows it`,
    );
}

/** Whether a create of this address was sent and its outcome is open. Its block may have left the file since. */
const isCreateOpen = (state: State, address: Address): boolean =>
  state.intents.get(address)?.record !== undefined || isWithoutId(state.resources.get(address));

const isWithoutId = (record: RecordedResource | undefined): boolean => record !== undefined && record.id === undefined;

/** A VM may be given by its name. A text that is no VM's name is taken for an id. */
async function idOfNamed(kind: Kind, client: ServiceClient, given: string): Promise<string> {
  if (isUuid(given) || nameProblem(given) !== undefined || !client.can.canFindCreated(kind)) return given;
  const listed = await listOfKind(kind, client);
  if (listed.status !== "accepted" || listed.value.some(({ id }) => id === given)) return given;
  const named = listed.value.filter(({ name }) => name?.toLowerCase() === given.toLowerCase());
  if (named.length > 1)
    throw fail(
      "pull/several",
      `several ${kindRows[kind].noun}s are called ${given}: ${named.map(({ id }) => id).join(", ")}`,
      "give the id of one of them",
    );
  return named[0]?.id ?? given;
}

function generate(invocation: Invocation, workspace: Workspace, address: string, given: string): Promise<number> {
  return withSession(invocation, workspace, async ({ store, service }) => {
    const state = await stateIn(store);
    const diagnostics = await printYaml(invocation, service.client, address, given, state, true);
    return invocation.output.finish({ exitCode: hasErrors(diagnostics) ? 1 : 0, diagnostics });
  });
}
