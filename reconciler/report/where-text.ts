/** Where a plan is carried out, in one line: everything that shows a plan begins with this line. */
import { printable } from "../core/text/printable";
import type { Where } from "./json-lines";

/** `environment prod · project acme · service https://… · state postgres://… · commit 1a2b3c4d5e6f`. */
export function whereText({ service, project, environment, state, commit }: Where): string {
  const parts = [
    ...(environment === undefined ? [] : [`environment ${environment}`]),
    ...(project === undefined || project === "" ? [] : [`project ${project}`]),
    `service ${service}`,
    `state ${state}`,
    ...(commit === undefined ? [] : [`commit ${commit.slice(0, 12)}`]),
  ];
  return printable(parts.join(" · "));
}

/** The parts that a person must not confuse, short enough for a question. */
export const whereBriefly = ({ service, project, environment }: Where): string =>
  printable([environment, project, service].filter((part) => part !== undefined && part !== "").join(" · "));
