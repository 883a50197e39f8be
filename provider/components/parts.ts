/** A component as what it is made of: single resources in the order in which they can be made, and what it hands out. */
import type { DesiredPart, OutputPart, Property, Props } from "../../reconciler/index";

export interface Parts {
  readonly parts: readonly DesiredPart[];
  /** In terms of the parts. */
  readonly outputs: readonly OutputPart[];
  readonly warnings: readonly string[];
}

/** A component that a program in any language names as one resource. */
export interface Component {
  readonly type: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, Property>>;
  readonly outputs: Readonly<Record<string, Property>>;
  /** Whether it is known what it is made of; while it is not, a preview shows the component alone. */
  isDecided(inputs: Props): boolean;
  /** Throws with what the user has to mend. */
  partsOf(name: string, inputs: Props): Parts;
}
