package ledger_test

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// fleet is a month of pods, a tenth of which still run. With jobs, each pod has labels and an owner
// of its own.
func fleet(b *testing.B, pods int, jobs bool) *ledger.Ledger {
	b.Helper()
	chance := rand.New(rand.NewPCG(1, uint64(pods)))
	random := func() string {
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", chance.Uint32(), chance.Uint32()&0xffff, chance.Uint32()&0xfff, chance.Uint32()&0xfff,
			chance.Uint64()&0xffffffffffff)
	}
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	suffix := func(n int) string {
		s := make([]byte, n)
		for i := range s {
			s[i] = letters[chance.IntN(len(letters))]
		}
		return string(s)
	}
	var owners []*ledger.Owner
	for range 200 {
		owners = append(owners, &ledger.Owner{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "train-" + suffix(10), UID: random()})
	}
	now := noon
	l := ledger.New(cluster)
	for n := range pods {
		r := pod(n, now-30*day+ledger.Time(chance.Int64N(int64(30*day/second)))*second)
		r.UID = random()
		namespace := fmt.Sprintf("team-%d", chance.IntN(40))
		labels := map[string]string{"team": namespace, "app": fmt.Sprintf("train-%d", chance.IntN(20))}
		r.Owner = owners[chance.IntN(len(owners))]
		if jobs {
			name, of := "sweep-"+suffix(10), random()
			r.Owner = &ledger.Owner{APIVersion: "batch/v1", Kind: "Job", Name: name, UID: of}
			labels["controller-uid"], labels["batch.kubernetes.io/controller-uid"] = of, of
			labels["job-name"], labels["batch.kubernetes.io/job-name"] = name, name
		}
		r.Name = r.Owner.Name + "-" + suffix(5)
		r.Set = &ledger.LabelSet{
			Namespace: namespace, Labels: ledger.LabelsOf(labels),
			NamespaceLabels: ledger.LabelsOf(map[string]string{"kubernetes.io/metadata.name": namespace}),
		}
		r.Allocation = gpus(1 << chance.IntN(4))
		node := chance.IntN(500)
		r.Place = &ledger.Place{
			Node: fmt.Sprintf("10.0.%d.%d", node/250, node%250), Model: "Tesla-T4", InstanceType: "GN7.2XLARGE32", InstanceID: fmt.Sprintf("ins-%08d", node),
		}
		r.Seen = (r.Start.At/(5*minute) + 1) * 5 * minute
		r.Runs.At = r.Start.At + ledger.Time(chance.Int64N(20))*second
		if n%10 != 0 {
			r.End = ledger.ExactEnd(min(now, r.Runs.At+ledger.Time(chance.Int64N(8*3600))*second), ledger.ContainerFinished)
		}
		if err := l.Merge(r); err != nil {
			b.Fatal(err)
		}
	}
	l.Header.Began, l.Header.LastRun, l.Header.ResourceVersion = now-30*day, now, "123456789"
	return l
}

type size struct {
	name string
	pods int
	jobs bool
}

var sizes = []size{
	{"records=10000", 10_000, false}, {"records=100000", 100_000, false}, {"records=1000000", 1_000_000, false},
	{"jobs=100000", 100_000, true},
}

func saved(b *testing.B, s size) disk {
	b.Helper()
	d := disk{}
	changes, err := fleet(b, s.pods, s.jobs).Changes()
	if err != nil {
		b.Fatal(err)
	}
	for _, document := range changes.Write {
		d[document.Name] = document.Data
	}
	return d
}

func (d disk) size() int {
	n := 0
	for _, data := range d {
		n += len(data)
	}
	return n
}

func (d disk) largest() int {
	n := 0
	for _, data := range d {
		n = max(n, len(data))
	}
	return n
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func BenchmarkLoad(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			d := saved(b, s)
			before := heap()
			var l *ledger.Ledger
			b.ResetTimer()
			for b.Loop() {
				l = d.load(b, noon)
			}
			b.StopTimer()
			b.ReportMetric(float64(heap()-before)/float64(l.Len()), "heap-B/record")
			b.ReportMetric(float64(d.size())/float64(l.Len()), "disk-B/record")
			b.ReportMetric(float64(len(d)), "documents")
			b.ReportMetric(float64(d.largest())/1024, "largest-KiB")
			runtime.KeepAlive(l)
		})
	}
}

func BenchmarkSave(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			l := fleet(b, s.pods, s.jobs)
			b.ResetTimer()
			for b.Loop() {
				if _, err := l.Changes(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkAll(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			l := fleet(b, s.pods, s.jobs)
			var total ledger.Time
			b.ResetTimer()
			for b.Loop() {
				for r := range l.All() {
					total += r.End.Point(ledger.EstimateMidpoint) - r.Start.At
				}
			}
			runtime.KeepAlive(total)
		})
	}
}

// BenchmarkRun measures what a run adds to loading: of a thousand pods half end and half are new.
func BenchmarkRun(b *testing.B) {
	for _, s := range sizes {
		b.Run(s.name, func(b *testing.B) {
			d := saved(b, s)
			var writes, bytes int
			for b.Loop() {
				b.StopTimer()
				l := d.load(b, noon)
				var open []ledger.Record
				for r := range l.All() {
					if r.Open() && len(open) < 500 {
						open = append(open, *r)
					}
				}
				b.StartTimer()
				for n, r := range open {
					for _, seen := range []ledger.Record{ended(r, noon+minute, ledger.ContainerFinished), pod(-n-1, noon)} {
						if err := l.Observe(seen); err != nil {
							b.Fatal(err)
						}
					}
				}
				l.Header.LastRun = noon + minute
				changes, err := l.Changes()
				if err != nil {
					b.Fatal(err)
				}
				writes, bytes = len(changes.Write), 0
				for _, document := range changes.Write {
					bytes += len(document.Data)
				}
			}
			b.ReportMetric(float64(writes), "writes/run")
			b.ReportMetric(float64(bytes)/1024, "KiB/run")
		})
	}
}
