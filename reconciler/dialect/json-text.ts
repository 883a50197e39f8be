/**
 * JSON as the service wrote it, or an error where it is none or goes down without end. A whole number that a JavaScript
 * number cannot hold becomes the text of its digits: otherwise the ids 12345678901234567890 and 12345678901234567891
 * would be one.
 */
export function parseJsonText(text: string): unknown {
  if (isTooDeep(text)) throw new SyntaxError("it is nested too deeply");
  return JSON.parse(longNumber.test(text) ? quoteLongIntegers(text) : text);
}

/** May also fit within a text, which costs no more than the slow way. */
const longNumber = /\d{16}/;

/** Walks the text once, passing over what stands in quotes. */
function quoteLongIntegers(text: string): string {
  const pieces: string[] = [];
  let copied = 0;
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at + 1);
    else if (code === minusCode || isDigit(code)) {
      const end = endOfNumber(text, at);
      const token = text.slice(at, end);
      if (end - at >= 16 && /^-?[1-9]\d*$/.test(token) && !Number.isSafeInteger(Number(token))) {
        pieces.push(text.slice(copied, at), `"${token}"`);
        copied = end;
      }
      at = end;
    } else at++;
  }
  return pieces.join("") + text.slice(copied);
}

/** Deeper than any answer that means something, and far from the end of the stack for whatever walks through it. */
const deepestNesting = 200;

function isTooDeep(text: string): boolean {
  if (text.length < deepestNesting) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfString(text, at + 1) - 1;
    else if (code === openArray || code === openObject) depth++;
    else if (code === openArray + 2 || code === openObject + 2) depth--;
    if (depth > deepestNesting) return true;
  }
  return false;
}

const openArray = 0x5b;
const openObject = 0x7b;
const quote = 0x22;
const backslash = 0x5c;
const minusCode = 0x2d;
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;

function endOfString(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === backslash) at++;
    else if (code === quote) return at + 1;
  }
  return text.length;
}

/** Digits, a point, an exponent and their signs: whatever else is written so is no JSON, and stays as it is. */
function endOfNumber(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && /[\d.eE+-]/.test(text.charAt(at))) at++;
  return at;
}
