// What a bench leaves behind if somebody ends it in the middle: nothing. As localcluster does it for its clusters, and beside it.

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Does it at once when this process ends or is told to; dispose of it when that is no longer needed. */
export function atTheEnd(tidy: () => void): Disposable {
  const untie = () => {
    process.off("exit", tidy);
    for (const signal of signals) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    tidy();
    untie();
    // A cluster that listens as well takes itself down first, and then ends the process.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.on("exit", tidy);
  for (const signal of signals) process.on(signal, onSignal);
  return { [Symbol.dispose]: untie };
}
