package metrics

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// counters come from the store, so that a new file or another host continues them.
func (m exposition) counters(c declaration.Counters) {
	if c.Runs == 0 {
		return
	}
	m.counter("gpupool_runs_total", "Recorded runs of the store.", float64(c.Runs))
	m.counter("gpupool_run_seconds_total", "Duration of all recorded runs, in seconds.", (time.Duration(c.RunMilliseconds) * time.Millisecond).Seconds())
	decisions := m.counterVector("gpupool_decisions_total", "Decisions of all recorded runs, by kind and outcome.", "kind", "outcome")
	for of, n := range c.Decisions {
		kind, outcome, _ := strings.Cut(of, "/")
		decisions.WithLabelValues(kind, outcome).Add(float64(n))
	}
	calls := m.counterVector("gpupool_calls_total", "Calls of Tencent Cloud and Kubernetes by all recorded runs, by action.", "action")
	for action, n := range c.Calls {
		calls.WithLabelValues(action).Add(float64(n))
	}
	if c.CountedAt.IsZero() {
		return // an older gpupool counted no events
	}
	for _, of := range eventCounters {
		of.write(m, c.Events)
	}
}

// eventCounter is a metric of counted events. Its series without events are 0.
type eventCounter struct {
	name, help string
	event      string
	label      string
	values     []string
}

var eventCounters = []eventCounter{
	{"gpupool_launched_instances_total", "Instances whose launch Tencent Cloud accepted.", string(history.Launch), "charge_type", chargeTypes()},
	{"gpupool_refused_launches_total", "Launches that Tencent Cloud refused, by error class.", string(history.Refused), "class", classes()},
	{"gpupool_reclaimed_instances_total", "Instances that Tencent Cloud reclaimed after an interruption notice.", string(history.Reclaim), "", nil},
	{
		"gpupool_lost_instances_total", "Instances that were reclaimed without a notice, or that others terminated or untagged.",
		string(history.Lost), "", nil,
	},
	{"gpupool_interruption_notices_total", "Interruption notices of Tencent Cloud.", string(history.Notice), "", nil},
	{
		"gpupool_drains_total", "Drains of nodes, by outcome: requested, done, timed_out or kept.", string(history.Drain), "outcome",
		[]string{history.Requested, history.Done, string(node.TimedOut), string(node.Kept)},
	},
	{"gpupool_jobs_total", "Finished jobs, by state.", "job", "state", finished()},
	{
		"gpupool_notification_messages_total", "Messages of notifications, by outcome: delivered, or failed attempts.", "message", "outcome",
		[]string{"delivered", "failed"},
	},
}

func (of eventCounter) write(m exposition, events map[string]int64) {
	if of.label == "" {
		m.counter(of.name, of.help, float64(events[of.event]))
		return
	}
	counter := m.counterVector(of.name, of.help, of.label)
	for _, value := range of.values {
		counter.WithLabelValues(value)
	}
	for _, name := range slices.Sorted(maps.Keys(events)) {
		if event, value, _ := strings.Cut(name, "/"); event == of.event {
			counter.WithLabelValues(value).Add(float64(events[name]))
		}
	}
}

func chargeTypes() []string {
	return []string{string(spotpool.Spot), string(spotpool.OnDemand)}
}

func classes() []string {
	var names []string
	for _, c := range errorclass.Classes() {
		names = append(names, string(c))
	}
	return append(names, declaration.UnknownClass)
}

func finished() []string {
	var names []string
	for _, s := range request.States() {
		if s.Finished() {
			names = append(names, string(s))
		}
	}
	return names
}

func (m exposition) counter(name, help string, value float64) {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.registry.MustRegister(c)
	c.Add(value)
}

func (m exposition) counterVector(name, help string, labels ...string) *prometheus.CounterVec {
	v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(v)
	return v
}
