/** Whose a thing is that several resources of a program have named: the stories of support/earned-stories.ts in virtual time. */
import { describe } from "vitest";
import { earnedStories } from "../support/earned-stories";
import { startVirtualProgram } from "../support/virtual-program";

const { takenOver, rulesThatMove } = earnedStories(startVirtualProgram);

describe.each(Object.entries({ takenOver, rulesThatMove }))("%s", (_, stories) => stories());
