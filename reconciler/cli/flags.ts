/** Every flag of every command in one table: help, completion and read-flags.ts read it. */
import { shownLocations } from "../store/open";
import type { ValueShape } from "./flag-values";

export interface FlagRow {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  /** The value is `NAME=REST`, or two words: the name, and what belongs to it. */
  readonly twoWords?: true;
  readonly short?: string;
  readonly value?: string;
  readonly oneOf?: readonly string[];
  /** The form of the value, for a flag without a list of words. */
  readonly shape?: ValueShape;
  /** The flag's value when no number follows it, or none of the words that the flag takes. */
  readonly whenBare?: string;
  /** It says nothing without this one, where the command has both. */
  readonly with?: string;
  /** Its file is written. */
  readonly writes?: true;
  /** What completion offers as its value: files, addresses of the state and the files, recorded volumes, environments, or these words. */
  readonly offers?: "files" | "addresses" | "volumes" | "environments" | readonly string[];
  readonly help: string;
}

/** A flag as help and documents show it. */
export interface FlagHelp {
  readonly left: string;
  readonly help: string;
}

export const flagTable = {
  file: {
    type: "string",
    multiple: true,
    short: "f",
    value: "FILE",
    offers: "files",
    help: "a file or folder of the desired state; several are one (repeatable)",
  },
  env: {
    type: "string",
    value: "NAME",
    offers: "environments",
    help: "which environment of the file to use (RECONCILE_ENV)",
  },
  state: {
    type: "string",
    value: "URL",
    offers: "files",
    // Read when help is shown, because every command loads this table.
    get help() {
      return `where the state lives: ${shownLocations().join(", ")}`;
    },
  },
  "base-url": {
    type: "string",
    value: "URL",
    offers: ["embedded"],
    help: "the service's address, or `embedded` for the service inside this program",
  },
  dialect: {
    type: "string",
    value: "FILE",
    offers: "files",
    help: "the file that says what this deployment of the service has",
  },
  var: { type: "string", multiple: true, value: "NAME=VALUE", help: "sets a variable of the file (repeatable)" },
  "var-file": {
    type: "string",
    multiple: true,
    value: "FILE",
    offers: "files",
    help: "variables as a YAML or JSON map",
  },
  prices: {
    type: "string",
    value: "FILE",
    offers: "files",
    help: "a price list in place of the one that the file names (RECONCILE_PRICES)",
  },
  to: {
    type: "string",
    value: "DIR|FILE",
    offers: "files",
    help: "the project that takes it over: a folder, a file, or one that does not exist yet",
  },
  "to-state": { type: "string", value: "URL", offers: "files", help: "the state that takes the record over" },
  into: {
    type: "string",
    value: "COMPONENT/",
    help: "puts it into this component of the project that takes it over",
  },
  yes: { type: "boolean", help: "writes what was shown" },
  json: { type: "boolean", help: "one JSON object a line on standard output, the last one a summary" },
  "json-into": {
    type: "string",
    writes: true,
    value: "FILE",
    offers: "files",
    help: "writes the lines of --json into this file, beside the text for people",
  },
  "no-color": { type: "boolean", help: "no colours; NO_COLOR does the same" },
  "log-level": {
    type: "string",
    value: "LEVEL",
    oneOf: ["silent", "info", "debug"],
    help: "silent, info (default), or debug: every request on standard error",
  },
  parallelism: {
    type: "string",
    value: "N",
    shape: "count",
    help: "how many requests at once (default 10); 1: also one step at a time, with its wait",
  },
  "no-programs": {
    type: "boolean",
    help: "starts no program that a file names, and sends the credential to no address that only a file names: for files that nobody has reviewed (RECONCILE_PROGRAMS=none)",
  },
  "insecure-http": { type: "boolean", help: "permits sending the credential over plain http to another host" },
  "time-scale": {
    type: "string",
    value: "N",
    shape: "number",
    help: "how many times faster the embedded service runs (default 20)",
  },
  "new-state": {
    type: "boolean",
    help: "the state was replaced, restored or removed on purpose: what is there now counts, whatever was seen of it before",
  },
  "new-state-of": {
    type: "string",
    multiple: true,
    value: "STATE",
    help: "the same of another state, one that `reads:` names or that resources move to; repeatable",
  },
  "lock-timeout": {
    type: "string",
    value: "DURATION",
    shape: "duration or 0",
    help: "waits that long for another run's lock (30s, 5m); without it, a locked state is an error at once",
  },
  deny: {
    type: "string",
    multiple: true,
    value: "CODE",
    shape: "code",
    help: "exit 3, and nothing is sent, when the plan has this finding (exposure/open-port, exposure/*, …; repeatable)",
  },
  strict: {
    type: "boolean",
    help: "exit 3, and nothing is sent, when the plan has any warning that no consent covers",
  },
  out: { type: "string", writes: true, value: "FILE", offers: "files", help: "writes the result into a file" },
  record: {
    type: "string",
    value: "DIR",
    offers: "files",
    help: "keeps every answer in a folder, without credentials",
  },
  from: {
    type: "string",
    value: "DIR",
    offers: "files",
    help: "works from answers that were kept, without the service",
  },
  sample: {
    type: "string",
    multiple: true,
    twoWords: true,
    value: "OP=FILE",
    help: "an answer of this operation, as JSON, to learn its records from (repeatable)",
  },
  curl: {
    type: "string",
    multiple: true,
    twoWords: true,
    value: "OP=COMMAND",
    help: "the request of this operation: a command for curl, or a file with one (repeatable)",
  },
  part: {
    type: "string",
    multiple: true,
    value: "PART",
    oneOf: ["life-cycle", "kills", "faults"],
    help: "only this part of the proof: life-cycle, kills or faults (repeatable)",
  },
  none: {
    type: "string",
    multiple: true,
    value: "OP",
    help: "this service does not have the operation, such as vm.resize.confirm (repeatable)",
  },
  openapi: {
    type: "string",
    value: "FILE",
    offers: "files",
    help: "an OpenAPI description of the service, which says where its operations are",
  },
  trial: {
    type: "boolean",
    help: "makes a VM, two volumes and three groups as well, learns from their life, and deletes them",
  },
  "allow-trial": {
    type: "string",
    with: "trial",
    value: "FLAVOR[,OTHER]",
    help: "permits the trial to make a VM of this flavor, and to resize it to the other one",
  },
  markdown: { type: "boolean", help: "the plan as a merge-request comment" },
  annotations: {
    type: "string",
    value: "github|gitlab|sarif|junit",
    help: "findings on the lines of the YAML: as a code host shows them, as SARIF, or as a JUnit report",
  },
  "detailed-exitcode": { type: "boolean", help: "exit 2 when changes are pending" },
  target: {
    type: "string",
    multiple: true,
    value: "ADDR",
    offers: "addresses",
    help: "only this resource and what it needs (repeatable)",
  },
  "target-file": {
    type: "string",
    multiple: true,
    value: "FILE",
    offers: "files",
    help: "a file with one address a line for --target; # begins a comment (repeatable)",
  },
  exclude: {
    type: "string",
    multiple: true,
    value: "ADDR",
    offers: "addresses",
    help: "leaves out this resource and what needs it (repeatable)",
  },
  owe: {
    type: "string",
    multiple: true,
    value: "ADDR",
    offers: "addresses",
    help: "runs after_ready and after_attach of this resource again (repeatable)",
  },
  replace: {
    type: "string",
    multiple: true,
    value: "ADDR",
    offers: "addresses",
    help: "replaces this resource although nothing changed (repeatable)",
  },
  "no-refresh": { type: "boolean", help: "goes by the state alone, without looking at the service" },
  refresh: {
    type: "string",
    value: "all|changed|none",
    oneOf: ["all", "changed", "none"],
    whenBare: "all",
    help: "what to look at in the service: all resources, those that changed or were not seen for long, or none",
  },
  "max-age": {
    type: "string",
    value: "D",
    shape: "age",
    help: "with --refresh=changed: looks at resources that were not seen for this long (default 24h)",
  },
  destroy: { type: "boolean", help: "plans the deletion of everything in the state" },
  steps: { type: "boolean", help: "shows every request in its order" },
  summary: {
    type: "boolean",
    help: "shows one line for each change, and for all instances that change alike, without fields and steps",
  },
  "changed-since": {
    type: "string",
    value: "REF",
    help: "only those of the given folders whose files changed since this checkout left REF, such as origin/main",
  },
  accept: { type: "boolean", help: "writes what was found into the files, in place" },
  approver: {
    type: "boolean",
    help: "asks for the passphrase of approvals, and prints RECONCILE_APPROVER for the server",
  },
  approve: { type: "string", value: "PLAN", help: "shows a plan that a tool made, and asks whether it may be applied" },
  stdio: { type: "boolean", help: "standard input and output, which is what it speaks on anyway; editors give it" },
  check: { type: "boolean", help: "writes nothing; exit 2 when a file is not in its usual form" },
  all: { type: "boolean", help: "everything: each orphan of the list, or each resource of the files" },
  adopt: { type: "boolean", help: "takes over VMs found by name that the state does not know" },
  "auto-approve": { type: "boolean", short: "y", help: "does not ask; gives no other consent" },
  "allow-data-loss": { type: "boolean", help: "permits every loss of data that the plan lists" },
  "allow-loss": {
    type: "string",
    multiple: true,
    value: "ADDR",
    help: "permits the loss of data that the plan lists for this resource, and no other (repeatable)",
  },
  "confirm-flush": {
    type: "string",
    multiple: true,
    value: "ADDR",
    offers: "volumes",
    help: "your word that this volume is unmounted or synced in its guest (repeatable; `all`)",
  },
  "allow-removal": {
    type: "string",
    value: "N|all",
    shape: "count or all",
    help: "permits this many removals when the file declares less than half of what the state has",
  },
  recreate: {
    type: "string",
    multiple: true,
    value: "ADDR",
    help: "creates this resource again although the recorded one vanished (repeatable; `all`)",
  },
  "accept-service": {
    type: "boolean",
    help: "the state is of another service, project or credential; this one is right, and resources that it does not show are gone",
  },
  unprotect: {
    type: "string",
    multiple: true,
    value: "ADDR",
    offers: "addresses",
    help: "this once, prevent_destroy does not hold for this resource: at a terminal, where a name is typed, or with a saved plan (repeatable)",
  },
  "allow-empty": { type: "boolean", help: "permits deleting everything when the file declares nothing any more" },
  assert: { type: "boolean", help: "also writes assertions that the groups keep as they are" },
  generate: { type: "boolean", help: "prints the YAML for the imported resource" },
  name: { type: "string", value: "NAME", help: "the name of the snapshot" },
  vm: { type: "string", multiple: true, value: "ID|NAME", help: "only this VM (repeatable)" },
  volume: { type: "string", multiple: true, value: "ID", help: "this volume (repeatable)" },
  group: { type: "string", multiple: true, value: "ID", help: "this security group (repeatable)" },
  project: { type: "string", value: "NAME", help: "the project, which no record shows" },
  region: { type: "string", value: "NAME", help: "the region, which no record shows" },
  "user-id": { type: "string", value: "ID", help: "the caller's user id, which no record shows" },
  convert: { type: "boolean", help: "translates the listing into YAML and calls no service" },
  init: { type: "boolean", help: "writes the first test, from what the file asks for" },
  format: {
    type: "string",
    value: "FORMAT",
    help: "the form in which it is printed",
  },
  list: { type: "boolean", help: "with --format ansible: the whole inventory, as Ansible asks for it" },
  host: {
    type: "string",
    value: "NAME",
    help: "with --format ansible: the variables of one host, as Ansible asks for it",
  },
  port: { type: "string", value: "N", help: "with --format prometheus-sd: where the exporter listens on every VM" },
  jump: {
    type: "string",
    value: "ADDR",
    offers: "addresses",
    help: "goes through this VM of the project, or through user@host; none: directly; wins over ssh: of the file",
  },
  user: { type: "string", value: "NAME", help: "logs in as this user; wins over ssh: of the file" },
  write: {
    type: "string",
    writes: true,
    value: "FILE",
    offers: "files",
    help: "writes it into this file; in one that has its block already, that block alone is replaced",
  },
  plan: { type: "boolean", help: "the steps of the plan instead of the resources" },
  report: { type: "string", writes: true, value: "FILE", help: "writes one HTML page about the run" },
  profile: {
    type: "string",
    writes: true,
    value: "FILE",
    offers: "files",
    help: "writes how long each part of the run took, for a trace viewer such as ui.perfetto.dev",
  },
  at: { type: "string", value: "RUN", help: "the state as it was when this run of reconcile history had ended" },
  interval: {
    type: "string",
    value: "DURATION",
    shape: "duration",
    help: "how long from one look to the next (default 10m)",
  },
  apply: { type: "boolean", help: "corrects what differs" },
  listen: {
    type: "string",
    with: "serve",
    value: "HOST:PORT",
    help: "where /healthz and /metrics are (default 127.0.0.1:9464, of fleet work 127.0.0.1:9465; none: nowhere); with fleet serve and fleet try: where the pages are (default 127.0.0.1:8470), and with docs --serve (default: a free port of 127.0.0.1)",
  },
  serve: { type: "boolean", help: "shows the documents in a browser, at the address that it prints, until Ctrl-C" },
  chaos: {
    type: "string",
    value: "N",
    shape: "count",
    whenBare: "25",
    help: "rehearses N times more (default 25) with lost answers and kills",
  },
  seed: {
    type: "string",
    with: "chaos",
    value: "N",
    shape: "number",
    help: "the first seed of --chaos, to see a run again",
  },
  paid: { type: "boolean", help: "you did by hand what its commands would have done" },
  "not-created": { type: "boolean", help: "you looked: the lost create was not done" },
  confirmed: { type: "boolean", help: "you looked: the open resize was confirmed" },
  reverted: { type: "boolean", help: "you looked: the open resize was reverted" },
  attached: { type: "boolean", help: "you looked: the volume is attached to the VM" },
  detached: { type: "boolean", help: "you looked: the volume is not attached to the VM" },
  force: { type: "boolean", help: "does it although the message warns of it" },
  database: {
    type: "string",
    value: "URL",
    offers: ["embedded"],
    help: "the fleet's PostgreSQL (postgres://…, RECONCILE_FLEET_DATABASE), or `embedded` for one process",
  },
  server: {
    type: "string",
    value: "URL",
    help: "in place of the database: `fleet serve` (RECONCILE_FLEET_SERVER), with the token in RECONCILE_FLEET_TOKEN",
  },
  concurrency: { type: "string", value: "N", shape: "count", help: "rounds at once in this worker (default 8)" },
  service: { type: "string", multiple: true, value: "NAME", help: "only stacks of this service (repeatable)" },
  cache: { type: "string", value: "DIR", offers: "files", help: "where fetched sources are kept between runs" },
  role: {
    type: "string",
    value: "ROLE",
    oneOf: ["viewer", "approver", "operator"],
    offers: ["viewer", "approver", "operator"],
    help: "what the holder of the token may do: see, also approve, or also run and pause (default viewer)",
  },
  stack: { type: "string", multiple: true, value: "PATTERN", help: "only these stacks, * for any text (repeatable)" },
  revoke: { type: "boolean", help: "takes every token of this name away" },
  why: { type: "string", value: "TEXT", help: "the reason, kept with the decision" },
  now: { type: "boolean", help: "without waiting for the requests in flight" },
  "through-window": {
    type: "boolean",
    help: "although a window is closed; needs --why, which everybody is told",
  },
  for: { type: "string", value: "DURATION", shape: "duration", help: "how long the approval stands (default 24h)" },
} as const satisfies Record<string, FlagRow>;

