import { describe, it } from "vitest";
import { faceOtherScopes } from "../support/other-services/face";
import { changeScenes, every } from "../support/theatre";

describe("another service, project or credential than the state remembers changes nothing and forgets nothing", () => {
  for (const scene of changeScenes.filter(every("EVIDENCE_SCENES", 9)))
    it(scene.title, () => faceOtherScopes(scene), 3_600_000);
});
