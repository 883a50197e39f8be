/** A provider's configuration, which is text, as the settings of a connection. */
import type { Settings } from "../reconciler/index";

export const settingNames = [
  "baseUrl",
  "dialect",
  "timing",
  "token",
  "authorization",
  "insecureHttp",
  "parallelism",
  "timeScale",
  "acceptService",
] as const satisfies readonly (keyof Settings)[];

export type ProviderSettingName = (typeof settingNames)[number];

export function readSettings(get: (name: ProviderSettingName) => unknown): Settings {
  const text = (name: ProviderSettingName): string | undefined => {
    const value = get(name);
    return value === undefined || value === null || value === "" ? undefined : String(value);
  };
  const number = (name: ProviderSettingName): number | undefined => {
    const written = text(name);
    if (written === undefined) return undefined;
    const value = Number(written);
    if (!Number.isFinite(value) || value < 0) throw new Error(`${name} must be a number, not ${written}`);
    return value;
  };
  const baseUrl = text("baseUrl");
  if (baseUrl !== undefined) refuseCredentialIn(baseUrl);
  const dialect = text("dialect");
  const timing = text("timing");
  return {
    baseUrl,
    dialect: dialect?.trimStart().startsWith("{") === true ? readMap("dialect", dialect) : dialect,
    timing: timing === undefined ? undefined : readMap("timing", timing),
    token: text("token"),
    authorization: text("authorization"),
    insecureHttp: text("insecureHttp") === "true",
    parallelism: number("parallelism"),
    timeScale: number("timeScale"),
    acceptService: text("acceptService") === "true",
  };
}

/** The engine keeps the configuration of a provider in the state, in the clear. */
export function refuseCredentialIn(baseUrl: string): void {
  const { username, password } = URL.canParse(baseUrl) ? new URL(baseUrl) : { username: "", password: "" };
  if (username === "" && password === "") return;
  throw new Error(
    "baseUrl holds a credential: take user and password out of it, and set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION",
  );
}

function readMap(name: string, text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Told below, in the words of the setting.
  }
  throw new Error(`${name} must be a JSON object`);
}
