/**
 * Jobs, with which a service answers a write that it does later: how one is asked for, and which of its words mean done
 * and failed, learnt from the jobs of the trial's own writes.
 */
import { isObject, keysOf } from "../../../core/text/objects";
import { percentDecoded } from "../../../core/text/parts";
import type { Dialect, JobRoute, RecordPlace } from "../../../dialect/dialect";
import { holdsSomething, readJob } from "../../../dialect/jobs";
import { type Leaf, leavesOf, lettersAndDigits } from "../../../dialect/learn/values";
import { askingFor, inNumber, pluralOf, recordOfOperation, stylesOf } from "../../../dialect/learn/where";
import { compilePointers, findText, findWord } from "../../../dialect/pointers";
import { fillRoute } from "../../../dialect/requests";
import { nobody } from "../enter";
import { look } from "../look";
import type { DoctorReport } from "../report";
import type { TrialPorts } from "./ports";

/** What of a trial is needed to follow a job. */
interface Watching {
  readonly report: Pick<DoctorReport, "dialect">;
  readonly ports: Pick<TrialPorts, "doctor" | "clock" | "timing">;
  readonly open: string[];
  /** Where answers to writes show something that is no job. */
  readonly jobless: Set<string>;
  learn(more: Pick<Dialect, "wait">): void;
  say(line: string): void;
}

interface NamedJob {
  readonly id: string;
  readonly place: RecordPlace;
  readonly isNumber?: boolean;
  /** What stands before the id of every job, by which it is told from what says that something was done. */
  readonly prefix?: string;
  /** What the service calls its jobs. */
  readonly noun: string;
  /** Where the answer itself says that it is. */
  readonly path?: string;
}

