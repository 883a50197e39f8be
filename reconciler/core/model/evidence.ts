/**
 * What counts as "gone". Not to be seen is no proof: a credential of another project, another service at the same name
 * or a proxy in front of it show nothing either, and what is forgotten for that is made a second time. So `gone` is a
 * value that only this file makes, out of two proofs:
 *   an absence   a whole list that lacks it, or a not-found that the service itself said, twice;
 *   the scope    the same service, project and credential as the state remembers, proven kind by kind by seeing
 *                something of that kind again, or accepted by the user by name.
 * What lacks one of them is `unobserved`, with the reason.
 */
import { listed } from "../text/list-text";
import { type Kind, kindRows, kinds } from "./kinds";
import type { Scope } from "./recorded";

const earned: unique symbol = Symbol("earned");

export interface Gone {
  readonly seen: "gone";
  /** The evidence, as a clause for people: "the list of VMs, read to its end, does not show it". */
  readonly because: string;
  /** What the evidence lacks: it counts only once the user has said that this very resource is gone. */
  readonly doubt?: string;
  /** That this is the service of the state was not seen: the user says so. */
  readonly accepted?: boolean;
  readonly [earned]: true;
}

export interface Unobserved {
  readonly seen: "unobserved";
  readonly reason: string;
  /** The line of the dialect, or the flag, that would make the answer certain. */
  readonly fix?: string;
  /** It was looked for and not shown, and nothing of its kind proves that it would be shown. */
  readonly vanished?: { readonly because: string; readonly doubt: string };
  /** What the service shows beside its not-found, so that the answer to a delete proves nothing either. */
  readonly contradicted?: { readonly because: string; readonly hint: string };
}

type Contradicted = Unobserved & Required<Pick<Unobserved, "contradicted">>;

export const isContradicted = (look: { readonly seen: string } | Unobserved): look is Contradicted =>
  "contradicted" in look && look.contradicted !== undefined;

/** Seen, known to be gone, or unknown. */
export type Sighting<T> = { readonly seen: "yes"; readonly value: T } | Gone | Unobserved;

/** An absence before it is proven: whether the credential would be shown the resource is not known yet. */
export interface Absent {
  readonly seen: "absent";
  readonly because: string;
}

/** What a single look at the service found. */
export type Look<T> = { readonly seen: "yes"; readonly value: T } | Absent | Unobserved;

/** What a look has shown; `undefined`: nothing, for whatever reason. */
export const valueSeen = <T>(look: Look<T> | Sighting<T> | undefined): T | undefined =>
  look?.seen === "yes" ? look.value : undefined;

export const notLookedAt = { seen: "unobserved", reason: "it was not looked at" } as const satisfies Unobserved;

/** A list that was read to its end: a client rejects a list that it could not prove to be whole. */
export const notInList = (list: string): Absent => ({
  seen: "absent",
  because: `${list}, read to its end, does not show it`,
});

/** The service itself answered a read of this very resource with not-found, and did so again when asked again. */
export const notFoundTwice: Absent = { seen: "absent", because: "the service answered twice that it has no such id" };

/** What the service said of a resource that it does not have. */
export interface SaidGone {
  readonly httpStatus?: number;
  /** In the service's own words. */
  readonly message?: string;
  /** The request, such as `GET /api/v1/volume/ID`. */
  readonly asked?: string;
  /** The state that it shows, which means "gone" by the dialect. */
  readonly word?: string;
}

/**
 * The same with the answer itself: a reader can judge what the evidence rests on. Words with a digit are left out of the
 * service's sentence: they may be a number of the request, and the same world has to give the same plan.
 */
