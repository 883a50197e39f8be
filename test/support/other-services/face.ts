/** A scene before services of other making: every kind, at every place where it can strike. */
import { expect } from "vitest";
import { type EmulatorOptions, startEmulator } from "../../../emulator";
import { countCampaign, tellViolation } from "../campaign-count";
import { doneInWordsOnly, endsWell, saidOf, type Undisturbed, undisturbedRun, wrongAfter } from "../oracles";
import { everything } from "../stories";
import type { Scene, Theatre } from "../theatre";
import { type Kind, kinds } from "./kinds";
import { isWrite } from "./other-service";
import { withNamesakes } from "./world";

/** Every n-th case is tried; 1 tries all. */
const stride = Number(process.env["EVIDENCE_STRIDE"] ?? 173);
/** Of the kinds only those whose name has this in it. */
const chosen = process.env["EVIDENCE_KIND"] ?? "";
let count = 0;

export async function faceOtherServices(scene: Scene): Promise<void> {
  const theatre = await scene.open();
  try {
    const undisturbed = await undisturbedRun(theatre);
    const violations: string[] = [];
    for (const [name, kind] of Object.entries(kinds)) {
      if (!name.includes(chosen)) continue;
      if (kind.empties === true && !undisturbed.isVouched) continue;
      let tried = 0;
      const before = violations.length;
      for (const nth of kind.places?.(undisturbed.heard) ?? [1]) {
        if (count++ % stride !== 0) continue;
        tried++;
        const problems = await face(theatre, kind, nth, undisturbed);
        if (problems.length === 0) continue;
        const { operation = "" } = undisturbed.heard[nth - 1]?.asked ?? {};
        violations.push(`${name}, at ${nth} ${operation}: ${problems.join("\n    ")}`);
        tellViolation(scene.title, violations.at(-1) ?? "");
      }
      if (tried > 0) countCampaign(`other services: ${name}`, tried, violations.length - before);
    }
    expect(violations.join("\n")).toEqual("");
  } finally {
    await theatre.close();
  }
}

async function face(theatre: Theatre, kind: Kind, nth: number, undisturbed: Undisturbed): Promise<string[]> {
  const service = kind.make(nth, { start: theatre.start, lost: undisturbed.lost });
  await theatre.reset(service);
  const first = await theatre.run();
  const problems = await wrongAfter(theatre, first, undisturbed);
  if (kind.unseen !== true && kind.otherwise !== true)
    problems.push(...(await doneInWordsOnly(theatre, first, undisturbed)));
  if (kind.lasts === true) {
    let writing = 0;
    for (let run = 0; run < 3; run++) {
      const again = await theatre.again();
      problems.push(...(await wrongAfter(theatre, again, undisturbed)).map((problem) => `run ${run + 2}: ${problem}`));
      if (again.exitCode === 0 && again.heard.some(({ asked }) => isWrite(asked))) writing++;
      else break;
    }
    if (writing === 3 && kind.unseen !== true)
      problems.push("it is done in every run, and finds something to do in the next one");
  }
  if (problems.length > 0) return [...new Set(problems), `(it said ${first.exitCode}: ${saidOf(first)})`];
  const { otherwise } = kind;
  // Ids are spelt as they are for good.
  if (service.spell === undefined) theatre.door.become({});
  return endsWell(theatre, undisturbed, {
    ...(otherwise === undefined ? {} : { otherwise }),
    ...(kind.unseen === true ? { orphaned: true } : {}),
  });
}

/** What the state was made against is another service, or is seen with another project's eyes. */
export async function faceOtherScopes(scene: Scene): Promise<void> {
  const theatre = await scene.open();
  try {
    const undisturbed = await undisturbedRun(theatre);
    await theatre.reset();
    if ((await theatre.state()).resources.size === 0) return;
    const violations: string[] = [];
    let tried = 0;
    for (const [name, scope] of Object.entries(scopes)) {
      tried++;
      await theatre.reset();
      if (scope.namesakes === true) await theatre.door.truth.change(withNamesakes);
      const elsewhere =
        scope.elsewhere === undefined ? undefined : await startEmulator({ timeScale: 0, ...scope.elsewhere });
      try {
        const before = JSON.stringify([theatre.door.truth.dump(), elsewhere?.dump()]);
        const known = [...(await theatre.state()).resources.keys()].sort().join(" ");
        const problems: string[] = [];
        for (let run = 1; run <= 2; run++) {
          const ran = await theatre.again(
            scope.credential,
            elsewhere === undefined ? [] : ["--base-url", elsewhere.url],
          );
          problems.push(...(await wrongAfter(theatre, ran, undisturbed)));
          if (JSON.stringify([theatre.door.truth.dump(), elsewhere?.dump()]) !== before)
            problems.push(`run ${run} changed something: ${saidOf(ran)}`);
          if (ran.exitCode !== 1 && ran.exitCode !== 3) problems.push(`run ${run} ended with ${ran.exitCode}`);
          if ([...(await theatre.state()).resources.keys()].sort().join(" ") !== known)
            problems.push(`run ${run} forgot something: ${saidOf(ran)}`);
        }
        if (problems.length === 0) problems.push(...(await endsWell(theatre, undisturbed)));
        if (problems.length === 0) continue;
        violations.push(`${name}: ${[...new Set(problems)].join("\n    ")}`);
        tellViolation(scene.title, violations.at(-1) ?? "");
      } finally {
        await elsewhere?.close();
      }
    }
    countCampaign("other scopes", tried, violations.length);
    expect(violations.join("\n")).toEqual("");
  } finally {
    await theatre.close();
  }
}

interface Scope {
  readonly credential?: string;
  /** The other project has things of the same names. */
  readonly namesakes?: true;
  /** Another service altogether. */
  readonly elsewhere?: Pick<EmulatorOptions, "with">;
}

const scopes: Readonly<Record<string, Scope>> = {
  "the credential of another project, which has nothing": { credential: "outsider-token" },
  "the credential of another project, which has namesakes": { credential: "outsider-token", namesakes: true },
  "the credential of nobody": { credential: "homeless-token" },
  "another service, which has nothing": { elsewhere: { with: everything } },
};
