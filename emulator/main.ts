/**
 * The emulator as a program: flags in, one line out that says where it listens, and a clean end on SIGTERM or SIGINT.
 * `reconcile emulator` calls `runEmulator`; the file can also be run by itself.
 */
import { parseArgs } from "node:util";
import { messageOfError } from "./errors";
import {
  checkOptions,
  type EmulatorOptions,
  FaultProblem,
  type FaultSpec,
  parseFault,
  type SpokenDialect,
  startEmulator,
} from "./index";

interface EmulatorFlag {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly value?: string;
  readonly help: string;
}

const valued = (value: string, help: string) => ({ type: "string", value, help }) as const;
const manyValued = (value: string, help: string) => ({ ...valued(value, help), multiple: true }) as const;
const withoutValue = (help: string) => ({ type: "boolean", help }) as const;

const emulatorFlags = {
  dir: valued("FOLDER", "keeps the world there, through restarts and kills (default: in memory)"),
  host: valued("HOST", "a loopback address (default 127.0.0.1)"),
  port: valued("PORT", "where it listens (default: any that is free)"),
  "time-scale": valued("N", "how many times faster its minutes pass (default 1; 0: at once)"),
  dialect: valued("FILE", "speaks as this dialect says: its paths, records, pages, states and refusals"),
  "contract-only": withoutValue("serves nothing beyond the documented operations"),
  with: manyValued("OPERATIONS", "switches optional operations on (group.get,volume.list)"),
  without: manyValued("OPERATIONS", "switches operations off"),
  fault: manyValued(
    "FAULT",
    "operation=…,kind=… and, where wanted, ,count= ,skip= ,ms= ,code= ,retry_after= ,when= (repeatable)",
  ),
  strict: withoutValue("refuses unknown credentials, projects, images and owners"),
  "page-size": valued("N", "items on one page of a list"),
  "no-control": withoutValue("no control endpoint (drift, faults and dumps on demand)"),
  "keep-named-groups": withoutValue("a group that a rule of another one names is not deleted"),
  "auto-confirm-resize": withoutValue("resizes are confirmed by the service itself"),
  "port-range": valued("PATTERN", "how dst_port may hold a range, such as {min}-{max}"),
  "compact-after": valued("BYTES", "how long the world's journal may grow before it is folded"),
  verbose: withoutValue("one line a request on standard error"),
} as const satisfies Record<string, EmulatorFlag>;

/** For help and documents. */
export const emulatorFlagHelp: readonly { readonly left: string; readonly help: string }[] = Object.entries(
  emulatorFlags,
).map(([name, row]: [string, EmulatorFlag]) => ({
  left: `--${name}${row.value === undefined ? "" : ` ${row.value}`}`,
  help: row.help,
}));

/** The options that the arguments ask for, and everything that is wrong with them. */
export function readArguments(
  argv: readonly string[],
  readDialect?: DialectReader,
): { readonly options: EmulatorOptions; readonly problems: readonly string[] } {
  const problems: string[] = [];
  let values: ReturnType<typeof parseEmulatorArgs>;
  try {
    values = parseEmulatorArgs(argv);
  } catch (error) {
    return { options: {}, problems: [problemOfFlags(error)] };
  }
  const number = (name: "port" | "time-scale" | "page-size" | "compact-after"): number | undefined => {
    const text = values[name];
    if (text === undefined || /^[0-9]+(\.[0-9]+)?$/.test(text)) return text === undefined ? undefined : Number(text);
    problems.push(`--${name} must be a number, not ${text}`);
    return undefined;
  };
  const names = (given: readonly string[] | undefined) => given?.flatMap((list) => list.split(",")).filter(Boolean);
  const dialect = values.dialect === undefined ? undefined : readDialect?.(values.dialect);
  if (values.dialect !== undefined && readDialect === undefined)
    problems.push("--dialect is read by reconcile emulator, and not by this program");
  if (isDialectProblems(dialect)) problems.push(...dialect);
  const options: EmulatorOptions = {
    speaks: isDialectProblems(dialect) ? undefined : dialect,
    dir: values.dir,
    host: values.host,
    port: number("port"),
    timeScale: number("time-scale"),
    contractOnly: values["contract-only"],
    with: names(values.with),
    without: names(values.without),
    faults: values.fault?.flatMap((text) => readFlag(text, problems)),
    strict: values.strict,
    pageSize: number("page-size"),
    control: values["no-control"] === true ? false : undefined,
    autoConfirmResize: values["auto-confirm-resize"],
    keepsNamedGroups: values["keep-named-groups"],
    portRange: values["port-range"],
    compactAfterBytes: number("compact-after"),
    logger: values.verbose === true ? (line: string) => void process.stderr.write(`${line}\n`) : undefined,
  };
  return { options, problems: [...problems, ...checkOptions(options)] };
}

/** A dialect with every default filled in, or what is wrong with it. */
export type DialectReader = (named: string) => SpokenDialect | readonly string[];

const isDialectProblems = (read: ReturnType<DialectReader> | undefined): read is readonly string[] =>
  Array.isArray(read);

const parseEmulatorArgs = (argv: readonly string[]) =>
  parseArgs({ args: [...argv], options: emulatorFlags, allowPositionals: false }).values;

/** What is wrong with the arguments, in our words where Node's error says which flag is meant. */
function problemOfFlags(error: unknown): string {
  const message = messageOfError(error);
  if (/^Unexpected argument/.test(message)) return "the emulator takes flags alone, and no other words";
  const flag = /'(?:-\w, )?(-[^' ]+)/.exec(message)?.[1];
  if (flag === undefined) return message;
  if (/^Unknown option/.test(message)) return `there is no flag ${flag}; reconcile help emulator lists those there are`;
  return /not take an argument/.test(message) ? `${flag} takes no value` : `${flag} needs a value`;
}

function readFlag(text: string, problems: string[]): FaultSpec[] {
  try {
    return [parseFault(text)];
  } catch (error) {
    if (!(error instanceof FaultProblem)) throw error;
    problems.push(...error.problems.map((problem) => `--fault ${text}: ${problem}`));
    return [];
  }
}

/** Serves until a signal ends it. Resolves with the exit code. `printable`: what a person typed, as it may be shown. */
export async function runEmulator(
  argv: readonly string[],
  readDialect?: DialectReader,
  printable = (text: string): string => text,
): Promise<number> {
  const { options, problems } = readArguments(argv, readDialect);
  if (problems.length > 0) {
    for (const problem of problems) process.stderr.write(`error: ${printable(problem)}\n`);
    return 1;
  }
  let running: Awaited<ReturnType<typeof startEmulator>>;
  try {
    running = await startEmulator(options);
  } catch (error) {
    process.stderr.write(`error: ${printable(messageOfError(error))}\n`);
    return 1;
  }
  process.stdout.write(`listening on ${running.url}\n`);
  await new Promise<void>((resolve) => {
    process.once("SIGTERM", () => resolve());
    process.once("SIGINT", () => resolve());
  });
  await running.close();
  return 0;
}

if (require.main === module)
  runEmulator(process.argv.slice(2)).then((code) => {
    process.exitCode = code;
  });
