/** The files of a stack could not be had; the message says what was tried and what came back. */
export class SourceFailed extends Error {
  override readonly name = "SourceFailed";
}
