/**
 * With the real command line: an update that lost its lock by `pulumi cancel` goes on beside the next ones, each with
 * the state that it has read. No service list shows a volume here, and two can have one name, so nothing but the notes
 * beside the program keeps the updates from making it twice.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../support/eventually";
import { head, modes, urnOf } from "./program";
import { type RealStack, startStack, whyNot } from "./stack";

const reason = whyNot();
let stack: RealStack;
afterEach(() => stack.close());

/** Where WAITS is set, the program's last part comes only when a file is there. */
const program = (last: string): string => `${head}
const { existsSync, writeFileSync } = require("node:fs");
const last = () => { ${last} };
if (process.env.WAITS === undefined) last();
else {
  writeFileSync("waits", "");
  const timer = setInterval(() => {
    if (!existsSync("goes")) return;
    clearInterval(timer);
    last();
  }, 20);
}`;
const volume = `new cloud.Volume("data", { size: 5 }, opts);`;
const group = `new cloud.SecurityGroup("web-group", { rules: [] }, opts);`;

const bring = (text: string): void => stack.write({ "index.js": program(text) });
const up = (...args: string[]) => stack.pulumi("up", "--yes", "--skip-preview", ...args);
const cancel = () => stack.pulumi("cancel", "--yes");
const succeeds = async (running: Promise<{ code: number; text: string }>): Promise<string> => {
  const { code, text } = await running;
  expect(code, text).toBe(0);
  return text;
};
const volumes = (): readonly string[] => stack.emulator.dump().volumes.map(({ id }) => id);

interface Started {
  /** With what it has said. */
  readonly ended: Promise<string>;
}

function startUpdate(...args: string[]): Started {
  const child = stack.start("up", "--yes", "--skip-preview", ...args);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => {
      said += String(chunk);
    });
  return { ended: new Promise((resolve) => child.once("close", () => resolve(said))) };
}

/** The update goes on until another one has begun to wait for what it makes. */
async function startMaking(count: number, ...args: string[]): Promise<Started> {
  stack.emulator.setFaults([{ operation: "volume.create", kind: "latency", ms: 15_000, when: "after", count: 1 }]);
  const update = startUpdate(...args);
  await eventually("the volume to be made", () => (volumes().length === count ? true : undefined));
  await cancel();
  return update;
}

/** An update that has read the state, and asks for nothing until it is told to. */
async function startWaiting(): Promise<{ go(): Promise<string> }> {
  stack.environment["WAITS"] = "yes";
  const { ended } = startUpdate();
  await eventually("the program to wait", () => (existsSync(join(stack.folder, "waits")) ? true : undefined));
  delete stack.environment["WAITS"];
  return {
    async go() {
      writeFileSync(join(stack.folder, "goes"), "");
      return ended;
    },
  };
}

describe.skipIf(reason !== undefined).each(modes)("after a cancel, the real engine, %s", (mode) => {
  const open = async (): Promise<void> => {
    stack = await startStack();
    await stack.pulumi("config", "set", "mode", mode);
    bring(volume);
  };
  /** One volume, which the state has. */
  const isOne = async (said: string): Promise<void> => {
    expect(volumes(), said).toHaveLength(1);
    await cancel();
    await succeeds(up());
    expect(volumes(), said).toHaveLength(1);
    expect(await stack.exported()).toContain(volumes()[0]);
    await succeeds(up("--expect-no-changes"));
  };

  it("a --replace by a pattern says nothing of the state: it goes on with what the first update makes", async () => {
    await open();
    const first = await startMaking(1);
    const { text } = await up("--replace", "**::data");
    await isOne(`${await first.ended}\n${text}`);
  });

  it("two updates that are told to replace one resource make one new version of it", async () => {
    await open();
    await succeeds(up());
    await succeeds(up());
    const [before] = volumes();
    const urn = await urnOf(stack, "data");
    const first = await startMaking(2, "--replace", urn);
    const { text } = await up("--replace", urn);
    await isOne(`${await first.ended}\n${text}`);
    expect(volumes()).not.toContain(before);
  });

  it("an update that has read a state of before goes on with what was made, though a third one has seen it", async () => {
    await open();
    const first = await startMaking(1);
    const second = await startWaiting();
    const said = await first.ended;
    await succeeds(stack.pulumi("preview"));
    await isOne(`${said}\n${await second.go()}`);
  });

  it("a state of before that is written over the one with the volume makes no second one", async () => {
    await open();
    const first = await startMaking(1);
    bring(group);
    const second = await startWaiting();
    const said = await first.ended;
    bring(volume);
    await succeeds(stack.pulumi("preview"));
    const written = await second.go();
    expect(await stack.exported(), `${said}\n${written}`).not.toContain(volumes()[0]);
    await isOne(await succeeds(up()));
  });
});
