/** For each code of a diagnostic that has a fix, worlds that provoke it, and what its fix tells one to do there. */
import { config } from "./config";
import { consents } from "./consents";
import { creates } from "./creates";
import { here } from "./here";
import { moreFiles } from "./more-files";
import { moreStates } from "./more-states";
import { names } from "./names";
import { planned } from "./planned";
import { service } from "./service";
import { states } from "./states";

export const worlds = {
  ...creates,
  ...config,
  ...names,
  ...states,
  ...consents,
  ...planned,
  ...service,
  ...moreFiles,
  ...moreStates,
  ...here,
};
