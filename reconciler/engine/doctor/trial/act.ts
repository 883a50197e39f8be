/** An act of a trial: what it is about, what it does there, and refusals that are to be expected. */

import type { NewVm } from "../../../core/model/desired";
import type { Outcome } from "../../../core/model/outcome";
import { onlyDefined } from "../../../core/text/objects";
import type { ErrorRule } from "../../../dialect/dialect";
import type { ProbeRequest } from "../../../service/client";
import type { TrialThing } from "./notes";
import { telling } from "./say";
import { sendWrite } from "./send";
import type { Trial } from "./watch";

/** What the VM is made from, and which other flavor it is resized to. */
export interface TrialWish {
  readonly vm?: Omit<NewVm, "name">;
  readonly otherFlavor?: string;
  /** Volumes may stay, where no way to delete one is found. */
  readonly keepVolume?: true | undefined;
}

/** Everything that a trial makes, by what stands behind its name. */
export const trialParts = {
  vm: "",
  volume: "-v",
  /** Made and deleted before anything else: it tells whether volumes can be deleted. */
  firstVolume: "-p",
  group: "-a",
  namingGroup: "-b",
  /** One more of each, so that a list that is cut in silence does not show all. */
  thirdGroup: "-c",
  secondVolume: "-w",
} as const;
export type TrialPart = keyof typeof trialParts;

export interface Stage {
  readonly trial: Trial;
  /** What every name of this trial begins with; nothing else has it. */
  readonly name: string;
  readonly wish: TrialWish;
  /** The word of the VM as it runs, while nothing tells its states apart. */
  running: string | undefined;
  /** With these nothing more is done. */
  readonly failed: Set<TrialPart>;
  /** What was made under another name, since nobody knew what became of its first create. */
  readonly again: Set<TrialPart>;
}

export interface TrialAct<R extends TrialPart = TrialPart> {
  /** An act is left out while one of these is not there. */
  readonly of: readonly R[];
  does(stage: Stage, ids: Readonly<Record<R, string>>): Promise<void>;
}

export const trialAct = <R extends TrialPart>(of: readonly R[], does: TrialAct<R>["does"]): TrialAct => ({
  of,
  does: (stage, ids) => does(stage, ids),
});

export const partName = ({ name, again }: Pick<Stage, "name" | "again">, role: TrialPart): string =>
  name + trialParts[role] + (again.has(role) ? "-2" : "");

/** Whether the request was refused. The words of the refusal get a meaning, where the dialect gives them none. */
export async function refusedAs(
  trial: Trial,
  is: ErrorRule["is"],
  request: ProbeRequest,
  of?: { readonly kind: TrialThing["kind"]; readonly id: string },
): Promise<boolean> {
  trial.goOn();
  return isExpectedRefusal(trial, is, request, await sendWrite(trial, request, of));
}

export function isExpectedRefusal(
  trial: Trial,
  is: ErrorRule["is"],
  request: ProbeRequest,
  outcome: Outcome<unknown>,
): boolean {
  if (outcome.status === "accepted") {
    trial.say(`${request.operation} is not refused where ${is} was to be expected.`);
    return false;
  }
  if (outcome.status !== "rejected") return false;
  const isMeant = outcome.condition === is || (is === "name_taken" && outcome.condition === "conflict");
  // Where the service said nothing, the words are this program's own.
  const isSilent = /^the service (answered \d|redirects to )/.test(outcome.message);
  const message = isSilent ? undefined : telling(outcome.message);
  const isOfRequest = !otherRefusals.has(outcome.condition);
  if (!isMeant && isOfRequest && message !== undefined && !trial.errors.some((rule) => rule.is === is))
    trial.errors.push({ is, ...onlyDefined({ status: outcome.httpStatus }), message });
  return true;
}

/** What is refused so would be refused of anything. */
const otherRefusals: ReadonlySet<string> = new Set([
  "not_found",
  "invalid_id",
  "unauthenticated",
  "forbidden",
  "throttled",
  "unsupported",
]);
