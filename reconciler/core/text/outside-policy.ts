/**
 * One policy for everything that is outside: where credentials and the state may go, and how long an answer is waited
 * for. The service, the stores and the fleet ask here, each in words of its own.
 */

/**
 * Whether a host is this machine: the one place where credentials and the state may go without TLS. The host is the one
 * a URL parser gives back: it writes every spelling of an IPv4 address (short, octal, hexadecimal) as four decimal
 * numbers, so that a name such as 127.evil.example is not taken for an address.
 */
export const isLoopbackHost = (hostname: string): boolean =>
  ["localhost", "::1", "[::1]"].includes(hostname) || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname);

/** Why no credential is sent to an address. `in_the_clear`: over plain http to another machine. */
export type AddressFault = "no_url" | "neither_http_nor_https" | "holds_a_credential" | "in_the_clear" | "has_a_query";

/** A URL as its parser gives it back. */
type UrlParts = Readonly<Record<"protocol" | "username" | "password" | "search" | "hash" | "hostname", string>>;

/** `url`: absent where the text is none. `plainHttp`: the user has said that the way there is safe. */
export function addressFault(url: UrlParts | null, plainHttp: boolean): AddressFault | undefined {
  if (url === null) return "no_url";
  const { protocol, username, password, search, hash, hostname } = url;
  if (protocol !== "https:" && protocol !== "http:") return "neither_http_nor_https";
  if (username !== "" || password !== "") return "holds_a_credential";
  if (protocol === "http:" && !plainHttp && !isLoopbackHost(hostname)) return "in_the_clear";
  return search !== "" || hash !== "" ? "has_a_query" : undefined;
}

/** How long anything outside is waited for, in milliseconds. */
export const waits = {
  /** Until a connection stands, to whatever it is. */
  connect: 10_000,
  /** Until the service has answered; `timing.request_timeout` says otherwise. */
  request: 120_000,
  /** Until an HTTP store has taken or given a whole state. */
  stateDocument: 60_000,
  /** The same for an object of a bucket. The client of the bucket sends a failed request again by itself. */
  bucketObject: 30_000,
  /** One statement of a database that keeps a state. A lease is a minute. */
  statement: 20_000,
  /** One query of a fleet's database, which may search its whole history. */
  fleetQuery: 30_000,
  /** Until a program that gives a credential or a key has ended. */
  helper: 60_000,
  /** For a store that answered before and is away, as while it is restarted. */
  restart: { http: 15_000, database: 30_000 },
  /** For a store that has never answered: its address may be wrong. */
  firstAnswer: 5_000,
} as const;

/** An address with a scheme, and no path of a file. `file:/a` is one in its short form. */
export const isUrl = (location: string): boolean => /^(?:[a-z][a-z0-9+.-]*:\/\/|file:\/)/i.test(location);

/** An address that cannot be read as one, without what is likely the user and the password in it. */
export const withoutPassword = (address: string): string =>
  address.replace(/^((?:[a-z][a-z0-9+.-]*:)?\/*)[^:]*:.*@/is, "$1");

/**
 * A text in which addresses may stand, as in the words of whoever could not use one: without the user, who may be a token.
 * A password may hold what has to be written otherwise in an address, such as a slash or a blank, and is repeated as it is;
 * what stands behind a colon and is no port is one, up to the last `@` of the line.
 */
export const withoutUsers = (text: string): string =>
  text.replace(/\/\/(?:[^/\s:@[]*:(?!\d+(?:[/\s]|$)).*|[^/\s]*)@/g, "//***@");

/** The beginnings that make a place of a state another one than was meant, and how each has to begin instead. */
const slips: readonly (readonly [begins: RegExp, begin: (scheme: string) => string])[] = [
  [/^(s3|https?|postgres(?:ql)?)(?::|\/\/)/i, (scheme) => `begin it with ${scheme}://`],
  [/^file:/i, () => "leave file: out, or write the whole path behind file://"],
  [/^(?:[^/]*@)?[a-z0-9.-]+(?::\d+\/|\/api\/v4\/)/i, () => "begin it with https://"],
  [/^~[^/]*\//, () => "write the folder out, for only a shell replaces ~, and not behind ="],
];

/**
 * What is wrong with the place of a state that would be a file of that name, and is meant otherwise: `s3:bucket`, `~/a`. A
 * user may be a token, and the settings behind `?` may hold a password.
 */
export function unlikelyPlace(location: string) {
  if (isUrl(location)) return undefined;
  for (const [begins, begin] of slips) {
    const found = begins.exec(location);
    if (found === null) continue;
    const shown = withoutPassword(location).replace(/^((?:[a-z][a-z0-9+.-]*:)?\/*)[^/]*@|\?.*/gis, "$1");
    return {
      summary: `the state ${shown} is no address, and no likely file`,
      fix: `${begin(found[1] ?? "")}; a file of that name: put ./ before it`,
      ...(shown === location ? {} : { withoutExcerpt: true }),
    };
  }
  return undefined;
}
