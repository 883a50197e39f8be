/** What a fleet asks of GitHub and GitLab: the open pull requests, their comments, and the status of a commit. */
import { calendarMs, instantAt } from "../../core/model/time";
import { type Fields, fieldsIn, onlyDefined } from "../../core/text/objects";
import { readRetryAfter } from "../../core/text/retry-after";
import { hostedAt } from "../sources/change";
import { steadyNow } from "../steady";

/** A merge request of GitLab is one as well. */
export interface Pull {
  readonly number: number;
  /** The commit that is to be merged. */
  readonly head: string;
  readonly author: string;
  /** It comes from a repository into which its author may not push to this one. */
  readonly outside: boolean;
  readonly link: string;
  /** Changes with each comment. */
  readonly updatedAt: string;
}

export interface Comment {
  readonly id: string;
  readonly by: string;
  readonly text: string;
  /** Somebody changed it after it was written. */
  readonly isEdited: boolean;
}

export interface CommitStatus {
  readonly state: "pending" | "success" | "failure";
  readonly context: string;
  readonly description: string;
  readonly link?: string | undefined;
}

export interface PullHost {
  /** Those that are to be merged into this branch. */
  open(ref: string): Promise<readonly Pull[]>;
  /** Absent: it is still to be merged into this branch. */
  endOf(pull: number, ref: string): Promise<"merged" | "closed" | undefined>;
  /** The oldest first. */
  comments(pull: number): Promise<readonly Comment[]>;
  /** Writes a comment, or another text into one; the answer is its id. */
  write(pull: number, text: string, id: string | undefined): Promise<string>;
  setStatus(commit: string, status: CommitStatus): Promise<void>;
}

export interface HostPlace {
  readonly kind: "github" | "gitlab";
  /** The API, without a slash at its end. */
  readonly root: string;
  /** The repository within it. */
  readonly project: string;
}

/**
 * How a comment approves a plan. GitLab takes a line that begins with /approve for its own command, which approves the
 * merge request, and keeps no comment of it.
 */
export const approveWord = { github: "/approve", gitlab: "/reconcile approve" } as const;

/** Where the API of a repository is; absent: at no host that is known. `api`: the host's own, where it is not the usual one. */
export function hostPlace(repository: string, api: string | undefined): HostPlace | undefined {
  const place = hostedAt(repository);
  if (place === undefined) return undefined;
  const { host, path } = place;
  const isGitlab = /gitlab/i.test(host) || /\/api\/v4\/?$/.test(api ?? "");
  const usual = isGitlab
    ? `https://${host}/api/v4`
    : host === "github.com"
      ? "https://api.github.com"
      : `https://${host}/api/v3`;
  const root = (api ?? usual).replace(/\/$/, "");
  return isGitlab
    ? { kind: "gitlab", root, project: `projects/${encodeURIComponent(path)}` }
    : { kind: "github", root, project: `repos/${path.split("/").map(encodeURIComponent).join("/")}` };
}

/** The path and body that set the status of a commit. */
export function statusCall(
  { kind, project }: HostPlace,
  commit: string,
  { state, context, description, link }: CommitStatus,
): { readonly path: string; readonly body: object } {
  const named =
    kind === "gitlab" ? { state: state === "failure" ? "failed" : state, name: context } : { state, context };
  return {
    path: `${project}/statuses/${commit}`,
    body: { ...named, description, ...onlyDefined({ target_url: link }) },
  };
}

const limitMs = 10_000;
const perPageOfHost = 100;
/** More are not read: of a repository with more open pull requests, those that changed last are. */
const mostPagesOfPulls = 10;
/** The newest comments are the last. GitHub takes 2,500 of them, and GitLab 5,000. */
const mostPagesOfComments = 100;

const tokenHeader = (kind: HostPlace["kind"], token: string): Record<string, string> =>
  kind === "github" ? { authorization: `Bearer ${token}` } : { "private-token": token };

export interface HostSetting {
  readonly place: HostPlace;
  readonly token: string;
  readonly fetch?: typeof fetch | undefined;
  readonly signal?: AbortSignal | undefined;
}

