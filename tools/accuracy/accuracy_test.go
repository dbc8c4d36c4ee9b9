package accuracy

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

var full = flag.Bool("full", false, "play every scenario at its full length and print the table")

type measured struct {
	scenario scenario
	pods     int
	ratio    float64       // counted by true GPU time; not clamped
	perPod   time.Duration // the sum of the pods' absolute errors, by pod
	worst    time.Duration
	bound    time.Duration // as reported, by pod
	sources  map[string]int
}

// TestAccuracy plays the scenarios in parallel, and fails if a figure is not reached. If ends
// were observed or replayed, the error is at most a second per pod. Otherwise, it is within the
// bound that the program reports.
func TestAccuracy(t *testing.T) {
	var mu sync.Mutex
	results := make([]*measured, len(scenarios))
	t.Run("scenarios", func(t *testing.T) {
		for i, s := range scenarios {
			if !s.quick && !*full {
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				c := clusterFor(t, s)
				p := stage(t, c, s, *full)
				s.play(p)
				p.reconcile()
				m := p.measure(s)
				mu.Lock()
				results[i] = &m
				mu.Unlock()
				m.check(t, *full)
			})
		}
	})
	if *full {
		printTable(t, results)
	}
}

func clusterFor(t *testing.T, s scenario) *kubetest.Cluster {
	if s.alone {
		return kubetest.StartOwn(t, "--nodes=3", "--gpus-per-node=64")
	}
	return kubetest.Start(t)
}

// measure compares the program's result with the observer's.
func (p *play) measure(s scenario) measured {
	p.Helper()
	a, now := p.usage(), time.Now()
	m := measured{scenario: s, sources: map[string]int{}}
	counted := map[string]time.Duration{}
	for _, pod := range a.Pods {
		end := now
		if pod.End != nil {
			end = *pod.End
			m.sources[*pod.EndSource]++
		} else {
			m.sources["open"]++
		}
		counted[pod.UID] = end.Sub(pod.Start)
	}
	var sum, truth time.Duration
	for uid, seen := range p.observer.all() {
		held := seen.holding(now)
		truth += held
		off := (counted[uid] - held).Abs()
		sum += off
		m.worst = max(m.worst, off)
		m.pods++
	}
	// A tenth of a GPU each: milli-GPU-seconds are a hundred by second.
	m.ratio = float64(a.ConsumedMilliGPUSeconds) / (truth.Seconds() * 100)
	m.perPod = sum / time.Duration(max(1, m.pods))
	bound, err := strconv.ParseFloat(a.ErrorBoundGPUHours, 64)
	if err != nil {
		p.Fatal(err)
	}
	m.bound = time.Duration(bound * float64(time.Hour) * 10 / float64(max(1, m.pods)))
	return m
}

// check fails where a figure is not reached. A quick play under load is allowed
// more: there the observer's own events come late.
func (m measured) check(t *testing.T, full bool) {
	t.Helper()
	allowed := time.Second
	if m.scenario.reported {
		allowed += m.bound
	}
	if !full {
		allowed += 5 * time.Second
	}
	if m.perPod > allowed {
		t.Errorf("the error is %s a pod, and %s is allowed; counted %.4f of the truth, ends from %v", m.perPod.Round(time.Millisecond), allowed, m.ratio,
			m.sources)
	}
	if full && !m.scenario.reported && math.Abs(m.ratio-1) > 0.02 {
		t.Errorf("counted %.4f of the truth", m.ratio)
	}
}

func printTable(t *testing.T, results []*measured) {
	t.Helper()
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 1, ' ', 0)
	fmt.Fprintln(w, "| scenario\t| pods\t| counted / true\t| error a pod\t| worst pod\t| reported bound a pod\t| ends from\t|")
	fmt.Fprintln(w, "|---\t|---\t|---\t|---\t|---\t|---\t|---\t|")
	for _, m := range results {
		if m == nil {
			continue
		}
		fmt.Fprintf(w, "| %s\t| %d\t| %.3f\t| %.2f s\t| %.2f s\t| %.2f s\t| %s\t|\n", m.scenario.name, m.pods, m.ratio,
			m.perPod.Seconds(), m.worst.Seconds(), m.bound.Seconds(), sourcesText(m.sources))
	}
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
}

func sourcesText(sources map[string]int) string {
	var texts []string
	for source, n := range sources {
		texts = append(texts, fmt.Sprintf("%s %d", source, n))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}
