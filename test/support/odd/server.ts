/**
 * Serves an odd world in the words of a shape, over HTTP or to this process alone; a process that sends may be killed at
 * one of its writes.
 */
import type { Asked, Deployment, Meant, Raw, Said } from "../deployments/front";
import { documented } from "../deployments/front";
import { type Hear, serveHere, type Told } from "../in-memory";
import { closeHere, listenHere, serverThat } from "../loopback";
import { type OddOptions, OddWorld, Refused } from "./world";

export interface OddShape extends Omit<Deployment, "understand"> {
  readonly world?: OddOptions;
  /** A write is answered with its job alone, and done or refused a while later. */
  readonly deferred?: true;
  /** How many connections it takes; what comes beyond is reset. */
  readonly connections?: number;
  /** An answer to a write with the job that it began. */
  withJob?(body: unknown, job: string, operation: string): unknown;
  /** Headers of an answer to a write with the job that it began. */
  jobHeaders?(job: string, base: string): Readonly<Record<string, string>>;
  /** What is asked for a job, and what it shows. */
  job?(asked: Asked): string | undefined;
  showJob?(job: string, isDone: boolean, failure: string | undefined): Said;
  /** Whatever has to be so before a request is looked at, such as a version that is sent. */
  refuses?(operation: string, ids: { readonly id?: string }, asked: Asked, world: OddWorld): Said | undefined;
  /** `undefined`: nothing is there. The world is for what a request names otherwise than by an id. */
  understand(asked: Asked, world: OddWorld): Meant | undefined;
}

export interface RunningOdd {
  readonly url: string;
  readonly world: OddWorld;
  readonly asked: string[];
  /** Operations that changed something, in their order. */
  readonly writes: string[];
  /** Called at a write, before or after its effect; `true`: the answer is lost. */
  onWrite: ((nth: number, when: "before" | "after") => boolean) | undefined;
  /** The most connections that were open at once. */
  most(): number;
  close(): Promise<void>;
}

function failureOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

function oddService(shape: OddShape): { readonly running: RunningOdd; readonly hear: Hear } {
  const world = new OddWorld(shape.world);
  const [asked, writes]: [string[], string[]] = [[], []];
  const jobs = new Map<string, { readonly until: number; readonly failure?: string }>();
  const running: RunningOdd = {
    url: "",
    world,
    asked,
    writes,
    onWrite: undefined,
    most: () => 0,
    close: async () => undefined,
  };

  /** `undefined`: the answer is lost. */
  function respond(request: Asked): Said | undefined {
    if (request.headers[shape.credential.name.toLowerCase()] !== shape.credential.value)
      return shape.refuse("any", 401, "who are you");
    const job = shape.job?.(request);
    if (job !== undefined) {
      const known = jobs.get(job);
      return known === undefined
        ? shape.refuse("any", 404, "there is no such job")
        : (shape.showJob?.(job, known.until <= Date.now(), known.failure) ?? {});
    }
    const own = documented.find(([, method, path]) => method === request.method && path.test(request.path));
    const meant =
      own === undefined
        ? shape.understand(request, world)
        : { operation: own[0], id: decodeURIComponent(/\/([^/]+)(?:\/rule)?$/.exec(request.path)?.[1] ?? "") };
    if (meant === undefined) return shape.refuse("any", 404, "nothing is at this path");
    const { operation } = meant;
    const isWrite = !/\.(list|get)$/.test(operation);
    const refusal = shape.refuses?.(operation, meant, request, world);
    if (refusal !== undefined) return refusal;
    const nth = writes.length + 1;
    if (isWrite) writes.push(operation);
    if (isWrite && running.onWrite?.(nth, "before") === true) return undefined;
    if (isWrite && shape.deferred === true) {
      const id = `j${jobs.size + 1}`;
      jobs.set(id, { until: Number.POSITIVE_INFINITY });
      setTimeout(() => {
        const failure = failureOf(() => world.do(operation, meant, request.body));
        jobs.set(id, { until: Date.now(), ...(failure !== undefined && { failure }) });
      }, shape.world?.delayMs ?? 40).unref();
      const isLost = running.onWrite?.(nth, "after") === true;
      return isLost ? undefined : { status: 202, body: shape.withJob?.(undefined, id, operation) };
    }
    let said: Said;
    try {
      const { status, payload } = world.do(operation, meant, request.body);
      said =
        operation.endsWith(".list") && operation !== "group.rule.list"
          ? shape.list(operation as Parameters<Deployment["list"]>[0], payload as Raw[], request)
          : { status, ...shape.answer(operation, payload) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return shape.refuse(operation, error.status, error.message);
    }
    if (isWrite && shape.withJob !== undefined) {
      const id = `j${jobs.size + 1}`;
      jobs.set(id, { until: Date.now() + (shape.world?.delayMs ?? 40) });
      said = {
        ...said,
        body: shape.withJob(said.body, id, operation),
        ...(shape.jobHeaders && { headers: { ...said.headers, ...shape.jobHeaders(id, running.url) } }),
      };
    }
    return isWrite && running.onWrite?.(nth, "after") === true ? undefined : said;
  }

  const hear: Hear = ({ method, url, headers, text }) => {
    asked.push(`${method} ${url}`);
    const at = new URL(url, "http://inner");
    try {
      const said = respond({
        method,
        path: decodeURI(at.pathname),
        query: at.searchParams,
        body: text === "" ? {} : (JSON.parse(text) as Raw),
        headers,
        base: running.url,
      });
      return said === undefined ? undefined : inWords(said);
    } catch (error) {
      if (process.env["ODD_ERRORS"] !== undefined) console.error(error);
      return undefined;
    }
  };
  return { running, hear };
}

const inWords = ({ status = 200, headers, body }: Said): Told => {
  const isText = typeof body === "string" && headers?.["content-type"] !== undefined;
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    text: body === undefined ? "" : isText ? body : JSON.stringify(body),
  };
};

/** The odd service as a server of its own, for other processes. */
export async function startOdd(shape: OddShape): Promise<RunningOdd> {
  const { running, hear } = oddService(shape);
  let most = 0;
  let open = 0;
  const server = serverThat(hear);
  server.on("connection", (socket) => {
    open++;
    most = Math.max(most, open);
    socket.on("close", () => open--);
    if (shape.connections !== undefined && open > shape.connections) socket.destroy();
  });
  return Object.assign(running, { url: await listenHere(server), most: () => most, close: () => closeHere(server) });
}

/** The same for this process alone. */
export function openOdd(shape: OddShape): RunningOdd {
  const { running, hear } = oddService(shape);
  return Object.assign(running, serveHere(hear));
}
