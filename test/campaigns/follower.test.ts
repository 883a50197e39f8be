import { describe, expect, it } from "vitest";
import type { DiagnosticCode } from "../../reconciler/core/model/diagnostic-code";
import { type withoutFix, withoutWorld } from "../support/fixes/without";
import { worlds } from "../support/fixes/worlds";
import { followed, type World } from "../support/follower";

/** A new code has a world here, or its place in a list of `fixes/without.ts`: this does not compile otherwise. */
type Accounted = keyof typeof worlds | (typeof withoutFix)[number] | (typeof withoutWorld)[number];
const isComplete: [Exclude<DiagnosticCode, Accounted>] extends [never] ? true : never = true;
const all: Partial<Readonly<Record<DiagnosticCode, readonly World[]>>> = worlds;

// One after the other in this process, whose folder and environment they change: a process for each command costs more.
describe("every fix, done to the letter, ends within two rounds and makes nothing larger", () => {
  // Its keys are those of the worlds.
  for (const code of Object.keys(worlds) as (keyof typeof worlds)[])
    for (const world of all[code] ?? [])
      it(world.name === undefined ? code : `${code}: ${world.name}`, async () => {
        expect((await followed(code, world)).join("\n")).toBe("");
      });
});

it("the list of codes without a world only gets shorter", () => {
  expect(isComplete).toBe(true);
  expect(withoutWorld.filter((code) => all[code])).toEqual([]);
  expect(withoutWorld.length).toBeLessThanOrEqual(36);
});
