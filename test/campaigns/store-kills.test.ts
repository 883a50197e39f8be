import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { countCampaign, tellViolation } from "../support/campaign-count";
import { endsWell, type Undisturbed, undisturbedRun } from "../support/oracles";
import { type Asked, isWrite, nothing } from "../support/other-services/other-service";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";
import { type S3Server, startS3Server } from "../support/s3-server";
import { type StateServer, startStateServer } from "../support/state-server";
import { changeScenes, destroyScenes, every, type Theatre } from "../support/theatre";

/** Every n-th kill is tried; 1 tries all. */
const stride = Number(process.env["STORE_KILL_STRIDE"] ?? 29);

let http: StateServer;
let s3: S3Server;
let postgres: PostgresServer | undefined;
const before = { ...process.env };

beforeAll(async () => {
  http = await startStateServer({ kind: "gitlab", username: "ci", password: "canary-state-pw" });
  s3 = await startS3Server();
  if (postgresMissing === undefined) postgres = await startPostgres();
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
  process.env = before;
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

let count = 0;

describe.each(Object.entries(places))(
  "a change killed at any request, its state in %s, is finished by the next run",
  (name, place) => {
    for (const scene of [...changeScenes, ...destroyScenes].filter(every("STORE_KILL_SCENES", 19)))
      it(scene.title, async () => {
        const theatre = await scene.open(place);
        try {
          const undisturbed = await undisturbedRun(theatre);
          const writes = undisturbed.heard.filter(({ asked }) => isWrite(asked)).length;
          const violations: string[] = [];
          let tried = 0;
          for (let nth = 1; nth <= writes; nth++)
            for (const when of ["before", "after"] as const) {
              if (count++ % stride !== 0) continue;
              tried++;
              const problems = await killedAt(theatre, nth, when, undisturbed);
              if (problems.length === 0) continue;
              violations.push(`${when} request ${nth}: ${problems.join("\n    ")}`);
              tellViolation(`${name}: ${scene.title}`, violations.at(-1) ?? "");
            }
          if (tried > 0) countCampaign(`kills of changes, state in ${name}`, tried, violations.length);
          expect(violations.join("\n")).toEqual("");
        } finally {
          await theatre.close();
        }
      }, 3_600_000);
  },
);

async function killedAt(theatre: Theatre, nth: number, when: "before" | "after", undisturbed: Undisturbed) {
  await theatre.reset();
  let seen = 0;
  let struck: Asked | undefined;
  const running = theatre.launch();
  const kill = (): typeof nothing => {
    running.child.kill("SIGKILL");
    return nothing;
  };
  theatre.door.open({
    hear(asked) {
      if (isWrite(asked) && ++seen === nth) struck = asked;
      return asked === struck && when === "before" ? kill() : undefined;
    },
    tell: (asked) => (asked === struck && when === "after" ? kill() : undefined),
  });
  const { exitCode, stderr } = await running.finished;
  if (exitCode !== -1) return [`it was not killed: exit ${exitCode}: ${stderr}`];
  theatre.door.become({});
  // Whoever finds the lock of a dead process takes it away.
  await theatre.command(["state", "unlock", "--force"]);
  return endsWell(theatre, undisturbed);
}
