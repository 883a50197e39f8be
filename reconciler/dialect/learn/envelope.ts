/** How a service says no, learnt from what it said to an id that nobody has and from answers that went well. */
import { isObject, onlyDefined } from "../../core/text/objects";
import { isEnvelope } from "../conditions";
import type { Dialect, ErrorRule, RecordPlace } from "../dialect";
import { asText, compilePointers, findAtPath } from "../places";
import { type Leaf, leavesOf } from "./values";

export interface LearntEnvelope {
  readonly envelope: Partial<Dialect["envelope"]>;
  readonly errors: readonly ErrorRule[];
  /** The body of the answer. */
  readonly said: string;
}

const messageNames = [
  /^(message|msg|detail)$/,
  /^(reason|description)$/,
  /(message|msg|detail|reason|errortext|faultstring|explanation)$/,
  /^(error|text|title)$/,
];
const codeNames = [/^(code|errorcode|errcode|ret|retcode)$/, /code$/, /^reason$/, /^(id|errorid|type|status|kind)$/];

/** A code and no sentence, in which what was asked for stands. */
const isWord = /^(\S{1,80}|[\w ]{1,30})$/;

/** `undefined`: the service uses the contract's own form, or nothing can be learnt. */
export function learnRefusal(
  { status, body }: { readonly status: number; readonly body: unknown },
  successes: readonly unknown[],
): LearntEnvelope | undefined {
  // Inside a success the contract's own form has to be said as well.
  if (!isObject(body) || (isEnvelope(body) && status >= 300)) return undefined;
  const leaves = leavesOf(body).filter(({ place }) => typeof place === "string" || place.where === undefined);
  const message = named(leaves, messageNames, (value) => typeof value === "string" && value.length > 2);
  if (message === undefined) return undefined;
  const others = leaves.filter((leaf) => leaf !== message);
  const code = named(
    others,
    codeNames,
    (value) => value !== null && isWord.test(String(value)) && String(value) !== String(status),
  );
  const said = String(message.value);
  const saidCode = code === undefined ? undefined : asText(code.value);
  // A gateway speaks of the service that it did not reach, and not of what was asked for.
  if ([429, 502, 503, 504].includes(status)) return undefined;
  if (!isGoneStatus(status) && !saysAbsent.test(`${said} ${saidCode ?? ""}`)) return undefined;
  // A message that answers of success have as well tells nothing by being there.
  const [place] = compilePointers([message.place]);
  const isCommon = place !== undefined && successes.some((one) => (asText(findAtPath(one, place)) ?? "") !== "");
  const success = status < 300 ? successOf(leaves, successes) : isCommon ? successOf(others, successes) : undefined;
  const tells = !isCommon || success !== undefined || code !== undefined;
  return {
    envelope: onlyDefined({
      error: tells
        ? { code: code === undefined ? [] : [inAny(code.place)], message: [inAny(message.place)] }
        : undefined,
      success,
    }),
    errors: [
      onlyDefined({ is: "not_found" as const, status, code: saidCode, message: wordsOf(status, said, saidCode) }),
      // Inside a success every other code is a refusal as well.
      ...(status < 300 && code !== undefined ? [{ is: "refused" as const, status, code: "*" }] : []),
    ],
    said,
  };
}

/** A wrapper that is called as the refusal is (`itemNotFound`), or as what was asked for, is another one for each. */
function inAny(place: RecordPlace): RecordPlace {
  const [, inner] =
    typeof place === "string"
      ? (/^\/(?:\w*(?:not_?found|no_?such|unknown)\w*|\w{3,}response)(\/.+)$/i.exec(place) ?? [])
      : [];
  return inner === undefined ? place : { in: "/*", value: inner };
}

const isGoneStatus = (status: number): boolean => status === 404 || status === 410;

/** Words that say of what was asked for that it is not there. "Unknown" alone may be said of an error, or of a state. */
const saysAbsent =
  /not.?found|no such|(?:does not|doesn't|not) exist|unknown[ _-]?(?:volume|disk|drive|resource|object|entity|item|uuid|identifier|id\b)|(?:is|was) unknown/i;

/** A status that means other refusals as well needs the words of this one, unless a code tells it from those in a success. */
const wordsOf = (status: number, said: string, code: string | undefined): string | undefined =>
  isGoneStatus(status) || (status < 300 && code !== undefined) ? undefined : saysAbsent.exec(said)?.[0];

function named(
  leaves: readonly Leaf[],
  names: readonly RegExp[],
  fits: (value: Leaf["value"]) => boolean,
): Leaf | undefined {
  for (const name of names) {
    const found = leaves.find((leaf) => fits(leaf.value) && name.test(leaf.names[0] ?? ""));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What an answer says of how it went. Any other field, such as a count or a time, may differ by chance. */
const verdictName =
  /^(is)?(success(ful)?|succeeded|ok|fail(ed|ure)?|status|state|result|outcome|code|ret|error|errno|(ret(urn)?|err(or)?|status|result|response|reply)(code|no|status|state))$/;

/** A field with one value in all answers that succeeded, and another value in a refusal with the same HTTP status. */
function successOf(
  refused: readonly Leaf[],
  successes: readonly unknown[],
): Dialect["envelope"]["success"] | undefined {
  for (const { place, names, value } of refused) {
    if (typeof place !== "string" || place.split("/").length > 3 || !verdictName.test(names[0] ?? "")) continue;
    const [path] = compilePointers([place satisfies RecordPlace]);
    if (path === undefined) continue;
    const words = new Set(successes.map((body) => asText(findAtPath(body, path))));
    const [word] = words;
    if (words.size === 1 && word !== undefined && word !== String(value))
      return { value: place, is: /^-?\d{1,15}$/.test(word) ? Number(word) : word };
  }
  return undefined;
}
