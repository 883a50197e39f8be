/**
 * A deployment of the service in words of its own: it answers at the documented paths, and has everything that the
 * contract leaves open in its own way. Behind it is the emulated service. Nothing here knows the dialect or its readers.
 */
import type { IncomingHttpHeaders } from "node:http";
import { askHere, type Hear, serveHere } from "../in-memory";
import { closeHere, listenHere, serverThat } from "../loopback";

export type Raw = Readonly<Record<string, unknown>>;
export type ListName = "vm.list" | "volume.list" | "group.list" | "flavor.list" | "image.list" | "region.list";

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Raw;
  readonly headers: IncomingHttpHeaders;
  /** Where it is served itself. */
  readonly base: string;
}

export interface Said {
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An operation beyond the contract, as a request of this deployment means it. */
export interface Meant {
  readonly operation: string;
  readonly id?: string;
  readonly ruleId?: string;
}

export interface Deployment {
  readonly title: string;
  readonly credential: { readonly name: string; readonly value: string };
  /** Its ids are numbers. */
  readonly numbered?: true;
  /** `undefined`: nothing is there. */
  understand(asked: Asked): Meant | undefined;
  /** A whole list, of which it shows a page. */
  list(operation: ListName, items: readonly Raw[], asked: Asked): Said;
  /** The payload of anything else that went well. */
  answer(operation: string, payload: unknown): Said;
  refuse(operation: string, status: number, message: string): Said;
}

const served: Readonly<Record<string, readonly [method: string, path: string]>> = {
  "vm.list": ["GET", "/api/v1/vm/list"],
  "vm.get": ["GET", "/api/v1/vm/{id}"],
  "vm.resize.confirm": ["POST", "/api/v1/vm/resize/{id}/confirm"],
  "vm.resize.revert": ["POST", "/api/v1/vm/resize/{id}/revert"],
  "volume.list": ["GET", "/api/v1/volume/list"],
  "volume.delete": ["DELETE", "/api/v1/volume/{id}"],
  "group.list": ["GET", "/api/v1/security-group"],
  "group.get": ["GET", "/api/v1/security-group/{id}"],
  "group.rule.delete": ["DELETE", "/api/v1/security-group/{id}/rule/{rule_id}"],
  "flavor.list": ["GET", "/api/v1/flavor/list"],
  "image.list": ["GET", "/api/v1/image/list"],
  "region.list": ["GET", "/api/v1/region/list"],
};

/** The contract's own operations, whose paths no deployment changes. */
export const documented: readonly (readonly [operation: string, method: string, path: RegExp])[] = [
  ["vm.create", "POST", /^\/api\/v1\/vm\/create$/],
  ["vm.rename", "POST", /^\/api\/v1\/vm\/rename\/[^/]+$/],
  ["vm.rebuild", "POST", /^\/api\/v1\/vm\/rebuild\/[^/]+$/],
  ["vm.resize", "POST", /^\/api\/v1\/vm\/resize\/[^/]+$/],
  ["vm.snapshot", "POST", /^\/api\/v1\/vm\/snapshot\/[^/]+$/],
  ["vm.stop", "POST", /^\/api\/v1\/vm\/stop\/[^/]+$/],
  ["vm.start", "POST", /^\/api\/v1\/vm\/start\/[^/]+$/],
  ["vm.reboot", "POST", /^\/api\/v1\/vm\/reboot\/[^/]+$/],
  ["vm.delete", "DELETE", /^\/api\/v1\/vm\/delete\/[^/]+$/],
  ["volume.create", "POST", /^\/api\/v1\/volume\/create$/],
  ["volume.attach", "POST", /^\/api\/v1\/volume\/attach$/],
  ["volume.detach", "POST", /^\/api\/v1\/volume\/detach$/],
  ["volume.resize", "POST", /^\/api\/v1\/volume\/resize\/[^/]+$/],
  ["group.import", "POST", /^\/api\/v1\/security-group\/import$/],
  ["group.create", "POST", /^\/api\/v1\/security-group$/],
  ["group.update", "PATCH", /^\/api\/v1\/security-group\/[^/]+$/],
  ["group.delete", "DELETE", /^\/api\/v1\/security-group\/[^/]+$/],
  ["group.rule.create", "POST", /^\/api\/v1\/security-group\/[^/]+\/rule$/],
  ["group.rule.list", "GET", /^\/api\/v1\/security-group\/[^/]+\/rule$/],
  ["volume.get", "GET", /^\/api\/v1\/volume\/(?!list$)[^/]+$/],
];

export interface RunningFront {
  readonly url: string;
  /** `METHOD path`, as it was asked. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Ids that are numbers outside, and what they are behind. */
function numbering(isNumbered: boolean) {
  const ids: string[] = [];
  const first = 100_001;
  return {
    own: (text: string): string =>
      isNumbered ? text.replaceAll(/\b1\d{5}\b/g, (number) => ids[Number(number) - first] ?? number) : text,
    shown: (text: string): string =>
      isNumbered
        ? text.replaceAll(/"([0-9a-f]{8}-[0-9a-f-]{27})"/g, (_, id: string) => {
            if (!ids.includes(id)) ids.push(id);
            return String(first + ids.indexOf(id));
          })
        : text,
  };
}

type Ask = (
  method: string,
  path: string,
  body: unknown,
) => Promise<{ readonly status: number; readonly body: unknown }>;

/** What the deployment answers, as long as `ask` reaches the emulated service; `base`: where it is served itself. */
function frontOf(deployment: Deployment, ask: Ask, asked: string[], base: () => string): Hear {
  const numbers = numbering(deployment.numbered === true);
  async function respond(request: Asked, text: string, path: string): Promise<Said> {
    if (request.headers[deployment.credential.name.toLowerCase()] !== deployment.credential.value)
      return deployment.refuse("any", 401, "who are you");
    const known = documented.find(([, method, shape]) => method === request.method && shape.test(request.path));
    if (known !== undefined) {
      const [operation] = known;
      const answer = await ask(request.method, path, text === "" ? undefined : JSON.parse(text));
      if (answer.status >= 400) return refused(operation, answer);
      const body = answer.body as { data?: unknown };
      const payload = typeof body === "object" && body !== null && "data" in body ? body.data : body;
      return { status: answer.status, ...deployment.answer(operation, payload) };
    }
    const meant = deployment.understand(request);
    const route = meant === undefined ? undefined : served[meant.operation];
    if (meant === undefined || route === undefined || meant.id === "list")
      return deployment.refuse("any", 404, "nothing is at this path");
    const [method, template] = route;
    const inner = template
      .replace("{id}", encodeURIComponent(meant.id ?? ""))
      .replace("{rule_id}", encodeURIComponent(meant.ruleId ?? ""));
    const answer = await ask(method, inner, undefined);
    if (answer.status >= 400) return refused(meant.operation, answer);
    const held = answer.body as { data?: unknown } | null;
    const data = typeof held === "object" && held !== null && "data" in held ? held.data : held;
    return meant.operation.endsWith(".list")
      ? deployment.list(meant.operation as ListName, data as Raw[], request)
      : deployment.answer(meant.operation, data);
  }
  const refused = (operation: string, { status, body }: { status: number; body: unknown }): Said =>
    deployment.refuse(operation, status, (body as { error?: { message?: string } }).error?.message ?? "refused");

  return async ({ method, url, headers, text: written }) => {
    asked.push(`${method} ${url}`);
    const own = numbers.own(url);
    const text = numbers.own(written);
    const at = new URL(own, "http://inner");
    try {
      const body = text === "" ? {} : (JSON.parse(text) as Raw);
      const path = decodeURI(at.pathname);
      const said = await respond({ method, path, query: at.searchParams, body, headers, base: base() }, text, own);
      return {
        status: said.status ?? 200,
        headers: { "content-type": "application/json", ...said.headers },
        text: said.body === undefined ? "" : numbers.shown(JSON.stringify(said.body)),
      };
    } catch {
      return undefined;
    }
  };
}

/** In front of an emulated service of this process; for this process alone. */
export function openFront(deployment: Deployment, emulator: string): RunningFront {
  const asked: string[] = [];
  const here = serveHere(frontOf(deployment, askOf(emulator), asked, () => here.url));
  return { ...here, asked };
}

/** For other processes as well. */
export async function startFront(deployment: Deployment, emulator: string): Promise<RunningFront> {
  const asked: string[] = [];
  const hear = frontOf(deployment, askOf(emulator), asked, () => url);
  const server = serverThat(hear);
  const url = await listenHere(server);
  const here = serveHere(hear, url);
  return {
    url,
    asked,
    async close() {
      await here.close();
      await closeHere(server);
    },
  };
}

const askOf =
  (emulator: string): Ask =>
  async (method, path, body) => {
    const headers = { authorization: "Bearer ops-token", "content-type": "application/json" };
    const text = body === undefined ? "" : JSON.stringify(body);
    const told = await askHere(emulator, { method, url: path, headers, text });
    if (told === undefined) throw new Error("the emulated service cut the connection");
    return { status: told.status, body: told.text === "" ? undefined : JSON.parse(told.text) };
  };

/** Some of a list, from an item on. */
export const cut = <T>(items: readonly T[], from: number, size: number): readonly T[] => items.slice(from, from + size);

/** The parts of a path that fits, with `:name` for any segment. */
export function match(path: string, shape: string): Readonly<Record<string, string>> | undefined {
  const [given, wanted] = [path.split("/"), shape.split("/")];
  if (given.length !== wanted.length) return undefined;
  const found: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const own = given[index] ?? "";
    if (part.startsWith(":")) found[part.slice(1)] = own;
    else if (part !== own) return undefined;
  }
  return found;
}

export const text = (value: unknown): string => (value === null || value === undefined ? "" : String(value));

/** The disks of a VM, as the emulated service shows them. */
export const disksOf = (vm: Raw): readonly { readonly id: string; readonly root: boolean }[] =>
  ((vm["volumes"] as readonly Raw[] | undefined) ?? []).map((disk) => ({
    id: text(disk["id"]),
    root: disk["root"] === true || disk["bootable"] === true,
  }));

/** A table of lists by what this deployment calls them. */
export const listsCalled = (
  vms: string,
  volumes: string,
  groups: string,
  flavors: string,
  images: string,
  regions: string,
): Readonly<Record<string, ListName>> => ({
  [vms]: "vm.list",
  [volumes]: "volume.list",
  [groups]: "group.list",
  [flavors]: "flavor.list",
  [images]: "image.list",
  [regions]: "region.list",
});

/** The record that an operation answers with, as the deployment shows its kind; `undefined`: it answers with none. */
export function recordShown(
  shown: Readonly<Record<string, (raw: Raw) => Raw>>,
  operation: string,
  payload: unknown,
): Raw | undefined {
  if (!/get$|^volume.create$|^group.(create|update)$/.test(operation)) return undefined;
  return shown[operation.split(".")[0] ?? ""]?.(payload as Raw);
}

/** Answers with the record itself, and with everything else below `data`. */
export const answerBare =
  (shown: Readonly<Record<string, (raw: Raw) => Raw>>): Deployment["answer"] =>
  (operation, payload) => ({ body: recordShown(shown, operation, payload) ?? { data: payload } });

/** The decision after a resize, where it has a path of its own. */
export function resizeDecision(asked: Asked, path: (verb: string) => string): Meant | undefined {
  for (const verb of ["confirm", "revert"]) {
    const found = asked.method === "POST" ? match(asked.path, path(verb)) : undefined;
    if (found !== undefined) return { operation: `vm.resize.${verb}`, ...found };
  }
  return undefined;
}
