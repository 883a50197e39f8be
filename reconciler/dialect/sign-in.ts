/**
 * Pages for people among the answers of an interface: a proxy that wants somebody to sign in answers every request with
 * its page, and often with 200. Such an answer says nothing of what was asked for.
 */

/** Where an answer came from, as far as it matters here. */
interface Shown {
  readonly text: string;
  readonly contentType?: string;
}

/** Nothing further down a page is looked at. */
const mostCharactersLooked = 20_000;

export function isHtml({ text, contentType }: Shown): boolean {
  if (contentType !== undefined && /^\s*(text\/html|application\/xhtml\+xml)\b/i.test(contentType)) return true;
  return /^\s*<(!doctype\s+html|html)\b/i.test(text.slice(0, 500));
}

/** A page of so few letters has nothing else to say. */
const mostShort = 2000;

/** A field for a password, a form that leads to a sign-in, or words of one in a title or on a short page. */
export function looksLikeSignIn({ text }: Pick<Shown, "text">): boolean {
  const page = text.slice(0, mostCharactersLooked).toLowerCase();
  if (/type=["']?password\b/.test(page)) return true;
  if (/action=["']?[^"'\s>]{0,300}(log-?in|sign-?in|sso|oauth|saml)\b/.test(page)) return true;
  const title = page.indexOf("<title");
  const spoken = page.length <= mostShort ? page : title < 0 ? "" : page.slice(title, title + 300);
  return /\b(log|sign)(ging)?[\s-]?(in|on)\b/.test(spoken);
}

/** A redirect whose path, or whose host, is one of a sign-in. */
export function leadsToSignIn(location: string | undefined): boolean {
  if (location === undefined) return false;
  const [place = ""] = location.split(/[?#]/);
  return /(^|[/.:-])(log-?in|log-?on|sign-?in|sign-?on|sso|oauth2?|saml2?|authorize|authenticate)([/.:-]|$)/i.test(
    place,
  );
}

export const credentialMayBeOver = "the credential may have expired, or is not accepted here";
