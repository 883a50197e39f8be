/**
 * What Slack, Teams, a mail and the status of a commit say of a stack. Each is a function from the letter, which is the
 * same for every receiver; only the end of this file sends.
 */
import { createHash } from "node:crypto";
import { errorMessage } from "../core/text/errors";
import { fieldsIn, isOneOf, keysOf } from "../core/text/objects";
import { percentDecoded } from "../core/text/parts";
import type { ChannelTarget, Occasion, SecretAddress } from "./model";
import { type CommitStatus, type HostPlace, hostPlace, leadsOn, openHost } from "./pulls/host";
import { readSecret } from "./secrets";

/** The fields of a letter that are said in words. */
export interface Told {
  readonly event: string;
  readonly stack: string;
  readonly reason: string;
  readonly plan?: string;
  /** The stack's page. */
  readonly url?: string;
  readonly repository?: string;
  readonly revision?: string;
}

export function toldIn(body: Readonly<Record<string, unknown>>): Told {
  const text = (name: string): string | undefined => {
    const value = body[name];
    return typeof value === "string" && value !== "" ? value : undefined;
  };
  return {
    event: text("event") ?? "",
    stack: text("stack") ?? "",
    reason: text("reason") ?? "",
    plan: text("plan"),
    url: text("url"),
    repository: text("repository"),
    revision: text("observed_revision"),
  };
}

const headlines: Readonly<Record<Occasion, string>> = {
  ready: "is as its files say",
  applied: "was applied",
  failed: "failed",
  stalled: "is stalled, and needs a person",
  drifted: "differs from what was applied",
  drift_corrected: "was changed by hand, and is as its files say again",
  awaiting_approval: "has a plan that waits for approval",
  blocked: "waits for something else",
  through_window: "is carried out although a window is closed",
};

/** The sentence that every receiver begins with. */
const headline = ({ stack, event }: Told): string =>
  `${stack} ${isOneOf(event, keysOf(headlines)) ? headlines[event] : event}`;

export const shortenedTo = (text: string, most: number): string =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;

const escaped = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

export function slackBody(told: Told): object {
  const lines = [
    `*${escaped(headline(told))}*`,
    ...(told.reason === "" ? [] : [escaped(shortenedTo(told.reason, 2000))]),
  ];
  const button = { type: "button", text: { type: "plain_text", text: buttonText(told) }, url: told.url };
  return {
    text: headline(told),
    blocks: [
      { type: "section", text: { type: "mrkdwn", text: lines.join("\n") } },
      ...(told.url === undefined ? [] : [{ type: "actions", elements: [button] }]),
    ],
  };
}

const buttonText = ({ event }: Told): string =>
  event === "awaiting_approval" ? "Read the plan and decide" : "Open its page";

/** A text of a file or a person is Markdown there, in which a link would say other words than where it leads. */
const unlinked = (text: string): string => text.replaceAll("](", "]\u200b(");

export const teamsBody = (told: Told): object => ({
  type: "message",
  attachments: [
    {
      contentType: "application/vnd.microsoft.card.adaptive",
      content: {
        $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
        type: "AdaptiveCard",
        version: "1.4",
        body: [
          { type: "TextBlock", weight: "Bolder", wrap: true, text: headline(told) },
          ...(told.reason === ""
            ? []
            : [{ type: "TextBlock", wrap: true, text: unlinked(shortenedTo(told.reason, 4000)) }]),
        ],
        actions: told.url === undefined ? [] : [{ type: "Action.OpenUrl", title: buttonText(told), url: told.url }],
      },
    },
  ],
});

export const mailOf = (told: Told): { readonly subject: string; readonly text: string } => ({
  // A line break would begin another header.
  subject: shortenedTo(headline(told).replace(/\s+/g, " "), 200),
  text: [headline(told), told.reason, told.url ?? "", told.revision === undefined ? "" : `revision ${told.revision}`]
    .filter((line) => line !== "")
    .join("\n\n"),
});

const states: Readonly<Record<Occasion, "success" | "failure" | "pending">> = {
  ready: "success",
  applied: "success",
  drift_corrected: "success",
  failed: "failure",
  stalled: "failure",
  drifted: "failure",
  awaiting_approval: "pending",
  blocked: "pending",
  through_window: "pending",
};

