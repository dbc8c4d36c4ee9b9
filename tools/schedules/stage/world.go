//go:build unix

package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/tools/local"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

const (
	region  = "ap-singapore"
	gpuType = "GN7.2XLARGE32"
)

var (
	zones = []string{"ap-singapore-2", "ap-singapore-3"}
	pool  = schedule.Pool{Region: region, Name: "train", LaunchTimeout: 5 * time.Minute}
)

// Programs are the paths of the two binaries.
type Programs struct{ GPUPool, Terraform string }

// World is a local CVM, a store, and a folder with a Terraform configuration.
type World struct {
	programs Programs
	dir      string // of everything
	rc       string // Terraform's CLI configuration
	server   *cvmsim.Server
	watch    *watch
	log      *log
	foreign  []cvmsim.Instance
	runs     int // processes started so far
	counting sync.Mutex
	counts   schedule.Counts
}

// NewWorld makes a world in a directory of its own, with machines in its cloud that
// are nobody's business.
func NewWorld(dir string, programs Programs) (*World, error) {
	if programs.GPUPool == "" || programs.Terraform == "" {
		return nil, errors.New("GPUPOOL_BIN and TERRAFORM must name the built binary and terraform or tofu: run it by make")
	}
	w := &World{programs: programs, dir: dir, log: newLog()}
	w.watch = newWatch(w)
	for _, sub := range []string{w.work(), w.outputs()} {
		if err := os.MkdirAll(sub, 0o755); err != nil {
			return nil, err
		}
	}
	var err error
	if w.rc, err = local.Override(dir, programs.GPUPool); err != nil {
		return nil, err
	}
	if w.server, err = cvmsim.New(cvmsim.Options{CallLog: w.watch}); err != nil {
		return nil, err
	}
	return w, errors.Join(w.restock(100), w.seedForeign())
}

// Close ends the local CVM.
func (w *World) Close() error { return w.server.Close() }

func (w *World) work() string      { return filepath.Join(w.dir, "work") }
func (w *World) outputs() string   { return filepath.Join(w.dir, "outputs") }
func (w *World) storePath() string { return filepath.Join(w.dir, "store") }

func ptr[T any](v T) *T { return &v }

// restock sets the stock of each zone.
func (w *World) restock(stock int64) error {
	var errs []error
	for _, zone := range zones {
		errs = append(errs, w.server.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: gpuType, Stock: &stock, VCPUQuota: ptr(int64(10_000))}))
	}
	return errors.Join(errs...)
}

// seedForeign makes the machines that nobody may touch: one without tags, those of
// another pool, one of a pool of the same name elsewhere.
func (w *World) seedForeign() error {
	for _, seed := range []cvmsim.SeedRequest{
		{AvailabilityZone: zones[0], InstanceType: gpuType},
		{AvailabilityZone: zones[0], InstanceType: gpuType, Pool: "other", UID: "0123456789abcdef0123456789abcdef", Seq: "1", Count: 2},
		{AvailabilityZone: zones[1], InstanceType: gpuType, Tags: map[string]string{"gpupool/pool": "train-2", "team": "b"}},
		{AvailabilityZone: "ap-guangzhou-6", InstanceType: gpuType, Pool: pool.Name, UID: "fedcba9876543210fedcba9876543210", Seq: "1"},
	} {
		ids, err := w.server.Seed(seed)
		if err != nil {
			return err
		}
		for _, i := range w.server.Instances() {
			for _, id := range ids {
				if i.InstanceID == id {
					w.foreign = append(w.foreign, i)
				}
			}
		}
	}
	return nil
}

// machines are the pool's, as the cloud has them.
func (w *World) machines() []cvmsim.Instance { return pool.Machines(w.server.Instances()) }

// count changes the counts.
func (w *World) count(change func(*schedule.Counts)) {
	w.counting.Lock()
	defer w.counting.Unlock()
	change(&w.counts)
}

// Counts are what happened so far.
func (w *World) Counts() schedule.Counts {
	w.counting.Lock()
	defer w.counting.Unlock()
	return w.counts
}

// broken notes that something was broken that must hold.
func (w *World) broken(format string, args ...any) {
	w.log.broken(fmt.Sprintf(format, args...))
}

// forward lets the world's clock run at a pace, until it is stopped: pace is how
// much of its time goes by in a second of ours. It stands until start says so; nil
// is at once.
func (w *World) forward(ctx context.Context, pace time.Duration, start func() bool) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var going sync.WaitGroup
	going.Go(func() {
		const tick = 25 * time.Millisecond
		step := time.Duration(pace.Seconds()*float64(tick)) - tick // our own time goes by, too
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(tick):
				if start != nil && !start() {
					continue
				}
				start = nil
				if step > 0 {
					_, _ = w.server.StepClock(step)
				}
			}
		}
	})
	return func() { cancel(); going.Wait() }
}
