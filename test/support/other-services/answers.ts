/** Somebody else answers for the service, or the service says of a request what is not so. */
import type { Answer, Asked, OtherService } from "./other-service";
import { isWrite, nothing } from "./other-service";

const html = { "content-type": "text/html; charset=utf-8" };
const page = (title: string): string => `<!doctype html><html><head><title>${title}</title></head><body></body></html>`;

/** What a proxy, a load balancer or a gateway says in its own words. */
export const strangeAnswers: Readonly<Record<string, Answer>> = {
  "404 in HTML": { status: 404, headers: html, text: page("404 Not Found") },
  "404 without a body": { status: 404, text: "" },
  "404 as JSON of its own": { status: 404, body: { message: "no Route matched with those values" } },
  "410 without a body": { status: 410, text: "" },
  "405 without a body": { status: 405, text: "" },
  "403 in HTML": { status: 403, headers: html, text: page("Blocked") },
  "502 in HTML": { status: 502, headers: html, text: page("502 Bad Gateway") },
  "a login page": { status: 200, headers: html, text: page("Sign in") },
  "a redirect to a login page": { status: 302, headers: { ...html, location: "/login" }, text: "" },
  "200 without a body": { status: 200, text: "" },
  "200 with an empty object": { status: 200, body: {} },
  "200 with an empty list": { status: 200, body: [] },
  "200 with null": { status: 200, body: { data: null } },
};

type Which = (asked: Asked) => boolean;

export const answered = (answer: Answer, which: Which): OtherService => ({
  hear: (asked) => (which(asked) ? answer : undefined),
});

/** It has its effect, and the answer is somebody else's. */
export const answeredAfterwards = (answer: Answer, which: Which): OtherService => ({
  tell: (asked) => (which(asked) ? answer : undefined),
});

/** Refused in an answer that looks like a success. */
export const refusedIn200: Readonly<Record<string, Answer>> = {
  "success: false": { status: 200, body: { success: false, message: "quota exceeded" } },
  "an error in the envelope": { status: 200, body: { error: { code: 409, message: "quota exceeded" } } },
};

/** A not-found without the contract's envelope: what a deployment behind a gateway may say of what is truly gone. */
export const bareNotFound: OtherService = {
  tell: (_asked, answer) => (answer.status === 404 ? { status: 404, text: "" } : undefined),
};

/** Creates a VM while it is asked for, and shows it. */
export const synchronousCreate: OtherService = {
  tell(asked, answer, truth) {
    if (asked.operation !== "vm.create" || answer.status >= 300) return undefined;
    const vm = truth.dump().vms.findLast(({ name }) => name === String(asked.body["name"]).toLowerCase());
    return { status: 201, body: { data: { id: vm?.id, name: vm?.name, status: vm?.status } } };
  },
};

export const lost = (which: Which, when: "before" | "after"): OtherService =>
  when === "before"
    ? { hear: (asked) => (which(asked) ? nothing : undefined) }
    : { tell: (asked) => (which(asked) ? nothing : undefined) };

export const onlyNth =
  (nth: number): Which =>
  (asked) =>
    asked.nth === nth;
export const fromNth =
  (nth: number): Which =>
  (asked) =>
    asked.nth >= nth;
export const writesFromNth =
  (nth: number): Which =>
  (asked) =>
    isWrite(asked) && asked.nth >= nth;
