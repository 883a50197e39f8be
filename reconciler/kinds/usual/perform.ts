/**
 * How the requests of a kind that is its rows and its relations alone are sent: each written down as data, looked for
 * where its answer is lost, and recorded when it shows.
 */
import { kindOf } from "../../core/model/address";
import type { Written } from "../../core/model/effect";
import { type Kind, kindRows } from "../../core/model/kinds";
import type { LiveOf } from "../../core/model/live";
import { operations } from "../../core/model/operation";
import type { OperationRow } from "../../core/model/operation-row";
import { type Failure, isGone, type Outcome, valueIn } from "../../core/model/outcome";
import { hostOf } from "../../core/model/relations";
import type { NewRecord } from "../../core/plan/record-patch";
import type { Step, UsualAction } from "../../core/plan/step";
import { fieldsIn, ifAny } from "../../core/text/objects";
import { createOnce, type HowFound } from "../../engine/create-once";
import { readOfKind } from "../../engine/observe";
import { recordCreated, recordEnd } from "../../engine/record-step";
import {
  deletedUnseen,
  doneAndSeen,
  doneUnseen,
  failedBy,
  idOf,
  noId,
  optionsFor,
  type Run,
  type StepResult,
  type StepWrite,
} from "../../engine/run";
import { onceArrived, type SeenAfterwards, sendAndLook } from "../../engine/send-and-look";
import { sendDelete } from "../../engine/send-delete";
import { rowCall } from "../../service/client";
import { isConflict } from "../vm/watch";
import { rowsOf } from "./diff";

// The step of a kind without requests of its own, which the compiler does not know: it was made by usual/steps.ts.
const requestOf = ({ action }: { readonly action: unknown }): UsualAction => action as UsualAction;

export function performUsual(step: Step, run: Run): Promise<StepResult> {
  const kind = kindOf(step.address);
  const request = requestOf(step);
  const { operation } = request;
  if (operation === `${kind}.create`) return create(step, kind, request, run);
  const id = request.of === undefined ? undefined : idOf(request.of, run);
  if (id === undefined) return Promise.resolve(noId(request.of ?? { address: step.address }));
  if (operation === `${kind}.delete`) return remove(step, kind, id, run);
  if (operation === `${kind}.update`) return update(step, kind, id, request, run);
  return move(step, kind, id, request, run);
}

const callOf = ({ operation }: UsualAction): string => {
  const rows: Readonly<Record<string, OperationRow>> = operations;
  return rows[operation]?.call ?? "";
};

const send = (step: Step, run: Run, ids: Readonly<Record<string, string>>, body?: unknown): Promise<Outcome<unknown>> =>
  rowCall(run.ports.client, callOf(requestOf(step)))(ids, body, optionsFor(step, run));

const lookAt =
  (kind: Kind, id: string, run: Run, shows: (live: LiveOf[Kind] | undefined) => boolean | undefined) =>
  async (): Promise<SeenAfterwards> => {
    const read = await readOfKind(kind, run.ports.client, id, { signal: run.signal });
    if (read.status !== "accepted" && !isGone(read)) return "cannot-tell";
    const verdict = shows(valueIn(read));
    return verdict === undefined ? "cannot-tell" : verdict ? "done" : "not-done";
  };

/** Looks until what was accepted shows; one that does not is looked for once more at the end of the run. */
async function afterwards(
  step: Step,
  run: Run,
  look: () => Promise<SeenAfterwards>,
  writes: readonly StepWrite[],
  extra: object = {},
): Promise<StepResult> {
  const seen = await onceArrived(look, run);
  const end = seen === "done" ? doneAndSeen : doneUnseen(...writes);
  return recordEnd(onExisting(step, { ...step.record, ...extra }), run, end);
}

/** The step as what records its end sees it. */
function onExisting(step: Step, record: object = {}): Step<"vm.rename"> {
  const made: object = { ...step, record: ifAny(record) };
  // Any operation on what exists, with a patch of the record of its kind.
  return made as Step<"vm.rename">;
}

