/** The emulated service for this process alone (in-memory.ts), without faults and without a control endpoint. */
import type { EmulatorOptions, RunningEmulator } from "../../emulator";
import { chooseOperations } from "../../emulator/operations";
import { createRequestLog, logRequest, showLog } from "../../emulator/request-log";
import { buildRoutes, matchRoute } from "../../emulator/routes";
import { serveHere } from "./in-memory";
import { emulatedWorld } from "./virtual-world";

type Options = Pick<EmulatorOptions, "timeScale" | "with" | "without" | "contractOnly" | "pageSize">;

export function openEmulator({ timeScale = 0, pageSize = 100, ...chosen }: Options): RunningEmulator {
  const emulated = emulatedWorld({ secondMs: timeScale === 0 ? 0 : 1000 / timeScale, pageSize });
  const operations = chooseOperations(chosen);
  const routes = buildRoutes(operations);
  const log = createRequestLog();
  const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
  const answer = (status: number, body: unknown) => ({
    status,
    headers: { "content-type": "application/json" },
    text: JSON.stringify(body) ?? "",
  });
  const { url, close } = serveHere(async ({ method, url: asked, text }) => {
    const [path = "", query = ""] = asked.split("?");
    const match = matchRoute(routes, method, path);
    if (match.status !== "found") return answer(404, { error: { message: "there is nothing at this path" } });
    const { operation, params } = match;
    emulated.nowMs = Date.now();
    const entry = logRequest(log, { operation, method, path, status: 0, at: new Date().toISOString() });
    const group =
      operation === "group.rule.delete" ? emulated.world.tables.rule.get(params["rule_id"] ?? "") : undefined;
    const { status, body, holdUntil } = emulated.call(operation, text === "" ? undefined : JSON.parse(text), {
      id: params["id"] ?? group?.security_group_id,
      ruleId: params["rule_id"],
      query,
    });
    entry.status = status;
    if (holdUntil !== undefined) await sleep(Math.max(0, holdUntil - Date.now()));
    return answer(status, body);
  });
  const isNone = (what: string) => (): never => {
    throw new Error(`an emulated service of this process has no ${what}`);
  };
  return {
    url,
    port: 0,
    operations,
    dump: () => {
      emulated.nowMs = Date.now();
      return emulated.dump();
    },
    load: isNone("other world"),
    requests: () => showLog(log),
    setFaults: isNone("faults"),
    close,
  };
}
