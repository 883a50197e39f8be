// Scale past one machine, on paper: what a project of 100,000 resources waits for on a service with latency and a rate
// limit, and what 1,000 projects on ten runners ask of one PostgreSQL. Inputs are flags, so that a reader puts in their
// own: `node bench/simulate-scale.mjs [--resources 100000] [--latency-ms 100] [--rate 50] [--parallelism 10] …`
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: {
    resources: { type: "string", default: "100000" },
    "latency-ms": { type: "string", default: "100" },
    rate: { type: "string", default: "50" },
    parallelism: { type: "string", default: "10" },
    "page-size": { type: "string", default: "100" },
    "poll-s": { type: "string", default: "2" },
    "build-s": { type: "string", default: "60" },
    projects: { type: "string", default: "1000" },
    runners: { type: "string", default: "10" },
    "runs-per-day": { type: "string", default: "24" },
    "project-resources": { type: "string", default: "100" },
    "commit-ms": { type: "string", default: "5" },
    "plan-cpu-ms-per-1000": { type: "string", default: "49" },
  },
});
const input = Object.fromEntries(Object.entries(values).map(([name, text]) => [name, Number(text)]));

/** Requests go out as fast as the slower of connections and rate limit lets them; polls take their share first. */
function drain({ writes, polled, pagesPerPoll = 0, perSecond, latencyS, parallelism, pollS, buildS }) {
  const rate = Math.min(perSecond, parallelism / latencyS);
  // One poll after the other: its pages one by one, then the interval.
  const pollPeriodS = pollS + pagesPerPoll * Math.max(latencyS, 1 / rate);
  let seconds = 0;
  let left = writes;
  let polls = 0;
  let nextPoll = pollPeriodS;
  const stepS = 1;
  while (left > 0) {
    let room = rate * stepS;
    if (polled && seconds >= nextPoll) {
      room -= Math.min(room, pagesPerPoll);
      polls += 1;
      nextPoll = seconds + pollPeriodS;
    }
    left -= Math.max(0, room);
    seconds += stepS;
  }
  return { seconds: seconds + (polled ? buildS + pollPeriodS : 0), polls, rate };
}

function project() {
  const n = input.resources;
  const [vms, volumes] = [Math.round(n * 0.4), Math.round(n * 0.4)];
  const groups = n - vms - volumes;
  const base = {
    perSecond: input.rate,
    latencyS: input["latency-ms"] / 1000,
    parallelism: input.parallelism,
    pollS: input["poll-s"],
    buildS: input["build-s"],
  };
  const pages = Math.ceil(vms / input["page-size"]);
  const reads = pages + volumes + groups + 1;
  const refresh = drain({ ...base, writes: reads, polled: false });
  const creates = vms + volumes * 2 + groups;
  const apply = drain({ ...base, writes: creates, polled: true, pagesPerPoll: pages });
  const lists = drain({ ...base, writes: pages + Math.ceil(volumes / input["page-size"]) + groups, polled: false });
  const rows = [
    ["resources", `${n} (${vms} VMs, ${volumes} volumes, ${groups} groups)`],
    ["requests a second that get through", refresh.rate.toFixed(0)],
    ["refresh: requests", reads],
    ["refresh: time", hours(refresh.seconds)],
    ["refresh if the service could list volumes", hours(lists.seconds)],
    ["first apply: writes", creates],
    ["first apply: time", hours(apply.seconds)],
    ["first apply: polls under way, each of", `${apply.polls} polls, ${pages} pages`],
    ["planning itself", `${(((n / 1000) * input["plan-cpu-ms-per-1000"]) / 1000).toFixed(0)} s of one core`],
  ];
  return rows;
}

/** Runs arrive evenly; a runner is busy for a run's time; the store sees lock, read, heartbeat and release of each. */
function fleet() {
  const { projects, runners } = input;
  const n = input["project-resources"];
  const reads = Math.ceil((n * 0.4) / input["page-size"]) + n * 0.6 + 1;
  const rate = Math.min(input.rate, input.parallelism / (input["latency-ms"] / 1000));
  const runS = 0.5 + reads / rate;
  const runsPerS = (projects * input["runs-per-day"]) / 86_400;
  const busy = (runsPerS * runS) / runners;
  // An M/M/1-like wait for each runner, which is kind to bursts on the hour.
  const waitS = busy < 1 ? (busy / (1 - busy)) * runS : Number.POSITIVE_INFINITY;
  // Changing runs: one in ten, five steps, two commits a step (intent, outcome) before grouping.
  const commitsPerS = runsPerS * (4 + 0.1 * 5 * 2);
  const commitCeiling = 1000 / input["commit-ms"];
  return [
    ["projects, runners, runs a day each", `${projects}, ${runners}, ${input["runs-per-day"]}`],
    ["one no-op run", `${runS.toFixed(1)} s, ${reads} requests`],
    ["runners busy", `${(busy * 100).toFixed(1)} %`],
    ["mean wait for a runner", Number.isFinite(waitS) ? `${waitS.toFixed(2)} s` : "grows without end"],
    ["runs a day each before the runners are full", Math.floor((runners * 86_400) / (projects * runS))],
    ["requests to the service a second, if it is one service", (runsPerS * reads).toFixed(1)],
    [
      "runs a day each before that service's rate limit is full",
      Math.floor((input.rate * 86_400) / (projects * reads)),
    ],
    ["PostgreSQL commits a second", `${commitsPerS.toFixed(2)} of about ${commitCeiling} one after the other`],
    ["PostgreSQL connections", `${runners} (one a run)`],
  ];
}

const hours = (seconds) =>
  seconds < 120
    ? `${seconds.toFixed(0)} s`
    : seconds < 7200
      ? `${(seconds / 60).toFixed(0)} min`
      : `${(seconds / 3600).toFixed(1)} h`;
const print = (title, rows) =>
  process.stdout.write(`${title}\n${rows.map(([name, value]) => `  ${name.padEnd(58)} ${value}`).join("\n")}\n`);
print("One large project", project());
print("Many projects", fleet());