export class HostRefused extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** The host's own word; absent: something in between may have answered. */
    readonly said?: string,
  ) {
    super(message);
  }
}

/** A token or a letter goes to no address that only an answer names. */
export const leadsOn = ({ status }: Pick<Response, "status">): string =>
  status >= 300 && status < 400 ? " and leads to another address: name that one" : "";

type AskHost = (method: string, path: string, body?: object) => Promise<unknown>;

/** Until when a host wants no request with a token. */
const restsUntil = new Map<string, number>();

/** How long a host that refuses wants to be let alone, as GitHub and GitLab say it. */
function restIn({ headers }: Response): number {
  const isSpent = headers.get("x-ratelimit-remaining") === "0";
  const said = headers.get("retry-after") ?? (isSpent ? headers.get("x-ratelimit-reset") : null) ?? undefined;
  return readRetryAfter(said, calendarMs(headers.get("date") ?? undefined, instantAt(Date.now()))) ?? 0;
}

function asking({ place, token, fetch: send = fetch, signal }: HostSetting): AskHost {
  const { host } = new URL(place.root);
  const asker = `${place.root} ${token}`;
  return async (method, path, body) => {
    const restMs = (restsUntil.get(asker) ?? 0) - steadyNow();
    if (restMs > 0) throw new Error(`${host} wants no request for ${Math.ceil(restMs / 1000)} s`);
    restsUntil.delete(asker);
    const limit = AbortSignal.timeout(limitMs);
    // What fails names no header: it holds the token.
    const answer = await send(`${place.root}/${path}`, {
      method,
      headers: {
        accept: "application/json",
        "user-agent": "reconcile-fleet",
        ...tokenHeader(place.kind, token),
        ...onlyDefined({ "content-type": body === undefined ? undefined : "application/json" }),
      },
      ...onlyDefined({ body: body === undefined ? undefined : JSON.stringify(body) }),
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
      redirect: "manual",
    }).catch((error: unknown) => {
      const { code } = fieldsIn(error instanceof Error ? error.cause : undefined);
      throw new Error(
        `${host} could not be asked (${typeof code === "string" ? code : limit.aborted ? "no answer" : "it failed"})`,
      );
    });
    const given: unknown = await answer.json().catch(() => undefined);
    // A page with a success is of something in between.
    if (answer.ok && given !== undefined) return given;
    const rest = restIn(answer);
    if (rest > 0) restsUntil.set(asker, steadyNow() + rest);
    const said = textIn(fieldsIn(given), "message");
    throw new HostRefused(
      answer.status,
      `${host} answered ${answer.status} to ${method} ${path.replace(/\?.*$/, "")}${said === "" ? "" : `: ${said.slice(0, 200)}`}${answer.ok ? " with no JSON" : ""}${leadsOn(answer)}`,
      said || undefined,
    );
  };
}

async function allPages(ask: AskHost, path: string, most: number): Promise<readonly Fields[]> {
  const found: Fields[] = [];
  for (let page = 1; page <= most; page++) {
    const some = await ask("GET", `${path}${path.includes("?") ? "&" : "?"}per_page=${perPageOfHost}&page=${page}`);
    if (!Array.isArray(some)) throw new Error(`the list ${path.replace(/\?.*$/, "")} is no list`);
    found.push(...some.map(fieldsIn));
    if (some.length < perPageOfHost) break;
  }
  return found;
}

const textIn = (fields: Fields, key: string): string => {
  const value = fields[key];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
};

/** What a host calls what it is asked for, and how it answers. Paths are within its project. */
interface HostWords {
  readonly list: (ref: string) => string;
  readonly pullIn: (fields: Fields) => Omit<Pull, "updatedAt">;
  readonly pulls: string;
  readonly endIn: (fields: Fields, ref: string) => "merged" | "closed" | undefined;
  readonly comments: (pull: number) => string;
  readonly oldestFirst: string;
  readonly comment: (pull: number, id: string) => string;
  readonly changes: "PATCH" | "PUT";
  readonly writer: readonly [key: string, name: string];
}

