/**
 * The credential: where it comes from, and a wrapper that never shows it. Prints as a mask in text, JSON and
 * inspection; only `reveal` gives the header's value, to the one caller that sends it.
 */

import { inspect } from "node:util";
import type { Diagnostic } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { credentialMask as mask } from "../core/text/credential-mask";
import { onlyDefined } from "../core/text/objects";
import type { Dialect } from "../dialect/dialect";
import { cleanMessage } from "../dialect/messages";
import { createMasking } from "./masking";
import { subjectOf } from "./subject";

/** Runs the helper and returns its output, or why it could not run. The reason holds nothing that it printed. */
export type RunHelper = (
  argv: readonly string[],
  /** The names of the variables that it may see beside the usual ones. */
  env?: readonly string[],
) => Promise<{ readonly output: string } | { readonly problem: string }>;

/** What is sent, and the token in it, where that is known. */
interface HeaderSecret {
  readonly value: string;
  readonly token?: string;
}

type CredentialSource =
  | { readonly kind: "fixed" }
  | { readonly kind: "command"; readonly run: () => Promise<HeaderSecret> };

/** The helper command failed, or printed what cannot be a credential; carries what to tell the user. */
export class CredentialFailure extends Error {
  override readonly name = "CredentialFailure";
  readonly code = "service/credential-command" satisfies DiagnosticCode;
}

export class Credential {
  // Private fields (#) are invisible to inspection, spreading and JSON; the methods below cover the rest.
  #value: string | undefined;
  readonly #source: CredentialSource;
  readonly #seen = new Set<string>();
  readonly #masking = createMasking(this.#seen);
  #running: Promise<string> | undefined;

  constructor(value: string | undefined, source: CredentialSource, token?: string) {
    this.#source = source;
    if (value !== undefined) this.#keep({ value, ...onlyDefined({ token }) });
  }

  /** The value of the Authorization header; runs the helper command the first time. */
  reveal(): string | Promise<string> {
    return this.#value ?? this.#run();
  }

  /**
   * After a 401 on `used`: gets a new value, once for however many requests ask at a time. Whether there is one that
   * was not refused already.
   */
  async refresh(used: string): Promise<boolean> {
    if (this.#source.kind === "fixed") return false;
    if (this.#value !== used && this.#value !== undefined) return true;
    return (await this.#run()) !== used;
  }

  /** The text without the credential, whole or without its scheme. */
  scrub(text: string): string {
    return this.#masking.text(text);
  }

  /** The same for the body of an answer, which is read afterwards. */
  scrubBody(text: string): string {
    return this.#masking.body(text);
  }

  /** A mark of whom it speaks for; `undefined` where it does not say it, or nothing has asked for it yet. */
  get subject(): string | undefined {
    return this.#value === undefined ? undefined : subjectOf(this.#value);
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }

  #run(): Promise<string> {
    const source = this.#source;
    if (source.kind !== "command") return Promise.reject(new CredentialFailure("there is no credential"));
    this.#running ??= source
      .run()
      .then((secret) => {
        this.#keep(secret);
        return secret.value;
      })
      .finally(() => {
        this.#running = undefined;
      });
    return this.#running;
  }

  #keep({ value, token = "" }: HeaderSecret): void {
    this.#value = value;
    // The longest spelling is replaced first, so that the scheme goes with the token. A very short token would blank
    // out ordinary words.
    for (const secret of [value, ...value.split(/\s+/).slice(1), token, ...namedIn(value), ...passwordOf(value)])
      if (secret.length >= 4) this.#seen.add(secret);
  }
}

/**
 * `session=…` and `Token token="…"` name what a service may repeat without its name. A short word is left alone, and so is
 * what says who asks or where: records have it as well, and would be read without it. A name is tried from its beginning
 * alone, since a long token would else be read once for each of its letters.
 */
const namedIn = (value: string): string[] =>
  [...value.matchAll(/(?<![\w-])([\w-]*)=\s*"?([^\s",;=]{8,}=*)/g)].flatMap(([, name = "", named]) =>
    named === undefined || saysWho.test(name) ? [] : [named],
  );

