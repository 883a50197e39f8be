/**
 * Accepted writes that no look has shown, told by every plan until they are settled. One that the service could have
 * shown is a warning, beside the change that is planned again; one that nobody can look at is a note.
 */

import type { ResourceDifference } from "../diff/all";
import { stillUnseen } from "../diff/effect";
import { type Address, kindOf } from "../model/address";
import type { Diagnostic } from "../model/diagnostic";
import type { DiagnosticCode } from "../model/diagnostic-code";
import type { EffectField, UnseenWrite, WhyUnseen } from "../model/effect";
import { fieldsOf } from "../model/fields";
import { type Fix, told, toSay } from "../model/fix";
import type { RecordedResource, State } from "../model/recorded";

/** What a step was to bring about, and no look has shown. */
export interface UnseenEffect {
  readonly address: Address;
  /** The step's. */
  readonly title: string;
  readonly field: EffectField;
  readonly said: string;
  readonly why: WhyUnseen;
}

/** In a sentence, without its address. */
export function unseenText({ said, why }: Pick<UnseenEffect, "said" | "why">): string {
  switch (why.unseen) {
    case "not-shown":
      return `the service accepted it and does not show it (${said}); looked for in ${why.where}`;
    case "failed":
      return `the service accepted it and shows the failed state ${why.status}; read from ${why.where}`;
    case "not-looked":
      return `the service accepted it, and nobody has seen it yet (${said}): ${why.because}`;
    case "nobody-can-look":
      return `the service accepted it, and nobody can see whether it did it (${said}): ${why.because}`;
  }
}

export function unseenDiagnostic(unseen: UnseenEffect): Diagnostic {
  const { address, title, field, why } = unseen;
  const summary = `${title}: ${unseenText(unseen)}`;
  return why.unseen === "nobody-can-look"
    ? { severity: "note", code: "plan/not-shown", summary, address, detail: unseenDetail(field) }
    : {
        severity: "warning",
        code: "apply/not-seen",
        summary,
        address,
        ...told([
          why.unseen === "failed"
            ? failedFix(address)
            : why.unseen === "not-looked"
              ? notLookedFix
              : unseenFix(address, field, "run the same command"),
        ]),
      };
}

const failedFix = (address: Address): Fix =>
  toSay(
    ["look at it in the service's console, and once nothing of it is wanted: ", ["apply", "--replace", address]],
    "look at it in the service's console; a replacement makes another one",
  );

const notLookedFix = toSay(["run the same command again: it looks first"], "run the update again: it looks first");

/** No record shows an act such as a reboot, whatever the dialect says. */
const unseenDetail = (field: EffectField): string =>
  field === "reboot" ? "The service's console tells." : shownDetail;

/** With the addresses. */
export const unseenTexts = (unseen: readonly UnseenEffect[]): string =>
  unseen.map((one) => `${one.address}: ${unseenText(one)}`).join("; ");

/** `again`: what sends it once more. At the end of a run that is the command that ran, and `apply` may undo that one. */
function unseenFix(address: Address, field: EffectField, ...again: Parameters<typeof toSay>[0]): Fix {
  if (field === "existence")
    return toSay(
      ["look for it in the service's console; if it is not there: ", ["apply", "--recreate", address]],
      "look for it in the service's console; after pulumi refresh the update makes anew what is not there",
    );
  const off = "take its public address off in the service's console; a";
  if (field === "skip_floating_ip")
    return toSay(
      [`${off} new one is made with: `, ["apply", "--replace", address]],
      `${off} replacement makes another one`,
    );
  // A new one would have the same name.
  const alone = "write the name as the service shows it, or leave it alone with";
  if (field === "name" && fieldsOf[kindOf(address)].name.effect === "replace")
    return toSay([`${alone} lifecycle: { ignore_changes: [name] }`], `${alone} ignoreChanges: ["name"]`);
  return toSay(
    [...again, sendsAgain, elseDo(field, (key) => `lifecycle: { ignore_changes: [${key}] }`)],
    `run the update${sendsAgain}${elseDo(field, (key) => `ignoreChanges: ["${key}"]`)}`,
  );
}

const sendsAgain = " again: it looks first, and sends again what is still missing; if it does not help, ";

/** What a service may show in its own words, however often it is sent. */
const inOwnWords: Readonly<Partial<Record<EffectField, string>>> = {
  name: "name",
  description: "description",
  image_id: "image_id",
  rule: "rules",
  "removed rule": "rules",
};

const elseDo = (field: EffectField, ignoring: (key: string) => string): string => {
  const key = inOwnWords[field];
  return key === undefined
    ? "do it in the service's console"
    : `write the ${key} as the service does, or leave the ${key} alone with ${ignoring(key)}`;
};

const shownDetail =
  "The service's console tells. An operation or a pointer of the dialect with which it can be looked at ends this note.";

function unseenNote(address: Address, { field, said, since, looked }: UnseenWrite): Diagnostic {
  const code: DiagnosticCode = looked === undefined ? "plan/not-shown" : "apply/not-seen";
  return looked === undefined
    ? {
        ...{ severity: "note", code, address },
        summary: `nobody can see whether the service did what it accepted for ${address} in the run of ${since} (${said})`,
        detail: shownDetail,
      }
    : {
        ...{ severity: "warning", code, address },
        summary: `the service was sent a write to ${address} in the run of ${since} and did not show it (${said}); looked for in ${looked}`,
        ...told([unseenFix(address, field, "run ", ["apply"])]),
      };
}

/** What of a record's unseen writes is still so after the look that the plan was made from. */
export const unseenNotes = (
  differences: readonly ResourceDifference[],
  { resources }: Pick<State, "resources">,
): Diagnostic[] =>
  differences.flatMap((difference) =>
    stillUnseen(resources.get(difference.address)?.unseen ?? [], difference.live, difference.action === "none").map(
      (write) => unseenNote(difference.address, write),
    ),
  );

/** The same where nothing is wished: whatever does not show is told. */
export const unseenOf = ({ address, unseen = [] }: RecordedResource, live: ResourceDifference["live"]): Diagnostic[] =>
  stillUnseen(unseen, live, false).map((write) => unseenNote(address, write));
