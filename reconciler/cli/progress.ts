/** Shows a run while it goes on: live on a terminal, plain lines elsewhere, JSON lines when asked for. */

import type { Plan } from "../core/plan/plan";
import type { EngineEvent } from "../engine/events";
import { systemClock } from "../outside/clock";
import { stepEvent } from "../report/json-lines";
import { withMaskedWords } from "../report/plan-outline";
import { liveView, progressLine, startLive, updateLive } from "../report/progress";
import type { Output } from "./output";

export interface Progress {
  event(event: EngineEvent): void;
  close(): void;
}

const redrawMs = 100;

export function startProgress(output: Output, plan: Plan, timeScale: number): Progress {
  const shown = shownProgress(output, plan, timeScale);
  if (!output.events) return shown;
  return {
    event(event) {
      if (event.type === "step") output.event(stepEvent(event));
      shown.event(event);
    },
    close: () => shown.close(),
  };
}

function shownProgress(output: Output, plan: Plan, timeScale: number): Progress {
  if (output.json) return { event: () => undefined, close: () => undefined };
  return output.live ? liveProgress(output, plan, timeScale) : plainProgress(output);
}

/**
 * A step that the service has accepted has its line then, and no other when the look at the end shows its effect: a
 * create would stand behind what was done with what it made.
 */
function plainProgress(output: Output): Progress {
  const accepted = new Set<string>();
  return {
    event(event) {
      if (event.type === "step" && event.accepted === true) accepted.add(event.step);
      else if (event.type === "step" && event.effect === "seen" && accepted.has(event.step)) return;
      const line = progressLine(event);
      if (line !== undefined) output.note(line);
    },
    close: () => undefined,
  };
}

function liveProgress(output: Output, plan: Plan, timeScale: number): Progress {
  let state = startLive(plan, timeScale);
  const draw = (): void =>
    output.frame(
      liveView(state, {
        width: process.stderr.columns || 80,
        height: process.stderr.rows || 24,
        now: systemClock.now(),
        colour: output.colour,
      }),
    );
  const timer = setInterval(draw, redrawMs);
  draw();
  return {
    event: (event) => {
      // Before a line is cut to the terminal: what is left of a sensitive value is not known for one.
      state = updateLive(state, withMaskedWords(event, output.masked), systemClock.now());
    },
    close() {
      clearInterval(timer);
      output.frame([]);
    },
  };
}
