import { helpText, parseCommandLine } from "@memhog/runtime/operator";
import { describe, expect, it } from "vitest";
import { program } from "./commands.ts";
import { exclusionOf, headersOf, intervalMsOf, matchersOf } from "./flags.ts";

const documented = ["-v2", "--prometheus-addr=http://localhost:9090", "--kubeconfig=/home/me/.kube/config", "--logtostderr"];

it("accepts -v2, --prometheus-addr and --kubeconfig", () => {
  const { options, values } = parseCommandLine(program, documented);
  expect(options).toMatchObject({ verbosity: 2, kubeconfig: "/home/me/.kube/config", namespaces: ["default"] });
  expect(values["prometheus-addr"]).toBe("http://localhost:9090");
});

const namespaces = [
  { name: "-n says where", argv: ["-n", "shop"], env: { POD_NAMESPACE: "home" }, where: ["shop"] },
  { name: "else POD_NAMESPACE", argv: [], env: { POD_NAMESPACE: "home" }, where: ["home"] },
  { name: "else default", argv: [], env: {}, where: ["default"] },
  { name: "all of them on request", argv: ["--all-namespaces"], env: { POD_NAMESPACE: "home" }, where: "all" },
];
it.each(namespaces)("namespace: $name", ({ argv, env, where }) =>
  expect(parseCommandLine(program, argv, env).options.namespaces).toEqual(where),
);

it("--interval defaults to 15s, accepts at least 5s, and rejects malformed durations", () => {
  const intervalOf = (...argv: readonly string[]) => intervalMsOf(parseCommandLine(program, argv).values);
  expect([intervalOf(), intervalOf("--interval=5s")]).toEqual([15_000, 5_000]);
  expect(() => intervalOf("--interval=1s")).toThrow("--interval: expected 5s to 300s, found 1s");
  expect(() => intervalOf("--interval=soon")).toThrow('--interval: expected a duration like 15s, found "soon"');
});

it("--prometheus-header expects name=value and does not print a malformed value, which may be a secret", () => {
  const headers = (...argv: readonly string[]) => headersOf(parseCommandLine(program, argv).values);
  expect(headers("--prometheus-header=X-Scope-OrgID=a=b")).toEqual({ "X-Scope-OrgID": "a=b" });
  expect(() => headers("--prometheus-header=s3cret")).toThrow(/^(?!.*s3cret)/);
});

describe("--prometheus-matcher", () => {
  const matchers = (...texts: readonly string[]) =>
    matchersOf(
      parseCommandLine(
        program,
        texts.map((text) => `--prometheus-matcher=${text}`),
      ).values,
    );

  it("is a label, an operator and a value, with or without quotes", () =>
    expect(matchers('job="kubelet"', "cluster=eu1", 'x!~"a|\\"b"', "y=~c=~d", 'z=""', "w!=")).toEqual([
      { label: "job", operator: "=", value: "kubelet" },
      { label: "cluster", operator: "=", value: "eu1" },
      { label: "x", operator: "!~", value: 'a|"b' },
      { label: "y", operator: "=~", value: "c=~d" },
      { label: "z", operator: "=", value: "" },
      { label: "w", operator: "!=", value: "" },
    ]));

  it.each(["job", "=x", "1job=x", 'job="x', 'job="x"} or up{', "a-b=x", "__name__=up", `job=${"x".repeat(2_000)}`])(
    "rejects %s",
    (text) => expect(() => matchers(text)).toThrow("--prometheus-matcher: expected a label matcher"),
  );
});

describe("excluded namespaces", () => {
  const excluded = (...argv: readonly string[]) => {
    const { values, options } = parseCommandLine(program, argv);
    const isExcluded = exclusionOf(values, options);
    return ["kube-system", "bank", "shop"].filter(isExcluded);
  };
  it.each([
    { name: "kube-system with --all-namespaces", argv: ["-A"], is: ["kube-system"] },
    { name: "those of the flag as well", argv: ["-A", "--exclude-namespace=bank"], is: ["kube-system", "bank"] },
    { name: "not kube-system if asked for", argv: ["-A", "--include-kube-system", "--exclude-namespace=bank"], is: ["bank"] },
    { name: "none that is named", argv: ["-n", "kube-system", "--exclude-namespace=kube-system"], is: [] },
  ])("$name", ({ argv, is }) => expect(excluded(...argv)).toEqual(is));

  it("--exclude-namespace expects the name of a namespace", () =>
    expect(() => excluded("-A", "--exclude-namespace=UPPER")).toThrow(
      '--exclude-namespace: expected the name of a namespace, found "UPPER"',
    ));
});

it("--help explains how to get started", () => expect(helpText(program)).toMatch(/explain POD[\s\S]+Getting started/));
