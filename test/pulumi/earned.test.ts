/** The stories of support/earned-stories.ts over real HTTP, with the program's notes in files. */
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe } from "vitest";
import { mergeDialect } from "../../reconciler/dialect/merge-dialect";
import type { HandlerContext } from "../../reconciler/one/handler";
import { shareLooks } from "../../reconciler/one/shared-looks";
import type { HandlerType } from "../../reconciler/one/table";
import { programNotes } from "../../reconciler/outside/program-notes";
import { Credential } from "../../reconciler/service/credential";
import { createServiceClient } from "../../reconciler/service/http-client";
import { systemClock } from "../../reconciler/service/system-clock";
import { dialectOperations, hurriedClock, startBenchWorld } from "../support/bench-world";
import { earnedStories, type Given } from "../support/earned-stories";
import { programProcess } from "../support/program-process";

/** A program in a folder, served by one process after another or by several at once. */
async function startStage({ with: abilities = [], unique }: Given) {
  const dialect = mergeDialect({
    operations: dialectOperations({ with: abilities }),
    ...(unique === undefined ? {} : { limits: { unique } }),
  } as Parameters<typeof mergeDialect>[0]);
  const world = await startBenchWorld({ dialect, with: abilities, strict: true });
  const folder = mkdtempSync(join(tmpdir(), "reconcile-earned-"));
  const log: string[] = [];
  let processes = 0;
  const startProcess = ({ token = "ops-token", isInState = false, pid = 0x3fffffff, looks: shares = true } = {}) => {
    const { emit: _emit, client: _client, ...ports } = world.ports;
    const client = createServiceClient({
      baseUrl: world.baseUrl,
      dialect,
      credential: new Credential(`Bearer ${token}`, { kind: "fixed" }),
      timing: ports.timing,
      clock: hurriedClock,
    });
    const looks = shareLooks(client, systemClock);
    const writer = { name: `process-${++processes}`, pid };
    const contextOf = (type: HandlerType, name: string): HandlerContext => ({
      service: async () => (shares ? { ...ports, client: looks.fresh, looks } : { ...ports, client }),
      signal: new AbortController().signal,
      log: (severity, message) => void log.push(`${severity}: ${message}`),
      isInState,
      notes: programNotes(
        folder,
        { urn: `urn:pulumi:dev::demo::x:index:${type}::${name}`, service: world.baseUrl },
        writer,
      ),
    });
    return { contextOf, ...programProcess(contextOf) };
  };
  const { emulator } = world;
  return {
    log,
    client: world.client,
    setFaults: emulator.setFaults,
    dump: emulator.dump,
    startProcess,
    notes: (part: "creates" | "owners") => {
      try {
        return readdirSync(join(folder, part));
      } catch {
        return [];
      }
    },
    volumes: () => emulator.dump().volumes.filter(({ root, name }) => !root && !name.endsWith("-data")),
    vms: () => emulator.dump().vms,
    groups: () => emulator.dump().groups.filter(({ name }) => name !== "default"),
    rules: () => emulator.dump().rules.filter(({ port_range_min }) => port_range_min === 22),
    async close() {
      await world.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

describe.each(Object.entries(earnedStories(startStage)))("%s", (_, stories) => stories());
