import { describe, it } from "vitest";
import { faceOtherServices } from "../support/other-services/face";
import { changeScenes, every } from "../support/theatre";

describe("before a service of other making nothing is lost, made twice or forgotten: stories of change", () => {
  for (const scene of changeScenes.filter(every("EVIDENCE_SCENES", 9)))
    it(scene.title, () => faceOtherServices(scene), 3_600_000);
});
