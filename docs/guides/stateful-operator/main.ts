// node main.ts --install-crds
import { runOperator } from "@memhog/runtime";
import { Ledger, ledgers, webhooks } from "./ledger.ts";

await runOperator({
  name: "ledger-operator",
  description: "Runs ledgers.",
  resources: [Ledger],
  controllers: [ledgers],
  webhooks,
});
