/** Sends the writes of a trial: with the version that they need, their jobs waited for, and again where one was refused for now. */

import type { Outcome } from "../../../core/model/outcome";
import { conditionOfJob } from "../../../dialect/conditions";
import { leavesOf } from "../../../dialect/learn/values";
import { showPlace } from "../../../dialect/places";
import { versionShown, withVersion } from "../../../dialect/requests";
import type { ProbeRequest } from "../../../service/client";
import { look } from "../look";
import { failureOfJob, learnJob } from "./jobs";
import type { TrialThing } from "./notes";
import { asksForVersion, versionsIn } from "./versions";
import type { Trial } from "./watch";

/** What a write is about. */
interface WriteTarget {
  readonly kind: TrialThing["kind"];
  readonly id: string;
}

/** Sends a write by itself, with the version that it needs, and waits for its job; ends with the body of the answer. */
export const sendWrite = async (trial: Trial, request: ProbeRequest, of?: WriteTarget): Promise<Outcome<unknown>> =>
  versioned(trial, async () => {
    const { outcome, body } = await look(trial.ports.doctor, await versionedRequest(trial, request, of));
    if (outcome.status === "accepted") await learnJob(trial, body);
    const failure = outcome.status === "accepted" ? await failureOfJob(trial, body) : undefined;
    if (failure === undefined) return outcome.status === "accepted" ? { ...outcome, value: body } : outcome;
    const condition = conditionOfJob(request.operation, failure, trial.report.dialect.errors);
    return { status: "rejected", condition, message: failure };
  });

/** Where a refusal asks for a version: with each that the records show, until one is taken. */
export async function versioned<T>(
  trial: Pick<Trial, "report" | "learn" | "learnt" | "say">,
  send: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const first = await send();
  if (!asksForVersion(first) || trial.report.dialect.fingerprint !== undefined) return first;
  for (const fingerprint of versionsIn(trial.report)) {
    trial.learn({ fingerprint });
    const outcome = await send();
    if (asksForVersion(outcome)) continue;
    trial.say(
      `A write has to send the version that ${fingerprint.header ?? showPlace(fingerprint.from[0] ?? "")} shows, as ${fingerprint.send}.`,
    );
    return outcome;
  }
  const { fingerprint: _, ...dialect } = trial.report.dialect;
  trial.learnt({ ...trial.report, dialect });
  return first;
}

async function versionedRequest(
  trial: Trial,
  request: ProbeRequest,
  of: WriteTarget | undefined,
): Promise<ProbeRequest> {
  const { fingerprint } = trial.report.dialect;
  if (fingerprint === undefined || of === undefined) return request;
  const { record, headers } = await trial.shownNow(of.kind, of.id);
  const inRecord = leavesOf(record).find(({ place }) =>
    fingerprint.from.some((from) => typeof place === "string" && typeof from === "string" && place.endsWith(from)),
  )?.value;
  const version = inRecord ?? versionShown(fingerprint, record, headers);
  return version === undefined
    ? request
    : {
        ...request,
        ...withVersion(request, fingerprint.send, typeof version === "number" ? version : String(version)),
      };
}

/** Sends what a resource that was just made may refuse for a moment, or what may not have arrived. */
export async function persist<T>(trial: Trial, once: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
  const send = () => versioned(trial, once);
  let outcome = await send();
  for (let again = 0; again < 4 && isBusy(outcome); again++) {
    await trial.wait(2 ** again);
    outcome = await send();
  }
  return outcome;
}

/** Refused for now, or lost: sent again, nothing is done twice that the trial would notice. */
const isBusy = (outcome: Outcome<unknown>): boolean =>
  outcome.status === "unavailable" ||
  outcome.status === "unknown" ||
  (outcome.status === "rejected" &&
    (busyConditions.has(outcome.condition) || [400, 409, 412, 423, 425].includes(outcome.httpStatus ?? 0)));

const busyConditions: ReadonlySet<string> = new Set([
  "conflict",
  "invalid_state",
  "volume_attached",
  "group_attached",
  "refused",
]);
