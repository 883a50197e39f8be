/**
 * The job with which a service answers an accepted write: it is asked for until it is done or has failed. A job that
 * failed is a refusal in its own words; one that cannot be followed leaves the write as one whose answer was lost.
 */
import { failureText, type Outcome, rejected } from "../core/model/outcome";
import { fieldsIn, isObject } from "../core/text/objects";
import type { Dialect, JobRoute } from "../dialect/dialect";
import { readJob } from "../dialect/jobs";
import { compilePointers, findText } from "../dialect/pointers";
import { fillRoute } from "../dialect/requests";
import type { Clock } from "./clock";

export interface JobPorts {
  readonly dialect: Dialect;
  readonly clock: Clock;
  readonly pollMs: number;
  readonly mostMs: number;
  /** Reads once, with the repeats of any read; the body of the answer. What is a failed job is no refusal of the read. */
  ask(
    method: JobRoute["method"],
    path: string,
    headers: Readonly<Record<string, string>> | undefined,
    body: unknown,
    isFailedJob: (body: unknown) => boolean,
  ): Promise<Outcome<unknown>>;
  readonly signal: AbortSignal | undefined;
}

/** `undefined`: the answer names no job, or its job is done. */
export async function awaitJob(answer: unknown, ports: JobPorts): Promise<Outcome<never> | undefined> {
  const { dialect, clock, pollMs, mostMs, signal } = ports;
  const { wait } = dialect;
  if (wait === undefined) return undefined;
  const id = findText(answer, compilePointers(wait.id));
  if (id === undefined || id === null || id === "") return undefined;
  const filled = fillRoute(wait, { id }, dialect);
  if (filled === undefined) return jobLost(`the id of its job (${id}) is none`);
  const start = clock.now();
  for (let waitMs = Math.min(pollMs, 250); ; waitMs = Math.min(waitMs * 2, pollMs)) {
    const outcome = await ports.ask(
      wait.method,
      filled.path,
      filled.headers,
      filled.body,
      (body) => readJob(wait, body)?.means === "failed",
    );
    if (outcome.status !== "accepted") return jobLost(`its job ${id} cannot be read: ${failureText(outcome)}`);
    const job = readJob(wait, outcome.value);
    if (job === undefined) return jobLost(`its job ${id} shows no state where operations.wait.status looks for it`);
    if (job.means === "done") return undefined;
    if (job.means === "failed") return rejected("refused", job.message ?? `its job ${id} ended as ${job.word}`);
    if (clock.now() - start > mostMs) return jobLost(`its job ${id} is ${job.word} still`);
    await clock.sleep(waitMs, signal);
    if (signal?.aborted === true) return jobLost(`nobody waited for its job ${id}`);
  }
}

/**
 * Whether what was read of the answer to a create is its job: an operation has an id and a name of its own, which may
 * stand where a record has them.
 */
export function isJobAlone({ wait }: Dialect, answer: unknown, made: unknown, sent: unknown): boolean {
  if (wait === undefined || !isObject(made) || made["id"] === undefined) return false;
  if (findText(answer, compilePointers(wait.id)) !== made["id"]) return false;
  const [shown, wanted] = [made["name"], fieldsIn(sent)["name"]].map((name) => String(name ?? "").toLowerCase());
  return wanted === "" || shown !== wanted;
}

export const jobLost = (reason: string): Outcome<never> => ({
  status: "unknown",
  accepted: true,
  reason: `it was accepted, and ${reason}`,
});
