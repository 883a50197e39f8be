/**
 * Secret values: how they are wrapped for the engine, and how they are hidden in the messages of a provider, which name
 * the resource and the property and never the value.
 */
import { fieldsIn, parseCidr } from "../reconciler/for-provider";

const signatureKey = "4dabf18193072939515e22adb298388d";
const secretSignature = "1b47061264138c4ac30d75fd1eb44270";

export const isSecret = (value: unknown): value is { value: unknown } =>
  fieldsIn(value)[signatureKey] === secretSignature;

export const wrapSecret = <T>(value: T): T | { [signatureKey]: string; value: T } =>
  isSecret(value) || value === undefined || value === null ? value : { [signatureKey]: secretSignature, value };

/** As it is given, and as plans and files' rules write it where it is a range of addresses. */
function writtenForms(secret: string): readonly string[] {
  const range = parseCidr(secret)?.text;
  return range === undefined ? [secret] : [secret, range, range.replace(/\/(32|128)$/, "")];
}

/** The texts of secrets in every spelling. */
export function spelledOut(secrets: readonly unknown[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const secret of secrets) collect(secret, found);
  return found;
}

export type Hide = (text: string) => string;

/** Replaces every secret in a text; a short secret only where it is a whole word. */
export function hiding(secrets: readonly unknown[]): Hide {
  const found = spelledOut(secrets);
  if (found.size === 0) return (text) => text;
  const patterns = [...found].sort((a, b) => b.length - a.length).map(patternOf);
  const any = new RegExp(patterns.join("|"), "gi");
  return (text) => text.replace(any, "[secret]");
}

function collect(value: unknown, into: Set<string>): void {
  if (typeof value === "string" && value !== "") for (const spelling of writtenForms(value)) into.add(spelling);
  else if (typeof value === "number") into.add(String(value));
  else if (typeof value === "object" && value !== null) for (const item of Object.values(value)) collect(item, into);
}

const longEnough = 6;

function patternOf(secret: string): string {
  const escaped = secret.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return secret.length >= longEnough ? escaped : `(?<![\\w.-])${escaped}(?![\\w-]|\\.\\w)`;
}