/** The usual words for a job, and that of the path at which a person asks for one. */
function jobName(told: Asking | undefined): RegExp {
  const [, before = "job"] = /([^/]+)\/\{id/.exec(told?.path ?? "") ?? [];
  const own = before.replace(/ies$/, "y").replace(/s$/, "");
  const words = ["job", "task", "action", "operation", "activity", "workflow", lettersAndDigits(own) || "job"];
  return new RegExp(`(${words.join("|")})s?(id|uuid|uid|ref|name|key|number)?$`);
}

/** The job that an answer to a write names. */
export function jobNamed(body: unknown, told?: Asking): NamedJob | undefined {
  if (!isObject(body)) return undefined;
  const known = jobName(told);
  for (const { place, names: said, value } of leavesOf(body)) {
    // An entry of a list is called as the list is, without its number: { tasks: [ID] }.
    const isEntry = typeof place === "string" && /\/\d+$/.test(place);
    const names = isEntry ? said.flatMap((name) => /^(\w+?)s?\d+$/.exec(name)?.[1] ?? []) : said;
    const [, noun = "", part] = names.map((name) => known.exec(name)).find((found) => found !== null) ?? [];
    const [last = ""] = names;
    const isPlain =
      (typeof place === "string" || place.where === undefined) &&
      (typeof value === "string" || typeof value === "number");
    if (
      !isPlain ||
      noun === "" ||
      (part === undefined && (last !== noun || !/\d/.test(String(value)))) ||
      !/^[\w:.-]{1,200}$/.test(String(value))
    )
      continue;
    const [, wrapper, inner] = typeof place === "string" ? (/^\/([^/]*response)(\/.*)$/i.exec(place) ?? []) : [];
    return {
      id: String(value),
      isNumber: typeof value === "number",
      noun,
      // A wrapper is called as the operation is, and each has its own.
      place: wrapper === undefined || inner === undefined ? place : { in: "/*", value: inner },
    };
  }
  return undefined;
}

/** The jobs that an answer may name: by its words, by where it leads to, and by an id of its own. */
function jobsIn(body: unknown, ports: Watching["ports"]["doctor"]): readonly NamedJob[] {
  const told = ports.told?.job;
  const named = jobNamed(body, told);
  const leaves = leavesOf(body);
  const ids = leaves.flatMap(({ place, names: [name = ""], value }): NamedJob[] =>
    typeof place === "string" && /^(id|uuid|uid|ref|key|name)$/.test(name) && /\d/.test(String(value))
      ? [{ id: String(value), place, noun: "operation" }]
      : [],
  );
  // A word without room in it, and with a number, is no sentence about what was done.
  const texts = leaves.flatMap(({ place, value }): NamedJob[] => {
    const [, prefix, id] = /^([a-z]+[:_-])(?=.*\d)([^\s/]{1,200})$/i.exec(String(value)) ?? [];
    return (place === "" || place === "/data") && prefix !== undefined && id !== undefined
      ? [{ id, prefix, place: { value: place, cut: `${prefix}{value}` }, noun: "task" }]
      : [];
  });
  const isUnderWay = leaves.some((leaf) => showsState(leaf) && underWay.test(String(leaf.value)));
  return [
    ...(named === undefined ? [] : [named]),
    ...locatedJob(leaves, new URL(ports.baseUrl ?? "http://service.invalid")),
    ...texts,
    ...(told !== undefined || isUnderWay ? ids : []),
  ];
}

const underWay = /^(pending|queued|accepted|submitted|scheduled|new|started|running|in[-_ ]?progress|processing)$/i;

/** What the Location of an answer leads to: its end is the id. */
function locatedJob(leaves: readonly Leaf[], { origin, pathname }: URL): readonly NamedJob[] {
  const value = leaves.find(({ place }) => place === "/location")?.value;
  if (typeof value !== "string" || !URL.canParse(value, origin)) return [];
  const at = new URL(value, origin).pathname;
  const below = at.startsWith(pathname) ? `/${at.slice(pathname.length).replace(/^\//, "")}` : at;
  // Behind the id there may be a word: /requests/ID/status.
  const [, before, folder, id, after = ""] =
    /^(.*\/([^/]+)\/)([^/]+)(\/(?:status|state|result|progress))$/.exec(below) ??
    /^(.*\/([^/]+)\/)([^/]+)$/.exec(below) ??
    [];
  if (before === undefined || id === undefined) return [];
  const place = { value: "/location", cut: `*/${folder}/{value}${after}` };
  return [{ id: percentDecoded(id), place, noun: "operation", path: `${before}{id}${after}` }];
}

/** The id of the job is what stands behind that. */
const withIdPrefix = (route: Asking, { prefix = "" }: NamedJob): Asking =>
  JSON.parse(JSON.stringify(route).replaceAll("{id}", () => `${prefix}{id}`));

type Asking = Pick<JobRoute, "method" | "path" | "query" | "headers" | "body">;

/** As a person showed it; below the paths of the lists, the longest first; the usual command where commands are sent. */
function waysToAsk(job: NamedJob, { report: { dialect }, ports }: Watching): readonly Asking[] {
  const { noun, path } = job;
  const told = ports.doctor.told?.job;
  if (path !== undefined) return [{ method: "GET", path }, ...(told === undefined ? [] : [told])];
  const plural = pluralOf(noun);
  const commands = Object.values(dialect.operations).flatMap((route): readonly Asking[] =>
    route?.query?.["command"] === undefined
      ? []
      : [{ method: "GET", path: route.path, query: { command: "queryAsyncJobResult", jobid: "{id}" } }],
  );
  const paths = [...basesOf(dialect), ""]
    .flatMap((base) => [plural, noun].map((name) => `${base}/${name}/{id}`))
    .slice(0, 24);
  return [
    ...(told === undefined ? [] : [told]),
    ...asListsAre(job, dialect),
    ...commands.slice(0, 1),
    ...paths.map((path) => ({ method: "GET" as const, path })),
  ];
}

/** The usual folder, and those in which the operations are, the longest first: without what is filled into a path. */
export function basesOf({ operations }: Pick<Dialect, "operations">): readonly string[] {
  const bases = new Set<string>();
  for (const path of Object.values(operations).flatMap((route) => route?.path ?? []))
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1))
      if (!/[{}]/.test(path.slice(0, at))) bases.add(path.slice(0, at));
  bases.delete(usualBase);
  return [usualBase, ...[...bases].sort((one, other) => other.length - one.length)];
}

const usualBase = "/api/v1";

/** Where one endpoint takes every list as a command, a job is asked for with a command of the same make. */
export function asListsAre({ noun, place, isNumber }: NamedJob, { operations }: Dialect): readonly Asking[] {
  const key = (typeof place === "string" ? place : (place.value ?? "")).split("/").at(-1) ?? "";
  const all = keysOf(operations)
    .flatMap((operation) => {
      const route = operations[operation];
      const styles = operation.endsWith(".list") && route !== null ? stylesOf(route, recordOfOperation(operation)) : [];
      return styles.flatMap((style) => [false, true].map((many) => askingFor(inNumber(style, many), noun)));
    })
    .flatMap((asking): readonly Asking[] => {
      const { query, body } = asking;
      if (isObject(body)) return [{ ...asking, body: { ...body, [key]: isNumber === true ? "{id:number}" : "{id}" } }];
      return query === undefined ? [] : [{ ...asking, query: { ...query, [key]: "{id}" } }];
    });
  return [...new Map(all.map((asking) => [JSON.stringify(asking), asking])).values()];
}

