/**
 * How far the people who write the files are trusted. In a person's own terminal a file may name programs, addresses
 * and places. Where somebody else wrote it (a change that nobody has reviewed, the caller of a tool, a tenant of a
 * fleet) the run is closed, by `--no-programs` or RECONCILE_PROGRAMS=none. docs/safety.md has the table; each row of it
 * is a function here, which answers with what is refused.
 */

import { readdirSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Diagnostic, SourcePosition } from "../core/model/diagnostic";
import type { DiagnosticCode } from "../core/model/diagnostic-code";
import { ifPossible } from "../core/text/errors";
import { refuse } from "../refused";
import { mostLinks } from "../store/durable-file";
import { filesOfState, isFile } from "../store/open";
import { checkoutOf } from "./commit";
import { setting } from "./environment";

export interface Trust {
  /** What closed the run, for messages: `--no-programs`. Absent: files may name programs, addresses and places. */
  readonly closedBy?: string;
  /** Files that a file names lie below this folder. */
  readonly root: string;
  /** Addresses of services and states that a file may name although the run is closed. */
  readonly addresses: readonly string[];
}

const trusting: Trust = { root: "/", addresses: [] };

/** `flag`: `--no-programs` was given. */
export function trustFrom(flag?: boolean): Trust {
  const closedBy = closedByOf(flag);
  if (closedBy === undefined) return trusting;
  return closedTrust(
    closedBy,
    setting("RECONCILE_FILES_BELOW") ?? checkoutOf(process.cwd()) ?? process.cwd(),
    (setting("RECONCILE_ADDRESSES") ?? "").split(/[\s,]+/),
  );
}

export const closedTrust = (closedBy: string, root: string, addresses: readonly string[] = []): Trust => ({
  closedBy,
  root: realPathAbove(root),
  addresses: addresses.flatMap((address) => originIfUrl(address) ?? []),
});

function closedByOf(flag: boolean | undefined): string | undefined {
  if (flag === true) return "--no-programs";
  const told = setting("RECONCILE_PROGRAMS");
  if (told === undefined || told === "run") return undefined;
  if (told === "none") return "RECONCILE_PROGRAMS=none";
  // A word that is not understood does not pass for `run`: a misspelt `none` would start what it was to prevent.
  throw refuse(
    "cli/bad-flag",
    `RECONCILE_PROGRAMS cannot be ${JSON.stringify(told)}`,
    "RECONCILE_PROGRAMS=none: no program that a file names is started; unset, or run: they are",
  );
}

/** What is not there yet lies where its folder does, and in the place of a link to nothing it would be made at its end. */
function realPathAbove(path: string, left = mostLinks): string {
  const real = ifPossible(() => realpathSync(path));
  if (real !== undefined || dirname(path) === path) return real ?? path;
  const folder = realPathAbove(dirname(path), left);
  const place = join(folder, basename(path));
  const next = left > 0 ? ifPossible(() => readlinkSync(place)) : undefined;
  return next === undefined ? place : realPathAbove(resolve(folder, next), left - 1);
}

const isPathBelow = (path: string, root: string): boolean => {
  const way = relative(root, path);
  return way !== ".." && !/^\.\.[\\/]/.test(way) && !isAbsolute(way);
};

/** Whether a file, or the place of one that is not there yet, lies below a folder, after all links. */
export const isReallyBelow = (path: string, root: string): boolean => isPathBelow(realPathAbove(resolve(path)), root);

type TrustRefusal = Pick<Diagnostic, "severity" | "summary" | "source"> & {
  readonly code: DiagnosticCode;
  readonly detail: string;
  readonly fix: string;
};

const trustRefusal = (
  { closedBy = "" }: Trust,
  code: DiagnosticCode,
  summary: string,
  fix: string,
  source?: SourcePosition,
): TrustRefusal => ({
  severity: "error",
  code,
  summary,
  detail: `${closedBy} closes this run: docs/safety.md says what its files may name`,
  fix,
  source,
});

/** The credential goes to no address that only a file names. `embedded` is no address. */
export function refusedAddress(trust: Trust, address: string): TrustRefusal | undefined {
  if (trust.closedBy === undefined || address === "embedded" || isAddressTrusted(trust, address)) return undefined;
  return trustRefusal(
    trust,
    "trust/address",
    `the file says where the credential is sent: ${shownAddress(address)}`,
    "give the address beside the file: RECONCILE_BASE_URL or --base-url",
  );
}

/**
 * A state, or another project's state that is read, at a place that only a file names. `given`: where the flag or the
 * environment says that this run's state is; what lies on the same server has its trust.
 */
