/** A project at a service of other making: its folder, the door, and the command as a process. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningEmulator, startEmulator } from "../../emulator";
import { type Ran, runCli, startCli } from "./cli-process";
import { makeFolder } from "./folder";
import { type Door, type OtherService, openDoor } from "./other-services/other-service";

export interface AtTheDoor {
  readonly folder: string;
  readonly door: Door;
  readonly emulator: RunningEmulator;
  write(name: string, text: string): void;
  reconcile(...args: readonly string[]): Promise<Ran>;
  /** `watch --apply` as a process. */
  watch(...args: readonly string[]): ReturnType<typeof startCli>;
  /** The first round of `watch --apply`: its line, after which it is stopped. */
  watchOnce(...args: readonly string[]): Promise<string>;
  /** How many writes the service was sent since `open`. */
  writes(): number;
  close(): Promise<void>;
}

export async function standAtTheDoor(
  service: OtherService,
  emulated: Parameters<typeof startEmulator>[0] = {},
): Promise<AtTheDoor> {
  const emulator = await startEmulator({ timeScale: 0, ...emulated });
  const door = await openDoor(emulator);
  door.open(service);
  const folder = makeFolder();
  const env = { RECONCILE_TOKEN: "ops-token", RECONCILE_BASE_URL: door.url };
  const watch = (...args: readonly string[]) =>
    startCli(["watch", "--apply", "--listen", "none", "--json", ...args], { cwd: folder, env });
  return {
    watch,
    folder,
    door,
    emulator,
    write: (name, text) => writeFileSync(join(folder, name), text),
    reconcile: (...args) => runCli([...args], { cwd: folder, env }),
    async watchOnce(...args) {
      const watching = watch("--interval", "1h", ...args);
      const round = await watching.says("the end of a round", ({ stdout }) =>
        stdout.split("\n").find((line) => line.includes('"type":"round"')),
      );
      watching.child.kill("SIGINT");
      await watching.finished;
      return round;
    },
    writes: () => door.heard.filter(({ asked, arrived }) => arrived && asked.method !== "GET").length,
    async close() {
      await door.close();
      await emulator.close();
    },
  };
}

/** Changes each record of the lists and reads of the kinds that `edits` names; `undefined`: it is not shown. */
export const retold =
  (edits: Partial<Record<"vm" | "volume" | "group", (record: Record<string, unknown>) => object | undefined>>) =>
  (asked: { readonly operation: string }, answer: { readonly status: number; readonly body?: unknown }) => {
    const [kind, verb] = asked.operation.split(".");
    const edit = kind === "vm" || kind === "volume" || kind === "group" ? edits[kind] : undefined;
    if (edit === undefined || answer.status >= 300 || (verb !== "list" && verb !== "get")) return undefined;
    const body = answer.body as { data?: unknown };
    const payload = body.data ?? body;
    const tell = (record: unknown) => edit(record as Record<string, unknown>);
    if (Array.isArray(payload))
      return { status: 200, body: { data: payload.map(tell).filter((one) => one !== undefined) } };
    const told = tell(payload);
    return told === undefined
      ? { status: 404, body: { error: { code: 404, message: "not found in this project" } } }
      : { status: 200, body: { data: told } };
  };