/** The status of the commit, and where it is set; absent: the letter is of no commit at a host that is known. */
export function statusIn(
  told: Told,
  { api }: { readonly api?: string },
): { readonly place: HostPlace; readonly commit: string; readonly status: CommitStatus } | undefined {
  const { repository = "", revision = "", url, stack, event } = told;
  const place = hostPlace(repository, api);
  if (place === undefined || !/^[0-9a-f]{40,64}$/.test(revision)) return undefined;
  const state = isOneOf(event, keysOf(states)) ? states[event] : "pending";
  const description = shortenedTo(headline(told), 140);
  return { place, commit: revision, status: { state, context: `reconcile/${stack}`, description, link: url } };
}

/** The secret of a channel; a text: its address stands in the file. */
export const secretOf = (to: ChannelTarget): SecretAddress => {
  switch (to.kind) {
    case "slack":
    case "teams":
      return to.address;
    case "email":
      return to.smtp;
    case "commit_status":
      return to.token;
  }
};

/**
 * Tells receivers apart without their secret. Each repository takes the statuses of its commits by itself: one that is
 * gone keeps those of no other one waiting.
 */
export function placeOf(to: ChannelTarget, repository?: string): string {
  const place = `${to.kind} ${createHash("sha256").update(JSON.stringify(to)).digest("hex").slice(0, 12)}`;
  return to.kind === "commit_status" && repository !== undefined ? `${place} ${repository}` : place;
}

const addressToSend = async (address: SecretAddress): Promise<string> =>
  typeof address === "string" ? address : readSecret(address);

export interface Sending {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** Throws where it was not taken. A letter that a channel has no words for is taken. */
export async function tell(to: ChannelTarget, told: Told, id: string, sending: Sending): Promise<void> {
  switch (to.kind) {
    case "slack":
      return post(await addressToSend(to.address), slackBody(told), to.kind, sending);
    case "teams":
      return post(await addressToSend(to.address), teamsBody(told), to.kind, sending);
    case "email":
      return mail(to, told, id, sending.signal);
    case "commit_status": {
      const found = statusIn(told, to);
      if (found === undefined) return;
      const { place, commit, status } = found;
      return openHost({ place, token: await readSecret(to.token), ...sending }).setStatus(commit, status);
    }
  }
}

async function post(url: string, body: object, kind: string, { fetch: send, signal }: Sending): Promise<void> {
  // What fails does not name the address: it may be a secret.
  const answer = await send(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
    redirect: "manual",
  }).catch((error: unknown) => {
    throw new Error(`${kind} could not be reached (${sendProblem(error)})`);
  });
  await answer.body?.cancel();
  if (!answer.ok) throw new Error(`${kind} answered ${answer.status}${leadsOn(answer)}`);
}

const sendProblem = (error: unknown): string => {
  const { code } = fieldsIn(error instanceof Error ? error.cause : undefined);
  return typeof code === "string" ? code : error instanceof Error ? error.name : "no answer";
};

async function mail(
  { to, from, smtp }: Extract<ChannelTarget, { kind: "email" }>,
  told: Told,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { createTransport } = await import("nodemailer").catch(() => {
    throw new Error("mails need the package nodemailer on this worker: npm install nodemailer");
  });
  const server = await addressToSend(smtp);
  const transport = createTransport(mailServer(server));
  try {
    // A mail that is sent twice has the same id, by which a reader's program drops one.
    const messageId = `<${id}.${placeOf({ kind: "email", to, from, smtp }).replace(" ", ".")}@reconcile.invalid>`;
    // A server that says a little now and then keeps every limit of the connection.
    const taken = transport.sendMail({ from, to: [...to], ...mailOf(told), messageId });
    taken.catch(() => undefined);
    await Promise.race([taken, endOf(signal)]);
  } catch (error) {
    const password = URL.canParse(server) ? percentDecoded(new URL(server).password) : "";
    const said = errorMessage(error);
    throw new Error(`the mail was not taken: ${password === "" ? said : said.replaceAll(password, "***")}`);
  } finally {
    transport.close();
  }
}

const endOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = (): void => reject(new Error("the server did not take it in time"));
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
  });

/** With limits, so that a silent server is given up. */
const mailServer = (address: string): { readonly url: string; readonly [limit: string]: string | number } => ({
  url: address,
  connectionTimeout: sendLimitMs,
  greetingTimeout: sendLimitMs,
  socketTimeout: sendLimitMs,
});

const sendLimitMs = 10_000;
