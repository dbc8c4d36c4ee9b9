//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common"
	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/profile"
	cvmapi "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"
	"golang.org/x/time/rate"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

const (
	region          = "ap-singapore"
	zone            = "ap-singapore-2"
	gpuType         = "GN7.2XLARGE32"
	machinesPerPool = 50
	// describesASecond is what the adapter allows itself, of the cloud's 40.
	describesASecond = 36
)

// measureReconcile measures an idle run, and one with a tenth of the pools short.
func measureReconcile(ctx context.Context, b *bench) error {
	fmt.Println("| pools | instances | run | calls | of them pages | wall | cpu | peak memory | plain paging at the same rate | ratio |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, pools := range []int{100, 300, 1000} {
		if err := reconcileAt(ctx, b, pools); err != nil {
			return err
		}
	}
	return nil
}

func reconcileAt(ctx context.Context, b *bench, pools int) error {
	sim, err := b.startCVM(ctx)
	if err != nil {
		return err
	}
	defer sim.Stop()
	dir := filepath.Join(b.dir, fmt.Sprintf("store-%d", pools))
	if err := declarePools(ctx, sim, dir, pools); err != nil {
		return err
	}
	// The first run writes journals, and the second what of them the history has by now.
	for range 2 {
		if _, err := b.reconcileCloud(ctx, sim, dir); err != nil {
			return err
		}
	}
	plain, err := pagePlainly(ctx, sim)
	if err != nil {
		return err
	}
	var idle reconciled // the best of three: others use the machine, too
	for n := range 3 {
		again, err := b.reconcileCloud(ctx, sim, dir)
		if err != nil {
			return err
		}
		if n == 0 || again.cpu < idle.cpu {
			idle = again
		}
	}
	idle.print(pools, "idle", plain)
	short := pools / 10
	for n := range short {
		if err := sim.control(ctx, http.MethodPost, "reclaim", map[string]any{"pool": poolName(n), "count": 1}, nil); err != nil {
			return err
		}
	}
	healed, err := b.reconcileCloud(ctx, sim, dir)
	if err != nil {
		return err
	}
	if healed.launches != short {
		return fmt.Errorf("%d launches for %d short pools", healed.launches, short)
	}
	healed.print(pools, fmt.Sprintf("%d short", short), plain)
	fmt.Printf("\n%d short of %d, by action: %v\n\n", short, pools, healed.calls)
	return nil
}

// reconciled is what one run of gpupool reconcile took, and what its report counts.
type reconciled struct {
	cost
	calls                               map[string]int // of the cloud, by action
	cluster                             map[string]int // calls of the cluster, by verb and resource
	decisions, launches, budgets, ready int            // ready are stock pools
}

func (r reconciled) print(pools int, run string, plain time.Duration) {
	fmt.Printf("| %d | %d | %s | %d | %d | %s | %s | %s | %s | %.2f |\n", pools, pools*machinesPerPool, run,
		total(r.calls), pools*machinesPerPool/100, seconds(r.wall), seconds(r.cpu), megabytes(r.memory), seconds(plain), r.wall.Seconds()/plain.Seconds())
}

// reconcileCloud runs over pools, and has the local CVM count the calls.
func (b *bench) reconcileCloud(ctx context.Context, sim *cvm, dir string, flags ...string) (reconciled, error) {
	if err := sim.resetCalls(ctx); err != nil {
		return reconciled{}, err
	}
	r, err := b.reconcile(ctx, sim.env(), append([]string{"--store", "directory:" + dir}, flags...)...)
	if err == nil {
		r.calls, err = sim.calls(ctx)
	}
	return r, err
}

func (b *bench) reconcile(ctx context.Context, env []string, flags ...string) (reconciled, error) {
	cmd := exec.CommandContext(ctx, b.gpupool, append([]string{"reconcile", "-o", "json"}, flags...)...)
	cmd.Env = env
	c, out, err := measure(cmd)
	if err != nil {
		return reconciled{}, err
	}
	var report struct {
		Decisions  []struct{ Kind, Outcome string }
		Budgets    []json.RawMessage
		StockPools []struct{ Phase string } `json:"stock_pools"`
		Calls      map[string]int
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return reconciled{}, err
	}
	r := reconciled{cost: c, cluster: map[string]int{}, decisions: len(report.Decisions), budgets: len(report.Budgets)}
	for what, n := range report.Calls {
		if strings.Contains(what, " ") { // a verb and a resource
			r.cluster[what] = n
		}
	}
	for _, d := range report.Decisions {
		if d.Kind == "launch" && d.Outcome == "done" {
			r.launches++
		}
	}
	for _, p := range report.StockPools {
		if p.Phase == string(decide.Ready) {
			r.ready++
		}
	}
	return r, nil
}

