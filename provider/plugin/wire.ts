/** Property bags on the wire: secrets come wrapped and go out wrapped again, and nothing but JSON values goes out. */
import { fieldsIn, replacedIn } from "../../reconciler/for-provider";
import type { Props } from "../../reconciler/index";
import { isSecret, wrapSecret } from "../secrets";
import { type PropertyStruct, Struct } from "./sdk";

export const readStruct = (struct: PropertyStruct | undefined): Record<string, unknown> => ({
  ...struct?.toJavaScript(),
});

/** The plain values, at every depth. */
export const unwrap = (value: unknown): unknown =>
  replacedIn(value, (part) => (isSecret(part) ? unwrap(part.value) : part));

/** The plain values of a bag of properties. */
export const unwrapAll = (raw: Props): Props => fieldsIn(unwrap(raw));

/** The plain values of everything that came wrapped. */
export function secretsIn(value: unknown): unknown[] {
  if (isSecret(value)) return [unwrap(value.value)];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(secretsIn) : [];
}

const holdsSecret = (value: unknown): boolean =>
  isSecret(value) || (typeof value === "object" && value !== null && Object.values(value).some(holdsSecret));

/** Whether any value of these bags came wrapped as a secret. */
export const anySecret = (...bags: Props[]): boolean => bags.some((bag) => Object.values(bag).some(holdsSecret));

/**
 * Whether the state has in the clear what is a secret by now: an earlier version wrote it, it was no secret then, or the
 * program makes a secret of an output, which it tells the engine alone.
 */
export const isInClear = (outputs: Props, inputs: Props): boolean =>
  anySecret(inputs, outputs) &&
  ["recorded", ...Object.keys(inputs).filter((key) => holdsSecret(inputs[key]))].some(
    (key) => outputs[key] !== undefined && !holdsSecret(outputs[key]),
  );

/**
 * What came in secret goes out secret. The engine's record repeats the inputs, so it is secret as a whole where any
 * input is a secret, and only there: Pulumi encrypts each secret again for every checkpoint.
 */
export function writeStruct(props: Props, raw: Props = {}, isRecordSecret = anySecret(raw)): PropertyStruct {
  // The JSON of a map is a map of JSON values, which is what a struct takes.
  const clean: Parameters<typeof Struct.fromJavaScript>[0] = JSON.parse(JSON.stringify(props));
  for (const [key, value] of Object.entries(clean))
    if (holdsSecret(raw[key]) || (key === "recorded" && isRecordSecret)) clean[key] = wrapSecret(value);
  return Struct.fromJavaScript(clean);
}

/** The resource's own properties: Pulumi's keys begin with two underscores. */
export const ownProps = (raw: Record<string, unknown>): Props =>
  Object.fromEntries(Object.entries(unwrapAll(raw)).filter(([key, value]) => !key.startsWith("__") && value !== null));
