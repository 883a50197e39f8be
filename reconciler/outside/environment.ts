import type { Diagnostic } from "../core/model/diagnostic";
import { nearestName } from "../core/text/nearest";
import { printable } from "../core/text/printable";

/**
 * A setting from the environment. Pipelines pass variables that nobody set on as empty ones, so an empty one is not
 * set.
 */
export const setting = (name: OwnSetting): string | undefined => process.env[name] || undefined;

/** Every variable of this program's own that it reads, without `RECONCILE_`. */
const ownSettings = [
  ...["ADDRESSES", "APPROVER", "AUTHORIZATION", "BASE_URL", "DEBUG", "DIALECT", "ENV", "FILES_BELOW"],
  ...["FLEET_DATABASE", "FLEET_GITHUB_SECRET", "FLEET_GITHUB_SECRET_PREVIOUS", "FLEET_GITLAB_TOKEN"],
  ...["FLEET_GITLAB_TOKEN_PREVIOUS", "FLEET_SERVER", "FLEET_TOKEN", "OTHER_STATE_KEY", "POLICY", "PRICES", "PROGRAMS"],
  ...["STATE", "STATE_ENCRYPTION", "STATE_KEY", "STATE_KEY_COMMAND", "STATE_KEY_PREVIOUS"],
  ...["STATE_LOCK_ADDRESS", "STATE_LOCK_METHOD", "STATE_PASSWORD", "STATE_UNLOCK_METHOD", "STATE_UPDATE_METHOD"],
  ...["STATE_USERNAME", "TIME_SCALE", "TOKEN"],
] as const;

/** What the programs of a file are told, who may start this one again. */
const toldNames = ["ADDRESS", "REASON", "VM_ID", "VM_IP", "VM_NAME", "VOLUME_ID", "VOLUME_SIZE"];

type OwnSetting = `RECONCILE_${(typeof ownSettings)[number]}`;

const bareName = (name: string): string => name.replaceAll("_", "");

/**
 * Variables that are nearly a setting which is not set: what they say is not read, and was likely meant to be. Users have
 * variables of their own beside, one for a region for example, so that a short name counts with one letter wrong alone.
 */
export function misspeltSettings(environment: Readonly<Record<string, string | undefined>>): Diagnostic[] {
  const known = new Set<string>([...ownSettings, ...toldNames].map((name) => `RECONCILE_${name}`));
  return Object.entries(environment).flatMap(([name, value]): Diagnostic[] => {
    const [, own] = /^RECONCILE_(?!VAR_)(.+)$/i.exec(name) ?? [];
    if (value === undefined || value === "" || own === undefined || known.has(name)) return [];
    const near = nearestName(bareName(own), ownSettings.map(bareName), own.length < 9 ? 1 : 2);
    const meant = ownSettings.find((setting) => bareName(setting) === near);
    if (meant === undefined || (environment[`RECONCILE_${meant}`] ?? "") !== "") return [];
    return [
      {
        severity: "warning",
        code: "cli/unknown-setting",
        summary: `the variable ${printable(name)} is not read: it is no setting of this program`,
        fix: `write RECONCILE_${meant} if that is meant; else begin its name with something other than RECONCILE_`,
      },
    ];
  });
}

/** Variables that hold secrets of this program. No program that it starts gets them. */
export const secretVariables = [
  "RECONCILE_TOKEN",
  "RECONCILE_AUTHORIZATION",
  "RECONCILE_STATE_PASSWORD",
  "RECONCILE_STATE_KEY",
  "RECONCILE_STATE_KEY_PREVIOUS",
  "RECONCILE_OTHER_STATE_KEY",
] as const;

const withheld = new Set<string>(secretVariables);

/** Keeps further variables from every program that this process starts for a file. */
export function withhold(names: Iterable<string>): void {
  for (const name of names) withheld.add(name);
}

export const withheldVariables = (): Iterable<string> => withheld;