func poolName(n int) string { return fmt.Sprintf("pool-%04d", n) }

// declarePools writes records, and has the local CVM make their machines.
func declarePools(ctx context.Context, sim *cvm, dir string, pools int) error {
	quota := map[string]any{"availability_zone": zone, "instance_type": gpuType, "stock": 1_000_000, "vcpu_quota": 100_000_000}
	if err := sim.control(ctx, http.MethodPost, "stock", quota, nil); err != nil {
		return err
	}
	for n := range pools {
		d := poolDeclaration(n)
		seed := map[string]any{
			"pool": d.Name, "uid": d.UID, "seq": "1", "count": machinesPerPool, "availability_zone": zone, "instance_type": gpuType,
			"config": spotpool.ConfigurationTag(d.Configuration, d.Offerings[0], spotpool.Spot),
		}
		if err := sim.control(ctx, http.MethodPost, "instances", seed, nil); err != nil {
			return err
		}
	}
	return declareRecords(ctx, dir, pools, func(int, *spotpool.Declaration) {})
}

// poolDeclaration is the n-th pool.
func poolDeclaration(n int) spotpool.Declaration {
	return spotpool.Declaration{
		Name: poolName(n), Region: region, UID: fmt.Sprintf("%032x", n+1), AccountID: cvmsim.DemoAccountID, Generation: 1,
		Minimum: machinesPerPool, Maximum: machinesPerPool + 10,
		Offerings:     []spotpool.Offering{{AvailabilityZone: zone, InstanceType: gpuType, SubnetID: "subnet-a1b2c3d4"}},
		Configuration: spotpool.Configuration{VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4"},
	}.WithDefaults()
}

// declareRecords writes the records and journals of pools into a store, each record
// changed as asked.
func declareRecords(ctx context.Context, dir string, pools int, change func(n int, d *spotpool.Declaration)) error {
	// Without its journal, a pool launches nothing for a while.
	err := write(ctx, dir, store.Journals, pools, func(n int) (string, []byte, error) {
		d := poolDeclaration(n)
		data, err := declaration.Encode(journal.Journal{}.Salted(d.UID))
		return record.JournalName(d.Key(), d.UID), data, err
	})
	if err != nil {
		return err
	}
	return write(ctx, dir, store.SpotPools, pools, func(n int) (string, []byte, error) {
		d := poolDeclaration(n)
		change(n, &d)
		d = d.WithDefaults()
		data, err := declaration.Encode(active(d))
		return d.Key(), data, err
	})
}

// active is a declaration as its record has it.
func active[D any](d D) declaration.Record[D] {
	return declaration.Record[D]{Phase: declaration.Active, Declaration: d, UpdatedAt: time.Now(), UpdatedBy: "bench"}
}

// write writes so many documents of one kind into a store.
func write(ctx context.Context, dir string, kind store.Kind, count int, document func(n int) (key string, data []byte, err error)) error {
	s, err := directory.Open(dir, directory.Options{Create: true})
	if err != nil {
		return err
	}
	for n := range count {
		key, data, err := document(n)
		if err == nil {
			_, err = s.Write(ctx, store.Key{Kind: kind, Name: key}, data, "")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pagePlainly lists the same instances with the SDK alone, at the adapter's rate.
func pagePlainly(ctx context.Context, sim *cvm) (time.Duration, error) {
	p := profile.NewClientProfile()
	p.HttpProfile.Scheme = "HTTP"
	p.HttpProfile.Endpoint = sim.Endpoint[len("http://"):]
	client, err := cvmapi.NewClient(common.NewCredential(cvmsim.DemoSecretID, cvmsim.DemoSecretKey), region, p)
	if err != nil {
		return 0, err
	}
	limit := rate.NewLimiter(describesASecond, 1)
	started := time.Now()
	for offset := int64(0); ; offset += 100 {
		if err := limit.Wait(ctx); err != nil {
			return 0, err
		}
		request := cvmapi.NewDescribeInstancesRequest()
		request.Limit, request.Offset = common.Int64Ptr(100), common.Int64Ptr(offset)
		request.Filters = []*cvmapi.Filter{{Name: common.StringPtr("tag-key"), Values: common.StringPtrs([]string{"gpupool/uid"})}}
		response, err := client.DescribeInstancesWithContext(ctx, request)
		if err != nil {
			return 0, err
		}
		if offset+100 >= *response.Response.TotalCount {
			return time.Since(started), nil
		}
	}
}
