/** A run as it goes on. */
import type { Plan } from "../core/plan/plan";
import type { EngineEvent } from "../engine/events";
export interface LiveState {
  readonly lines: readonly string[];
}
export const progressLine = (event: EngineEvent): string | undefined =>
  event.type === "step"
    ? `${event.status} ${event.title}${event.message === undefined ? "" : `: ${event.message}`}`
    : undefined;
export const startLive = (_plan: Plan): LiveState => ({ lines: [] });
export const updateLive = (state: LiveState, event: EngineEvent, _now: number): LiveState => ({
  lines: [...state.lines, progressLine(event) ?? ""].slice(-10),
});
export const liveView = (
  state: LiveState,
  _view: { width: number; height: number; now: number; colour: boolean },
): readonly string[] => state.lines;
