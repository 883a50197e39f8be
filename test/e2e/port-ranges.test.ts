import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { jsonLines, runCli } from "../support/cli-process";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "reconcile-ranges-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const reconcile = (...args: string[]) => runCli(args, { cwd: folder });
const write = (service: string): void =>
  writeFileSync(
    join(folder, "reconcile.yaml"),
    `version: 1\nservice: { ${service} }\ngroups: { web: { rules: [ { protocol: tcp, dst_port: 8000-8010 } ] } }\n`,
  );

describe("a range of ports", () => {
  it("is refused by the plan where the dialect says null (section 3: ranges are refused), and nothing is sent", async () => {
    write("base_url: embedded");
    const plan = await reconcile("plan");
    expect(plan.exitCode).toBe(1);
    expect(plan.stderr).toContain("error[plan/port-range]");
    expect(plan.stderr).toContain('rules: { port_range: "{min}-{max}" }');
    const apply = await reconcile("apply", "-y", "--json");
    expect(apply.exitCode).toBe(1);
    expect(jsonLines(apply.stdout).filter(({ type }) => type === "step")).toEqual([]);
    expect(existsSync(join(folder, "reconcile.state.json"))).toBe(false);
  });

  it("is taken by the embedded service as the dialect writes it", async () => {
    write('base_url: embedded, dialect: { rules: { port_range: "{min}:{max}" } }');
    expect((await reconcile("apply", "-y")).stdout).toContain("Done: the service matches the file");
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
    // What the service has already needs no telling.
    write("base_url: embedded");
    expect((await reconcile("plan", "--detailed-exitcode")).exitCode).toBe(0);
  });
});
