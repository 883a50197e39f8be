/** A doctor with its trial before an odd service, in one process and in virtual time. */
import { readTold, withTold } from "../../../reconciler/cli/doctor/told";
import { readDialectText } from "../../../reconciler/dialect/read-dialect";
import { diagnoseService } from "../../../reconciler/engine/doctor/diagnose";
import type { TrialWish } from "../../../reconciler/engine/doctor/trial/act";
import { withTrial } from "../../../reconciler/engine/doctor/trial/fit";
import type { TrialNotes } from "../../../reconciler/engine/doctor/trial/notes";
import { tryOut } from "../../../reconciler/engine/doctor/trial/trial";
import { mortality, trialStage } from "../deployments/trial-stage";
import { inVirtualTime } from "../in-memory";
import { openOdd, type RunningOdd } from "./server";
import type { Odd } from "./shapes";

export type Closers = (() => Promise<void>)[];

/** An odd service for this process, whose waits are short. */
export const servedBy = (odd: Odd, closers: Closers): RunningOdd => {
  const server = openOdd({ ...odd.shape, world: { ...odd.shape.world, delayMs: 20 } });
  closers.push(() => server.close());
  return server;
};

/** In virtual time; what was opened is closed at the end. */
export const staged = (play: (closers: Closers) => Promise<void>): Promise<void> =>
  inVirtualTime(async () => {
    const closers: Closers = [];
    try {
      await play(closers);
    } finally {
      for (const close of closers.reverse()) await close();
    }
  });

export const wishFor = ({ keepsVolumes }: Odd): TrialWish => ({
  vm: {
    flavor: "m1.small",
    image: "ubuntu-24.04",
    owner: "ops@acme.example",
    userId: "1042",
    project: "acme",
    region: "in-west-1",
    sizeGb: 1,
  },
  otherFlavor: "m1.medium",
  keepVolume: keepsVolumes,
});

export interface Place {
  readonly server: RunningOdd;
  readonly closers: Closers;
  readonly notes: { kept: TrialNotes | undefined };
}

/** Where a doctor dies: at its n-th write, before or after the effect. */
export interface Kill {
  readonly nth: number;
  readonly when: "before" | "after";
}

/** One doctor with a trial, as a person starts it. */
export async function doctorAt(odd: Odd, { server, notes, closers }: Place, wish: TrialWish, kill?: Kill) {
  const { url } = server;
  const words = odd.told.map((word) => word.replaceAll("URL", url));
  const flagged = (flag: string): string[] => words.filter((_word, at) => words[at - 1] === flag);
  const told = readTold({ curl: flagged("--curl"), none: flagged("--none") });
  const { start, reads } = withTold(readDialectText("", "").dialect, told, url, new Set());
  const mortal = mortality();
  const from = server.writes.length;
  server.onWrite = (count, when) => {
    const isIt = count - from === kill?.nth && when === kill.when;
    if (isIt) mortal.die();
    return isIt;
  };
  const stage = trialStage({ url, notes }, closers, mortal);
  const looked = await diagnoseService({ ...stage.doctorIn(start), told: reads }, start, { none: new Set(told.none) });
  const authorization = { ...start.authorization, ...looked.authorization };
  const ports = { ...stage.ports, doctor: { ...stage.doctorIn({ ...looked.dialect, authorization }), told: reads } };
  const { report, findings } = await tryOut(ports, looked, wish);
  return withTrial(report, findings);
}
