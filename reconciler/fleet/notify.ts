/** Tells receivers what happened to a stack: one JSON object by POST, signed where a secret is named. */
import { createHmac } from "node:crypto";
import { fitsAny, type Occasion, type Receiver } from "./model";
import { readSecret } from "./secrets";
import type { Status } from "./status";

export interface Notice {
  readonly occasion: Occasion;
  readonly stack: string;
  readonly tenant: string;
  readonly status: Status;
}

const tries = 3;
const pauseMs = 1000;
const limitMs = 10_000;

export async function notify(
  receivers: readonly Receiver[],
  notice: Notice,
  { fetch: send = fetch }: { readonly fetch?: typeof fetch },
): Promise<void> {
  const meant = receivers.filter(({ on, stacks }) => on.includes(notice.occasion) && fitsAny(stacks, notice.stack));
  const results = await Promise.allSettled(meant.map((receiver) => deliver(receiver, notice, send)));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

async function deliver({ webhook, secret }: Receiver, notice: Notice, send: typeof fetch): Promise<void> {
  const body = JSON.stringify(bodyOf(notice));
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (secret !== undefined) headers["x-reconcile-signature"] = `sha256=${signatureOf(body, await readSecret(secret))}`;
  for (let attempt = 1; ; attempt++) {
    try {
      const answer = await send(webhook, {
        method: "POST",
        headers,
        body,
        signal: AbortSignal.timeout(limitMs),
      });
      await answer.body?.cancel();
      if (answer.ok) return;
      throw new Error(`${new URL(webhook).host} answered ${answer.status}`);
    } catch (error) {
      if (attempt === tries) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs * attempt));
    }
  }
}

const signatureOf = (body: string, secret: string): string => createHmac("sha256", secret).update(body).digest("hex");

const bodyOf = ({ occasion, stack, tenant, status }: Notice) => ({
  type: "stack",
  event: occasion,
  time: new Date().toISOString(),
  stack,
  tenant,
  ready: status.ready,
  stalled: status.stalled,
  drifted: status.drifted,
  awaiting_approval: status.awaitingApproval,
  blocked: status.blocked,
  reason: status.reason,
  plan: status.plan,
  observed_revision: status.observedRevision,
  applied_revision: status.appliedRevision,
});
