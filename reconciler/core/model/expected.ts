/** What a test of a user's own file expects of a plan. A part that the test does not name may be anything. */
import type { Json } from "./output";

export interface ExpectedPlan {
  /** By address, what is done; exactly these. */
  readonly changes?: Readonly<Record<string, string>>;
  /** `volume.detach volume.data`, in their order; exactly these. */
  readonly steps?: readonly string[];
  /** `data_loss`, or `data_loss volume.data`; exactly these. */
  readonly consents?: readonly string[];
  /** Codes of errors and warnings; exactly these. */
  readonly findings?: readonly string[];
  /** Addresses whose commands the plan makes necessary, or that were owed before; exactly these. */
  readonly owed?: readonly string[];
  /** After the apply. */
  readonly outputs?: Readonly<Record<string, Json>>;
  readonly reachability?: "holds" | "unproven" | "violated";
  /** The exit code of the plan. */
  readonly exitCode?: number;
  /** Applied, it is done, and a second plan changes nothing. */
  readonly converges?: boolean;
}