/** The rows by flag names as they were typed, which may be no flag's. */
export const flagRows: Readonly<Record<string, FlagRow>> = flagTable;
export const flagRowOf = (name: string): FlagRow | undefined =>
  Object.hasOwn(flagRows, name) ? flagRows[name] : undefined;

export type FlagName = keyof typeof flagTable;
export type Flags = {
  readonly [N in FlagName]?: (typeof flagTable)[N] extends { type: "boolean" }
    ? boolean
    : (typeof flagTable)[N] extends { multiple: true }
      ? readonly string[]
      : string;
};

/** Of which environment, state and service a command speaks. */
export const placeFlags = [
  "env",
  "state",
  "new-state",
  "new-state-of",
  "base-url",
  "dialect",
  "var",
  "var-file",
] as const satisfies readonly FlagName[];
/** How much is printed, and how: every command takes them, so that one list of flags serves a whole script. */
export const printFlags = ["no-color", "log-level"] as const satisfies readonly FlagName[];
/** How the service is reached, and what may be started for that. */
export const reachFlags = ["insecure-http", "no-programs", "time-scale"] as const satisfies readonly FlagName[];
export const commonFlags = [
  ...placeFlags,
  "json",
  "json-into",
  ...printFlags,
  "parallelism",
  ...reachFlags,
] as const satisfies readonly FlagName[];

/** What is looked at and what of it is planned. */
export const choosingFlags = [
  "target",
  "target-file",
  "exclude",
  "replace",
  "owe",
  "adopt",
  "accept-service",
  "refresh",
  "max-age",
  "no-refresh",
] as const satisfies readonly FlagName[];
/** The flags of the commands that plan. Those for consents and for carrying a plan out follow. */
export const planFlags = [
  "file",
  ...choosingFlags,
  "steps",
  "summary",
  "deny",
  "strict",
  "prices",
  ...commonFlags,
] as const satisfies readonly FlagName[];
/** They decide what is planned: a saved plan has their effect in it. */
export const decidingFlags = [...choosingFlags, "var", "var-file", "prices"] as const satisfies readonly FlagName[];
export const consentFlags = [
  "allow-data-loss",
  "allow-loss",
  "allow-removal",
  "confirm-flush",
  "recreate",
] as const satisfies readonly FlagName[];
export const applyFlags = [
  "auto-approve",
  ...consentFlags,
  "unprotect",
  "lock-timeout",
  "report",
  "profile",
] as const satisfies readonly FlagName[];
