// What people see of a webhook through kubectl, which is not there on a machine that has only Node.
import { testCluster } from "@memhog/localcluster/testing";
import { it } from "vitest";
import { ConfigMap } from "../objects/kinds/core/config.ts";
import { allowed, denied } from "./admission.ts";
import { place, serving } from "./testing/place.ts";
import { validate } from "./webhooks.ts";

it("the real kubectl shows a webhook's own words, and is let through where it has none", async () => {
  await using at = await place(await testCluster());
  const judge = validate(ConfigMap, ({ data }) => (data?.size === "small" ? denied("too small") : allowed()), at.here);
  await using _served = await serving(at, [judge]);
  const attempt = () =>
    at.cluster.kubectl("create", "configmap", "a", "--from-literal=size=small", "--dry-run=server").catch(String);
  // The API server learns of configurations by a watch: until it has, it lets things pass or fails to connect.
  await at.cluster.eventually(attempt, (text) => text.includes("denied the request: too small"));
  await at.cluster.kubectl("create", "configmap", "b", "--from-literal=size=large");
});
