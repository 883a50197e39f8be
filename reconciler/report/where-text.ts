/** Where a plan is carried out, in one line: everything that shows a plan begins with this line. */
import { listed } from "../core/text/list-text";
import { printable } from "../core/text/printable";
import type { Where } from "./json-lines";
import { wrapItems } from "./style";

/** `environment prod · project acme · service https://… · state postgres://… · commit 1a2b3c4d5e6f`. */
export const whereText = (where: Where): string => partsOfPlace(where).join(" · ");

/** The same for a terminal: broken between its parts. */
export const whereLines = (where: Where, width: number): string =>
  wrapItems(
    partsOfPlace(where).map((part, index, all) => (index + 1 < all.length ? `${part} ·` : part)),
    width,
  ).join("\n");

function partsOfPlace({ service, project, environment, state, commit, uncommitted = [] }: Where): readonly string[] {
  const parts = [
    ...(environment === undefined ? [] : [`environment ${environment}`]),
    ...(project === undefined || project === "" ? [] : [`project ${project}`]),
    ...(service === undefined ? [] : [`service ${service}`]),
    `state ${state}`,
    ...(commit === undefined ? [] : [`commit ${shortCommit(commit)}${notCommitted(uncommitted)}`]),
  ];
  return parts.map((part) => printable(part));
}

/** As git shortens it, with the mark of files that are not as they were committed. */
export const shortCommit = (commit: string): string =>
  `${commit.slice(0, 12)}${commit.endsWith("-dirty") ? "-dirty" : ""}`;

const mostFilesNamed = 3;

const notCommitted = (files: readonly string[]): string =>
  files.length === 0 ? "" : ` (not committed: ${listed(files, mostFilesNamed)})`;

/** The parts that a person must not confuse, short enough for a question. */
export const whereBriefly = ({ service, project, environment }: Where): string =>
  printable([environment, project, service].filter((part) => part !== undefined && part !== "").join(" · "));
