/**
 * What a round does with its plan: nothing, apply it, or wait for a person. Only here does the fleet decide to change
 * the world, and everything it looks at is a value.
 */
import type { Consent, ConsentKind, Grants } from "../core/plan/consent";
import { missingConsents, noGrants } from "../core/plan/consent";
import { onlyDefined } from "../core/text/objects";
import type { Approve, StandingConsent } from "./model";
import type { Opening } from "./windows";

export interface PlanFacts {
  /** A digest of the plan with the revision and the state that it was made from. */
  readonly digest: string;
  /** Nothing would be sent and nothing recorded. */
  readonly empty: boolean;
  /** How many steps would be sent. */
  readonly steps: number;
  readonly consents: readonly Consent[];
  /** What the plan admits from the whole world that was not admitted before, in words. */
  readonly opens: readonly string[];
  /** Resources that the service shows otherwise than the state has them. */
  readonly drifted: readonly string[];
  /** Whether the state's store tells if the holder of its lock is alive. */
  readonly leases: boolean;
  /** A digest of what the files ask for, whatever there is. */
  readonly wish: string;
}

/** What one person said. */
export interface Voice {
  readonly by: string;
  /** The reason in a word. */
  readonly why?: string;
  readonly at: string;
}

export interface Approval extends Voice {
  readonly digest: string;
  readonly until: string;
  /** Who has approved the same plan besides. */
  readonly also?: readonly Voice[];
  /** A closed window does not hold the plan up. */
  readonly throughWindow?: true;
}

/**
 * A person may sign in by an address and have a token by a name: what stands before the @ is taken for a name of theirs,
 * because two people of one name are rarer than one person who approves twice.
 */
export function isSamePerson(one: string, other: string): boolean {
  const [name, ...host] = one.toLowerCase().split("@");
  const [otherName, ...otherHost] = other.toLowerCase().split("@");
  return name === otherName && (host.length === 0 || otherHost.length === 0 || host.join("@") === otherHost.join("@"));
}

/** The people who approved, each once. */
export function namesIn({ by, also = [] }: Approval): readonly string[] {
  const names = [by];
  for (const voice of also) if (!names.some((name) => isSamePerson(name, voice.by))) names.push(voice.by);
  return names;
}

/** A person does not want this plan. It stands until the files, the state or a person change it. */
export interface Rejection extends Voice {
  readonly digest: string;
}

/** A person wants a run undone. It stands until the files or a person change it. */
export interface UndoRequest extends Voice {
  /** The run of the fleet, and its id in the state. */
  readonly run: number;
  readonly id: string;
  /** It was undone while the files asked for this (`PlanFacts.wish`). Absent: it is still to be undone. */
  readonly held?: string;
  /** What was undone when this was asked for. */
  readonly before?: UndoRequest;
}

export const undoWhy = ({ run, by, why }: UndoRequest): string =>
  `it undoes run ${run}, as ${by} asked${why === undefined ? "" : `: ${why}`}`;

export const undoneWhy = ({ run, by, why }: UndoRequest): string =>
  `run ${run} was undone by ${by}${why === undefined ? "" : `: ${why}`}; the files still ask for what it did, and are not applied: revert it in them (git revert), or run it again`;

export const rejectedWhy = ({ digest, by, why }: Rejection): string =>
  `the plan ${digest} was rejected by ${by}${why === undefined ? "" : `: ${why}`}; change the files, or run it again`;

export type Decision =
  | { readonly do: "nothing" }
  | { readonly do: "apply"; readonly grants: Grants; readonly approval?: Approval }
  /** `voids`: the approval of this plan no longer counts. */
  | { readonly do: "await"; readonly why: string; readonly voids?: true }
  /** `rejected`: a person has decided so, and the reason says all of it. */
  | { readonly do: "observe"; readonly why: string; readonly rejected?: true }
  | { readonly do: "hold"; readonly why: string; readonly until?: Date };

interface PersonAsked {
  readonly rejection?: Rejection | undefined;
  readonly undo?: UndoRequest | undefined;
}

/** The rules in the order in which they count; each line is one of them. */
export function decide(
  facts: PlanFacts,
  {
    approve,
    consents,
    approvers = 1,
    because,
  }: {
    readonly approve: Approve;
    readonly consents: readonly StandingConsent[];
    readonly approvers?: number;
    /** Why a person decides this, whatever the stack does by itself. */
    readonly because?: string | undefined;
  },
  approval: Approval | undefined,
  opening: Opening,
  now: Date,
  asked: PersonAsked = {},
): Decision {
  const settled = withoutAsking(facts, because === undefined ? approve : "plan", asked);
  if (settled !== undefined) return settled;
  const valid = approval !== undefined && isValidFor(approval, facts.digest, now) ? approval : undefined;
  const approved = valid !== undefined && namesIn(valid).length >= approvers ? valid : undefined;
  const needs = approved === undefined ? (because ?? needsPerson(facts, approve, consents)) : undefined;
  if (needs !== undefined) return { do: "await", why: [...soFar(valid, approvers), needs].join("; ") };
  const isHeld = !opening.open && approved?.throughWindow !== true;
  if (approved !== undefined && isHeld)
    return {
      do: "await",
      voids: true,
      why: `${opening.why} began before the plan was carried out, so that the approval of ${namesIn(approved).join(" and ")} is void: approve it again${opening.until === undefined ? "" : ` after ${opening.until.toISOString()}`}`,
    };
  if (isHeld) return { do: "hold", why: opening.why, until: opening.until };
  if (approved !== undefined) return { do: "apply", grants: listed(facts.consents), approval: approved };
  return { do: "apply", grants: approve === "auto" ? standing(facts.consents, consents) : noGrants };
}

