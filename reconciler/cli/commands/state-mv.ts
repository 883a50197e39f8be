/** `reconcile state mv`: a record gets another address, in its state or in another one. Nothing is sent. */
import { componentOf, isComponentPath, kindOf, parseAddress, renamed } from "../../core/model/address";
import { type Fix, fixText, toSay } from "../../core/model/fix";
import { addressOfOrphan, movedIntent, movedOrphan, type State, type StateChange } from "../../core/model/recorded";
import type { StateStore } from "../../store/store";
import { command, type Invocation, two } from "../command";
import { fail, stateLocation } from "../compose";
import { commonFlags, type FlagName } from "../flags";
import { moveToState } from "../move/states";
import { readWorkspace } from "../workspace";
import { assertChosen, changeState, damagedRecord } from "../writing";
import { addressUnknown, meantBy, onStore } from "./state";

export const stateMvCommand = command({
  usage: "state mv FROM TO [--to-state URL]",
  summary: "gives a record another address, or another state",
  section: "The state",
  examples: [
    ["reconcile state mv vm.old vm.new", "a moved entry in the file does the same, for everybody"],
    [
      "reconcile state mv vm.db vm.db --to-state ../database/reconcile.state.json",
      "the record goes to another state, and nothing is sent",
    ],
  ],
  flags: ["file", "to-state", "lock-timeout", ...commonFlags],
  positionals: two("two addresses"),
  complete: (args, known) => (args.length === 0 ? known.recorded() : known.declared()),
  run: onStore(moveInState),
});

function movedTo(
  from: string,
  to: string,
  state: State,
  { elsewhere = false }: { readonly elsewhere?: boolean } = {},
): StateChange[] {
  const record = state.resources.get(from);
  const intent = state.intents.get(from);
  if (record === undefined && intent === undefined) throw addressUnknown(from, state);
  if (kindOf(from) !== kindOf(to))
    throw fail("state/bad-address", `${from} is a ${kindOf(from)} and cannot become ${to}`);
  const damaged = elsewhere ? undefined : damagedRecord(to, state);
  if (damaged !== undefined) throw damaged;
  if (!elsewhere && (state.resources.has(to) || state.intents.has(to)))
    throw fail("state/occupied", `the state already has a ${to}`, fixText(setAside(to)));
  return [
    ...(record === undefined
      ? []
      : [
          { type: "resource" as const, address: from, record: null },
          { type: "resource" as const, address: to, record: { ...record, address: to } },
        ]),
    ...(intent === undefined
      ? []
      : [
          { type: "intent" as const, address: from, intent: null },
          { type: "intent" as const, address: to, intent: movedIntent(intent, to) },
        ]),
    ...[...state.orphans].flatMap(([key, orphan]): StateChange[] =>
      addressOfOrphan(orphan) === from ? [{ type: "orphan", key, orphan: movedOrphan(orphan, to) }] : [],
    ),
  ];
}

/** What is forgotten in place of that would be left alive, and made a second time where the file goes on declaring it. */
function setAside(address: string): Fix {
  const other = `${componentOf(address)}${kindOf(address)}.OTHER`;
  const after = `, then the same command again; the next plan deletes ${other} unless the file declares it`;
  return toSay([["state mv", address, other], after], undefined);
}

async function moveInState(
  invocation: Invocation<FlagName, readonly [string, string]>,
  store: StateStore,
): Promise<number> {
  const [from, to] = invocation.args;
  const isComponent = from.endsWith("/");
  if (isComponent ? !isComponentPath(to) : parseAddress(to) === undefined)
    throw fail(
      "state/bad-address",
      `${to} is no ${isComponent ? "component" : "address"}`,
      isComponent
        ? "a component is KEY/, with [EACH] for for_each, and another one's within it: shop/, eu[a]/inner/"
        : "an address is vm.KEY, volume.KEY or group.KEY, with [EACH] for for_each, and KEY/ before it for a component",
    );
  const otherState = invocation.flags["to-state"];
  if (otherState !== undefined) {
    const location = stateLocation(readWorkspace(invocation, { args: [], needed: false }), invocation.flags);
    await moveToState(invocation, { store, location }, otherState, (state) => {
      assertChosen(state, invocation.flags);
      return meantBy(from, state).map((address) => {
        const next = isComponent ? renamed(address, from, to) : to;
        movedTo(address, next, state, { elsewhere: true });
        return [address, next];
      });
    });
    invocation.output.print(`${from} is ${to} in ${otherState} now. Nothing was sent to the service.`);
    return invocation.output.finish({ exitCode: 0 });
  }
  if (from === to) throw fail("cli/usage", `${from} has this address already`, "name the one that it is to have");
  await changeState(invocation, store, (state) =>
    meantBy(from, state).flatMap((address) => movedTo(address, isComponent ? renamed(address, from, to) : to, state)),
  );
  invocation.output.print(`${from} is ${to} now.`);
  return invocation.output.finish({ exitCode: 0 });
}