const showsState = ({ names: [name = ""] }: Leaf): boolean =>
  /(status|state|phase|result|outcome)(code|name)?$|^(done|finished|completed)$/.test(name);

const endWord =
  /^(done|complete[d]?|success(ful|ful?ly|ded)?|succeeded|finished|ok|ended|closed|true|(err|fail|abort|cancel|reject|timed)\w*)$/i;

/** How each question about a job that is shown there begins. */
const aboutJobAt = ({ path }: Asking): string => `operations.wait: a job, which GET ${path} shows`;

/** What a person has to be told when the job that an answer names is not found. */
export const lineFor = ({ place, noun }: NamedJob): string =>
  `operations.wait: answers to writes name a job (${typeof place === "string" ? place : place.value}), and no usual path shows it; if it is to be waited for, show how it is asked for (--curl wait='curl …'), or write wait: { id: ${JSON.stringify(place)}, method: GET, path: "/api/v1/${pluralOf(noun)}/{id}", status: /status, done: [done], failed: [failed] }`;

/** Learns where the job of an answer is asked for and what it shows once it is done. */
export async function learnJob(
  trial: Watching,
  body: unknown,
  isResource: (id: string) => Promise<boolean> = async () => false,
): Promise<void> {
  if (trial.report.dialect.wait !== undefined) return;
  const jobs = jobsIn(body, trial.ports.doctor);
  for (const job of jobs) {
    const place = JSON.stringify(job.place);
    if (trial.jobless.has(place)) continue;
    // What is named as a job is one; any other id may be that of what was made.
    const isNamed = job === jobs[0] && jobNamed(body, trial.ports.doctor.told?.job) !== undefined;
    if (!isNamed && (await isResource(job.id))) continue;
    for (const route of waysToAsk(job, trial)) if (await isJobAt(trial, job, withIdPrefix(route, job))) return;
    if (isNamed) trial.open.push(lineFor(job));
    // What was looked for in vain once is not looked for at every write.
    trial.jobless.add(place);
  }
}

/** Whether a job is shown there: then it is waited for, and what it goes through is learnt. */
async function isJobAt(trial: Watching, { id, place }: NamedJob, route: Asking): Promise<boolean> {
  const first = await jobShown(trial, route, id);
  const status = first === undefined ? undefined : leavesOf(first).find((leaf) => showsState(leaf));
  const words = status === undefined ? [] : await jobWords(trial, route, id, status.place);
  const last = words.at(-1);
  if (status === undefined || last === undefined) return false;
  // What is under way for longer than the trial looks is not done: a shorter job of another write tells the word.
  if (underWay.test(last)) {
    trial.open.push(
      `${aboutJobAt(route)}, was ${last} for as long as it was looked at; if it is to be waited for, write wait: { id: ${JSON.stringify(place)}, method: ${route.method}, path: ${JSON.stringify(route.path)}, status: ${JSON.stringify(status.place)}, done: [done], failed: [failed] }, with its own words for both`,
    );
    return true;
  }
  // One that went wrong does not tell the word for those that did not.
  const done = await jobShown(trial, route, id);
  if (failureWord.test(last) || errorsIn(done).length > 0) return true;
  trial.learn({
    wait: { ...route, id: [place], status: [status.place], done: [last], failed: [], message: [], error: [] },
  });
  // The questions that earlier jobs left there are answered.
  for (const line of trial.open.filter((one) => one.startsWith(aboutJobAt(route))))
    trial.open.splice(trial.open.indexOf(line), 1);
  trial.say(`A write is answered with a job, which GET ${route.path} shows; done is ${last}.`);
  await learnFailure(trial, words, done);
  return true;
}

const failureWord = /^(err|fail|abort|cancel|reject|timed|ko$)/i;

/** Where it speaks of an error that it has. */
const errorsIn = (job: unknown): readonly Leaf[] =>
  leavesOf(job).filter(
    ({ place, value }) => typeof place === "string" && /\/(error|fault|failure)/i.test(place) && holdsSomething(value),
  );

/** `isJob`: a job is known to be there, and what it says of an error is its own. */
async function jobShown(trial: Watching, route: Asking, id: string, isJob = false): Promise<unknown> {
  const filled = fillRoute(route, { id }, trial.report.dialect);
  if (filled === undefined) return undefined;
  const { outcome, body, status } = await look(trial.ports.doctor, {
    operation: "volume.get",
    method: route.method,
    ...filled,
  });
  const isShown = outcome.status === "accepted" || (isJob && status === 200);
  return isShown && isObject(body) && JSON.stringify(body).includes(id) ? body : undefined;
}

