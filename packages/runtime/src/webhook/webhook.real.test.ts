// Webhook responses as kubectl shows them. Needs kubectl, which the other cluster tests do not.
import { testCluster } from "@memhog/localcluster/testing";
import { it } from "vitest";
import { ConfigMap } from "../objects/kinds/core.ts";
import { allowed, denied } from "./admission.ts";
import { place, serving } from "./testing/place.ts";
import { validate } from "./webhooks.ts";

it("kubectl shows the message of a webhook that rejects a write, and succeeds when the webhook allows it", async () => {
  await using at = await place(await testCluster());
  const judge = validate(ConfigMap, ({ data }) => (data?.size === "small" ? denied("too small") : allowed()), at.here);
  await using _served = await serving(at, [judge]);
  const attempt = () =>
    at.cluster.kubectl("create", "configmap", "a", "--from-literal=size=small", "--dry-run=server").catch(String);
  // The API server watches configurations: until it has seen them, it allows writes or fails to connect.
  await at.cluster.eventually(attempt, (text) => text.includes("denied the request: too small"));
  await at.cluster.kubectl("create", "configmap", "b", "--from-literal=size=large");
});
