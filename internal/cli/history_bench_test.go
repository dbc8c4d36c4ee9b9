package cli_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// fleetEvents draws events of a thousand pools, as they are told by runs of twenty.
func fleetEvents(chance *rand.Rand, from time.Time, span time.Duration, count int) []history.Event {
	hex := func(digits int) string {
		text := fmt.Sprintf("%016x%016x%016x", chance.Uint64(), chance.Uint64(), chance.Uint64())
		return text[:digits]
	}
	events := make([]history.Event, count)
	run := ""
	for n := range events {
		if n%20 == 0 {
			run = hex(32)
		}
		pool := chance.IntN(1000)
		a := history.About{
			At: from.Add(span * time.Duration(n) / time.Duration(count)).Add(time.Duration(chance.IntN(1000)) * time.Millisecond), RunID: run,
			Actor:  "reconcile",
			Object: fmt.Sprintf("spot_pool/ap-singapore/train-%d", pool), ObjectUID: fmt.Sprintf("%08x-9a8b-4c7d-8e6f-%012x", pool*7919, pool*104729),
			Outcome: "done",
		}
		offering := history.Offering{
			AvailabilityZone: fmt.Sprintf("ap-singapore-%d", 1+pool%4), InstanceType: "GN7.2XLARGE32", SubnetID: fmt.Sprintf("subnet-%08x", pool%40),
		}
		instance := history.Instance{ID: "ins-" + hex(8), Offering: offering, ChargeType: "SPOTPAID", Price: fmt.Sprintf("1.%02d", chance.IntN(90))}
		ask := history.Ask{Sequence: n, WrittenAt: a.At, Count: 1, Offering: offering, ChargeType: "SPOTPAID", Price: instance.Price}
		switch chance.IntN(10) {
		case 0, 1, 2:
			a.Reasons, a.Outcome = reason.Reasons{reason.BelowMinimum(1, 2)}, "short"
			events[n] = a.Refused(ask, history.Error{
				Class: "capacity", Code: "ResourcesSoldOut.SpecifiedInstanceType", Message: "RunInstances: ResourcesSoldOut.SpecifiedInstanceType: sold out",
				RequestID: hex(32), Remedy: "add an offering",
			})
		case 3, 4:
			a.Reasons = reason.Reasons{reason.BelowMinimum(1, 2), reason.PriceEach(reason.Price{Amount: instance.Price, Currency: "CNY"})}
			ask.InstanceIDs = []string{instance.ID}
			events[n] = a.Launched(ask)
		case 5, 6:
			events[n] = a.Instance(history.Begin, instance)
		case 7:
			events[n] = a.Instance(history.Reclaim, instance)
		case 8:
			events[n] = a.Instance(history.End, instance)
		default:
			a.Object, a.ClusterUID = fmt.Sprintf("budget/team-%d", pool), "5f0c1d2e-9a8b-4c7d-8e6f-001122334455"
			a.Reasons = reason.Reasons{reason.GraceOver("evict")}
			events[n] = a.Evict(history.Identity{Namespace: fmt.Sprintf("team-%d", pool), Name: "train-" + hex(5), UID: hex(36)})
		}
	}
	return events
}

// BenchmarkHistory runs gpupool history for the last six hours. The history has a million
// events of a thousand pools in 35 days, or 300,000 events in these six hours. Writing more
// takes too long. The process reports its own memory: the figure of the system includes the
// process that started it.
func BenchmarkHistory(b *testing.B) {
	for span, events := range map[time.Duration]int{35 * 24 * time.Hour: 1_000_000, 6 * time.Hour: 300_000} {
		b.Run(fmt.Sprint(events, " in ", span), func(b *testing.B) {
			dir := b.TempDir()
			size, documents := rememberFleet(b, filepath.Join(dir, ".gpupool"), span-time.Minute, events)
			peak := 0
			for b.Loop() {
				cmd := exec.CommandContext(b.Context(), "gpupool", "history", "--since", "6h")
				cmd.Dir, cmd.Env, cmd.Stdout = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, peakVariable + "=" + filepath.Join(dir, "peak")},
					io.Discard
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				said, err := os.ReadFile(filepath.Join(dir, "peak"))
				if _, scanErr := fmt.Sscan(string(said), &peak); err != nil || scanErr != nil {
					b.Fatal(err, scanErr)
				}
			}
			b.ReportMetric(float64(peak)/1024, "peak-MiB")
			b.ReportMetric(float64(size)/float64(events), "bytes/event")
			b.ReportMetric(float64(documents), "documents")
		})
	}
}

// rememberFleet fills a store with events, and tells how large its history is.
func rememberFleet(b *testing.B, dir string, span time.Duration, events int) (size, documents int) {
	b.Helper()
	place, err := directory.Open(dir, directory.Options{Create: true})
	if err != nil {
		b.Fatal(err)
	}
	const batch = 10_000
	chance, began := rand.New(rand.NewPCG(1, 2)), time.Now().Add(-span)
	step := span / time.Duration(events/batch)
	for n := range events / batch {
		from := began.Add(step * time.Duration(n))
		kept := eventlog.Log{Store: place, Now: func() time.Time { return from }, Keep: history.Retention{For: 36 * 24 * time.Hour, Bytes: 1 << 30}}
		if added := kept.Add(context.Background(), fleetEvents(chance, from, step, batch)...); len(added.Warnings) > 0 {
			b.Fatal(added.Warnings)
		}
	}
	docs, err := place.List(b.Context(), store.History)
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range docs {
		size += len(d.Data)
	}
	return size, len(docs)
}

// peakVariable names a file into which gpupool, as this test's own binary, writes how
// many KiB of memory it had at most.
const peakVariable = "GPUPOOL_TEST_PEAK"

// tellPeak writes it, where the file is named.
func tellPeak() {
	file := os.Getenv(peakVariable)
	status, err := os.ReadFile("/proc/self/status")
	if file == "" || err != nil {
		return
	}
	for line := range strings.Lines(string(status)) {
		if peak, found := strings.CutPrefix(line, "VmHWM:"); found {
			_ = os.WriteFile(file, []byte(peak), 0o600)
		}
	}
}
