/** Whether the service is there and takes the credential, by asking for a volume that nobody has. */
import type { Diagnostic } from "../../core/model/diagnostic";
import type { DiagnosticCode } from "../../core/model/diagnostic-code";
import { operations } from "../../core/model/operation";
import type { Outcome } from "../../core/model/outcome";
import { onlyDefined } from "../../core/text/objects";
import { placeOfAbsence } from "../../dialect/conditions";
import type { Dialect } from "../../dialect/dialect";
import { type DoctorPorts, isOk, look, outcomeInWords, type SeenAnswer, saysNothingThere } from "./look";
import type { DoctorReport } from "./report";

/** An id that no resource has, so that every deployment answers with not-found. */
export const nobody = "00000000-0000-0000-0000-000000000000";

type WithId = "vm.start" | "volume.get" | "volume.resize" | "group.rule.list" | "group.rule.create";

export const pathWithId = (operation: WithId, id: string): string =>
  operations[operation].path.replace("{id}", () => encodeURIComponent(id));

/** The reads of the contract that show whether something has an id. */
const contractReads = { volume: "volume.get", group: "group.rule.list" } as const;

export const isReadByContract = (kind: string): kind is keyof typeof contractReads => kind in contractReads;

export function contractRead(kind: keyof typeof contractReads, id: string) {
  const operation = contractReads[kind];
  return { operation, method: "GET", path: pathWithId(operation, id) } as const;
}

/** Where no service has anything. */
export const nowhere = `/api/v1/${nobody}/${nobody}`;

export const lookNowhere = (ports: DoctorPorts): Promise<SeenAnswer> =>
  look(ports, { operation: "volume.get", path: nowhere });

/** What is asked for stands in many messages, and is no difference; nor is what each answer has of its own. */
export const saidOf = (asked: string, { status, body }: Pick<SeenAnswer, "status" | "body">): string =>
  JSON.stringify([status, body], (key, value: unknown) => (ofOneAnswer.test(key) ? undefined : value))
    .replaceAll(asked, "*")
    .replaceAll(nobody, "*");

const ofOneAnswer =
  /^((x[-_]?)?(request|trace|correlation|log)[-_]?id|timestamp|(server|response)[-_]?time|date|elapsed|duration|took)$/i;

/** Bearer, which is usual, is another way only where something else was said. */
const otherWays: readonly (readonly [name: string, header: string])[] = [
  ["Authorization", "Bearer {token}"],
  ["X-Auth-Token", "{token}"],
  ["Authorization", "Token {token}"],
  ["Authorization", "{token}"],
  ["X-Api-Key", "{token}"],
  ["Authorization", "ApiKey {token}"],
  ["Authorization", "Key {token}"],
  ["Authorization", "Basic {token}"],
  ["Authorization", "token {token}"],
  ["Api-Key", "{token}"],
  ["X-Api-Token", "{token}"],
  ["X-Access-Token", "{token}"],
  ["X-Auth-Key", "{token}"],
  ["Private-Token", "{token}"],
];

/**
 * A service that refuses the credential may want it in another header. The credential is sent in it to the same service
 * only.
 */
export async function enter(given: DoctorPorts, said: Pick<Dialect["authorization"], "name" | "header">) {
  const ask = (ports: DoctorPorts): Promise<SeenAnswer> => look(ports, contractRead("volume", nobody), 0);
  const seen = await ask(given);
  const isRefused = (answer: SeenAnswer): boolean =>
    answer.outcome.status === "rejected" &&
    (answer.outcome.condition === "unauthenticated" || answer.outcome.condition === "forbidden" || isSentAway(answer));
  if (!isRefused(seen)) return { ports: given, seen, authorization: undefined };
  for (const [name, header] of otherWays) {
    if (name === said.name && header === said.header) continue;
    const ports = given.withAuthorization?.(name, header);
    if (ports === undefined) break;
    const again = await ask(ports);
    if (!isRefused(again) && again.outcome.status !== "unavailable")
      return {
        ports: { ...ports, ...onlyDefined({ told: given.told }) },
        seen: again,
        authorization: { name, header },
      };
  }
  return { ports: given, seen, authorization: undefined };
}

/** A redirect in the place of an answer mostly leads to where people sign in, or to a page of what is not there. */
const isSentAway = ({ status = 0, location }: SeenAnswer): boolean =>
  status >= 300 && status < 400 && placeOfAbsence(location) === undefined;

export type First = Pick<DoctorReport, "reachable" | "credential" | "diagnostics">;

const problem = (code: DiagnosticCode, summary: string, detail: string, fix: string): Diagnostic => ({
  severity: "error",
  code,
  summary,
  detail,
  fix,
});

export const notThisService = (outcome: Outcome<unknown>): Diagnostic =>
  problem(
    "service/not-this-service",
    "Something answers, but it does not seem to be the service",
    outcome.status === "accepted"
      ? "it has an answer for a volume that nobody has, and no list anywhere"
      : outcomeInWords(outcome),
    "Check service.base_url: all paths (/api/v1/…) are put behind it.",
  );

/** Reachable, whatever may be said of the credential. */
const there = (credential: First["credential"], ...diagnostics: readonly Diagnostic[]): First => ({
  reachable: true,
  credential,
  diagnostics,
});

/** Asks for a volume that nobody has: a service that is there and takes the credential says that it does not exist. */
export function judgeFirst({ outcome, status = 0, body }: SeenAnswer): First {
  // It refuses inside a success, in words of its own or with a page: what they mean is learnt later. So is what an answer
  // for an id that nobody has means.
  const isSuccess = outcome.status !== "rejected" && isOk(status);
  if (isSuccess || saysNothingThere({ status, body }) || outcome.status === "accepted") return there("unknown");
  if (outcome.status !== "rejected") {
    const fix = outcome.status === "unavailable" ? outcome.fix : undefined;
    const usual = "Check service.base_url (or --base-url), and that this machine can reach it.";
    const unreachable = problem("service/unreachable", "The service cannot be reached", outcome.reason, fix ?? usual);
    return { reachable: false, credential: "unknown", diagnostics: [unreachable] };
  }
  switch (outcome.condition) {
    case "unauthenticated":
    case "forbidden":
      return there(
        "refused",
        problem(
          "service/credential-refused",
          "The service refuses the credential",
          outcome.message,
          "Check RECONCILE_TOKEN or RECONCILE_AUTHORIZATION. Where it wants more, show a request that it takes: --curl vm.list='curl …'.",
        ),
      );
    // Whether it is the service is told by what it has.
    case "refused":
    case "unsupported":
      return there("unknown");
    case "not_proven":
      return there("unknown", {
        severity: "warning",
        code: "service/not_proven",
        summary: "Asked for a volume that does not exist, the service does not answer in its own words",
        detail: outcome.message,
        fix: outcome.hint ?? "Check service.base_url: all paths (/api/v1/…) are put behind it.",
      });
    default:
      return there("accepted");
  }
}
