/**
 * What a place for states really does, found out by trying it on a state of its own beside the one that is named: whether
 * what is written is read, whether a second holder is kept out, whether a former one can still write, and for a server of
 * somebody else's what it answers to each request. Nothing of the named state itself is written.
 */
import { errorMessage } from "../core/text/errors";
import { type Holder, StateLocked, type StateSession, type StateStore } from "./store";

export type ProbeVerdict = "holds" | "breaks";

export interface StoreFinding {
  /** A word for programs. */
  readonly probe: string;
  readonly verdict: ProbeVerdict;
  /** What was seen, in words. */
  readonly seen: string;
  /** What follows from it for the state. */
  readonly therefore: string;
}

export interface StoreTrial {
  /**
   * Whether something is there already: a server may tell states apart by something else than what the trial changes in
   * the address, and answer with the state itself.
   */
  isTaken(): Promise<boolean>;
  /** The store at the place beside, opened anew with each call. */
  open(): StateStore;
  /** What only stores of this kind have. Absent: nothing. */
  probe?(): Promise<readonly StoreFinding[]>;
  /** Takes away everything that the trial has written. */
  remove(): Promise<void>;
}

const findingThat =
  (verdict: ProbeVerdict) =>
  (probe: string, seen: string, therefore: string): StoreFinding => ({ probe, verdict, seen, therefore });
const holdsTrue = findingThat("holds");
export const breaks = findingThat("breaks");
export const probeVerdict = (
  isSo: boolean,
  probe: string,
  [seen, therefore]: readonly [string, string],
  [otherwise, thereforeNot]: readonly [string, string],
): StoreFinding => (isSo ? holdsTrue(probe, seen, therefore) : breaks(probe, otherwise, thereforeNot));

const snapshotOf = (epoch: number): string =>
  `{\n"format":"reconcile-cloud/state",\n"version":1,\n"lineage":"check",\n"serial":1,\n"epoch":${epoch},\n"check":"one"\n}\n`;

/** The probes that every kind of store is put to, through the same code that a run uses. */
export async function checkStore(trial: StoreTrial, holder: Holder): Promise<readonly StoreFinding[]> {
  const findings: StoreFinding[] = [];
  const sessions: StateSession[] = [];
  try {
    if (await trial.isTaken())
      return [
        breaks(
          "empty",
          "a state that was never written is answered with something",
          "nothing was tried, for it may be the state itself: give each state a path of its own",
        ),
      ];
    if (trial.probe !== undefined) findings.push(...(await trial.probe()));
    await trial.open().read();
    findings.push(
      holdsTrue("empty", "a state that was never written is answered as none", "a first run begins a state"),
    );
    const first = await trial.open().lock({ ...holder, who: "check-1" });
    sessions.push(first);
    const second = await trial
      .open()
      .lock({ ...holder, who: "check-2" })
      .catch((error: unknown) => {
        if (error instanceof StateLocked) return undefined;
        throw error;
      });
    const isKeptOut = second === undefined;
    if (second !== undefined) sessions.push(second);
    findings.push(
      probeVerdict(
        isKeptOut,
        "lock",
        ["a second holder is refused while the first one has the lock", "two runs never write at once"],
        ["a second holder gets the lock as well", "two runs may write at once: run one at a time"],
      ),
    );
    await first.replace(snapshotOf(first.epoch));
    await first.append(["line 1", "line 2"]);
    await first.append(["line 3"]);
    const read = await trial.open().read();
    findings.push(
      probeVerdict(
        read.snapshot === snapshotOf(first.epoch) && read.journal.join() === "line 1,line 2,line 3",
        "read-after-write",
        ["what was written is read at once, whole and in order", "a plan sees what the run before it did"],
        [
          "what was written is not read at once, or not as it was",
          "a plan may be made from an older state; it is refused where this machine saw the newer one",
        ],
      ),
    );
    await trial.open().breakLock();
    const third = await trial.open().lock({ ...holder, who: "check-3" });
    sessions.push(third);
    await third.append(["line 4"]);
    const isLateRefused = await first.append(["late"]).then(
      () => false,
      () => true,
    );
    const after = await trial.open().read();
    findings.push(
      probeVerdict(
        isLateRefused && !after.journal.includes("late") && after.journal.includes("line 4"),
        "former-holder",
        ["a holder whose lock was taken away cannot write any more", "`state unlock --force` leaves one writer"],
        [
          "a holder whose lock was taken away still writes",
          "after `state unlock --force` make sure that the former run has ended",
        ],
      ),
      probeVerdict(
        third.epoch > first.epoch,
        "order-of-holders",
        ["each holder counts for more than the one before", "what a former holder writes late counts for nothing"],
        ["a later holder does not count for more", "what a former holder writes late may count"],
      ),
    );
    await third.release();
    const free = await trial.open().lock({ ...holder, who: "check-4" });
    await free.release();
    findings.push(holdsTrue("release", "a lock that was released is free at once", "the next run need not wait"));
  } catch (error) {
    const message = errorMessage(error);
    findings.push(
      error instanceof StateLocked && sessions.length === 0
        ? breaks(
            "lock",
            `the lock of a state that was never written is held: ${message}`,
            "it may be the lock of the state itself, and was left as it is: give the lock of each state a path of its own",
          )
        : breaks("error", message, "this place cannot hold a state as it is"),
    );
  } finally {
    // A lock that is not let go by its session is not the trial's: it is not broken.
    for (const session of sessions) await session.release().catch(() => undefined);
  }
  return findings;
}
