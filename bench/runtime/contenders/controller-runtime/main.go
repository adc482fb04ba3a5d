// The controller-runtime contender. It watches every pod, reconciles each change, and uses the same JSON protocol on
// stdout as the other contenders (see ../../contender.ts).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"sort"
	"strconv"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

var (
	mutex     sync.Mutex
	latencies []float64
	seen      = map[string]string{}
	changes   int
)

func say(v map[string]any) {
	line, _ := json.Marshal(v)
	fmt.Println(string(line))
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func percentile(sorted []float64, share float64) float64 {
	if len(sorted) == 0 {
		return -1
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))]
}

type reconciler struct{ client.Client }

// Reconcile records the age of the change it sees; each timestamp counts once.
func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	now := float64(time.Now().UnixMicro()) / 1000
	var pod corev1.Pod
	if err := r.Get(ctx, request.NamespacedName, &pod); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	stamp, found := pod.Annotations["bench/at"]
	if !found {
		return ctrl.Result{}, nil
	}
	mutex.Lock()
	defer mutex.Unlock()
	if seen[request.String()] != stamp {
		seen[request.String()] = stamp
		changes++
		if at, err := strconv.ParseFloat(stamp, 64); err == nil {
			latencies = append(latencies, now-at)
		}
	}
	return ctrl.Result{}, nil
}

// call reads one object from the server many times, several in parallel.
func call(reader client.Reader, count, atOnce int) {
	var group sync.WaitGroup
	for range atOnce {
		group.Go(func() {
			for range count / atOnce {
				var namespace corev1.Namespace
				must(reader.Get(context.Background(), client.ObjectKey{Name: "default"}, &namespace))
			}
		})
	}
	group.Wait()
}

func main() {
 // controller-runtime declares --kubeconfig.
	flag.Parse()
	log.SetLogger(zap.New(zap.WriteTo(os.Stderr)))
	config, err := clientcmd.BuildConfigFromFlags("", flag.Lookup("kubeconfig").Value.String())
	must(err)
	config.QPS, config.Burst = 5000, 5000 // the benchmark counts connections; the rate limit must not slow it down
	scheme := runtime.NewScheme()
	must(corev1.AddToScheme(scheme))
	start := time.Now()
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: server.Options{BindAddress: "0"}})
	must(err)
	must(ctrl.NewControllerManagedBy(manager).For(&corev1.Pod{}).Complete(&reconciler{manager.GetClient()}))
	ctx := ctrl.SetupSignalHandler()
	go func() {
		manager.GetCache().WaitForCacheSync(ctx)
		var pods corev1.PodList
		must(manager.GetClient().List(ctx, &pods))
		say(map[string]any{"event": "synced", "ms": float64(time.Since(start).Microseconds()) / 1000, "objects": len(pods.Items)})
	}()
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			if lines.Text() == "calls" {
				call(manager.GetAPIReader(), 1000, 20)
				say(map[string]any{"event": "called"})
				continue
			}
			mutex.Lock()
			switch lines.Text() {
			case "reset":
				latencies, changes = nil, 0
			case "report":
				sort.Float64s(latencies)
				say(map[string]any{"event": "report", "changes": changes, "p50": percentile(latencies, 0.5), "p99": percentile(latencies, 0.99)})
			case "quit":
				os.Exit(0)
			}
			mutex.Unlock()
		}
		os.Exit(0)
	}()
	must(manager.Start(ctx))
}