export function refusedState(
  trust: Trust,
  location: string,
  given: string | undefined,
  source?: SourcePosition,
): TrustRefusal | undefined {
  if (trust.closedBy === undefined) return undefined;
  // A request to a bucket is signed: it carries no secret, and goes where the environment says.
  if (/^s3:\/\//i.test(location)) return undefined;
  if (isFile(location)) {
    if (filesOfState(location).every((path) => isReallyBelow(path, trust.root))) return undefined;
    return trustRefusal(trust, "trust/state", `the file names a state outside of ${trust.root}`, stateFix, source);
  }
  if (leadsElsewhere(location))
    return trustRefusal(
      trust,
      "trust/state",
      `the file names a database whose address has settings of its own: ${shownAddress(location)}`,
      stateFix,
      source,
    );
  if (isAddressTrusted(trust, location) || (given !== undefined && originIfUrl(given) === originIfUrl(location)))
    return undefined;
  return trustRefusal(
    trust,
    "trust/state",
    `the file says where the password of the state is sent: ${shownAddress(location)}`,
    stateFix,
    source,
  );
}

/**
 * In the address of a database `?host=` says where the password goes, whatever the address begins with, and `?sslkey=`
 * names a file of this machine.
 */
const leadsElsewhere = (location: string): boolean =>
  /^postgres/i.test(location) &&
  URL.canParse(location) &&
  [...new URL(location).searchParams.keys()].some((name) => !["schema", "state", "sslmode"].includes(name));

const stateFix = "give the place beside the file: RECONCILE_STATE or --state";

/** A check asks the VM that it is for (`{ip}`), and no address that only the file names. */
export function refusedCheck(trust: Trust, url: string): TrustRefusal | undefined {
  if (trust.closedBy === undefined) return undefined;
  // A name in front of an @ is a user, whatever it looks like.
  const asked = url.replaceAll("{ip}", anyAddress).replaceAll(`[${anyAddress}]`, anyAddress);
  if (URL.canParse(asked) && new URL(asked).hostname === anyAddress) return undefined;
  if (isAddressTrusted(trust, url)) return undefined;
  return trustRefusal(
    trust,
    "trust/address",
    `a check asks an address that only the file names: ${shownAddress(url)}`,
    "ask the VM itself (http://{ip}/…), or name the address beside the file: RECONCILE_ADDRESSES",
  );
}

/** An address that is nobody's. */
const anyAddress = "192.0.2.1";

/** A file that a file names, or a link among the given ones: it lies below the root, after all links. */
export function refusedPath(
  trust: Trust,
  path: string,
  done: "read" | "written" = "read",
): { readonly code: DiagnosticCode; readonly problem: string; readonly fix: string } | undefined {
  if (trust.closedBy === undefined || isReallyBelow(path, trust.root)) return undefined;
  return {
    code: "trust/path",
    problem: `${path} is not ${done}: it lies outside of ${trust.root}, and ${trust.closedBy} closes this run`,
    fix: "move it into the checkout, or set RECONCILE_FILES_BELOW to a folder above both",
  };
}

/** A file that a person named: only a link that leads out of the root is refused, since others may have made it. */
export const refusedLink = (trust: Trust, path: string, done?: "read" | "written"): ReturnType<typeof refusedPath> =>
  isPathBelow(resolve(path), trust.root) || isReallyBelow(dirname(resolve(path)), trust.root)
    ? refusedPath(trust, path, done)
    : undefined;

/** The same of a state, also of what lies beside its file. */
export function refusedFilesOfState(trust: Trust, location: string): ReturnType<typeof refusedPath> {
  if (trust.closedBy === undefined || !isFile(location)) return undefined;
  return firstRefused(filesOfState(location).map((path) => refusedLink(trust, path)));
}

const firstRefused = (all: readonly ReturnType<typeof refusedPath>[]) => all.find((one) => one !== undefined);

/** The same of the folder in which this program keeps what it needs still, and of each link in it. */
export function refusedKeeping(trust: Trust, folder: string): ReturnType<typeof refusedPath> {
  if (trust.closedBy === undefined) return undefined;
  const kept = ifPossible(() => readdirSync(folder, { recursive: true, withFileTypes: true })) ?? [];
  const links = kept.filter((one) => one.isSymbolicLink()).map(({ parentPath, name }) => join(parentPath, name));
  return firstRefused([folder, ...links].map((path) => refusedLink(trust, path, "written")));
}

const isAddressTrusted = ({ addresses }: Trust, address: string): boolean => {
  const origin = originIfUrl(address);
  return origin !== undefined && addresses.includes(origin);
};

/** Scheme, host and port of a URL, also of a database. */
function originIfUrl(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, host } = new URL(address);
  return `${protocol}//${host}`.toLowerCase();
}

/** Without a user and a password. */
const shownAddress = (address: string): string => originIfUrl(address) ?? "no URL";
