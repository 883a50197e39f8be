import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countCampaign, tellViolation } from "../support/campaign-count";
import { type Moment, momentsOf } from "../support/mortal";
import { diesAt, endsWellUnlocked, killAt, type Undisturbed, undisturbedRun } from "../support/oracles";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";
import { type S3Server, type StateServer, startS3Server, startStateServer } from "../support/state-server";
import { changeScenes, destroyScenes, every, type Theatre } from "../support/theatre";

/** Every n-th death at a request, at a write of the store, and of a real process is tried; 1 tries all. */
const strides = {
  request: Number(process.env["STORE_KILL_STRIDE"] ?? 29),
  write: Number(process.env["STORE_WRITE_KILL_STRIDE"] ?? process.env["STORE_KILL_STRIDE"] ?? 59),
  process: Number(process.env["STORE_PROCESS_KILL_STRIDE"] ?? 61),
};
/** Of the stores only those whose name has this in it. */
const chosen = process.env["STORE_KILL_STORE"] ?? "";

let http: StateServer;
let s3: S3Server;
let postgres: PostgresServer | undefined;

beforeAll(async () => {
  http = await startStateServer({ kind: "gitlab", username: "ci", password: "canary-state-pw" });
  s3 = await startS3Server();
  if (postgresMissing === undefined && "PostgreSQL".includes(chosen)) postgres = await startPostgres();
  Object.assign(process.env, {
    RECONCILE_STATE_USERNAME: "ci",
    RECONCILE_STATE_PASSWORD: "canary-state-pw",
    AWS_ENDPOINT_URL: s3.url,
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: "tester",
    AWS_SECRET_ACCESS_KEY: "canary-aws",
  });
});
afterAll(async () => {
  await http.stop();
  await s3.stop();
  await postgres?.stop();
});

let states = 0;
const places: Readonly<Record<string, () => string>> = {
  "the HTTP store": () => `${http.url}/state-${states++}`,
  S3: () => `s3://states/state-${states++}`,
  ...(postgresMissing === undefined ? { PostgreSQL: () => `${postgres?.url}?state=state-${states++}` } : {}),
};

const counted = { request: 0, write: 0, process: 0 };
const isTried = (what: keyof typeof strides): boolean => counted[what]++ % strides[what] === 0;

describe.each(Object.entries(places).filter(([name]) => name.includes(chosen)))(
  "a change that dies at any request or write, its state in %s, is finished by the next run",
  (name, place) => {
    for (const scene of [...changeScenes, ...destroyScenes].filter(every("STORE_KILL_SCENES", 19)))
      it(scene.title, async () => {
        const theatre = await scene.open(place);
        try {
          const undisturbed = await undisturbedRun(theatre);
          await theatre.reset();
          const { counts, ended } = await theatre.mortal();
          expect(ended?.exitCode, ended?.text).toBe(undisturbed.first.exitCode);
          const violations: string[] = [];
          const tried = { request: 0, write: 0, process: 0 };
          const wrong = { request: 0, write: 0, process: 0 };
          const judge = (what: keyof typeof tried, { of, nth, when }: Moment, problems?: readonly string[]): void => {
            if (problems === undefined) return;
            tried[what]++;
            if (problems.length === 0) return;
            wrong[what]++;
            violations.push(`${what === "process" ? "killed " : ""}${when} ${of} ${nth}: ${problems.join("\n    ")}`);
            tellViolation(`${name}: ${scene.title}`, violations.at(-1) ?? "");
          };
          for (const moment of momentsOf(counts)) {
            if (isTried(moment.of)) judge(moment.of, moment, await diesAt(theatre, moment, undisturbed));
            if (moment.of === "request" && isTried("process"))
              judge("process", moment, await killedAt(theatre, moment.nth, moment.when, undisturbed));
          }
          for (const what of ["request", "write", "process"] as const)
            if (tried[what] > 0) countCampaign(`${titles[what]}, state in ${name}`, tried[what], wrong[what]);
          expect(violations.join("\n")).toEqual("");
        } finally {
          await theatre.close();
        }
      }, 3_600_000);
  },
);

const titles: Readonly<Record<keyof typeof strides, string>> = {
  request: "changes that die at a request",
  write: "changes that die at a write or a lock of the store",
  process: "changes whose process is killed at a request",
};

async function killedAt(theatre: Theatre, nth: number, when: "before" | "after", undisturbed: Undisturbed) {
  await theatre.reset();
  const problems = await killAt(theatre, { of: "request", nth, when });
  return problems.length > 0 ? problems : endsWellUnlocked(theatre, undisturbed);
}
