/** All cases, in the order in which a reader of the contract meets their clauses. */
import type { ConformanceCase } from "../case";
import { accessCases } from "./access";
import { groupCases } from "./groups";
import { importCases } from "./imports";
import { ruleCases } from "./rules";
import { serviceCases } from "./service";
import { vmChangeCases } from "./vm-change";
import { vmCreateCases } from "./vm-create";
import { vmPowerCases } from "./vm-power";
import { volumeCases } from "./volumes";

export const cases: readonly ConformanceCase[] = [
  ...serviceCases,
  ...vmCreateCases,
  ...vmChangeCases,
  ...vmPowerCases,
  ...volumeCases,
  ...groupCases,
  ...ruleCases,
  ...importCases,
  ...accessCases,
];
