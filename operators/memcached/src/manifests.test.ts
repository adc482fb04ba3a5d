import { join } from "node:path";
import { checkManifests, unbounded, undescribed } from "@memhog/runtime";
import { expect, it } from "vitest";
import { Memcached } from "./api.ts";
import { manifests } from "./manifests.ts";

it("deploy/ is what the schema says (npm run memcached -- --write-manifests operators/memcached/deploy)", async () =>
  expect(await checkManifests(join(import.meta.dirname, "../deploy"), manifests())).toEqual([]));

it("every field is explained, and none is without bounds", () =>
  expect([undescribed(Memcached), unbounded(Memcached)]).toEqual([[], []]));
