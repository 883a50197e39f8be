/** The outputs of a project: values by name, made of its texts and of values that only the service knows. */
import { type Computed, computedIn, fillText, shownText, type Text } from "./computed";
import type { SourcePosition } from "./diagnostic";

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** A value of the file in which texts may be open. */
export type Shaped =
  | { readonly is: "text"; readonly text: Text }
  | { readonly is: "plain"; readonly value: number | boolean | null }
  | { readonly is: "list"; readonly items: readonly Shaped[] }
  | { readonly is: "map"; readonly entries: Readonly<Record<string, Shaped>> };

export interface DesiredOutput {
  readonly name: string;
  readonly value: Shaped;
  readonly description?: string;
  /** The value is never shown, except by `reconcile output NAME`. */
  readonly sensitive?: true;
  readonly source: SourcePosition;
}

/** The value as the state keeps it. */
export interface RecordedOutput {
  readonly value: Json;
  readonly description?: string;
  readonly sensitive?: true;
}

export type Outputs = Readonly<Record<string, RecordedOutput>>;

/** Shown in place of a sensitive value. */
export const hiddenValue = "(sensitive)";

export function computedInShaped(shaped: Shaped): readonly Computed[] {
  switch (shaped.is) {
    case "text":
      return computedIn(shaped.text);
    case "plain":
      return [];
    case "list":
      return shaped.items.flatMap(computedInShaped);
    case "map":
      return Object.values(shaped.entries).flatMap(computedInShaped);
  }
}

export function fillShaped(shaped: Shaped, value: (computed: Computed) => string | Computed): Shaped {
  switch (shaped.is) {
    case "text": {
      const text = fillText(shaped.text, value);
      const [only, ...others] = typeof shaped.text === "string" ? [] : shaped.text.parts;
      const isSize = typeof only === "object" && only.attribute === "size" && others.length === 0;
      return isSize && typeof text === "string" && /^[0-9]+$/.test(text)
        ? { is: "plain", value: Number(text) }
        : { is: "text", text };
    }
    case "plain":
      return shaped;
    case "list":
      return { is: "list", items: shaped.items.map((item) => fillShaped(item, value)) };
    case "map":
      return {
        is: "map",
        entries: Object.fromEntries(Object.entries(shaped.entries).map(([key, one]) => [key, fillShaped(one, value)])),
      };
  }
}

export type WithTexts<T> = T | Json | readonly WithTexts<T>[] | { readonly [key: string]: WithTexts<T> };

/** The value, with what stands for each of its texts. */
export function withTexts<T>(shaped: Shaped, textAs: (text: Text) => T): WithTexts<T> {
  switch (shaped.is) {
    case "text":
      return textAs(shaped.text);
    case "plain":
      return shaped.value;
    case "list":
      return shaped.items.map((one) => withTexts(one, textAs));
    case "map":
      return Object.fromEntries(Object.entries(shaped.entries).map(([key, one]) => [key, withTexts(one, textAs)]));
  }
}

/** A part that is still open is shown in words. */
export const jsonOf = (shaped: Shaped): Json => withTexts(shaped, shownText);

export const recordOutput = ({ description, sensitive }: DesiredOutput, value: Json): RecordedOutput => ({
  value,
  description,
  sensitive,
});
