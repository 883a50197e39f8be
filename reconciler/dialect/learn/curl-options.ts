/** A command line cut into words as a shell does, and what the options of curl among them say. */

import { onlyDefined } from "../../core/text/objects";

export type Header = readonly [name: string, value: string];

interface Options {
  readonly method?: string;
  readonly url?: string;
  readonly data: readonly string[];
  readonly headers: readonly Header[];
  /** What is sent stands in the query. */
  readonly isQuery: boolean;
  readonly bodyIn?: string;
}

type OptionMeaning = "method" | "header" | "data" | "file" | "url" | "cookie" | "user" | "bearer" | "nothing";

/** What curl is told of itself or of the way. */
const ofNoRequest =
  "user-agent connect-timeout max-time max-redirs max-filesize cacert capath cert cert-type key key-type pass pinnedpubkey crlfile ciphers tls13-ciphers curves tls-max proxy proxy-user proxy-header preproxy noproxy socks4 socks4a socks5 socks5-hostname resolve connect-to dns-servers interface local-port output output-dir write-out stderr trace trace-ascii dump-header cookie-jar referer config netrc-file unix-socket retry retry-delay retry-max-time limit-rate rate speed-limit speed-time range expect100-timeout keepalive-time happy-eyeballs-timeout-ms hsts alt-svc ipfs-gateway doh-url aws-sigv4 service-name login-options";

/** The meaning of the word after each option that takes one; all others take none. */
const meanings: Readonly<Record<string, OptionMeaning>> = {
  ...{ X: "method", request: "method", H: "header", header: "header", url: "url", b: "cookie", cookie: "cookie" },
  ...{ d: "data", data: "data", "data-raw": "data", "data-binary": "data", "data-ascii": "data", json: "data" },
  ...{ "data-urlencode": "data", u: "user", user: "user", "oauth2-bearer": "bearer" },
  ...{ F: "file", form: "file", "form-string": "file", T: "file", "upload-file": "file" },
  ...Object.fromEntries([..."ACDEKPQUYceormtwxyz"].map((letter) => [letter, "nothing" as const])),
  ...Object.fromEntries(ofNoRequest.split(" ").map((name) => [name, "nothing" as const])),
};

/** The options of a word, each with what stands in it as well: -sXPOST, --data=…, -H'…'. */
function optionsIn(word: string): readonly (readonly [name: string, value: string | undefined])[] {
  if (word.startsWith("--")) {
    const [, name = "", value] = /^--([\w-]+)(?:=([\s\S]*))?$/.exec(word) ?? [];
    return [[name, value]];
  }
  const [first = "", ...rest] = word.slice(1);
  if (meanings[first] !== undefined) return [[first, rest.length > 0 ? rest.join("") : undefined]];
  return [[first, undefined], ...(rest.length > 0 ? optionsIn(`-${rest.join("")}`) : [])];
}

export function optionsOf(words: readonly string[]): Options {
  const given: Record<Exclude<OptionMeaning, "nothing">, string[]> = {
    ...{ method: [], header: [], data: [], file: [], url: [], cookie: [], user: [], bearer: [] },
  };
  const left = [...words];
  let isQuery = false;
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (!/^-[^\s]/.test(word)) {
      given.url.push(word);
      continue;
    }
    for (const [name, value] of optionsIn(word)) {
      isQuery ||= name === "G" || name === "get";
      const meaning = meanings[name];
      const said = meaning === undefined ? undefined : (value ?? left.shift());
      if (meaning !== undefined && meaning !== "nothing" && said !== undefined) given[meaning].push(said);
      if (meaning === "data" && said !== undefined && namesFile(name, said)) given.file.push(said);
    }
  }
  const { method, header, data, file, url, cookie, user, bearer } = given;
  // What is no URL may be the value of an option that is not known here.
  const address = url.find((one) => scheme.test(one)) ?? url.find((one) => one.includes("/")) ?? url[0];
  return {
    headers: [
      ...header.flatMap(headerIn),
      ...cookie.map((said): Header => ["Cookie", said]),
      ...bearer.map((said): Header => ["Authorization", `Bearer ${said}`]),
      ...user.map((said): Header => ["Authorization", `Basic ${said}`]),
    ],
    ...onlyDefined({ method: method.at(-1)?.toUpperCase(), url: address }),
    ...onlyDefined({ bodyIn: file[0]?.split("=")[0] }),
    data,
    isQuery,
  };
}

/** Whether curl reads the data from a file: `@FILE`, and where it writes it for a URL, `NAME@FILE` as well. */
const namesFile = (option: string, said: string): boolean =>
  option === "data-urlencode" ? /^[^=]*@/.test(said) : said.startsWith("@");

/** A file of headers, and one that is sent without a value or not at all, say nothing here. */
function headerIn(word: string): readonly Header[] {
  const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*:\s*(\S[\s\S]*?)\s*$/.exec(word) ?? [];
  return name === undefined || value === undefined ? [] : [[name, value]];
}

/** How an address begins that says how it is asked. */
export const scheme = /^[a-z][a-z0-9+.-]*:\/\//i;

/** Cuts the text into words as a shell does. A line that ends with a backslash goes on. */
export function wordsOfShell(command: string): string[] {
  const quoted = /\$'((?:\\[\s\S]|[^'\\])*)'|'([^']*)'|"((?:\\[\s\S]|[^"\\])*)"|\\([\s\S])|([^\s'"\\]+)/;
  const words = command.replaceAll(/\\\r?\n/g, " ").match(new RegExp(`(?:${quoted.source})+`, "g")) ?? [];
  return words.map((word) =>
    word.replaceAll(
      new RegExp(quoted, "g"),
      (_, ansi?: string, single?: string, double?: string, escaped?: string, bare?: string) =>
        (ansi === undefined ? undefined : unescaped(ansi)) ??
        single ??
        double?.replaceAll(/\\(.)/g, "$1") ??
        escaped ??
        bare ??
        "",
    ),
  );
}

/** What stands between $' and ': browsers write a command so where a quote or an exclamation mark is in it. */
const unescaped = (text: string): string =>
  text.replaceAll(
    /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([\s\S]))/g,
    (_, long?: string, short?: string, sign = "") => {
      const code = long ?? short;
      return code === undefined ? (shellSigns[sign] ?? sign) : String.fromCharCode(Number.parseInt(code, 16));
    },
  );
const shellSigns: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };
