/** `--annotations`: standard output holds the annotations and nothing else, even when the files cannot be read. */
import { relative, resolve } from "node:path";
import type { Finding } from "../core/findings/finding";
import { checkoutOf, realPath } from "../outside/commit";
import { type AnnotationFormat, annotationsText } from "../report/annotations";
import { version } from "../version";
import type { Invocation } from "./command";
import { fail } from "./compose";
import { asDiagnostics } from "./crash";
import { defaultFile } from "./workspace";

export function readAnnotations({ flags }: Invocation): AnnotationFormat | undefined {
  if (flags.annotations !== undefined && (flags.json === true || flags.markdown === true))
    throw fail("cli/bad-flag", "--annotations, --json and --markdown each want standard output", "choose one of them");
  return flags.annotations;
}

export function printAnnotations(
  { output, args, flags }: Invocation,
  format: AnnotationFormat,
  findings: readonly Finding[],
): void {
  const firstFile = args[0] ?? flags.file?.[0] ?? defaultFile;
  const text = annotationsText(format, findings, { firstFile, placeOf: placeInCheckout, version });
  if (text !== "") output.print(text);
}

/** A code host knows a file by its path in the repository, from whatever folder the command is run. */
function placeInCheckout(file: string): string {
  const here = realPath(process.cwd());
  const root = checkoutOf(here);
  const path = root === undefined ? file : relative(root, resolve(here, file));
  return path.startsWith("..") ? file : path;
}

/** Problems that end a command early are annotated before they end it. */
export async function annotated(invocation: Invocation, run: () => Promise<number>): Promise<number> {
  const format = readAnnotations(invocation);
  if (format === undefined) return run();
  try {
    return await run();
  } catch (error) {
    const diagnostics = asDiagnostics(error);
    if (diagnostics !== undefined) printAnnotations(invocation, format, diagnostics);
    throw error;
  }
}
