/** Every flag of every command in one table: help, completion and read-flags.ts read it. */
import { shownLocations } from "../store/open";
import type { ValueShape } from "./flag-values";

export interface FlagRow {
  /** What its value is, as help calls it. A flag without one takes none. */
  readonly value?: string;
  readonly multiple?: boolean;
  /** The value is `NAME=REST`, or two words: the name, and what belongs to it. */
  readonly twoWords?: true;
  readonly short?: string;
  readonly oneOf?: readonly string[];
  /** The form of the value, for a flag without a list of words. */
  readonly shape?: ValueShape;
  /** The flag's value when no number follows it, or none of the words that the flag takes. */
  readonly whenBare?: string;
  /** It says nothing without this one, where the command has both. */
  readonly with?: string;
  /** Its file is written. */
  readonly writes?: true;
  /**
   * What completion offers as its value: files, addresses of the state and the files, recorded volumes, environments, or
   * these words. Left out: what `offersOf` makes of the row.
   */
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
    multiple: true,
    short: "f",
    value: "FILE",
    help: "a file or folder of the desired state; several are one (repeatable)",
  },
  env: { value: "NAME", offers: "environments", help: "which environment of the file to use (RECONCILE_ENV)" },
  state: {
    value: "URL",
    offers: "files",
    // Read when help is shown, because every command loads this table.
    get help() {
      return `where the state lives: ${shownLocations().join(", ")}`;
    },
  },
  "base-url": {
    value: "URL",
    offers: ["embedded"],
    help: "the service's address, or `embedded` for the service inside this program",
  },
  dialect: { value: "FILE", help: "the file that says what this deployment of the service has" },
  var: { multiple: true, value: "NAME=VALUE", help: "sets a variable of the file (repeatable)" },
  "var-file": { multiple: true, value: "FILE", help: "variables as a YAML or JSON map" },
  prices: { value: "FILE", help: "a price list in place of the one that the file names (RECONCILE_PRICES)" },
  to: { value: "DIR|FILE", help: "the project that takes it over: a folder, a file, or one that does not exist yet" },
  "to-state": { value: "URL", offers: "files", help: "the state that takes the record over" },
  into: { value: "COMPONENT/", help: "puts it into this component of the project that takes it over" },
  yes: { help: "writes what was shown" },
  json: { help: "one JSON object a line on standard output, the last one a summary" },
  "json-into": {
    writes: true,
    value: "FILE",
    help: "writes the lines of --json into this file, beside the text for people",
  },
  "no-color": { help: "no colours; NO_COLOR does the same" },
  "log-level": {
    value: "LEVEL",
    oneOf: ["silent", "info", "debug"],
    help: "silent, info (default), or debug: every request on standard error",
  },
  parallelism: {
    value: "N",
    shape: "count",
    help: "how many requests at once (default 10); 1: also one step at a time, with its wait",
  },
  "no-programs": {
    help: "starts no program that a file names, and sends the credential to no address that only a file names: for files that nobody has reviewed (RECONCILE_PROGRAMS=none)",
  },
  "insecure-http": { help: "permits sending the credential over plain http to another host" },
  "time-scale": { value: "N", shape: "number", help: "how many times faster the embedded service runs (default 20)" },
  "new-state": {
    help: "the state was replaced, restored or removed on purpose: what is there now counts, whatever was seen of it before",
  },
  "new-state-of": {
    multiple: true,
    value: "STATE",
    help: "the same of another state, one that `reads:` names or that resources move to; repeatable",
  },
  "lock-timeout": {
    value: "DURATION",
    shape: "duration or 0",
    help: "waits that long for another run's lock (30s, 5m); without it, a locked state is an error at once",
  },
  deny: {
    multiple: true,
    value: "CODE",
    shape: "code",
    help: "exit 3, and nothing is sent, when the plan has this finding (exposure/open-port, exposure/*, …; repeatable)",
  },
  strict: { help: "exit 3, and nothing is sent, when the plan has any warning that no consent covers" },
  out: { writes: true, value: "FILE", help: "writes the result into a file" },
  record: { writes: true, value: "DIR", help: "keeps every answer in a folder, without credentials" },
  from: { value: "DIR", help: "works from answers that were kept, without the service" },
  sample: {
    multiple: true,
    twoWords: true,
    value: "OP=FILE",
    help: "an answer of this operation, as JSON, to learn its records from (repeatable)",
  },
  curl: {
    multiple: true,
    twoWords: true,
    value: "OP=COMMAND",
    help: "the request of this operation: a command for curl, or a file with one (repeatable)",
  },
  part: {
    multiple: true,
    value: "PART",
    oneOf: ["life-cycle", "kills", "faults"],
    help: "only this part of the proof: life-cycle, kills or faults (repeatable)",
  },
  none: {
    multiple: true,
    value: "OP",
    help: "this service does not have the operation, such as vm.resize.confirm (repeatable)",
  },
  openapi: { value: "FILE", help: "an OpenAPI description of the service, which says where its operations are" },
  trial: { help: "makes a VM, two volumes and three groups as well, learns from their life, and deletes them" },
  "allow-trial": {
    with: "trial",
    value: "FLAVOR[,OTHER]",
    help: "permits the trial to make a VM of this flavor, and to resize it to the other one",
  },
  markdown: { help: "the plan as a merge-request comment" },
  annotations: {
    value: "github|gitlab|sarif|junit",
    oneOf: ["github", "gitlab", "sarif", "junit"],
    help: "findings on the lines of the YAML: as a code host shows them, as SARIF, or as a JUnit report",
  },
  "detailed-exitcode": { help: "exit 2 when changes are pending" },
  target: { multiple: true, value: "ADDR", help: "only this resource and what it needs (repeatable)" },
  "target-file": {
    multiple: true,
    value: "FILE",
    help: "a file with one address a line for --target; # begins a comment (repeatable)",
  },
  exclude: { multiple: true, value: "ADDR", help: "leaves out this resource and what needs it (repeatable)" },
  owe: { multiple: true, value: "ADDR", help: "runs after_ready and after_attach of this resource again (repeatable)" },
  replace: { multiple: true, value: "ADDR", help: "replaces this resource although nothing changed (repeatable)" },
  "no-refresh": { help: "goes by the state alone, without looking at the service" },
  refresh: {
    value: "all|changed|none",
    oneOf: ["all", "changed", "none"],
    whenBare: "all",
    help: "what to look at in the service: all resources, those that changed or were not seen for long, or none",
  },
  "max-age": {
    value: "D",
    shape: "age",
    help: "with --refresh=changed: looks at resources that were not seen for this long (default 24h)",
  },
  destroy: { help: "plans the deletion of everything in the state" },
  steps: { help: "shows every request in its order" },
  summary: {
    help: "shows one line for each change, and for all instances that change alike, without fields and steps",
  },
  "changed-since": {
    value: "REF",
    help: "only those of the given folders whose files changed since this checkout left REF, such as origin/main",
  },
  accept: { help: "writes what was found into the files, in place" },
  approver: { help: "asks for the passphrase of approvals, and prints RECONCILE_APPROVER for the server" },
  approve: { value: "PLAN", help: "shows a plan that a tool made, and asks whether it may be applied" },
  stdio: { help: "standard input and output, which is what it speaks on anyway; editors give it" },
  check: { help: "writes nothing; exit 2 when a file is not in its usual form" },
  all: { help: "everything: each orphan of the list, or each resource of the files" },
  adopt: { help: "takes over VMs found by name that the state does not know" },
  "auto-approve": { short: "y", help: "does not ask; gives no other consent" },
  "allow-data-loss": { help: "permits every loss of data that the plan lists" },
  "allow-loss": {
    multiple: true,
    value: "ADDR",
    help: "permits the loss of data that the plan lists for this resource, and no other (repeatable)",
  },
  "confirm-flush": {
    multiple: true,
    value: "ADDR",
    offers: "volumes",
    help: "your word that this volume is unmounted or synced in its guest (repeatable; `all`)",
  },
  "allow-removal": {
    value: "N|all",
    shape: "count or all",
    help: "permits this many removals when the file declares less than half of what the state has",
  },
  recreate: {
    multiple: true,
    value: "ADDR",
    help: "creates this resource again although the recorded one vanished (repeatable; `all`)",
  },
  "accept-service": {
    help: "the state is of another service, project or credential; this one is right, and resources that it does not show are gone",
  },
  unprotect: {
    multiple: true,
    value: "ADDR",
    help: "this once, prevent_destroy does not hold for this resource: at a terminal, where a name is typed, or with a saved plan (repeatable)",
  },
  "allow-empty": { help: "permits deleting everything when the file declares nothing any more" },
  assert: { help: "also writes assertions that the groups keep as they are" },
  generate: { help: "prints the YAML for the imported resource" },
  name: { value: "NAME", help: "the name of the snapshot" },
  vm: { multiple: true, value: "ID|NAME", help: "only this VM (repeatable)" },
  volume: { multiple: true, value: "ID", help: "this volume (repeatable)" },
  group: { multiple: true, value: "ID", help: "this security group (repeatable)" },
  project: { value: "NAME", help: "the project, which no record shows" },
  region: { value: "NAME", help: "the region, which no record shows" },
  "user-id": { value: "ID", help: "the caller's user id, which no record shows" },
  convert: { help: "translates the listing into YAML and calls no service" },
  init: { help: "writes the first test, from what the file asks for" },
  format: { value: "FORMAT", help: "the form in which it is printed" },
  list: { help: "with --format ansible: the whole inventory, as Ansible asks for it" },
  host: { value: "NAME", help: "with --format ansible: the variables of one host, as Ansible asks for it" },
  port: { value: "N", help: "with --format prometheus-sd: where the exporter listens on every VM" },
  jump: {
    value: "ADDR",
    help: "goes through this VM of the project, or through user@host; none: directly; wins over ssh: of the file",
  },
  user: { value: "NAME", help: "logs in as this user; wins over ssh: of the file" },
  write: {
    writes: true,
    value: "FILE",
    help: "writes it into this file; in one that has its block already, that block alone is replaced",
  },
  plan: { help: "the steps of the plan instead of the resources" },
  report: { writes: true, value: "FILE", help: "writes one HTML page about the run" },
  profile: {
    writes: true,
    value: "FILE",
    help: "writes how long each part of the run took, for a trace viewer such as ui.perfetto.dev",
  },
  at: { value: "RUN", help: "the state as it was when this run of reconcile history had ended" },
  interval: { value: "DURATION", shape: "duration", help: "how long from one look to the next (default 10m)" },
  apply: { help: "corrects what differs" },
  listen: {
    with: "serve",
    value: "HOST:PORT",
    help: "where /healthz and /metrics are (default 127.0.0.1:9464, of fleet work 127.0.0.1:9465; none: nowhere); with fleet serve and fleet try: where the pages are (default 127.0.0.1:8470), and with docs --serve (default: a free port of 127.0.0.1)",
  },
  serve: { help: "shows the documents in a browser, at the address that it prints, until Ctrl-C" },
  chaos: {
    value: "N",
    shape: "count",
    whenBare: "25",
    help: "rehearses N times more (default 25) with lost answers and kills",
  },
  seed: { with: "chaos", value: "N", shape: "number", help: "the first seed of --chaos, to see a run again" },
  paid: { help: "you did by hand what its commands would have done" },
  "not-created": { help: "you looked: the lost create was not done" },
  confirmed: { help: "you looked: the open resize was confirmed" },
  reverted: { help: "you looked: the open resize was reverted" },
  attached: { help: "you looked: the volume is attached to the VM" },
  detached: { help: "you looked: the volume is not attached to the VM" },
  force: { help: "does it although the message warns of it" },
  database: {
    value: "URL",
    offers: ["embedded"],
    help: "the fleet's PostgreSQL (postgres://…, RECONCILE_FLEET_DATABASE), or `embedded` for one process",
  },
  server: {
    value: "URL",
    help: "in place of the database: `fleet serve` (RECONCILE_FLEET_SERVER), with the token in RECONCILE_FLEET_TOKEN",
  },
  concurrency: { value: "N", shape: "count", help: "rounds at once in this worker (default 8)" },
  service: { multiple: true, value: "NAME", help: "only stacks of this service (repeatable)" },
  cache: { value: "DIR", help: "where fetched sources are kept between runs" },
  role: {
    value: "ROLE",
    oneOf: ["viewer", "approver", "operator"],
    help: "what the holder of the token may do: see, also approve, or also run and pause (default viewer)",
  },
  stack: { multiple: true, value: "PATTERN", help: "only these stacks, * for any text (repeatable)" },
  revoke: { help: "takes every token of this name away" },
  why: { value: "TEXT", help: "the reason, kept with the decision" },
  now: { help: "without waiting for the requests in flight" },
  "through-window": { help: "although a window is closed; needs --why, which everybody is told" },
  for: { value: "DURATION", shape: "duration", help: "how long the approval stands (default 24h)" },
} as const satisfies Record<string, FlagRow>;

/** The rows by flag names as they were typed, which may be no flag's. */
export const flagRows: Readonly<Record<string, FlagRow>> = flagTable;
export const flagRowOf = (name: string): FlagRow | undefined =>
  Object.hasOwn(flagRows, name) ? flagRows[name] : undefined;

export type FlagName = keyof typeof flagTable;
export type Flags = {
  readonly [N in FlagName]?: (typeof flagTable)[N] extends { value: string }
    ? (typeof flagTable)[N] extends { multiple: true }
      ? readonly WordOf<N>[]
      : WordOf<N>
    : boolean;
};
type WordOf<N extends FlagName> = (typeof flagTable)[N] extends { oneOf: readonly (infer W)[] } ? W : string;

const offersByValue: Readonly<Record<string, "files" | "addresses">> = {
  FILE: "files",
  DIR: "files",
  "DIR|FILE": "files",
  ADDR: "addresses",
};
export const offersOf = ({ offers, oneOf, value = "" }: FlagRow): FlagRow["offers"] =>
  offers ?? oneOf ?? offersByValue[value];

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
