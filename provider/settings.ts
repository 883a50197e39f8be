/** A provider's configuration, which is text, as the settings of a connection. */
import { isObject, keysOf, parsedJson } from "../reconciler/for-provider";
import type { Settings } from "../reconciler/index";

/** How each setting is read of its text; throws where it cannot be. */
const readerOf = {
  baseUrl(written: string) {
    refuseCredentialIn(written);
    return written;
  },
  dialect: (written: string) => (written.trimStart().startsWith("{") ? readMap("dialect", written) : written),
  timing: (written: string) => readMap("timing", written),
  token: String,
  authorization: String,
  insecureHttp: (written: string) => truthWritten("insecureHttp", written),
  parallelism: (written: string) => numberWritten("parallelism", written),
  timeScale: (written: string) => numberWritten("timeScale", written),
  acceptService: (written: string) => truthWritten("acceptService", written),
} as const satisfies { readonly [K in keyof Settings]: (written: string) => Settings[K] };

export type ProviderSettingName = keyof typeof readerOf;

export const settingNames: readonly ProviderSettingName[] = keysOf(readerOf);

type GetSetting = (name: ProviderSettingName) => unknown;

/** The settings, and what is wrong with those that cannot be read. */
export function settingsGiven(get: GetSetting) {
  const settings: Partial<Record<ProviderSettingName, unknown>> = {};
  const problems: { readonly property: ProviderSettingName; readonly reason: string }[] = [];
  for (const name of settingNames) {
    const value = get(name);
    if (value === undefined || value === null || value === "") continue;
    try {
      settings[name] = readerOf[name](String(value));
    } catch (error) {
      problems.push({ property: name, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  // Each reader gives what its setting holds.
  return { settings: settings as Settings, problems };
}

export function readSettings(get: GetSetting): Settings {
  const { settings, problems } = settingsGiven(get);
  if (problems.length > 0) throw new Error(problems.map(({ reason }) => reason).join("\n"));
  return settings;
}

function numberWritten(name: string, written: string): number {
  const value = Number(written);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new Error(`${name} must be a number, not ${written}`);
}

function truthWritten(name: string, written: string): boolean {
  if (written === "true" || written === "false") return written === "true";
  throw new Error(`${name} must be true or false, not ${written}`);
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
  const value = parsedJson(text);
  if (isObject(value)) return value;
  throw new Error(`${name} must be a JSON object`);
}
