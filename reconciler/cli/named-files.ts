/**
 * The files that a command line names. A closed run reads nothing and writes nothing through a link that leads out of the
 * checkout, whichever word names it. What is written and also read would be gone before it was read, or be another one
 * afterwards: a list of targets, variables, a saved plan. Two results in one file are one of them.
 */
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { ifPossible } from "../core/text/errors";
import { isStream } from "../outside/private-file";
import { refusedLink, trustFrom } from "../outside/trust";
import type { NamedCommand } from "./command";
import { fail } from "./crash";
import { type FlagRow, flagRows, offersOf } from "./flags";
import type { ReadFlags } from "./read-flags";
import { filesOfFlags } from "./workspace";

export function checkFilesNamed(
  { flags, args }: Pick<ReadFlags, "flags" | "args">,
  { name, flags: taken, complete }: Pick<NamedCommand, "name" | "flags" | "complete">,
): void {
  const given = Object.entries(flags).flatMap(([flag, values]) =>
    [values].flat().flatMap((value) => {
      const row: FlagRow | undefined = flagRows[flag];
      return row === undefined || typeof value !== "string"
        ? []
        : [{ flag: `--${flag}`, row, path: pathOfFlag(row, value) }];
    }),
  );
  // What doctor was given is what it writes again, and where --force is needed it says that the file may be lost.
  const rewrites = name === "doctor" || taken.includes("force");
  const results = given.filter(({ row, path }) => row.writes && !isStream(path));
  const written = results.filter(({ flag }) => !(rewrites && flag === "--out"));
  const read = [
    // What is no file, such as an output or an address, may have the name of one.
    ...(complete === undefined ? args : []).map((path) => ({ flag: path, path })),
    ...given.filter(({ row }) => row.writes !== true && (offersOf(row) === "files" || row.twoWords === true)),
    ...filesOfFlags(flags).map((path) => ({ flag: path, path })),
  ].filter(({ path }) => ifPossible(() => statSync(path))?.isFile() === true);
  const touched = [
    ...read.map(({ path }) => [path, "read"] as const),
    ...results.map(({ path }) => [path, "written"] as const),
  ];
  for (const [path, done] of touched) {
    const refused = refusedLink(trustFrom(flags["no-programs"]), path, done);
    if (refused !== undefined) throw fail(refused.code, refused.problem, refused.fix);
  }
  for (const [at, { flag, path }] of written.entries()) {
    const twice = written.slice(0, at).find((other) => placeOf(other.path) === placeOf(path));
    if (twice !== undefined)
      throw fail("cli/file-unwritable", `${twice.flag} and ${flag} name one file: ${path}`, "name a file for each");
    if (read.some((one) => placeOf(one.path) === placeOf(path)))
      throw fail(
        "cli/file-unwritable",
        `${flag} ${path} cannot be written: the same command reads it`,
        "name another file",
      );
  }
}

/** Of `OP=FILE` the file. */
const pathOfFlag = ({ twoWords }: FlagRow, value: string): string =>
  twoWords === true ? value.slice(value.indexOf("=") + 1) : value;

const placeOf = (path: string): string => ifPossible(() => realpathSync(path)) ?? resolve(path);
