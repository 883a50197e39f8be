/** A real browser: Debian's Chromium, or the one that CHROMIUM_PATH names, driven by playwright-core. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";

const executable = process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium";
const packages = createRequire(__filename);

/** `undefined`, and why: there is no browser to be had on this machine. */
export const browserMissing = missing();

function missing(): string | undefined {
  if (!existsSync(executable)) return `no browser at ${executable}: CHROMIUM_PATH names one`;
  try {
    packages.resolve("playwright-core");
    packages.resolve("axe-core");
    return undefined;
  } catch {
    return "playwright-core and axe-core are not installed: npm ci";
  }
}

/** What is used of a page of playwright-core. */
export interface Tab {
  goto(url: string): Promise<unknown>;
  url(): string;
  reload(): Promise<unknown>;
  locator(selector: string, options?: { readonly hasText?: string }): Place;
  getByRole(role: string, options?: { readonly name?: string; readonly exact?: boolean }): Place;
  getByLabel(text: string, options?: { readonly exact?: boolean }): Place;
  evaluate<T>(script: string): Promise<T>;
  emulateMedia(media: { readonly colorScheme: "light" | "dark" }): Promise<void>;
  setViewportSize(size: { readonly width: number; readonly height: number }): Promise<void>;
  screenshot(options: {
    readonly path: string;
    readonly fullPage: boolean;
    readonly clip?: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
  }): Promise<unknown>;
  readonly keyboard: { press(key: string): Promise<void>; type(text: string): Promise<void> };
  on(event: "dialog", use: (dialog: { accept(): Promise<void>; message(): string }) => void): void;
  on(event: "pageerror", use: (error: Error) => void): void;
  on(event: "console", use: (message: { type(): string; text(): string }) => void): void;
  close(): Promise<void>;
}
export interface Place {
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  selectOption(value: string): Promise<unknown>;
  innerText(): Promise<string>;
  allInnerTexts(): Promise<string[]>;
  getAttribute(name: string): Promise<string | null>;
  count(): Promise<number>;
  focus(): Promise<void>;
  waitFor(): Promise<void>;
  first(): Place;
}

export interface Visit {
  newPage(): Promise<Tab>;
  cookies(): Promise<readonly { name: string; value: string; httpOnly: boolean; sameSite: string }[]>;
  close(): Promise<void>;
}

export interface Browser {
  /** Without anything that an earlier visit left. */
  newContext(): Promise<Visit>;
  close(): Promise<void>;
}

export function startBrowser(): Promise<Browser> {
  const { chromium }: { chromium: { launch(options: object): Promise<Browser> } } = packages("playwright-core");
  // It is root that runs tests in a container, for whom the sandbox does not start.
  return chromium.launch({
    executablePath: executable,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--host-resolver-rules=MAP fleet.test 127.0.0.1",
    ],
  });
}

export interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly where: readonly string[];
}

let axe: string | undefined;

/** What axe finds that is serious or critical. */
export async function seriousFindings(tab: Tab): Promise<Finding[]> {
  axe ??= readFileSync(packages.resolve("axe-core/axe.min.js"), "utf8");
  await tab.evaluate(`${axe}; undefined`);
  return tab.evaluate(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, impact, nodes }) => ({ id, impact, where: nodes.slice(0, 5).map((node) => node.html.slice(0, 200) + " " + (node.any[0]?.message ?? "")) })))`);
}

/** How far a page is wider than the window; 0: nobody has to scroll sideways. */
export const sideways = (tab: Tab): Promise<number> =>
  tab.evaluate("Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)");
