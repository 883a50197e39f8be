/** Jobs with which a deployment answers its writes: each is under way when it is asked for first, and done after that. */
import { isBodyObject } from "../fields";
import type { SpokenDialect } from "./spoken";
import { type Heard, jobMeant } from "./understand";
import { RecordDraft } from "./write";

export function createJobs(dialect: SpokenDialect) {
  const asked = new Map<string, number>();
  const { wait } = dialect;
  return {
    /** The answer to a write with the job that it names. */
    name(operation: string, body: unknown): unknown {
      if (wait === undefined || /\.(list|get)$/.test(operation)) return body;
      const id = `job-${asked.size + 1}`;
      asked.set(id, 0);
      // Where the whole text of an answer is a job, an answer with a record names none.
      const [place] = wait.id;
      const isWhole = ["", "/data"].includes(typeof place === "string" ? place : (place?.value ?? "none"));
      const isRecord = isBodyObject(body) && typeof body["data"] !== "string";
      if (isWhole && isRecord) return body;
      // Where a record would show its own id, the answer is the job alone.
      const isOfRecord = typeof place === "string" && isBodyObject(body) && body[place.slice(1)] !== undefined;
      const draft = new RecordDraft(isOfRecord || typeof body !== "object" || body === null ? {} : body);
      draft.put(place, id);
      return draft.value;
    },
    /** The answer to a request for a job; `undefined`: the request means something else. */
    answer(heard: Heard): { readonly status: number; readonly body: unknown } | undefined {
      const id = jobMeant(dialect, heard);
      if (id === undefined || wait === undefined) return undefined;
      const times = asked.get(id);
      if (times === undefined) return { status: 404, body: { error: { code: 404, message: "there is no such job" } } };
      asked.set(id, times + 1);
      const draft = new RecordDraft();
      draft.put(wait.status[0], times === 0 ? wordBesides(wait) : (wait.done[0] ?? "done"));
      return { status: 200, body: draft.value };
    },
  };
}

/** A word that means neither done nor failed. */
const wordBesides = ({ done, failed }: NonNullable<SpokenDialect["wait"]>): string =>
  ["0", "working", "pending", "under way"].find((word) => ![...done, ...failed].includes(word)) ?? "under way";
