/** A server of this process that speaks what a fleet asks of GitHub (/api/v3) and GitLab (/api/v4), with one world for both. */
import { createServer, type IncomingMessage } from "node:http";
import { closeHere, listenHere } from "../support/loopback";

export interface HostedPull {
  readonly number: number;
  head: string;
  readonly base: string;
  readonly author: string;
  readonly fork: boolean;
  /** GitLab locks one while it merges it. */
  state: "open" | "closed" | "merged" | "locked";
}

export interface HostedComment {
  readonly id: number;
  readonly pull: number;
  readonly by: string;
  text: string;
  readonly at: string;
  changedAt: string;
}

export interface GitHost {
  readonly url: string;
  readonly pulls: HostedPull[];
  readonly comments: HostedComment[];
  readonly statuses: {
    readonly commit: string;
    readonly context: string;
    readonly state: string;
    readonly description: string;
  }[];
  /** Writes a comment as somebody. */
  comment(pull: number, by: string, text: string): HostedComment;
  /** Pull requests whose comments it does not give. */
  readonly broken: Set<number>;
  /** How often each request came, without its query. */
  readonly asked: Map<string, number>;
  close(): Promise<void>;
}

export const hostToken = "canary-t0ken-of-the-host";
const self = "reconcile-bot";

export async function startGitHost(): Promise<GitHost> {
  const pulls: HostedPull[] = [];
  const comments: HostedComment[] = [];
  const statuses: GitHost["statuses"] = [];
  const asked = new Map<string, number>();
  const broken = new Set<number>();
  let nextId = 1000;
  let clock = Date.parse("2026-11-20T10:00:00Z");
  function tick(): string {
    clock += 1000;
    return new Date(clock).toISOString().replace(".000", "");
  }
  const changed = new Map<number, string>();
  const touch = (pull: number): void => void changed.set(pull, tick());

  function comment(pull: number, by: string, text: string): HostedComment {
    const at = tick();
    const made = { id: nextId++, pull, by, text, at, changedAt: at };
    comments.push(made);
    touch(pull);
    return made;
  }

  const github = (pull: HostedPull): object => ({
    number: pull.number,
    state: pull.state === "open" ? "open" : "closed",
    merged: pull.state === "merged",
    html_url: `https://git.example/acme/infra/pull/${pull.number}`,
    user: { login: pull.author },
    updated_at: changed.get(pull.number) ?? "2026-11-20T10:00:00Z",
    head: { sha: pull.head, repo: { id: pull.fork ? 2 : 1 } },
    base: { ref: pull.base, repo: { id: 1 } },
  });
  const gitlab = (pull: HostedPull): object => ({
    iid: pull.number,
    state: pull.state === "open" ? "opened" : pull.state,
    sha: pull.head,
    web_url: `https://git.example/acme/infra/-/merge_requests/${pull.number}`,
    author: { username: pull.author },
    updated_at: changed.get(pull.number) ?? "2026-11-20T10:00:00Z",
    source_project_id: pull.fork ? 2 : 1,
    target_project_id: 1,
    target_branch: pull.base,
  });
  const note = ({ id, by, text, at, changedAt }: HostedComment, kind: "github" | "gitlab"): object => ({
    id,
    body: text,
    created_at: at,
    updated_at: changedAt,
    ...(kind === "github" ? { user: { login: by } } : { author: { username: by }, system: false }),
  });

  function answer(
    method: string,
    path: string,
    query: URLSearchParams,
    body: Record<string, string>,
    kind: "github" | "gitlab",
  ): [number, unknown] {
    const own = kind === "github" ? "repos/acme/infra" : "projects/acme%2Finfra";
    const rest = path.startsWith(`${own}/`) ? path.slice(own.length + 1) : "";
    const page = Number(query.get("page") ?? 1);
    const paged = (all: readonly object[]): [number, unknown] => {
      const size = Number(query.get("per_page") ?? 20);
      return [200, all.slice((page - 1) * size, page * size)];
    };
    const list = kind === "github" ? "pulls" : "merge_requests";
    const shown = kind === "github" ? github : gitlab;
    if (method === "GET" && rest === list)
      return paged(
        pulls
          .filter(({ state, base }) => state === "open" && base === (query.get("base") ?? query.get("target_branch")))
          .map(shown),
      );
    const [, one] = new RegExp(`^${list}/(\\d+)$`).exec(rest) ?? [];
    const pull = pulls.find(({ number }) => String(number) === one);
    if (method === "GET" && pull !== undefined) return [200, shown(pull)];
    const notes =
      kind === "github" ? /^issues\/(\d+)\/comments$/.exec(rest) : /^merge_requests\/(\d+)\/notes$/.exec(rest);
    if (notes !== null && method === "GET" && broken.has(Number(notes[1]))) return [502, { message: "Bad Gateway" }];
    if (notes !== null && method === "GET")
      return paged(
        comments
          // GitLab carries its own /approve out and keeps no comment of it.
          .filter(({ pull, text }) => String(pull) === notes[1] && !(kind === "gitlab" && /^\/approve\b/.test(text)))
          .map((each) => note(each, kind)),
      );
    if (notes !== null && method === "POST")
      return [201, note(comment(Number(notes[1]), self, body["body"] ?? ""), kind)];
    const [, changedId] =
      (kind === "github" ? /^issues\/comments\/(\d+)$/ : /^merge_requests\/\d+\/notes\/(\d+)$/).exec(rest) ?? [];
    const written = comments.find(({ id }) => String(id) === changedId);
    if (written !== undefined && method === (kind === "github" ? "PATCH" : "PUT")) {
      written.text = body["body"] ?? "";
      written.changedAt = tick();
      touch(written.pull);
      return [200, note(written, kind)];
    }
    const [, commit] = /^statuses\/([0-9a-f]{40})$/.exec(rest) ?? [];
    if (commit !== undefined && method === "POST") {
      const context = body["context"] ?? body["name"] ?? "";
      statuses.push({ commit, context, state: body["state"] ?? "", description: body["description"] ?? "" });
      return [201, {}];
    }
    return [404, { message: "Not Found" }];
  }

  const server = createServer((request, response) => {
    void bodyOf(request).then((text) => {
      const url = new URL(request.url ?? "/", "http://here");
      const [, version = "", path = ""] = /^\/api\/(v3|v4)\/(.*)$/.exec(url.pathname) ?? [];
      const kind = version === "v4" ? "gitlab" : "github";
      const key = `${request.method} ${url.pathname}`;
      asked.set(key, (asked.get(key) ?? 0) + 1);
      const given = kind === "github" ? request.headers.authorization : request.headers["private-token"];
      const [status, body] =
        given === (kind === "github" ? `Bearer ${hostToken}` : hostToken)
          ? answer(request.method ?? "", path, url.searchParams, text === "" ? {} : JSON.parse(text), kind)
          : [401, { message: "Bad credentials" }];
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  const url = await listenHere(server);
  return {
    url,
    pulls,
    comments,
    statuses,
    asked,
    broken,
    comment,
    close: () => closeHere(server),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  // What a request gives is bytes.
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
