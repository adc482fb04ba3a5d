import { describe, expect, it } from "vitest";
import { nextQuery, promQl, type QueryHistory } from "./query.ts";

const experience: QueryHistory = { wantsUsage: false, namespaces: ["shop"], worked: undefined, empty: 0 };
const asked = (different: Partial<QueryHistory>) => promQl(nextQuery({ ...experience, ...different }));
const workingSet = { metrics: ["WorkingSet"], labels: "new" } as const;
const old = { metrics: ["WorkingSet", "Usage"], labels: "old" } as const;

describe("the question", () => {
  const both = '__name__=~"container_memory_working_set_bytes|container_memory_usage_bytes"';
  it.each([
    {
      name: "is for the working set of one namespace",
      different: {},
      query: 'container_memory_working_set_bytes{container!="",container!="POD",namespace="shop"}[120s]',
    },
    {
      name: "names several namespaces, in the same order each time",
      different: { namespaces: ["shop", "bank"] },
      query: 'container_memory_working_set_bytes{container!="",container!="POD",namespace=~"bank|shop"}[120s]',
    },
    {
      name: "names none where there are very many",
      different: { namespaces: Array.from({ length: 101 }, (_, at) => `n${at}`) },
      query: 'container_memory_working_set_bytes{container!="",container!="POD"}[120s]',
    },
    {
      name: "finds nothing, and nobody, where there are no pods",
      different: { namespaces: [] },
      query: 'container_memory_working_set_bytes{container!="",container!="POD",namespace=""}[120s]',
    },
    {
      name: "is for the usage as well where somebody wants it",
      different: { wantsUsage: true },
      query: `{${both},container!="",container!="POD",namespace="shop"}[120s]`,
    },
    {
      name: "is for the usage as well where the working set is missing",
      different: { empty: 1 },
      query: `{${both},container!="",container!="POD",namespace="shop"}[120s]`,
    },
    {
      name: "tries the labels of old now and then while nothing is found",
      different: { empty: 4 },
      query: `{${both},container_name!="",container_name!="POD",namespace="shop"}[120s]`,
    },
    {
      name: "keeps to the labels that worked",
      different: { worked: old, empty: 3 },
      query: `{${both},container_name!="",container_name!="POD",namespace="shop"}[120s]`,
    },
    {
      name: "does not leave labels that worked for a short silence",
      different: { worked: workingSet, empty: 4 },
      query: `{${both},container!="",container!="POD",namespace="shop"}[120s]`,
    },
    {
      name: "S3: is never longer than one string, whatever a namespace is called",
      different: { namespaces: ['a"} or up{x="', "b.*|c"] },
      query:
        'container_memory_working_set_bytes{container!="",container!="POD",namespace=~"a\\"\\\\} or up\\\\{x=\\"|b\\\\.\\\\*\\\\|c"}[120s]',
    },
  ])("$name", ({ different, query }) => expect(asked(different)).toBe(query));
});

it("S3: label matchers of the operator are added to every query, and escaped", () => {
  const matchers = [
    { label: "job", operator: "=", value: "kubelet" },
    { label: "cluster", operator: "!~", value: 'eu"} or up{' },
  ] as const;
  const added = ',job="kubelet",cluster!~"eu\\"} or up{"}[120s]';
  for (const different of [{}, { wantsUsage: true }, { empty: 4 }, { namespaces: [] }])
    expect(promQl({ ...nextQuery({ ...experience, ...different }), matchers })).toContain(added);
});
