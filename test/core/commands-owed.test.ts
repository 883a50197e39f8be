/** When a command in the guest is owed: what the record says, what a person asks for, and a command that is written anew. */
import { describe, expect, it } from "vitest";
import type { PlanOptions } from "../../reconciler/core/diff/context";
import type { GuestCommand } from "../../reconciler/core/model/desired";
import type { Debt } from "../../reconciler/core/model/guest";
import { planFor, vm } from "../support/sample-plans";

const command = (argv: string, more: Partial<GuestCommand> = {}): GuestCommand => ({
  ...{ argv: [argv], timeoutMs: 1000, ...more },
});
const debt: Debt = { command: "after_ready", reason: "created", since: "2026-01-01T00:00:00Z" };
const asked: PlanOptions = { owe: ["vm.web"] };

describe("after_ready", () => {
  it.each<[what: string, now: GuestCommand, owes: readonly Debt[], options: PlanOptions, reason: string | undefined]>([
    ["is not owed where nothing happened", command("a"), [], {}, undefined],
    ["is owed as the record says", command("a"), [debt], {}, "created"],
    ["is owed where a person asks for it", command("a"), [], asked, "asked"],
    ["keeps the first reason where a person asks for it as well", command("a"), [debt], asked, "created"],
    ["is not owed where it is written anew", command("b"), [], {}, undefined],
    ["is owed where it is written anew and says so", command("b", { again: "when_changed" }), [], {}, "changed"],
  ])("%s", (_, now, owes, options, reason) => {
    const before = vm("web", { afterReady: command("a") });
    const memory = { afterReady: command("a"), owes: owes.length === 0 ? undefined : owes };
    const plan = planFor({ desired: [{ ...before, afterReady: now }], applied: [{ ...before, memory }], options });
    expect(plan.owed?.map((one) => one.reason)).toEqual(reason === undefined ? undefined : [reason]);
  });
});
