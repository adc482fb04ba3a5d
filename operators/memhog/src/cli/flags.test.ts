import { expect, it } from "vitest";
import { headersOf, intervalMsOf, memhogFlags } from "./flags.ts";

const seeds = ["-v2", "--prometheus-addr=http://localhost:9090", "--kubeconfig=/home/me/.kube/config", "--logtostderr"];

it("the seeds' command line works to the letter", () => {
  const { options, own } = memhogFlags(seeds, {});
  expect(options).toMatchObject({ verbosity: 2, kubeconfig: "/home/me/.kube/config", namespaces: ["default"] });
  expect(own["prometheus-addr"]).toBe("http://localhost:9090");
});

const namespaces = [
  { name: "-n says where", argv: ["-n", "shop"], env: { POD_NAMESPACE: "home" }, where: ["shop"] },
  { name: "else POD_NAMESPACE", argv: [], env: { POD_NAMESPACE: "home" }, where: ["home"] },
  { name: "else default", argv: [], env: {}, where: ["default"] },
  { name: "all of them on request", argv: ["--all-namespaces"], env: { POD_NAMESPACE: "home" }, where: "all" },
];
it.each(namespaces)("the namespace: $name", ({ argv, env, where }) =>
  expect(memhogFlags(argv, env).options.namespaces).toEqual(where),
);

it("a loop of 15 s is usual, 5 s is the least, and nonsense is refused with what was expected", () => {
  const intervalOf = (...argv: readonly string[]) => intervalMsOf(memhogFlags(argv, {}).own);
  expect([intervalOf(), intervalOf("--interval=5s")]).toEqual([15_000, 5_000]);
  expect(() => intervalOf("--interval=1s")).toThrow("--interval: expected 5s to 300s, found 1s");
  expect(() => intervalOf("--interval=soon")).toThrow('--interval: expected a duration like 15s, found "soon"');
});

it("headers for Prometheus are name=value; a bad one is refused without being repeated, since it may be a secret", () => {
  const headers = (...argv: readonly string[]) => headersOf(memhogFlags(argv, {}).own);
  expect(headers("--prometheus-header=X-Scope-OrgID=a=b")).toEqual({ "X-Scope-OrgID": "a=b" });
  expect(() => headers("--prometheus-header=s3cret")).toThrow(/^(?!.*s3cret)/);
});

it("help teaches how to begin", () => expect(memhogFlags(["--help"], {}).help).toMatch(/explain POD[\s\S]+To begin with/));
