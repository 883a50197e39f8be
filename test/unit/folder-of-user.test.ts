/** Where the fleet's commands keep a login and their mirrors, as a table of what the environment says. */
import { homedir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it, vi } from "vitest";
import { folderOfUser } from "../../reconciler/cli/fleet/folder-of-user";

afterEach(() => vi.unstubAllEnvs());

it.each([
  [undefined, join(homedir(), ".config/reconcile")],
  ["/srv/config", "/srv/config/reconcile"],
  ["", join(homedir(), ".config/reconcile")],
  [".", join(homedir(), ".config/reconcile")],
  ["config", join(homedir(), ".config/reconcile")],
])("XDG_CONFIG_HOME=%s: %s, never the folder in which the command runs", (given, folder) => {
  vi.stubEnv("XDG_CONFIG_HOME", given);
  expect(folderOfUser("XDG_CONFIG_HOME")).toBe(folder);
});

it("is another one for what may be fetched again", () => {
  vi.stubEnv("XDG_CACHE_HOME", undefined);
  expect(folderOfUser("XDG_CACHE_HOME")).toBe(join(homedir(), ".cache/reconcile"));
});

it.each(["", ".", "home"])("is below the home that the system knows where HOME=%s", (given) => {
  vi.stubEnv("XDG_CONFIG_HOME", undefined);
  vi.stubEnv("HOME", given);
  expect(folderOfUser("XDG_CONFIG_HOME")).toBe(join(userInfo().homedir, ".config/reconcile"));
});
