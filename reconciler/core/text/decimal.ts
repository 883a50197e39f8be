/**
 * Exact decimal numbers, for amounts of money: an integer of units of 10^-scale, never a floating-point number. As text
 * they are what a person writes: `24.90`.
 */
export interface Decimal {
  readonly units: bigint;
  /** How many digits stand behind the point. */
  readonly scale: number;
}

export const zeroDecimal: Decimal = { units: 0n, scale: 0 };

/** Somebody who writes more digits than this writes no price. */
const mostDigits = 18;

/** `undefined`: the text is no decimal number of a bearable length. */
export function decimalOf(text: string): Decimal | undefined {
  const read = readDecimal(text);
  return read === undefined || read.whole > mostDigits || read.scale > mostDigits ? undefined : read;
}

/** For text that was checked when it was read, and for sums of such, which may have more digits. */
export const knownDecimal = (text: string): Decimal => readDecimal(text) ?? zeroDecimal;

/** `whole`: how many digits stand before the point. */
function readDecimal(text: string): (Decimal & { readonly whole: number }) | undefined {
  const [, sign, whole = "", part = ""] = /^(-?)([0-9]+)(?:\.([0-9]+))?$/.exec(text.trim()) ?? [];
  if (sign === undefined) return undefined;
  const units = BigInt(whole + part);
  return { units: sign === "-" ? -units : units, scale: part.length, whole: whole.length };
}

const atScale = ({ units, scale }: Decimal, wanted: number): bigint => units * 10n ** BigInt(wanted - scale);

export function plus(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return { units: atScale(a, scale) + atScale(b, scale), scale };
}

export const minus = (a: Decimal, b: Decimal): Decimal => plus(a, { ...b, units: -b.units });

export const timesDecimal = (a: Decimal, count: Decimal): Decimal => ({
  units: a.units * count.units,
  scale: a.scale + count.scale,
});

/** Below 0, 0 or above, as a comparison has it. */
export function compareDecimals(a: Decimal, b: Decimal): number {
  const { units } = minus(a, b);
  return units < 0n ? -1 : units > 0n ? 1 : 0;
}

export const isZero = ({ units }: Decimal): boolean => units === 0n;

/** With two digits behind the point at least, and no more than say something. */
export function decimalText({ units, scale }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const part = digits.slice(digits.length - scale).replace(/0+$/, "");
  return `${units < 0n ? "-" : ""}${whole}.${part.padEnd(2, "0")}`;
}

/** The same with its sign: `+24.90`. */
export const signedText = (decimal: Decimal): string =>
  decimal.units < 0n ? decimalText(decimal) : `+${decimalText(decimal)}`;
