/** What the steps of a plan name by its id, and no address manages. */
import type { Address } from "../core/model/address";
import type { Reference } from "../core/model/desired";
import type { Kind } from "../core/model/kinds";
import type { Rule } from "../core/model/rule";
import type { Step } from "../core/plan/step";

export interface NamedInStep {
  readonly kind: Kind;
  readonly id: string;
  /** The address whose step names it. */
  readonly by: Address;
}

const unmanagedId = (kind: Kind, reference: Reference) => ("id" in reference ? [{ kind, id: reference.id }] : []);

const groupAdmitted = ({ remote }: Rule) => (remote.kind === "group" ? unmanagedId("group", remote.group) : []);

function namedIn({ action }: Step): readonly { readonly kind: Kind; readonly id: string }[] {
  switch (action.operation) {
    case "volume.attach":
      return unmanagedId("vm", action.vm);
    case "group.create":
      return action.rules.flatMap(groupAdmitted);
    case "group.rule.create":
      return groupAdmitted(action.rule);
    default:
      return [];
  }
}

export const namedInSteps = (steps: readonly Step[]): readonly NamedInStep[] =>
  steps.flatMap((step) => namedIn(step).map((named) => ({ ...named, by: step.address })));
