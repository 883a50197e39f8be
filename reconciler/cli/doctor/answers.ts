/** The doctor's answers, kept in a folder, and the doctor's work on such a folder without the service. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Operation } from "../../core/model/operation";
import { fieldsIn, isObject, parsedJson } from "../../core/text/objects";
import { type Answer, judgeAnswer } from "../../dialect/conditions";
import type { Dialect } from "../../dialect/dialect";
import { envelopeReader } from "../../dialect/envelope";
import { parseJsonText } from "../../dialect/json-text";
import type { DoctorPorts } from "../../engine/doctor/look";
import { makeOwnFolder, writePrivately } from "../../outside/private-file";
import { trustFrom } from "../../outside/trust";
import type { ProbeRequest } from "../../service/client";
import { readSourceFile } from "../workspace";

interface KeptAnswer {
  readonly request: Pick<ProbeRequest, "method" | "path" | "body"> & { readonly operation: Operation };
  readonly answer: Answer;
}

const keyOfRequest = ({ method, path, body }: KeptAnswer["request"]): string =>
  `${method} ${path} ${JSON.stringify(body ?? null)}`;

/**
 * Keys of a record whose values are private. The credential has been taken out before; a token that leads to the next
 * page has no such key.
 */
const isPrivate = (key: string): boolean =>
  /pass(word|wd|phrase|code)?s?$|^pass(word|wd|phrase)|secret|(private|ssh|authori[sz]ed|api|access).?keys?$|key.?material|user.?data$|cloud.?init|kube.?config|credentials?$|admin.?pass|(access|auth|api|refresh|bearer|session|console|vnc|login|security).?token/i.test(
    key,
  );

/** The text as it came, where nothing in it is private: a long number is not the same in any other. */
function scrubbed(text: string): string {
  let isScrubbed = false;
  const scrub = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(scrub);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => {
        const isSecret = isPrivate(key) && inner !== null && typeof inner !== "boolean" && inner !== "";
        isScrubbed ||= isSecret;
        return [key, isSecret ? "***" : scrub(inner)];
      }),
    );
  };
  try {
    const clean = scrub(parseJsonText(text));
    return isScrubbed ? JSON.stringify(clean) : text;
  } catch {
    return text;
  }
}

/** `number`: of the next answer; those that are kept already stay, and a later one of the same request counts. */
export function recordingIn(folder: string, ports: DoctorPorts, number = numbersIn(folder)): DoctorPorts {
  const { withAuthorization } = ports;
  return {
    ...ports,
    async probe(request) {
      const seen = await ports.probe(request);
      if (seen.answer !== undefined) {
        const { operation, method, path, body } = request;
        const kept: KeptAnswer = {
          request: { operation, method, path, body },
          answer: { ...seen.answer, text: scrubbed(seen.answer.text) },
        };
        const name = `${String(number()).padStart(4, "0")}-${operation}.json`;
        writePrivately(join(folder, name), `${JSON.stringify(kept, undefined, 2)}\n`);
      }
      return seen;
    },
    withAuthorization:
      withAuthorization && ((name, header) => recordingIn(folder, withAuthorization(name, header), number)),
  };
}

function numbersIn(folder: string): () => number {
  makeOwnFolder(folder, 0o700);
  let last = Math.max(0, ...readdirSync(folder).map((name) => Number(/^(\d+)-.*\.json$/.exec(name)?.[1] ?? 0)));
  return () => ++last;
}

/** Throws the file system's errors about the folder. No text of a file stands in an error: it may be anybody's. */
export function answersFrom(folder: string, dialect: Dialect, trust = trustFrom()): DoctorPorts {
  const kept = new Map<string, Answer>();
  for (const name of readdirSync(folder)
    .filter((file) => file.endsWith(".json"))
    .sort((one, other) => one.localeCompare(other, "en", { numeric: true }))) {
    const value = parsedJson(readSourceFile(join(folder, name), trust).text);
    if (value === undefined) throw new Error(`${name} is not JSON`);
    if (isKeptAnswer(value)) kept.set(keyOfRequest(value.request), value.answer);
  }
  if (kept.size === 0) throw new Error("there are none");
  return { probe: async (request) => keptAnswer(request, kept.get(keyOfRequest(request)), dialect) };
}

/** What is of another make than `recordingIn` writes is passed over. */
function isKeptAnswer(value: unknown): value is KeptAnswer {
  const { request, answer } = fieldsIn(value);
  const { status, text } = fieldsIn(answer);
  return isObject(request) && typeof status === "number" && typeof text === "string";
}

function keptAnswer(request: ProbeRequest, answer: Answer | undefined, dialect: Dialect) {
  if (answer === undefined)
    return {
      outcome: {
        status: "unavailable" as const,
        reason: "it is not among the answers that were kept",
        fix: "keep them anew: reconcile doctor --record",
      },
      answer: undefined,
    };
  const judging = {
    errors: dialect.errors,
    envelope: envelopeReader(dialect),
    nowMs: 0,
    scrub: (text: string) => text,
  };
  return { outcome: judgeAnswer(request.operation, answer, judging), answer };
}

/** Puts a person's own answers in the place of the service's: each answers the first request of its operation. */
export function withSamples(
  ports: DoctorPorts,
  samples: ReadonlyMap<Operation, string>,
  dialect: Dialect,
): DoctorPorts {
  const left = new Map(samples);
  const { withAuthorization } = ports;
  return {
    ...ports,
    async probe(request) {
      const text = left.get(request.operation);
      if (text === undefined) return ports.probe(request);
      left.delete(request.operation);
      return keptAnswer(request, { status: 200, text, contentType: "application/json" }, dialect);
    },
    withAuthorization:
      withAuthorization && ((name, header) => withSamples(withAuthorization(name, header), samples, dialect)),
  };
}
