/** What a program deletes, and what it says is gone, rests on what was seen: the stories of support/earned-stories.ts in virtual time. */
import { describe } from "vitest";
import { earnedStories } from "../support/earned-stories";
import { startVirtualProgram } from "../support/virtual-program";

const { deletes, deletesSent, looks } = earnedStories(startVirtualProgram);

describe.each(Object.entries({ deletes, deletesSent, looks }))("%s", (_, stories) => stories());
