package stage

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// Region is the region of the pool, and GPUType the type of its machines.
const (
	Region  = "ap-singapore"
	GPUType = "GN7.2XLARGE32"
)

// Zones are those of the pool.
var Zones = []string{"ap-singapore-2", "ap-singapore-3"}

// Pool is the pool that is played with.
var Pool = schedule.Pool{Region: Region, Name: "train", LaunchTimeout: 5 * time.Minute}

// cloud is the local CVM of a world.
type cloud struct {
	*cvmsim.Server

	log     *log
	foreign []cvmsim.Instance // foreign machines
}

func newCloud(log *log, calls io.Writer) (*cloud, error) {
	server, err := cvmsim.New(cvmsim.Options{CallLog: calls})
	if err != nil {
		return nil, err
	}
	c := &cloud{Server: server, log: log}
	return c, errors.Join(c.restock(nil), c.seedForeign())
}

// restock sets the stock of each zone; nil is plenty.
func (c *cloud) restock(stock *int64) error {
	if stock == nil {
		stock = new(int64(100))
	}
	var errs []error
	for _, zone := range Zones {
		errs = append(errs, c.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: GPUType, Stock: stock, VCPUQuota: new(int64(10_000))}))
	}
	return errors.Join(errs...)
}

// seedForeign creates foreign machines: one without tags, those of another pool, and one of a
// pool of the same name elsewhere.
func (c *cloud) seedForeign() error {
	for _, seed := range []cvmsim.SeedRequest{
		{AvailabilityZone: Zones[0], InstanceType: GPUType},
		{AvailabilityZone: Zones[0], InstanceType: GPUType, Pool: "other", UID: "0123456789abcdef0123456789abcdef", Seq: "1", Count: 2},
		{AvailabilityZone: Zones[1], InstanceType: GPUType, Tags: map[string]string{"gpupool/pool": "train-2", "team": "b"}},
		{AvailabilityZone: "ap-guangzhou-6", InstanceType: GPUType, Pool: Pool.Name, UID: "fedcba9876543210fedcba9876543210", Seq: "1"},
	} {
		ids, err := c.Seed(seed)
		if err != nil {
			return err
		}
		for _, i := range c.Instances() {
			if slices.Contains(ids, i.InstanceID) {
				c.foreign = append(c.foreign, i)
			}
		}
	}
	return nil
}

func (c *cloud) machines() []cvmsim.Instance { return Pool.Machines(c.Instances()) }

// weather sets the delays of the local CVM.
func (c *cloud) weather(is schedule.Weather) error {
	return c.Configure(cvmsim.Settings{
		LaunchDelay: &is.LaunchDelay, TerminateDelay: &is.TerminateDelay, ListingDelay: &is.ListingDelay, TagDelay: &is.TagDelay,
	})
}

// unsettle gives members a state in which they cannot be terminated.
func (c *cloud) unsettle(r schedule.Round) {
	var ids []string
	for _, i := range c.machines() {
		if i.State == "RUNNING" {
			ids = append(ids, i.InstanceID)
		}
	}
	if n := min(r.Stopping, len(ids)); n > 0 {
		c.log.say("STOPPING: %v", ids[:n])
		_ = c.SetState(cvmsim.StateRequest{InstanceIDs: ids[:n], State: "STOPPING"}) // they exist
	}
	if n := min(r.Protected, len(ids)); n > 0 {
		c.log.say("protected: %v", ids[:n])
		_ = c.SetState(cvmsim.StateRequest{InstanceIDs: ids[:n], Protected: new(true)})
	}
}

// reclaim reclaims up to so many machines, and returns how many: there may be fewer.
func (c *cloud) reclaim(r schedule.Reclaim) int {
	for count := r.Count; count > 0; count-- {
		ids, err := c.Reclaim(cvmsim.ReclaimRequest{Pool: Pool.Name, Region: Region, Count: count, Notice: r.Notice, View: r.View})
		if err == nil {
			c.log.say("reclaimed (%s, notice %v): %v", r.View, time.Duration(r.Notice), ids)
			return len(ids)
		}
	}
	return 0
}

// recover ends all faults and lets all delays pass, including the times for which gpupool
// waits.
func (c *cloud) recover() error {
	c.ClearFaults()
	well := schedule.Weather{LaunchDelay: schedule.Duration(5 * time.Second), TerminateDelay: schedule.Duration(20 * time.Second)}
	if err := errors.Join(c.weather(well), c.restock(nil)); err != nil {
		return err
	}
	if _, err := c.StepClock(12 * time.Minute); err != nil {
		return err
	}
	for _, i := range c.machines() {
		state := cvmsim.StateRequest{InstanceIDs: []string{i.InstanceID}}
		if i.State == "PENDING" || i.State == "STOPPING" { // what hangs comes to something
			state.State = "RUNNING"
		}
		if i.Protected {
			state.Protected = new(false)
		}
		if state.State != "" || i.Protected {
			if err := c.SetState(state); err != nil {
				return err
			}
		}
	}
	c.log.say("the local CVM has recovered")
	return nil
}

// forward lets the world's clock run at a pace, until it is stopped. pace is its time per
// second of the processes. The clock stands until start returns true; nil is at once.
func (c *cloud) forward(ctx context.Context, pace time.Duration, start func() bool) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var going sync.WaitGroup
	going.Go(func() {
		const tick = 25 * time.Millisecond
		step := time.Duration(pace.Seconds()*float64(tick)) - tick // the processes' own time passes, too
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-time.After(tick):
				if start != nil && !start() {
					continue
				}
				start = nil
				if step > 0 {
					_, _ = c.StepClock(step)
				}
			}
		}
	})
	return func() { cancel(); going.Wait() }
}
