/**
 * What receivers are told of a stack: one JSON object by POST, signed where a secret is named. A letter is written in
 * the statement that ends the run, and sent afterwards by any worker (post.ts).
 */
import { createHmac } from "node:crypto";
import { fitsAny, type Occasion, type Receiver } from "./model";
import { readSecret } from "./secrets";
import type { Status } from "./status";

export interface Notice {
  readonly occasion: Occasion;
  readonly stack: string;
  readonly tenant: string;
  readonly status: Status;
  /** What was changed at the service by somebody, and is put back. */
  readonly corrected?: readonly string[];
}

/** So many addresses are named. */
const mostNamed = 20;

export const listed = (addresses: readonly string[]): string =>
  [
    ...addresses.slice(0, mostNamed),
    ...(addresses.length > mostNamed ? [`and ${addresses.length - mostNamed} more`] : []),
  ].join(", ");

/** One message for one receiver. */
export interface Letter {
  /** Receivers at one address get their letters one after the other. */
  readonly place: string;
  readonly receiver: Pick<Receiver, "webhook" | "secret">;
  readonly body: Readonly<Record<string, unknown>>;
}

export const lettersOf = (receivers: readonly Receiver[], notices: readonly Notice[], now: Date): Letter[] =>
  notices.flatMap((notice) =>
    receivers
      .filter(({ on, stacks }) => on.includes(notice.occasion) && fitsAny(stacks, notice.stack))
      .map(({ webhook, secret }) => ({
        place: webhook,
        receiver: { webhook, ...(secret === undefined ? {} : { secret }) },
        body: bodyOf(notice, now),
      })),
  );

const limitMs = 10_000;

/** `id` is the same each time that the letter is sent, so that a receiver can drop what it has. */
export async function deliver(
  { receiver: { webhook, secret }, body }: Letter,
  id: string,
  { fetch: send = fetch, signal }: { readonly fetch?: typeof fetch | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const text = JSON.stringify({ ...body, id });
  const headers: Record<string, string> = { "content-type": "application/json", "x-reconcile-delivery": id };
  if (secret !== undefined) headers["x-reconcile-signature"] = `sha256=${signatureOf(text, await readSecret(secret))}`;
  const limit = AbortSignal.timeout(limitMs);
  const answer = await send(webhook, {
    method: "POST",
    headers,
    body: text,
    signal: AbortSignal.any([limit, signal]),
  }).catch((error: unknown) => {
    throw limit.aborted ? new Error(`${new URL(webhook).host} did not answer within ${limitMs / 1000} s`) : error;
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`${new URL(webhook).host} answered ${answer.status}`);
}

const signatureOf = (body: string, secret: string): string => createHmac("sha256", secret).update(body).digest("hex");

/** The service does not tell who changed something, so that the people of the stack have to be asked. */
const correctedText = (addresses: readonly string[]): string =>
  `${listed(addresses)} ${addresses.length === 1 ? "was" : "were"} not as last applied, and ${addresses.length === 1 ? "is" : "are"} as the files say again; the service does not tell who changed it: ask whoever may change this project by hand`;

const bodyOf = ({ occasion, stack, tenant, status, corrected }: Notice, now: Date) => ({
  type: "stack",
  event: occasion,
  time: now.toISOString(),
  stack,
  tenant,
  ready: status.ready,
  stalled: status.stalled,
  drifted: status.drifted,
  awaiting_approval: status.awaitingApproval,
  blocked: status.blocked,
  reason: corrected === undefined ? status.reason : correctedText(corrected),
  ...(corrected === undefined ? {} : { corrected }),
  plan: status.plan,
  observed_revision: status.observedRevision,
  applied_revision: status.appliedRevision,
});
