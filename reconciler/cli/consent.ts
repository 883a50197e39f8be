/**
 * The consents that a plan needs before it may be carried out: those that the flags grant, and those that a person
 * gives.
 */
import type { Desired } from "../core/model/desired";
import { type Consent, type Grants, missingConsents } from "../core/plan/consent";
import type { Plan } from "../core/plan/plan";
import { listText } from "../core/text/list-text";
import { whereBriefly } from "../report/where-text";
import { askForWord, ask as askOn } from "./ask";
import type { Invocation } from "./command";
import { readCount } from "./compose";
import { choosingFlags, type Flags } from "./flags";
import type { MissingConsent } from "./refusal";
import type { Session } from "./session";

export interface PlanApproval {
  /**
   * The consents that the reviewed file lists; whoever approved it saw exactly these. Absent when the plan was not
   * reviewed.
   */
  readonly reviewed?: readonly Consent[];
}

export const grantsInFlags = (flags: Flags): Grants => ({
  allowDataLoss: flags["allow-data-loss"] === true,
  allowLoss: flags["allow-loss"] ?? [],
  allowEmpty: flags["allow-empty"] === true,
  confirmFlush: flags["confirm-flush"] ?? [],
  recreate: flags.recreate?.includes("all") === true ? "all" : (flags.recreate ?? []),
  allowRemoval: readRemoval(flags["allow-removal"]),
  acceptService: flags["accept-service"] === true,
  unprotect: flags.unprotect ?? [],
});

function readRemoval(given: string | undefined): Grants["allowRemoval"] {
  if (given === undefined) return 0;
  return given === "all" ? given : (readCount(given, "--allow-removal") ?? 0);
}

interface ConsentAnswer {
  readonly grants: Grants;
  /** Empty when every consent that is needed was given. */
  readonly refused: readonly MissingConsent[];
  /** A person answered no; the reason in a few words. */
  readonly cancelled?: string;
}

export async function getConsent(
  session: Session,
  plan: Plan,
  approval: PlanApproval,
  signal: AbortSignal,
): Promise<ConsentAnswer> {
  const given = grantsBeforehand(session.invocation, plan, approval);
  if (isAutomatic(session.invocation, plan, approval))
    return { grants: given, refused: missingConsents(plan.consents, given) };
  if (!isAsked(session.invocation, plan, approval))
    return {
      grants: given,
      refused: [
        ...missingConsents(plan.consents, given),
        {
          kind: "approval",
          detail: "the plan was not approved, and there is nobody to ask",
          grant: `--auto-approve (or save it with ${commandThatSaves(session.invocation)} and apply that)`,
        },
      ],
    };
  return askPerson(session, plan, given, screenForQuestions(), signal);
}

/** Without the flags that narrow it, the plan would be another one. Their values may be secrets. */
function commandThatSaves({ command, args, flags }: Invocation): string {
  const same = ([...choosingFlags, "prices"] as const)
    .filter((name) => flags[name] !== undefined)
    .map((name) => `--${name}`);
  const words = command === "undo" ? `undo ${args[0] ?? "RUN"}` : command === "destroy" ? "plan --destroy" : "plan";
  return `reconcile ${words} --out F${same.length === 0 ? "" : `, with the same ${listText(same)},`}`;
}

/** When one of the two streams goes into a file, the question is shown on the other. */
const screenForQuestions = () => (process.stderr.isTTY === true ? process.stderr : process.stdout);

/** Nobody has to say yes: it was said with a flag or in a review, or nothing is sent. */
const isAutomatic = ({ flags }: Invocation, { steps }: Plan, { reviewed }: PlanApproval): boolean =>
  flags["auto-approve"] === true || reviewed !== undefined || steps.length === 0;

const isAsked = (invocation: Invocation, plan: Plan, approval: PlanApproval): boolean =>
  !isAutomatic(invocation, plan, approval) &&
  process.stdin.isTTY === true &&
  screenForQuestions().isTTY === true &&
  !invocation.output.json;

/**
 * What is permitted before anybody answers. A protection is lifted by a person who types a name, or with a plan that
 * was reviewed; a flag alone lifts none.
 */
export function grantsBeforehand(invocation: Invocation, plan: Plan, approval: PlanApproval): Grants {
  const grants = { ...grantsInFlags(invocation.flags), approved: approval.reviewed ?? [] };
  const lifts = approval.reviewed !== undefined || isAsked(invocation, plan, approval);
  return lifts ? grants : { ...grants, unprotect: [] };
}

/** The name that stands for yes, where something protected is at stake. */
function wordToType({ isProtected, environment, project }: Desired, { consents }: Plan): string | undefined {
  if (isProtected === true && environment !== undefined) return environment;
  const lifted = consents.find(({ kind }) => kind === "prevent_destroy");
  return lifted === undefined ? undefined : (environment ?? project ?? lifted.address);
}

/** The person says yes to exactly the consents that are listed on the screen. */
async function askPerson(
  { invocation: { output }, workspace }: Session,
  plan: Plan,
  given: Grants,
  screen: typeof process.stdout | typeof process.stderr,
  signal: AbortSignal,
): Promise<ConsentAnswer> {
  const asked: Grants = {
    ...given,
    approved: plan.consents.filter(({ kind }) => kind === "data_loss"),
    confirmFlush: ["all"],
  };
  const missing = missingConsents(plan.consents, asked);
  if (missing.length > 0) return { grants: asked, refused: missing };
  const ask = (question: string): Promise<boolean> => askOn(question, signal, process.stdin, screen);
  for (const consent of missingConsents(plan.consents, given))
    if (consent.kind === "flush" && !(await ask(`${consent.detail}. Is it unmounted or synced?`)))
      return { grants: given, refused: [consent], cancelled: `${consent.address ?? "a volume"} is not flushed` };
  const losses = plan.consents.filter((consent) => consent.kind === "data_loss").length;
  const what =
    losses === 0
      ? "Apply this plan"
      : `Apply this plan, and lose what is listed above (${losses} ${losses === 1 ? "loss" : "losses"})`;
  const place = output.where === undefined ? "" : `${whereBriefly(output.where)}: `;
  const typed = wordToType(workspace.desired, plan);
  const isYes =
    typed === undefined
      ? await ask(`${place}${what}?`)
      : (await askForWord(`${place}${what}? Type ${typed} to apply:`, signal, process.stdin, screen)) === typed;
  if (isYes) return { grants: asked, refused: [] };
  const instead = typed === undefined ? "answer yes" : `type ${typed}`;
  return {
    grants: asked,
    refused: [{ kind: "approval", detail: "the plan was not approved", grant: `${instead}, or --auto-approve` }],
    cancelled: typed === undefined ? "the plan was not approved" : `the plan was not approved; type ${typed} to apply`,
  };
}
