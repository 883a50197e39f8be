import { describe, it } from "vitest";
import { faceOtherServices } from "../support/other-services/face";
import { every, goldenScenes } from "../support/theatre";

describe("before a service of other making nothing is lost, made twice or forgotten: golden stories", () => {
  for (const scene of goldenScenes.filter(every("EVIDENCE_SCENES", 9)))
    it(scene.title, () => faceOtherServices(scene), 3_600_000);
});
