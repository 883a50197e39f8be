/** Every kind there is, in the order in which a file has its sections. */
import { group } from "./group/index";
import { vm } from "./vm/index";
import { volume } from "./volume/index";

export const kindTable = { vm, volume, group } as const;

/** These are listed and, where nothing else decides, planned first, in this order; the others as the table has them. */
export const plannedFirst = ["group", "vm", "volume"] as const;