/** The words that a job goes through, until one stays. */
async function jobWords(
  trial: Watching,
  route: Asking,
  id: string,
  place: RecordPlace,
  isJob = false,
): Promise<readonly string[]> {
  const { clock, timing } = trial.ports;
  const words: string[] = [];
  let since = clock.now();
  for (const start = since; ; await clock.sleep(timing.pollMs)) {
    const shown = await jobShown(trial, route, id, isJob);
    const word = shown === undefined ? undefined : findWord(shown, compilePointers([place]));
    const now = clock.now();
    if (word !== undefined && word !== words.at(-1)) {
      words.push(word);
      since = now;
    }
    const isOver = word !== undefined && endWord.test(word) && now - since >= timing.pollMs;
    if (isOver || now - since > timing.quietCreateMs || now - start > timing.mostMs) return words;
  }
}

/** Asks for what cannot be done, so that its job fails; where it is refused at once, no job tells it. */
async function learnFailure(trial: Watching, known: readonly string[], done: unknown): Promise<void> {
  const { wait } = trial.report.dialect;
  if (wait === undefined) return;
  const body = { vm_id: nobody, volume_id: nobody, flush_confirmed: true };
  const request = { operation: "volume.detach", method: "POST", path: "/api/v1/volume/detach", body } as const;
  const { outcome, body: said } = await look(trial.ports.doctor, request);
  const id = outcome.status === "accepted" ? findText(said, compilePointers(wait.id)) : undefined;
  const place = wait.status[0];
  if (typeof id !== "string" || place === undefined) return;
  const word = (await jobWords(trial, wait, id, place, true)).at(-1);
  const shown = await jobShown(trial, wait, id, true);
  const error = errorsIn(shown).map(mapAround)[0] ?? placeOfResult(done, shown);
  // A word at which other jobs were, or that says that it is not over, is none for a failure.
  const isItsOwn = word !== undefined && !known.includes(word) && !/^(false|null)$/.test(word) && !underWay.test(word);
  if (!isItsOwn && (error === undefined || word !== known.at(-1))) return;
  const message = leavesOf(shown).find(
    ({ names: [name = ""], value }) =>
      typeof value === "string" && /(message|reason|detail|error|text|why)$/.test(name),
  );
  trial.learn({
    wait: {
      ...wait,
      failed: isItsOwn ? [word] : [],
      message: message === undefined ? [] : [message.place],
      error: isItsOwn || error === undefined ? [] : [error],
    },
  });
  trial.say(isItsOwn ? `A job that has failed is ${word}.` : `A job that has failed is ${word}, and shows an error.`);
}

/** Where a job that ended says with what, such as { status: stopped, exitstatus: OK }: anything else there is an error. */
function placeOfResult(done: unknown, failed: unknown): RecordPlace | undefined {
  const other = new Map(leavesOf(failed).map(({ place, value }) => [JSON.stringify(place), value]));
  for (const {
    place,
    names: [name = ""],
    value,
  } of leavesOf(done)) {
    const [said, there] = [String(value), other.get(JSON.stringify(place))];
    if (typeof place !== "string" || there === undefined || String(there) === said) continue;
    if (!/(exit|result|outcome|conclusion|return)(code|status)?$/.test(name)) continue;
    if (/^(ok|0|success(ful)?|succeeded|passed)$/i.test(said)) return { value: place, none: value === 0 ? 0 : said };
  }
  return undefined;
}

/** /error of /error/code. */
const mapAround = ({ place }: Leaf): RecordPlace =>
  typeof place === "string" ? (/^.*?\/(error|fault|failure)[^/]*/i.exec(place)?.[0] ?? place) : place;

/** Follows the job of a write that the trial sent by itself; `undefined`: it is done, or there is none. */
export async function failureOfJob(trial: Watching, answer: unknown): Promise<string | undefined> {
  const { wait } = trial.report.dialect;
  const id = wait === undefined ? undefined : findText(answer, compilePointers(wait.id));
  if (wait === undefined || typeof id !== "string" || id === "") return undefined;
  const { clock, timing } = trial.ports;
  for (const start = clock.now(); clock.now() - start <= timing.mostMs; await clock.sleep(timing.pollMs)) {
    const job = readJob(wait, await jobShown(trial, wait, id, true));
    if (job?.means === "failed") return job.message ?? `its job ended as ${job.word}`;
    if (job === undefined || job.means === "done") return undefined;
  }
  return undefined;
}
