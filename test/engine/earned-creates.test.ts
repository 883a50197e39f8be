/** A create whose outcome nobody has kept is not made twice: the stories of support/earned-stories.ts in virtual time. */
import { describe } from "vitest";
import { earnedStories } from "../support/earned-stories";
import { startVirtualProgram } from "../support/virtual-program";

const { creates, openCreates } = earnedStories(startVirtualProgram);

describe.each(Object.entries({ creates, openCreates }))("%s", (_, stories) => stories());
