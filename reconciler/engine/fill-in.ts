/**
 * Fills in what only the service knows, when the step that needs it is carried out: from what the state remembers by
 * then, or by looking until the service shows it. What was found is recorded, and nothing is sent with a value missing.
 */

import {
  type Computed,
  computedName,
  fillText,
  isAddressAttribute,
  type OpenText,
  type Text,
} from "../core/model/computed";
import type { HealthCheck } from "../core/model/desired";
import { recordedValue } from "../core/model/facts";
import { ofKind } from "../core/model/kinds";
import { addressesShown, type LiveVm } from "../core/model/live";
import type { Rule } from "../core/model/rule";
import { computedOf, filled, type Step, type StepAction, type ValueOfComputed } from "../core/plan/step";
import { ruleWithAddress } from "../kinds/group/fill-in";
import { canSee } from "../kinds/vm/watch";
import { type Run, type StepResult, stoppedBefore } from "./run";

/** Why a value is not available. */
class NoValue extends Error {
  override readonly name = "NoValue";
  constructor(readonly result: StepResult) {
    super(result.message);
  }
}

/** The action with every value in it, or why it cannot be carried out. */
export async function fillIn(
  step: Step,
  run: Run,
): Promise<{ readonly action: StepAction } | { readonly end: StepResult }> {
  const { action } = step;
  const open = computedOf(action);
  if (open.length === 0) return { action };
  try {
    const values = new Map<string, string>();
    for (const computed of open) {
      const name = computedName(computed);
      if (!values.has(name)) values.set(name, await findValue(computed, step, run));
    }
    const value: ValueOfComputed = (computed) => values.get(computedName(computed)) ?? computed;
    return { action: filled(action, value, (rule) => filledRule(rule, value)) };
  } catch (error) {
    if (error instanceof NoValue) return { end: error.result };
    throw error;
  }
}

function filledRule(rule: Rule, value: ValueOfComputed): Rule {
  const described = rule.description === undefined ? rule : { ...rule, description: fillText(rule.description, value) };
  if (rule.remote.kind !== "computed") return described;
  const text = fillText(rule.remote.text, value);
  if (typeof text !== "string") return described;
  const made = ruleWithAddress(described, text, rule.remote.family);
  if ("rule" in made) return made.rule;
  throw new NoValue({
    end: "failed",
    code: "apply/value-not-shown",
    message: `nothing was sent: ${made.problem}`,
    fix: made.fix,
  });
}

/** The rule with its address as far as it is known by now, to compare rules; this waits for nothing. */
export const knownRule = (rule: Rule, run: Run): Rule =>
  filledRule(rule, (computed) => recordedValue(computed, run.recorder.state.resources) ?? computed);

async function findValue(computed: Computed, step: Step, run: Run): Promise<string> {
  const known = recordedValue(computed, run.recorder.state.resources);
  if (known !== undefined) return known;
  const { address, attribute } = computed;
  const id = ofKind(run.recorder.state.resources.get(address), "vm")?.id;
  if (!isAddressAttribute(attribute) || id === undefined || !canSee(run))
    throw new NoValue(failedNotShown(computed, "no record and no look has it"));
  const key = attribute === "private_ip" ? "privateIp" : "floatingIp";
  const started = run.ports.clock.now();
  run.progress(step, `waits for the ${attribute} of ${address}`);
  const waited = await run.poller.watch(
    ({ byId }) => settledFor(byId.get(id), key),
    run.ports.timing.discoveryWindowMs,
    [id],
    { signal: run.signal, soon: attribute },
  );
  run.waited(step, run.ports.clock.now() - started);
  if (waited.ended === "aborted") throw new NoValue(stoppedBefore(`waiting for the ${attribute} of ${address}`));
  const vm = waited.ended === "found" ? waited.value : undefined;
  const shown = vm?.[key];
  if (shown === undefined) throw new NoValue(failedNotShown(computed, `the service's record of it (${id}) shows none`));
  await run.recorder.record([{ type: "patch", address, of: id, fields: addressesShown(vm) }]);
  return shown;
}

/** The VM once nothing more is waited for: it shows the address, or it has failed and will show none. */
export const settledFor = (vm: LiveVm | undefined, key: "privateIp" | "floatingIp"): LiveVm | undefined =>
  vm !== undefined && (vm.phase === "failed" || vm[key] !== undefined) ? vm : undefined;

const failedNotShown = ({ address, attribute }: Computed, why: string): StepResult => ({
  end: "failed",
  code: "apply/value-not-shown",
  message: `nothing was sent: it needs the ${attribute} of ${address}, and ${why}`,
  ...(isAddressAttribute(attribute)
    ? {
        fix: `say in the dialect where the record has it: records: { vm: { ${attribute}: [/…] } }; then run the same command again`,
      }
    : { fix: "run the same command again" }),
});

/** Text after everything was filled in. A text that is still open here is a bug. */
export function plainText(text: Text): string {
  if (typeof text === "string") return text;
  throw new Error(`a value was not filled in: ${openNames(text)}`);
}

export function plainCheck(check: HealthCheck): HealthCheck<string> {
  switch (check.kind) {
    case "tcp":
      return check;
    case "http":
      return { ...check, url: plainText(check.url) };
    case "command":
      return { ...check, argv: check.argv.map(plainText) };
  }
}

const openNames = (text: OpenText): string =>
  text.parts.flatMap((part) => (typeof part === "string" ? [] : [computedName(part)])).join(", ");
