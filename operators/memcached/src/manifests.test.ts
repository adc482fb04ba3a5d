import { checkManifests, unbounded, undescribed } from "@memhog/kit";
import { expect, it } from "vitest";
import { Memcached } from "./api.ts";
import { deploy, manifests } from "./manifests.ts";

it("deploy/ is up to date (node operators/memcached/src/manifests.ts)", async () =>
  expect(await checkManifests(deploy, manifests())).toEqual([]));

it("every field has a description and a size limit", () =>
  expect([undescribed(Memcached), unbounded(Memcached)]).toEqual([[], []]));