const saysWho =
  /^(?:e-?mail|login|realm|region|domain|(?:user|account|tenant|project|org|organi[sz]ation)(?:[_-]?(?:name|id))?)$/i;

/** `Basic` carries a user and a password, which a service may repeat as they are. */
function passwordOf(value: string): string[] {
  const [, encoded] = /^basic\s+(\S+)$/i.exec(value) ?? [];
  if (encoded === undefined) return [];
  const decoded = Buffer.from(encoded, "base64").toString("utf8");
  const colon = decoded.indexOf(":");
  return colon < 0 ? [] : [decoded, decoded.slice(colon + 1)];
}

export type FoundCredential =
  /** `command`: the program that prints it. */
  | { readonly credential: Credential; readonly command?: readonly string[]; readonly diagnostics: readonly [] }
  | { readonly credential: undefined; readonly diagnostics: readonly [Diagnostic] };

/** RECONCILE_AUTHORIZATION, else RECONCILE_TOKEN, else the dialect's helper command. */
export function findCredential(
  environment: Readonly<Record<string, string | undefined>>,
  authorization: Pick<Dialect["authorization"], "header" | "command"> & Partial<Pick<Dialect["authorization"], "env">>,
  runHelper: RunHelper,
): FoundCredential {
  const fromToken = (token: string): HeaderSecret => ({
    value: authorization.header.replaceAll("{token}", () => token),
    token,
  });
  const variables = [
    { name: "RECONCILE_AUTHORIZATION", secret: (value: string): HeaderSecret => ({ value }) },
    { name: "RECONCILE_TOKEN", secret: fromToken },
  ];
  for (const { name, secret } of variables) {
    const text = environment[name]?.trim();
    if (text === undefined || text === "") continue;
    if (!canBeHeader(text)) return malformed(name);
    const { value, token } = secret(text);
    return { credential: new Credential(value, { kind: "fixed" }, token), diagnostics: [] };
  }
  const { command, env } = authorization;
  if (command === null) return missingCredential;
  const run = async () => {
    const result = await runHelper(command, env);
    const program = cleanMessage(command[0] ?? "");
    if ("problem" in result)
      throw new CredentialFailure(`the credential command ${program} failed: ${cleanMessage(result.problem)}`);
    const token = result.output.trim();
    if (token === "") throw new CredentialFailure(`the credential command ${program} printed nothing`);
    if (!canBeHeader(token))
      throw new CredentialFailure(`the credential command ${program} printed more than one line, or no plain text`);
    return fromToken(token);
  };
  return { credential: new Credential(undefined, { kind: "command", run }), command, diagnostics: [] };
}

/** Printable ASCII alone: a line break would let a credential add headers, or a whole request, of its own. */
export const canBeHeader = (text: string): boolean => /^[\x20-\x7e]+$/.test(text);

const noCredential = (problem: Omit<Diagnostic, "severity">): FoundCredential => ({
  credential: undefined,
  diagnostics: [{ severity: "error", ...problem }],
});

const missingCredential = noCredential({
  code: "service/no-credential",
  summary: "There is no credential for the service",
  detail: "Every operation of the service takes an Authorization header.",
  fix: "Set RECONCILE_TOKEN (sent as the dialect's authorization.header says, by default `Bearer …`) or RECONCILE_AUTHORIZATION (the whole value), or name a helper in the dialect: authorization.command: [program, argument]",
});

const malformed = (variable: string): FoundCredential =>
  noCredential({
    code: "service/malformed-credential",
    summary: `${variable} cannot be sent as a header`,
    detail: "It holds a line break or another character that is not printable ASCII.",
    fix: `Set ${variable} to one line of printable ASCII.`,
  });
