// Cleans up when a benchmark is interrupted. localcluster does the same for its clusters.

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Runs the callback when this process exits or receives a signal, unless the result is disposed of first. */
export function atTheEnd(tidy: () => void): Disposable {
  const untie = () => {
    process.off("exit", tidy);
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    tidy();
    untie();
    // If a cluster listens too, it shuts itself down first and then ends the process.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.on("exit", tidy);
  for (const signal of signals) process.on(signal, onSignal);
  return { [Symbol.dispose]: untie };
}
