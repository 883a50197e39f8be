/**
 * What a write brought about, as a look shows it. An acknowledgement is no effect: a service may say yes and do nothing,
 * or do it later and fail. So a step that is done has an effect that was seen, or one that is still to be looked for.
 */
import type { Kind } from "./kinds";

/** What a write is to change, in the words of messages. */
export const effectFields = [
  "existence",
  "absence",
  "name",
  "description",
  "rule",
  "removed rule",
  "power",
  "flavor_id",
  "image_id",
  "size",
  "skip_floating_ip",
  "attach_to",
  "detached",
  "snapshot",
  "reboot",
] as const;
export type EffectField = (typeof effectFields)[number];

/** What a look is to show of one resource. */
export interface Expected {
  readonly kind: Kind;
  readonly id: string;
  readonly field: EffectField;
  /** In one spelling: a name in lower case, a rule's key, the id of a rule that is to be gone. */
  readonly value: string;
  /** For people, as the end of a sentence: `name: web-2`. */
  readonly said: string;
}

/** Why the effect of an accepted write was not seen. */
export type WhyUnseen =
  /** It was looked for, in vain. `where`: what was read. */
  | { readonly unseen: "not-shown"; readonly where: string }
  /** What was made is there, and failed since. */
  | { readonly unseen: "failed"; readonly status: string; readonly where: string }
  /** Nobody can look: no operation shows it, or the records that are read do not have it. */
  | { readonly unseen: "nobody-can-look"; readonly because: string }
  /** The run ended before anybody looked. */
  | { readonly unseen: "not-looked"; readonly because: string };

/** How a write ended. `C`: what is written down once it is known whether the effect shows. */
export type Effect<C> = { readonly seen: true } | { readonly seen: false; readonly writes: readonly Written<C>[] };

/** One thing that the service was told and has accepted, and that no look has shown yet. */
export interface Written<C> extends Expected {
  /** Why looking is no use. */
  readonly blind?: string;
  /** The answer to the write was a record that shows it. */
  readonly answered?: true;
  /** A part of a create. What was made is looked for beside it, so that only another value in its record counts. */
  readonly ofCreate?: true;
  /** Nobody wrote it: it showed before, and is looked at beside what was written. Only another value counts. */
  readonly beside?: true;
  /** What becomes true in the records when it shows, or when nobody can look. */
  readonly ifShown?: readonly C[];
  /** What is taken back in the records when it does not show. */
  readonly ifNot?: readonly C[];
}

/** An accepted write that was not seen, as a record remembers it. */
export interface UnseenWrite {
  readonly field: EffectField;
  readonly value: string;
  readonly said: string;
  /** ISO time at which the run began that the service said yes to. */
  readonly since: string;
  /** Where it was looked for. Absent: nobody can look. */
  readonly looked?: string;
}

/**
 * One write takes the place of another one: a later name of an earlier one, a detach of an attach, but no rule of
 * another rule.
 */
export const writeKey = ({ field, value }: Pick<Expected, "field" | "value">): string => {
  if (field === "rule" || field === "removed rule") return `${field} ${value}`;
  return field === "detached" ? "attach_to" : field;
};
