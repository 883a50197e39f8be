/**
 * The emulated service for this process: asked without a socket between (in-memory.ts), and over HTTP by other processes
 * where it listens.
 */
import {
  type EmulatorOptions,
  type OpenEmulator,
  openEmulator,
  type RunningEmulator,
  startEmulator,
} from "../../emulator";
import { serveHere } from "./in-memory";

/** Nobody else reaches it. */
export async function emulatorHere(options: EmulatorOptions): Promise<RunningEmulator> {
  const emulator = await openEmulator({ timeScale: 0, ...options });
  const { url, close } = serveHere(emulator.answer);
  return {
    ...emulator,
    url,
    port: 0,
    async close() {
      await close();
      await emulator.close();
    },
  };
}

export async function listeningEmulator(options: EmulatorOptions): Promise<RunningEmulator> {
  const emulator = await startEmulator({ timeScale: 0, ...options });
  const here = serveHere(emulator.answer, emulator.url);
  return {
    ...emulator,
    async close() {
      await here.close();
      await emulator.close();
    },
  };
}

/** Through the endpoint for tests. */
export async function controlOf(
  emulator: OpenEmulator,
  method: string,
  path: string,
  body?: unknown,
): Promise<unknown> {
  const text = body === undefined ? "" : JSON.stringify(body);
  const told = await emulator.answer({ method, url: `/_control${path}`, headers: { host: "127.0.0.1" }, text });
  if (told === undefined || told.status >= 300)
    throw new Error(`control ${method} ${path}: ${told?.status} ${told?.text}`);
  return told.text === "" ? undefined : JSON.parse(told.text);
}