export function saidGoneTwice({ httpStatus, message = "", asked, word }: SaidGone): Absent {
  if (word !== undefined) return shownAsGone(asked ?? "the service", word);
  if (httpStatus === undefined || asked === undefined) return notFoundTwice;
  const said = message.replaceAll(/[^\s"'<>()]*\d[^\s"'<>()]*/g, "…").trim();
  const quote = said === "" || /^the service answered\b/.test(said) ? "" : `, ${JSON.stringify(said)}`;
  return { seen: "absent", because: `${notFoundTwice.because} (${asked}: HTTP ${httpStatus}${quote})` };
}

/** The service shows the resource in a state that the dialect calls gone. */
export const shownAsGone = (where: string, word: string): Absent => ({
  seen: "absent",
  because: `${where} shows it as ${word}, which the dialect calls gone`,
});

const provenMark: unique symbol = Symbol("proven");

/**
 * The proof that this is the service and the project of the state. `doubts`: the kinds of which nothing that is
 * remembered shows, with the reason why an absence proves nothing there.
 */
export interface ScopeProof {
  readonly [provenMark]: true;
  readonly doubts: Readonly<Partial<Record<Kind, string>>>;
  /** It is the user's word. */
  readonly accepted?: boolean;
}

/** Of one kind: the absence of a resource proves nothing. */
export interface KindDoubt {
  readonly doubt: string;
}

/** What a verdict proves of one kind. */
export function proofOf(verdict: ScopeProof | ScopeDoubt, kind: Kind): ScopeProof | ScopeDoubt | KindDoubt {
  const doubt = isDoubt(verdict) ? undefined : verdict.doubts[kind];
  return doubt === undefined ? verdict : { doubt };
}

export interface ScopeDoubt {
  /** `origin` and `project` are known before any request; the others follow from what the service showed. */
  readonly about: "origin" | "project" | "environment" | "credential";
  /** A sentence for people. */
  readonly reason: string;
}

export const isDoubt = (verdict: ScopeProof | ScopeDoubt | KindDoubt): verdict is ScopeDoubt => "reason" in verdict;

/** Whether more looks may find more proof. */
export const isOpen = (verdict: ScopeProof | ScopeDoubt): boolean =>
  isDoubt(verdict) || Object.keys(verdict.doubts).length > 0;

export interface ScopeEvidence {
  readonly remembered: Scope | undefined;
  readonly now: Scope;
  /** The user says that this is the right service, project and credential: `--accept-service`. */
  readonly accepted: boolean;
  /** The ids that the state remembers, as `vm:ID`: the resources first, then orphans and data volumes. */
  readonly recorded: readonly string[];
  /** The ids that the service showed, in the same spelling. */
  readonly seen: ReadonlySet<string>;
  /** Ids that the service does not show: recorded ones, what a run has sent the delete of, and open creates. */
  readonly absent: readonly string[];
  /** Recorded ids that this credential may not look at. */
  readonly forbidden: readonly string[];
  /** Something is to be made that the state does not have. */
  readonly creates: boolean;
  /** What the state knows beside its resources (left-over volumes, what others have) and is not shown any more. */
  readonly lost: readonly string[];
}

/** When more of one kind vanish than this, the reason is another service or credential. */
const fewResources = 3;

export function judgeScope(evidence: ScopeEvidence): ScopeProof | ScopeDoubt {
  const { remembered, now, recorded, seen, absent, forbidden, lost } = evidence;
  const whole: ScopeProof = { [provenMark]: true, doubts: {} };
  if (evidence.accepted) return { ...whole, accepted: true };
  const elsewhere = compareScopes(remembered, now);
  if (elsewhere !== undefined) return elsewhere;
  if (absent.length === 0 && !evidence.creates) return whole;
  const doubt = (reason: string): ScopeDoubt => ({ about: "credential", reason });
  const witnesses = [...recorded, ...(remembered?.sees ?? [])];
  const isVouched = witnesses.some((one) => seen.has(one));
  if (!isVouched && isAnother(remembered?.subject, now.subject))
    return doubt(
      "the credential speaks for somebody else than the one that this state was made with, and is shown nothing that this state remembers",
    );
  if (absent.length === 0) {
    // Nothing of the state's own is missing, and nothing shows: what is made now may be made in another project, unless the
    // credential says that it is the same one's.
    const isSame = remembered?.subject !== undefined && remembered.subject === now.subject;
    return isVouched || isSame || lost.length === 0 ? whole : doubt(showsNothingOf(lost));
  }
  if (forbidden.length > 0)
    return doubt(
      `the credential may not look at ${forbidden[0]}, which this state manages, so what it is not shown may still be there`,
    );
  if (witnesses.length > 0 && !isVouched) return doubt(showsNothingOf(witnesses));
  const missing = new Set(absent);
  for (const kind of kinds) {
    const ofKind = recorded.filter((one) => one.startsWith(`${kind}:`));
    // What a run has sent the delete of is missing, and not recorded: it did not vanish.
    if (ofKind.filter((one) => missing.has(one)).length > fewResources && !ofKind.some((one) => seen.has(one)))
      return doubt(`the service shows none of the ${ofKind.length} ${kind}s that this state remembers, all at once`);
  }
  return { [provenMark]: true, doubts: doubtsByKind(absent, witnesses, seen) };
}

const showsNothingOf = (witnesses: readonly string[]): string =>
  `the service shows nothing that this state remembers (${listed(witnesses, fewResources)}); a credential of another project is shown just that`;

/** Both are known. */
const isAnother = (remembered: string | undefined, now: string | undefined): boolean =>
  remembered !== undefined && now !== undefined && remembered !== now;

/**
 * A credential may lose the right to see one kind and keep the others, so what shows of one kind proves nothing about
 * another one.
 */
function doubtsByKind(
  absent: readonly string[],
  witnesses: readonly string[],
  seen: ReadonlySet<string>,
): ScopeProof["doubts"] {
  const doubts: Partial<Record<Kind, string>> = {};
  for (const kind of kinds) {
    const isOf = (one: string): boolean => one.startsWith(`${kind}:`) || one.startsWith(`${createOf}${kind}.`);
    const ofKind = witnesses.filter((one) => one.startsWith(`${kind}:`));
    if (!absent.some(isOf) || ofKind.length === 0 || ofKind.some((one) => seen.has(one))) continue;
    doubts[kind] =
      `the service shows no ${kindRows[kind].fullNoun} that this state remembers: a credential that may not see ${kindRows[kind].fullNoun}s is shown just that`;
  }
  return doubts;
}

/** How an open create is named among what is absent. */
export const createOf = "the create of ";

/** The environment of files that declare none. Without a file, nothing is said about the environment. */
export const noEnvironment = "";

/** The doubts that need no request. */
export function compareScopes(remembered: Scope | undefined, now: Scope): ScopeDoubt | undefined {
  if (remembered === undefined) return undefined;
  const doubt = (about: "origin" | "project" | "environment", noun: string, here: string): ScopeDoubt | undefined =>
    isAnother(remembered[about], now[about])
      ? { about, reason: `this state is of the ${noun} ${remembered[about]}, and ${here}` }
      : undefined;
  const { environment } = now;
  const chosen = environment === noEnvironment ? "the file declares none" : `${environment} was chosen`;
  return (
    doubt("origin", "service", `this is ${now.origin}`) ??
    doubt("project", "project", `the file names ${now.project}`) ??
    doubt("environment", "environment", chosen)
  );
}

export function weigh<T>(look: Look<T>, scope: ScopeProof | ScopeDoubt | KindDoubt): Sighting<T> {
  if (look.seen !== "absent") return look;
  const { because } = look;
  if (isDoubt(scope)) return { seen: "unobserved", reason: `${because}, but ${scope.reason}`, fix: acceptService };
  if ("doubt" in scope)
    return { seen: "unobserved", reason: `${because}, but ${scope.doubt}`, vanished: { because, doubt: scope.doubt } };
  return { seen: "gone", because, accepted: scope.accepted, [earned]: true };
}

/**
 * For a plan that would make a vanished resource anew: it is planned as if the absence were proven, and the plan needs
 * the user's word for it (core/plan/consent.ts), so that nothing is sent before that.
 */
export const presumedGone = ({ because, doubt }: NonNullable<Unobserved["vanished"]>): Gone => ({
  seen: "gone",
  because,
  doubt,
  [earned]: true,
});

/** The flag with which the user says that the service is the right one. */
export const acceptService = "--accept-service";
