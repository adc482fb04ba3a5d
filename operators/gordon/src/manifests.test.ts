import { join } from "node:path";
import { checkManifests, unbounded, undescribed } from "@memhog/runtime";
import { expect, it } from "vitest";
import { Gordon } from "./api.ts";
import { manifests } from "./manifests.ts";

it("deploy/ is what the schema says (npm run gordon -- --write-manifests operators/gordon/deploy)", async () =>
  expect(await checkManifests(join(import.meta.dirname, "../deploy"), manifests())).toEqual([]));

it("every field is explained, and none is without bounds", () =>
  expect([undescribed(Gordon), unbounded(Gordon)]).toEqual([[], []]));