/** What needs no approval and no window; absent: the plan is to be carried out, if it may. */
function withoutAsking(facts: PlanFacts, approve: Approve, { rejection, undo }: PersonAsked): Decision | undefined {
  if (facts.empty) return { do: "nothing" };
  if (!facts.leases)
    return {
      do: "observe",
      why: "its state is in a store without leases, where a dead worker's lock would stand for ever: it is planned only; keep the state in PostgreSQL or S3",
    };
  if (approve === "never") return { do: "observe", why: "approve: never" };
  if (rejection?.digest === facts.digest) return { do: "observe", why: rejectedWhy(rejection), rejected: true };
  if (undo?.held === facts.wish) return { do: "observe", why: undoneWhy(undo), rejected: true };
  const guarded = facts.consents.find(({ kind }) => kind === "prevent_destroy");
  if (guarded !== undefined)
    return { do: "observe", why: `${guarded.detail}, which no approval permits: ${guarded.grant}` };
  // A plan that only records what became true changes nothing in the world.
  if (facts.steps === 0 && facts.consents.length === 0) return { do: "apply", grants: noGrants };
  return undefined;
}

/** Whether an approval is for this very plan and not too old. */
export const isValidFor = ({ digest, until }: Approval, plan: string, now: Date): boolean =>
  digest === plan && Date.parse(until) > now.getTime();

/** Whose approvals of this very plan count now. */
export const voicesIn = (approval: Approval | undefined, plan: string, now: Date): readonly string[] =>
  approval !== undefined && isValidFor(approval, plan, now) ? namesIn(approval) : [];

/** Who approved a plan before the merge and who did afterwards count together. */
export function joined(before: Approval, since: Approval | undefined, now: Date): Approval {
  if (since === undefined || !isValidFor(since, before.digest, now)) return before;
  const { by, at, why, also = [], throughWindow } = since;
  const voices = [...(before.also ?? []), { by, at, ...onlyDefined({ why }) }, ...also];
  return { ...before, also: voices, ...onlyDefined({ throughWindow }) };
}

/** What is missing where not everybody has approved who has to. */
function soFar(approval: Approval | undefined, approvers: number): string[] {
  if (approvers === 1) return [];
  const names = approval === undefined ? [] : namesIn(approval);
  const missing = approvers - names.length;
  return [
    names.length === 0
      ? `${approvers} people have to approve it`
      : `${names.join(" and ")} approved it, and ${missing === 1 ? "one more person has" : `${missing} more people have`} to`,
  ];
}

/** Why a person has to decide; absent: nobody has to. */
function needsPerson(
  { consents, opens }: PlanFacts,
  approve: Approve,
  permitted: readonly StandingConsent[],
): string | undefined {
  if (approve === "plan") return "every plan of this stack is approved by a person";
  const grants = approve === "auto" ? standing(consents, permitted) : noGrants;
  const missing = missingConsents(consents, grants);
  const opening = approve === "auto" && permitted.includes("open_world") ? [] : opens;
  if (missing.length === 0 && opening.length === 0) return undefined;
  return [...missing.map(({ detail }) => detail), ...opening].join("; ");
}

/** Whoever approves a plan that gives data up for good says why. */
export const asksWhy = (consents: readonly Pick<Consent, "grant">[]): boolean =>
  consents.some(({ grant }) => grant.includes("--allow-data-loss"));

/** Grants exactly the consents that the plan lists, because a person has read and approved them. */
const listed = (consents: readonly Consent[]): Grants => ({
  ...noGrants,
  approved: consents,
  confirmFlush: consents.flatMap(({ kind, address }) => (kind === "flush" && address !== undefined ? [address] : [])),
});

const standing = (consents: readonly Consent[], permitted: readonly StandingConsent[]): Grants => ({
  ...listed(consents.filter(({ kind, unproven }) => unproven !== true && isPermitted(kind, permitted))),
  standing: true,
});

const isPermitted = (kind: ConsentKind, permitted: readonly StandingConsent[]): boolean =>
  kind !== "prevent_destroy" && permitted.includes(kind);
