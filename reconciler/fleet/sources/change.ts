/** What leads from one revision of a stack's files to another: who wrote it, why, and what it changes in the files. */

export interface Commit {
  readonly id: string;
  readonly author: string;
  readonly email: string;
  /** Who else is named as an author, as "NAME <EMAIL>". */
  readonly others: readonly string[];
  readonly at: string;
  readonly subject: string;
  /** Where a person reads it; absent: the repository has no page that is known. */
  readonly link?: string;
}

/** Under which names a commit shows who wrote it. */
export type Writers = Pick<Commit, "author" | "email" | "others">;

/** Each of them once. */
export const writersOf = (commits: readonly Commit[]): Writers[] => [
  ...new Map(
    commits.map(({ author, email, others }) => [JSON.stringify([author, email, others]), { author, email, others }]),
  ).values(),
];

export interface FileChange {
  /** The newest first. None: the files are as they were applied. */
  readonly commits: readonly Commit[];
  /** So many older ones are not listed. */
  readonly more: number;
  /** Who wrote those that are not listed; without a revision to begin at, all that the files have. Absent: nobody. */
  readonly alsoBy?: readonly Writers[];
  /** The difference of the YAML, as git shows it. */
  readonly difference?: string;
}

/** One record of `git log` with this format is one line of a commit's fields. */
export const logFormat =
  "%H%x00%an%x00%ae%x00%aI%x00%(trailers:key=Co-authored-by,valueonly,unfold,separator=%x1f)%x00%s";

/** Terminals obey control characters, and these texts are written by whoever may commit. */
const withoutControls = (text: string): string => text.replace(/\p{Cc}/gu, " ").slice(0, 300);

export const commitsIn = (log: string, url: string): Commit[] =>
  log
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [id = "", author = "", email = "", at = "", others = "", ...subject] = line.split("\0");
      const link = linkTo(url, id);
      return {
        id,
        author: withoutControls(author),
        email: withoutControls(email),
        others: others
          .split("\u001f")
          .filter((one) => one !== "")
          .map(withoutControls),
        at,
        subject: withoutControls(subject.join(" ")),
        link,
      };
    });

/**
 * Where a repository is hosted, by the address that git uses; absent: at no host with pages of its own. The port of https
 * is the one of the host's pages and API as well, and that of ssh is not.
 */
export function hostedAt(url: string): { readonly host: string; readonly path: string } | undefined {
  const [, host, path] =
    /^https:\/\/(?:[^/@]*@)?([^/:@]+(?::(?!443\/)\d+)?)(?::443)?\/(.+?)(?:\.git)?\/?$/.exec(url) ??
    /^ssh:\/\/(?:[^/@]*@)?([^/:@]+)(?::\d+)?\/(.+?)(?:\.git)?\/?$/.exec(url) ??
    /^(?:[^/@:]+@)([^/:@]+):(?!\/)(.+?)(?:\.git)?\/?$/.exec(url) ??
    [];
  return host === undefined || path === undefined || !/^[\w.~/-]+$/.test(path) ? undefined : { host, path };
}

/** The page of a commit at the usual hosts. */
export function linkTo(url: string, commit: string): string | undefined {
  const place = hostedAt(url);
  if (place === undefined) return undefined;
  const { host, path } = place;
  const page = /gitlab/i.test(host) ? "-/commit" : /bitbucket/i.test(host) ? "commits" : "commit";
  return `https://${host}/${path}/${page}/${commit}`;
}

/** Whether a person wrote the commit, by any of the names under which a commit shows one. */
export function isBy({ author, email, others }: Writers, person: string): boolean {
  const named = [author, email, ...others.flatMap((other) => other.split(/[<>]/))];
  const names = named.flatMap((one) => [one, one.replace(/@.*$/, "")]).map(folded);
  return names.includes(folded(person)) || names.includes(folded(person.replace(/@.*$/, "")));
}

const folded = (name: string): string => name.trim().toLowerCase();

/** So much of the difference is kept. */
const mostChangeLines = 300;
const mostChangeText = 30_000;

export function shortened(difference: string): string {
  const lines = difference.split("\n");
  const kept = lines.slice(0, mostChangeLines).join("\n").slice(0, mostChangeText);
  return kept.length < difference.trimEnd().length ? `${kept}\n… the rest is in the repository` : kept;
}
