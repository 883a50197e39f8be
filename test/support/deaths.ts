/**
 * A change that dies at a moment, and the runs after it: in this process, from the moment on without a sign of life, or
 * as a process of its own that is killed.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { makeFolder } from "./folder";
import type { Moment } from "./mortal";
import { endsWell, type Undisturbed } from "./oracles";
import { type Asked, isWrite, nothing } from "./other-services/other-service";
import type { Theatre } from "./theatre";

type Counts = Readonly<Record<Moment["of"], number>>;

/** `undefined`: steps that happened to be done at once have shared their writes, and there was no such write. */
export async function diesAt(
  theatre: Theatre,
  moment: Moment,
  undisturbed: Undisturbed,
): Promise<string[] | undefined> {
  await theatre.reset();
  const { ended, counts } = await theatre.mortal(moment);
  if (ended !== undefined && moment.of === "write" && counts.write < moment.nth) return undefined;
  if (ended !== undefined) return [`it did not die: exit ${ended.exitCode}: ${ended.text}`];
  return endsWellUnlocked(theatre, undisturbed);
}

/** Whoever finds the lock of a dead process takes it away. */
export async function endsWellUnlocked(theatre: Theatre, undisturbed: Undisturbed): Promise<string[]> {
  theatre.door.become({});
  await theatre.command(["state", "unlock", "--force"]);
  return endsWell(theatre, undisturbed);
}

const hook = resolve(__dirname, "kill-at-write.cjs");

/** How many requests and forced writes of the disk a process of its own takes, when nobody kills it. */
export async function countInProcess(theatre: Theatre, args?: readonly string[]): Promise<Counts> {
  const counted = join(makeFolder(), "writes");
  const from = theatre.door.heard.length;
  const env = { NODE_OPTIONS: `--require ${hook}`, COUNT_WRITES: counted };
  await theatre.launch({ env, ...(args === undefined ? {} : { args }) }).finished;
  const requests = theatre.door.heard.slice(from).filter(({ asked }) => isWrite(asked)).length;
  return { request: requests, write: Number(readFileSync(counted, "utf8")) };
}

/** The edit, or another command, killed at the moment; what it did instead, if it went on or said something bad. */
export async function killAt(theatre: Theatre, moment: Moment, args?: readonly string[]): Promise<string[]> {
  const { of, nth, when } = moment;
  const env: Record<string, string> =
    of === "write" ? { NODE_OPTIONS: `--require ${hook}`, KILL_AT_WRITE: `${nth}:${when}` } : {};
  const running = theatre.launch({ env, ...(args === undefined ? {} : { args }) });
  const kill = (): typeof nothing => {
    running.child.kill("SIGKILL");
    return nothing;
  };
  let seen = 0;
  let struck: Asked | undefined;
  theatre.door.open({
    hear(asked) {
      if (of === "request" && isWrite(asked) && ++seen === nth) struck = asked;
      return asked === struck && when === "before" ? kill() : undefined;
    },
    tell: (asked) => (asked === struck && when === "after" ? kill() : undefined),
  });
  const { exitCode, stderr } = await running.finished;
  theatre.door.become({});
  if (running.child.signalCode === "SIGKILL") return [];
  // Writes of steps that happened to be done at once are shared, and then there is one less.
  return of === "write" && exitCode === 0 ? [] : [`it was not killed: exit ${exitCode}: ${stderr}`];
}
