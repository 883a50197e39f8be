/**
 * Takes a secret out of a text in every spelling in which a service may repeat it: as it is, escaped for JSON, HTML or a
 * URL, in hexadecimal, and in base64, also as a part of something longer.
 */
import { credentialMask } from "../core/text/credential-mask";

/** Shorter than this, a secret is an ordinary word too often for a record to be read without it. */
const shortestMasked = 8;

export interface Masking {
  /** Masks a text that is shown to people. */
  text(text: string): string;
  /** Masks the body of an answer before anything is read from it. */
  body(text: string): string;
}

export function createMasking(secrets: ReadonlySet<string>): Masking {
  const spellings = new Map<string, readonly string[]>();
  const spellingsOf = (secret: string): readonly string[] => {
    let known = spellings.get(secret);
    if (known === undefined) {
      known = secret.length < shortestMasked ? [secret] : everySpelling(secret);
      spellings.set(secret, known);
    }
    return known;
  };
  const without = (text: string, isMeant: (secret: string) => boolean): string => {
    let clean = text;
    for (const secret of secrets)
      if (isMeant(secret))
        for (const spelling of spellingsOf(secret))
          if (clean.includes(spelling)) clean = clean.replaceAll(spelling, credentialMask);
    return clean;
  };
  return {
    text: (text) => without(text, () => true),
    body: (text) => without(withoutNeedlessEscapes(text), (secret) => secret.length >= shortestMasked),
  };
}

function everySpelling(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  const url = encodeURIComponent(secret);
  const hex = bytes.toString("hex");
  const base64 = [0, 1, 2].map((shift) => innerBase64(bytes, shift));
  const all = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    withEntities(secret, { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }),
    withEntities(secret, { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" }),
    secret.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`),
    url,
    url.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    hex,
    hex.toUpperCase(),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
  ];
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

const withEntities = (text: string, entities: Readonly<Record<string, string>>): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? character);

/** What stands for these bytes alone when `shift` others come before them, whatever comes before and after. */
function innerBase64(bytes: Buffer, shift: number): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString("base64");
  return encoded.slice([0, 2, 3][shift], Math.floor(((shift + bytes.length) * 8) / 6));
}

/**
 * The same JSON with `\u0041` as `A` and `\/` as `/`: those are spellings of one text too, and the only ones in which
 * printable ASCII can hide.
 */
function withoutNeedlessEscapes(text: string): string {
  if (!text.includes("\\")) return text;
  return text.replace(/\\(?:u00([2-7][0-9a-fA-F])|.)/gs, (written, code: string | undefined) => {
    if (code === undefined) return written === "\\/" ? "/" : written;
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return character === '"' || character === "\\" || character === "\u007f" ? written : character;
  });
}
