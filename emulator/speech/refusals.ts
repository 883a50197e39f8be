/** Refusals in the words of a dialect. */
import { isBodyObject } from "../fields";
import { firstOf, type RefusalRule, type SpokenDialect } from "./spoken";
import { RecordDraft } from "./write";

export interface SaidRefusal {
  readonly status: number;
  readonly body: unknown;
}

/** The condition of each refusal, by its status and its words. */
const refusalMeanings: readonly (readonly [is: string, status: number, message?: RegExp])[] = [
  ["invalid_id", 400, /^invalid id/],
  ["flush_not_confirmed", 400, /flush/],
  ["root_disk", 400, /root/],
  ["bad_request", 400],
  ["unauthenticated", 401],
  ["forbidden", 403],
  ["unsupported", 404, /nothing at this path/],
  ["not_found", 404],
  ["unsupported", 405],
  ["rule_exists", 409, /rule already exists/i],
  ["invalid_state", 409, /invalid state/],
  ["volume_attached", 409, /volume is attached/i],
  ["group_attached", 409, /attached to one or more VMs/i],
  ["name_taken", 409, /name/i],
  ["conflict", 409],
  ["throttled", 429],
];

/** The condition whose code is used where the dialect has none for a condition. */
const likewise: Readonly<Record<string, string>> = {
  name_taken: "conflict",
  invalid_state: "conflict",
  invalid_id: "bad_request",
};

export function refusalIn(dialect: SpokenDialect, { status, body }: SaidRefusal): SaidRefusal {
  const own = isBodyObject(body) && isBodyObject(body["error"]) ? body["error"] : {};
  const message = String(own["message"] ?? "refused");
  const is = refusalMeanings.find(
    ([, at, words]) => at === status && (words === undefined || words.test(message)),
  )?.[0];
  const rule = refusalRuleFor(dialect, is);
  const { error, success } = dialect.envelope;
  const draft = new RecordDraft();
  if (success !== undefined) draft.set(success.value, notDone(firstOf(success.is)));
  const code = refusalCode(rule) ?? (error.message.length === 0 || success === undefined ? status : status * 100);
  if (error.message.length === 0) {
    draft.set("/error/code", typeof code === "number" ? code : status);
    draft.set("/error/message", worded(rule, message));
  } else {
    draft.put(error.code[0], code);
    draft.put(error.message[0], worded(rule, message));
  }
  // A service that says in every answer whether it succeeded puts refusals into answers with status 200.
  const isInside = success !== undefined && rule !== undefined && rule.status === undefined;
  return { status: rule?.status ?? (isInside ? 200 : status), body: draft.value };
}

function refusalRuleFor({ errors }: SpokenDialect, is: string | undefined): RefusalRule | undefined {
  const of = (word: string | undefined): RefusalRule | undefined => errors.find((rule) => rule.is === word);
  if (is === undefined || is === "unsupported" || is === "unauthenticated") return of(is);
  return of(is) ?? of(likewise[is]) ?? of("refused");
}

/** A text that fits the pattern: any word may stand for `*`. */
function refusalCode(rule: RefusalRule | undefined): string | number | undefined {
  if (rule?.code === undefined) return undefined;
  const text = String(rule.code).replaceAll("*", "0");
  return /^\d+$/.test(text) ? Number(text) : text;
}

function worded(rule: RefusalRule | undefined, message: string): string {
  const wanted = rule?.message;
  if (wanted === undefined) return message;
  const pieces = wanted.toLowerCase().split("*");
  let from = 0;
  const isThere = pieces.every((piece) => {
    const at = message.toLowerCase().indexOf(piece, from);
    from = at + piece.length;
    return at >= 0;
  });
  // Spaces beside the star stay two.
  return isThere ? message : `${wanted.replaceAll("*", "one")}: ${message}`;
}

const notDone = (done: unknown): string | number | boolean =>
  typeof done === "number" ? done + 1 : typeof done === "boolean" ? !done : "failed";
