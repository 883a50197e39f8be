/** The alerts and the dashboard ask for nothing that the fleet does not tell. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { metricsText } from "../../reconciler/fleet/metrics";
import { newStatus } from "../../reconciler/fleet/status";

const file = (name: string): string => readFileSync(join(__dirname, "..", "..", "examples", "fleet", name), "utf8");

interface Dashboard {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}
const alerts: { groups: { rules: { alert: string; expr: string; annotations: Record<string, string> }[] }[] } = parse(
  file("alerts.yaml"),
);
const dashboard: Dashboard = JSON.parse(file("grafana-dashboard.json"));
const rules = alerts.groups.flatMap((group) => group.rules);
const asked: readonly (readonly [string, string])[] = [
  ...rules.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
];

/** One of everything that there may be. */
const told = metricsText({
  tallies: [{ status: { ...newStatus, stalled: true }, paused: false, count: 1, names: ["a"], lateS: 0 }],
  load: [{ tenant: "default", waiting: 1, running: 1 }],
  budgets: [{ service: "in-west", perSecond: 50, refusals: 1, used: 2, reserved: 0 }],
  workers: [
    {
      ...{ name: "here:1:ab", version: "1", concurrency: 1, doing: [], draining: false, services: [], troubles: [] },
      ...{ startedAt: new Date(0), aliveAt: new Date(0), silent: false },
    },
  ],
  counts: { rounds: 1, applied: 1, failed: 0, takenOver: 0 },
});
const labels = new Map<string, Set<string>>();
for (const [, name = "", inner = ""] of told.matchAll(/^(reconcile_[a-z_]+)(?:\{(.*)\})? /gm)) {
  const known = labels.get(name) ?? new Set<string>();
  for (const [, label = "", value = ""] of inner.matchAll(/(\w+)="([^"]*)"/g))
    known.add(label).add(`${label}=${value}`);
  labels.set(name, known);
}
const conditions = new Set([...told.matchAll(/^reconcile_fleet_stacks\{condition="(\w+)"/gm)].map(([, one]) => one));

test.each(asked)("%s asks for what there is: %s", (_, expr) => {
  const names = [...expr.matchAll(/\b(reconcile_[a-z_]+)(?:\{([^}]*)\})?/g)];
  expect(names.length).toBeGreaterThan(0);
  for (const [, name = "", inner = ""] of names) {
    expect([...labels.keys()]).toContain(name);
    for (const [, label = "", sign, value = ""] of inner.matchAll(/(\w+)(!?=)"([^"]*)"/g)) {
      expect([...(labels.get(name) ?? [])]).toContain(label);
      if (label === "condition") expect([...conditions]).toContain(value);
      else if (sign === "=") expect([...(labels.get(name) ?? [])]).toContain(`${label}=${value}`);
    }
  }
  const [, by = ""] = /\bby \(([^)]*)\)/.exec(expr) ?? [];
  for (const label of by.split(", ").filter((one) => one !== ""))
    expect([...(labels.get(names[0]?.[1] ?? "") ?? [])]).toContain(label);
});

test("every alert says what to do, and every command that it names is one", () => {
  for (const { annotations } of rules) {
    expect(Object.keys(annotations).sort()).toEqual(["description", "summary"]);
    for (const [, command] of Object.values(annotations)
      .join(" ")
      .matchAll(/reconcile fleet (\w+)/g))
      expect(["show", "plan", "resume", "work"]).toContain(command);
  }
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
});

const promtoolMissing = spawnSync("promtool", ["--version"]).error !== undefined;
if (promtoolMissing) console.warn("NOT SHOWN: the alerts as Prometheus reads them: promtool is not on PATH");

test.skipIf(promtoolMissing)(
  "Prometheus takes the rules, the alerts fire when they should, and the metrics are as it wants them",
  () => {
    const cwd = join(__dirname, "..", "..", "examples", "fleet");
    expect(execFileSync("promtool", ["check", "rules", "alerts.yaml"], { cwd, encoding: "utf8" })).toContain(
      "10 rules",
    );
    expect(execFileSync("promtool", ["test", "rules", "alerts_test.yaml"], { cwd, encoding: "utf8" })).toContain(
      "SUCCESS",
    );
    expect(execFileSync("promtool", ["check", "metrics"], { input: told, encoding: "utf8" })).toBe("");
  },
);