const writeOf = (kind: Kind, id: string, field: string, value: unknown): StepWrite =>
  // A row of the kind names the field.
  ({ kind, id, field, value: String(value), said: `${field}: ${String(value)}` }) as Written<never>;

function create(step: Step, kind: Kind, { name = "", fields }: UsualAction, run: Run): Promise<StepResult> {
  const { record: said }: { readonly record?: unknown } = step;
  // A create says the whole record of what it makes.
  const record = said as NewRecord;
  const keep = async ({ id }: LiveOf[Kind], how: HowFound): Promise<StepResult> => {
    await recordCreated(step, id, record, run);
    const exists = { kind, id, field: "existence", value: id, said: "that it exists", answered: true } as const;
    return how === "seen" ? doneAndSeen : doneUnseen(exists);
  };
  // The reader of the answer makes what the service shows of the kind.
  const sent = () => send(step, run, {}, fields) as Promise<Outcome<LiveOf[Kind] | undefined>>;
  return createOnce<Kind>(step, { kind, name, record, send: sent, keep }, run);
}

async function update(step: Step, kind: Kind, id: string, { fields = {} }: UsualAction, run: Run): Promise<StepResult> {
  const rows = Object.entries(rowsOf(kind)).filter(([, { sentAs, field }]) => (sentAs ?? field) in fields);
  const wanted = rows.map(([key, { sentAs, field }]) => [key, field, fields[sentAs ?? field]] as const);
  const look = lookAt(kind, id, run, (live) => {
    const shown = wanted.map(([key, , value]) => {
      const now = fieldsIn(live)[key];
      return now === undefined ? undefined : now === value;
    });
    // What the record does not have is neither as wished nor otherwise.
    return live === undefined || shown.includes(false) ? false : shown.includes(undefined) ? undefined : true;
  });
  const outcome = await sendAndLook(() => send(step, run, { id }, fields), look, run, isConflict);
  if (outcome.status !== "accepted") return failedBy(outcome);
  const writes = wanted.map(([, field, value]) => writeOf(kind, id, field, value));
  return afterwards(step, run, look, writes);
}

async function move(step: Step, kind: Kind, id: string, request: UsualAction, run: Run): Promise<StepResult> {
  const relation = hostOf[kind];
  const hostId = request.host === undefined ? undefined : idOf(request.host, run);
  if (relation === undefined || hostId === undefined) return noId(request.host ?? { address: step.address });
  const attaches = request.operation === relation.attach;
  const look = lookAt(kind, id, run, (live) => {
    const shown = fieldsIn(live)[relation.recorded];
    return shown === undefined ? undefined : (shown === hostId) === attaches;
  });
  const body = { [`${relation.kind}_id`]: hostId };
  const outcome = await sendAndLook(() => send(step, run, { id }, body), look, run, isConflict);
  if (outcome.status !== "accepted") return failedBy(outcome);
  const field = rowsOf(kind)[relation.field]?.field ?? relation.field;
  const writes = attaches ? [writeOf(kind, id, field, hostId)] : [];
  return afterwards(step, run, look, writes, { [relation.recorded]: attaches ? hostId : undefined });
}

/** Counts when it is gone, and not when the request was accepted. */
async function remove(step: Step, kind: Kind, id: string, run: Run): Promise<StepResult> {
  const look = () => readOfKind(kind, run.ports.client, id, { signal: run.signal, makesSure: true });
  const sent = await sendDelete(onExisting(step), id, run, { send: () => send(step, run, { id }), look });
  if (sent.end !== undefined) return sent.end;
  let unread: Failure | undefined;
  const seen = await onceArrived(async () => {
    const now = await look();
    if (isGone(now)) return "done";
    unread = now.status === "accepted" ? undefined : now;
    return unread === undefined ? "changing" : "cannot-tell";
  }, run);
  const what = `${kindRows[kind].fullNoun} ${id}`;
  if (unread !== undefined && seen !== "done") return deletedUnseen(what, unread);
  if (seen !== "done")
    return {
      end: "unknown",
      code: "service/unknown",
      message: `the service accepted the delete of ${what}, and still shows it`,
      fix: "run the same command again: it looks first",
    };
  await sent.record();
  return doneAndSeen;
}
