/** A process that reads the files of stacks and says what is wrong with them. Whoever started it may end it at any time. */
import { diagnosticsIn } from "../../core/model/diagnostic";
import { endWhenStuck } from "../../outside/stuck";
import { readWorkspace } from "../workspace";
import type { ReadAnswer, ReadRequest } from "./readers";

/** For the case that whoever started it died and cannot end it. */
const stuckMs = 120_000;

endWhenStuck(stuckMs, "a reader of files");
process.on("message", ({ folder, flags, trust }: ReadRequest) => {
  let answer: ReadAnswer = {};
  try {
    readWorkspace({ args: [folder], flags }, trust === undefined ? {} : { trust });
  } catch (error) {
    const problems = diagnosticsIn(error);
    // What is no problem of the files shows itself again where it can be told.
    if (problems !== undefined) answer = { problems };
  }
  process.send?.(answer);
});
process.on("disconnect", () => process.exit());
