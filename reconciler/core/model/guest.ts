/**
 * Commands that are owed to the guest: what a file wants to run on a VM after it was made, or after a volume was
 * attached to it. A command is owed from before the request that makes it necessary until it ended with 0.
 */

import { deepEqual } from "../text/deep-equal";
import { nearestText } from "../text/nearest";
import { type Address, isMeant } from "./address";
import type { Text } from "./computed";
import type { Diagnostic } from "./diagnostic";
import { told, toRun } from "./fix";
import type { Command } from "./reference";

/** As the file names them, in the order in which a VM gets them. */
export const duties = ["after_ready", "after_attach"] as const;
export type Duty = (typeof duties)[number];

export const usualTimeoutMs: Readonly<Record<Duty, number>> = { after_ready: 15 * 60_000, after_attach: 5 * 60_000 };

/** A program that a file wants to run after something happened. */
export interface GuestCommand<T extends Text = Text> extends Command<T> {
  /** After that time the program is ended, with all it started. */
  readonly timeoutMs: number;
  /** A command that is written anew is owed again. Absent: only what happens in the service makes it owed. */
  readonly again?: "when_changed";
}

/** The keys under which a resource of the file, and its record, have the commands. */
export const commandKeys = { after_ready: "afterReady", after_attach: "afterAttach" } as const;

export interface Declares {
  readonly afterReady?: GuestCommand;
  readonly afterAttach?: GuestCommand;
}

export const commandOf = (declares: Declares, duty: Duty): GuestCommand | undefined => declares[commandKeys[duty]];

/** The commands that a resource declares. */
export const dutiesOf = (declares: object): readonly Duty[] =>
  duties.filter((duty) => commandOf(declares, duty) !== undefined);

/** What a name means: itself, or all of its block or its component (`shop/`) that declare a command. */
export function meantToOwe(named: string, declared: ReadonlyMap<Address, object>): readonly Address[] {
  const meant = [...declared].flatMap(([address, resource]) =>
    address !== named && isMeant(address, named) && dutiesOf(resource).length > 0 ? [address] : [],
  );
  return meant.length === 0 ? [named] : meant;
}

/** What is wrong with a wish that the commands of this address are owed again. `planned`: absent where nothing is left out. */
export function owesNothing(
  address: Address,
  declared: ReadonlyMap<Address, object>,
  planned: Pick<ReadonlyMap<Address, unknown>, "has"> = declared,
): Diagnostic[] {
  const isWhole = [...declared.keys()].some((one) => one !== address && isMeant(one, address));
  const resource = declared.get(address) ?? (isWhole ? {} : undefined);
  const severity = "error";
  if (resource === undefined) {
    const fix = nearestText(address, declared.keys(), (name) => `did you mean ${name}?`);
    return [{ severity, code: "plan/unknown-address", summary: `no file declares ${address}`, fix, address }];
  }
  if (dutiesOf(resource).length > 0) {
    if (planned.has(address)) return [];
    const summary = `the commands of ${address} cannot be owed by a plan that leaves it out`;
    const advice = [toRun(["owe", address], "the apply that takes it in runs them")];
    return [{ severity, code: "plan/target-too-narrow", summary, ...told(advice), address }];
  }
  const summary = `${address} declares no command that could be owed`;
  const fix = `write after_attach: { command: [program, argument, …] } on a volume or a VM, or after_ready on a VM; ${address} has neither`;
  return [{ severity, code: "state/nothing-open", summary, fix, address }];
}

/** How long it may take, and when it is owed again, makes no other command of it. */
export const isSameCommand = (one: GuestCommand, other: GuestCommand): boolean =>
  deepEqual(one.argv, other.argv) && deepEqual(one.env ?? [], other.env ?? []);

/**
 * Why a command is owed, the strongest last: a command that was not run after a create is still owed for that, also
 * after the volume was taken off and attached again.
 */
export const dueReasons = [
  "attached_again",
  "asked",
  "changed",
  "attached",
  "grown",
  "moved",
  "vm_rebuilt",
  "vm_replaced",
  "created",
] as const;
export type DueReason = (typeof dueReasons)[number];

/** A command that is owed, in the record of the resource that declares it. */
export interface Debt {
  readonly command: Duty;
  readonly reason: DueReason;
  /** ISO time from which on it is owed. */
  readonly since: string;
}

/** A command is owed once, since the first time, and for the strongest reason. */
export function withDebt(debts: readonly Debt[], added: Debt): readonly Debt[] {
  const known = debts.find(({ command }) => command === added.command);
  if (known === undefined)
    return [...debts, added].sort((a, b) => duties.indexOf(a.command) - duties.indexOf(b.command));
  const { reason } = added;
  if (dueReasons.indexOf(reason) <= dueReasons.indexOf(known.reason)) return debts;
  return debts.map((debt) => (debt === known ? { ...known, reason } : debt));
}

/** What a record owes; only some kinds of resources owe anything. */
export const debtsIn = (record: object | undefined): readonly Debt[] =>
  // Under this key every record has its debts.
  (record as { readonly owes?: readonly Debt[] } | undefined)?.owes ?? [];

export const debtOf = (record: object | undefined, duty: Duty): Debt | undefined =>
  debtsIn(record).find(({ command }) => command === duty);