const hostWords: Readonly<Record<HostPlace["kind"], HostWords>> = {
  github: {
    list: (ref) => `pulls?state=open&base=${encodeURIComponent(ref)}&sort=updated&direction=desc`,
    pullIn(pull) {
      const [head, base] = [fieldsIn(pull["head"]), fieldsIn(pull["base"])];
      const [from, to] = [head, base].map((end) => textIn(fieldsIn(end["repo"]), "id"));
      return {
        number: Number(pull["number"]),
        head: textIn(head, "sha"),
        author: textIn(fieldsIn(pull["user"]), "login"),
        // The repository that it came from may be gone.
        outside: from === "" || from !== to,
        link: textIn(pull, "html_url"),
      };
    },
    pulls: "pulls",
    endIn({ merged, state, base }, ref) {
      if (merged === true) return "merged";
      return state === "open" && textIn(fieldsIn(base), "ref") === ref ? undefined : "closed";
    },
    comments: (pull) => `issues/${pull}/comments`,
    oldestFirst: "",
    comment: (_, id) => `issues/comments/${id}`,
    changes: "PATCH",
    writer: ["user", "login"],
  },
  gitlab: {
    list: (ref) => `merge_requests?state=opened&target_branch=${encodeURIComponent(ref)}&order_by=updated_at&sort=desc`,
    pullIn: (pull) => ({
      number: Number(pull["iid"]),
      head: textIn(pull, "sha"),
      author: textIn(fieldsIn(pull["author"]), "username"),
      outside: textIn(pull, "source_project_id") !== textIn(pull, "target_project_id"),
      link: textIn(pull, "web_url"),
    }),
    pulls: "merge_requests",
    endIn({ state, target_branch: branch }, ref) {
      if (state === "merged") return "merged";
      // It is locked while it is merged.
      return (state === "opened" || state === "locked") && branch === ref ? undefined : "closed";
    },
    comments: (pull) => `merge_requests/${pull}/notes`,
    oldestFirst: "?sort=asc&order_by=created_at",
    comment: (pull, id) => `merge_requests/${pull}/notes/${id}`,
    changes: "PUT",
    writer: ["author", "username"],
  },
};

export function openHost(setting: HostSetting): PullHost {
  const ask = asking(setting);
  const { place } = setting;
  const words = hostWords[place.kind];
  const at = (path: string): string => `${place.project}/${path}`;
  return {
    open: async (ref) =>
      (await allPages(ask, at(words.list(ref)), mostPagesOfPulls)).map((pull) => ({
        ...words.pullIn(pull),
        updatedAt: textIn(pull, "updated_at"),
      })),
    async endOf(pull, ref) {
      const found = await ask("GET", at(`${words.pulls}/${pull}`)).catch((error: unknown) => {
        // Whoever owns a project at GitLab may delete a merge request.
        if (error instanceof HostRefused && error.status === 404 && error.said !== undefined)
          return { state: "closed" };
        throw error;
      });
      return words.endIn(fieldsIn(found), ref);
    },
    async comments(pull) {
      const [key, name] = words.writer;
      const all = await allPages(ask, at(words.comments(pull) + words.oldestFirst), mostPagesOfComments);
      return all
        .filter(({ system }) => system !== true)
        .map((comment) => ({
          id: textIn(comment, "id"),
          by: textIn(fieldsIn(comment[key]), name),
          text: textIn(comment, "body"),
          isEdited: textIn(comment, "created_at") !== textIn(comment, "updated_at"),
        }));
    },
    async write(pull, text, id) {
      const written =
        id === undefined
          ? await ask("POST", at(words.comments(pull)), { body: text })
          : await ask(words.changes, at(words.comment(pull, id)), { body: text });
      return textIn(fieldsIn(written), "id");
    },
    /** The same status again is refused, and is what was wanted; a commit that was pushed over has none. */
    async setStatus(commit, status) {
      const { path, body } = statusCall(place, commit, status);
      await ask("POST", path, body).catch((error: unknown) => {
        const isNeedless = /Cannot transition status|No commit found for SHA|Commit Not Found/i;
        if (!(error instanceof Error && isNeedless.test(error.message))) throw error;
      });
    },
  };
}
