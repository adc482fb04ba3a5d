// A client over answers that a test makes up: manual time, no network, and a journal in between.
import { Journal } from "../client/journal.ts";
import { type ClientOptions, clientOver } from "../client/make-client.ts";
import type { Transport, TransportRequest, TransportResponse } from "../client/transport/transport.ts";
import { manualEnvironment } from "../concurrency/manual-clock.ts";

/** What comes back for a request: 200 and {} unless it says otherwise, or an error to be thrown. */
export type Answers = (
  request: TransportRequest,
  /** 1 for the first. */
  call: number,
) => Partial<TransportResponse> | Error | Promise<never>;

export function clientAnswering(answers: Answers, options: Partial<ClientOptions> = {}) {
  const environment = manualEnvironment();
  let calls = 0;
  const transport: Transport = {
    request: async (request) => {
      calls += 1;
      const answer = await answers(request, calls);
      if (answer instanceof Error) throw answer;
      return { status: 200, headers: {}, body: "{}", ...answer };
    },
  };
  const journal = new Journal(transport, environment);
  return { client: clientOver(journal, { environment, ...options }), journal, clock: environment.clock };
}
