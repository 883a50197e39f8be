/** A component as single resources, in an order in which they can be made, and the outputs of the component. */
import type { Removal } from "../../reconciler/for-provider";
import type { DesiredPart, OutputPart, Property, Props } from "../../reconciler/index";

export interface Parts {
  readonly parts: readonly DesiredPart[];
  /** The outputs, in terms of the parts. */
  readonly outputs: readonly OutputPart[];
  readonly warnings: readonly string[];
  /** What the files take out of the program. Absent: the component is of no files. */
  readonly removed?: readonly Removal[];
}

/** A component that a program in any language names as one resource. */
export interface Component {
  readonly type: string;
  readonly description: string;
  readonly inputs: Readonly<Record<string, Property>>;
  readonly outputs: Readonly<Record<string, Property>>;
  /**
   * Throws the errors that the user has to correct. `undefined`: a preview does not know yet which parts the component
   * has, and shows it alone.
   */
  partsOf(name: string, inputs: Props): Parts | undefined;
}
