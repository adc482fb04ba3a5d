import { expect, it } from "vitest";
import { parse } from "yaml";
import { kubeconfig } from "./kubeconfig.ts";

const base = { name: "localcluster-x", server: "https://127.0.0.1:1", authority: "CA" };
const base64 = (text: string) => Buffer.from(text).toString("base64");

it("carries certificate and key of its user, and the authority of the server", () => {
  const config = parse(kubeconfig({ ...base, user: { certificate: "CERT", key: "KEY" } }));
  expect(config.clusters[0].cluster).toEqual({ server: base.server, "certificate-authority-data": base64("CA") });
  expect(config.users[0].user).toEqual({ "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") });
  expect(config["current-context"]).toBe(config.contexts[0].name);
});

it("carries a token and a namespace, for a service account", () => {
  const config = parse(kubeconfig({ ...base, user: { token: "T" }, namespace: "apps" }));
  expect(config.users[0].user).toEqual({ token: "T" });
  expect(config.contexts[0].context).toEqual({ cluster: base.name, user: base.name, namespace: "apps" });
});
