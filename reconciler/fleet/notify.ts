/**
 * What receivers are told of a stack: one JSON object by POST, signed where a secret is named. A letter is written in
 * the statement that ends the run, and sent afterwards by any worker (post.ts).
 */

import { createHmac } from "node:crypto";
import { listed } from "../core/text/list-text";
import { placeOf, tell, toldIn } from "./channels";
import {
  type ChannelTarget,
  type FleetSettings,
  fitsAny,
  type Occasion,
  type Receiver,
  type Source,
  withoutItsUser,
} from "./model";
import { leadsOn } from "./pulls/host";
import { readSecret } from "./secrets";
import type { Status } from "./status";

export interface Notice {
  readonly occasion: Occasion;
  readonly stack: string;
  readonly tenant: string;
  readonly source: Source;
  readonly status: Status;
  /** What was changed at the service by somebody, and is put back. */
  readonly corrected?: readonly string[];
}

/** The first twenty, and how many more there are. */
export const addressList = (addresses: readonly string[]): string => listed(addresses, 20);

/** One message for one receiver. */
export interface Letter {
  /** Receivers at one address get their letters one after the other. */
  readonly place: string;
  readonly receiver: Pick<Receiver, "webhook" | "secret"> | { readonly channel: ChannelTarget };
  readonly body: Readonly<Record<string, unknown>>;
}

/** The name of a receiver without what lets in whoever knows it. */
export const receiverName = (place: string): string => (URL.canParse(place) ? new URL(place).host : place);

/** Whom a fleet tells, and where its pages are. */
export type Receivers = Pick<FleetSettings, "receivers" | "channels" | "signIn">;

export const lettersOf = (
  { receivers, channels = [], signIn }: Receivers,
  notices: readonly Notice[],
  now: Date,
): Letter[] =>
  notices.flatMap((notice) => {
    const wants = ({ on, stacks }: Pick<Receiver, "on" | "stacks">): boolean =>
      on.includes(notice.occasion) && fitsAny(stacks, notice.stack);
    const body = bodyOf(notice, signIn?.url, now);
    return [
      ...receivers.filter(wants).map(({ webhook, secret }) => ({
        place: webhook,
        receiver: { webhook, secret },
        body,
      })),
      ...channels
        .filter(wants)
        .map(({ to }) => ({ place: placeOf(to, body.repository), receiver: { channel: to }, body })),
    ];
  });

const noticeLimitMs = 10_000;

/** `id` is the same each time that the letter is sent, so that a receiver can drop what it has. */
export async function deliver(
  { receiver, body }: Letter,
  id: string,
  { fetch: send = fetch, signal }: { readonly fetch?: typeof fetch | undefined; readonly signal: AbortSignal },
): Promise<void> {
  if ("channel" in receiver) {
    const sending = { fetch: send, signal: AbortSignal.any([AbortSignal.timeout(noticeLimitMs), signal]) };
    return tell(receiver.channel, toldIn(body), id, sending);
  }
  const { webhook, secret } = receiver;
  const text = JSON.stringify({ ...body, id });
  const headers: Record<string, string> = { "content-type": "application/json", "x-reconcile-delivery": id };
  if (secret !== undefined) headers["x-reconcile-signature"] = `sha256=${signatureOf(text, await readSecret(secret))}`;
  const limit = AbortSignal.timeout(noticeLimitMs);
  const answer = await send(webhook, {
    method: "POST",
    headers,
    body: text,
    // Most redirects would be followed without the letter.
    redirect: "manual",
    signal: AbortSignal.any([limit, signal]),
  }).catch((error: unknown) => {
    throw limit.aborted ? new Error(`${new URL(webhook).host} did not answer within ${noticeLimitMs / 1000} s`) : error;
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`${new URL(webhook).host} answered ${answer.status}${leadsOn(answer)}`);
}

const signatureOf = (body: string, secret: string): string => createHmac("sha256", secret).update(body).digest("hex");

/** The service does not tell who changed something, so that the people of the stack have to be asked. */
const correctedText = (addresses: readonly string[]): string =>
  `${addressList(addresses)} ${addresses.length === 1 ? "was" : "were"} not as last applied, and ${addresses.length === 1 ? "is" : "are"} as the files say again; the service does not tell who changed it: ask whoever may change this project by hand`;

const bodyOf = (
  { occasion, stack, tenant, source, status, corrected }: Notice,
  pages: string | undefined,
  now: Date,
) => ({
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
  corrected,
  plan: status.plan,
  url: pages === undefined ? undefined : `${pages.replace(/\/$/, "")}/stacks/${encodeURIComponent(stack)}`,
  repository: source.kind === "git" ? withoutItsUser(source.url) : undefined,
  observed_revision: status.observedRevision,
  applied_revision: status.appliedRevision,
});
