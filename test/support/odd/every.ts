/** All odd services, in the order in which they came: a few of them stand for all by their place. */
import { apart } from "./apart";
import { arrivals } from "./arrivals";
import { further } from "./further";
import { leftovers } from "./leftovers";
import { minds } from "./minds";
import { newcomers } from "./newcomers";
import { panels } from "./panels";
import { providers } from "./providers";
import { rarities } from "./rarities";
import { type Odd, odds } from "./shapes";
import { strangers } from "./strangers";
import { visitors } from "./visitors";
import { wayfarers } from "./wayfarers";

export const everyOdd: readonly Odd[] = [
  ...odds,
  ...further,
  ...minds,
  ...strangers,
  ...newcomers,
  ...panels,
  ...providers,
  ...arrivals,
  ...visitors,
  ...rarities,
  ...wayfarers,
  ...apart,
  ...leftovers,
];
