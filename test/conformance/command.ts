/**
 * The conformance suite as a command: reads flags and credentials, runs every case that the service allows one after the
 * other, and prints a line for each. Credentials come from the environment alone and are printed nowhere.
 */
import { parseArgs } from "node:util";
import { type ConformanceCase, titleOf } from "./case";
import { cases } from "./cases";
import { type Role, roles } from "./client";
import { prefix, type Target, Unobservable } from "./context";
import { builtInDialect, readDialect } from "./dialect";
import { emulatorTarget } from "./emulator-target";
import { openSuite } from "./suite";

const help = `npm run conformance -- --base-url URL [flags]

Makes and deletes VMs, volumes and security groups named ${prefix}-… in the project of the credential.

  --base-url URL          the service
  --dialect FILE          what it has beyond the contract (default: the built-in dialect)
  --strict                hold it to what is assumed beyond the contract as well
  --time-scale N          its minutes pass N times faster (default 1)
  --only TEXT             only cases whose clauses or title contain the text (repeatable)
  --project NAME          the project (needed to create VMs)
  --user-id ID            the caller's user id (needed to create VMs)
  --owner EMAIL           the owner of the VMs made (needed to create VMs)
  --owner-username NAME   the same person's username
  --region, --image, --flavor, --other-flavor   default: the first that the service lists
  --sold-out-flavor NAME  a flavor that is listed and cannot be provisioned
  --insecure-http         send the credential over plain http to another machine
  --emulator              the service is our emulator: its people, its control endpoint

Credentials: RECONCILE_AUTHORIZATION (a whole Authorization value) or RECONCILE_TOKEN, of an owner or admin.
For the clauses on permissions: ${roles
  .filter((role) => role !== "caller")
  .map(tokenVariable)
  .join(", ")}.`;

const flags = {
  "base-url": { type: "string" },
  dialect: { type: "string" },
  strict: { type: "boolean" },
  "time-scale": { type: "string" },
  only: { type: "string", multiple: true },
  project: { type: "string" },
  "user-id": { type: "string" },
  owner: { type: "string" },
  "owner-username": { type: "string" },
  region: { type: "string" },
  image: { type: "string" },
  flavor: { type: "string" },
  "other-flavor": { type: "string" },
  "sold-out-flavor": { type: "string" },
  emulator: { type: "boolean" },
  "insecure-http": { type: "boolean" },
  help: { type: "boolean" },
} as const;

type Environment = Readonly<Record<string, string | undefined>>;

function tokenVariable(role: Role): string {
  return `RECONCILE_CONFORMANCE_${role.replace(/[A-Z]/g, "_$&").toUpperCase()}_TOKEN`;
}

/** Runs the command and returns its exit code. */
export async function main(
  argv: readonly string[],
  environment: Environment,
  print: (line: string) => void,
): Promise<number> {
  let only: readonly string[];
  let target: Target | string;
  try {
    const { values } = parseArgs({ args: [...argv], options: flags });
    if (values.help === true) {
      print(help);
      return 0;
    }
    only = values.only ?? [];
    target = readTarget(values, environment);
  } catch (error) {
    target = error instanceof Error ? error.message : String(error);
    only = [];
  }
  if (typeof target === "string") {
    print(`${target}\n\n${help}`);
    return 1;
  }
  const chosen = cases.filter((each) => only.length === 0 || only.some((text) => titleOf(each).includes(text)));
  return runCases(target, chosen, print);
}

type Flags = ReturnType<typeof parseArgs<{ options: typeof flags }>>["values"];

function readTarget(values: Flags, environment: Environment): Target | string {
  const baseUrl = values["base-url"];
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return "--base-url must be the URL of the service";
  const { protocol, hostname } = new URL(baseUrl);
  const isLoopback = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname);
  if (protocol !== "https:" && !isLoopback && values["insecure-http"] !== true)
    return `${baseUrl} would show the credential to the network; --insecure-http permits it`;
  const timeScale = Number(values["time-scale"] ?? "1");
  if (!(timeScale > 0)) return "--time-scale must be a number above 0";
  const emulator = values.emulator === true ? emulatorTarget(baseUrl, timeScale, []) : undefined;
  const dialect = values.dialect === undefined ? builtInDialect : readDialect(values.dialect);

  const credentials: Partial<Record<Role, string>> = { ...emulator?.credentials };
  for (const role of roles) {
    const token = environment[role === "caller" ? "RECONCILE_TOKEN" : tokenVariable(role)];
    if (token !== undefined && token !== "") credentials[role] = dialect.authorization.replace("{token}", token);
  }
  const whole = environment["RECONCILE_AUTHORIZATION"];
  if (whole !== undefined && whole !== "") credentials.caller = whole;
  if (credentials.caller === undefined) return "set RECONCILE_AUTHORIZATION or RECONCILE_TOKEN";

  const { project, owner } = values;
  const userId = values["user-id"];
  const given = {
    region: values.region,
    image: values.image,
    flavor: values.flavor,
    otherFlavor: values["other-flavor"],
    soldOutFlavor: values["sold-out-flavor"] ?? emulator?.soldOutFlavor,
    ownerUsername: values["owner-username"] ?? emulator?.ownerUsername,
    project: project ?? emulator?.project,
    userId: userId ?? emulator?.userId,
    ownerEmail: owner ?? emulator?.ownerEmail,
  };
  return {
    baseUrl: baseUrl.replace(/\/+$/, ""),
    dialect,
    credentials,
    strict: values.strict === true,
    hasControl: values.emulator === true,
    timeScale,
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as typeof given),
  };
}

async function runCases(
  target: Target,
  chosen: readonly ConformanceCase[],
  print: (line: string) => void,
): Promise<number> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let suite: Awaited<ReturnType<typeof openSuite>>;
  try {
    suite = await openSuite(target);
  } catch (error) {
    print(`the service could not be read: ${messageOf(error)}`);
    return 1;
  }
  for (const each of chosen) {
    const reason = suite.unmet(each);
    if (reason !== undefined) {
      counts.skipped += 1;
      print(`skip  ${titleOf(each)}\n        ${reason}`);
      continue;
    }
    const start = performance.now();
    try {
      await suite.run(each);
      counts.passed += 1;
      print(`ok    ${titleOf(each)} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      if (error instanceof Unobservable) {
        counts.skipped += 1;
        print(`skip  ${titleOf(each)}\n        ${error.message}`);
        continue;
      }
      counts.failed += 1;
      print(`FAIL  ${titleOf(each)}\n        ${messageOf(error).replace(/\n/g, "\n        ")}`);
    }
  }
  const leftBehind = await suite.close();
  if (leftBehind.length > 0)
    print(`\nleft behind, to be deleted by hand:\n${leftBehind.map((what) => `  ${what}`).join("\n")}`);
  print(`\n${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed > 0 ? 1 : 0;
}

/** What a service says may hold anything; a terminal is to see text alone. */
function messageOf(error: unknown): string {
  const { message, cause } = error instanceof Error ? error : { message: String(error), cause: undefined };
  const reason = cause instanceof Error ? `: ${cause.message}` : "";
  return `${message}${reason}`.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/g, " ");
}
