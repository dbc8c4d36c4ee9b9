//go:build unix

package bench

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common"
	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/profile"
	cvmapi "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"
	"golang.org/x/time/rate"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

// BenchmarkReconcile compares an idle run over pools of machinesPerPool, and one with a tenth
// of the pools short, with plain paging through the same instances.
func BenchmarkReconcile(b *testing.B) {
	at(b, "pools", []int{100, 300, 1000}, func(b *testing.B, pools int) {
		sim, dir := startCVM(b), filepath.Join(b.TempDir(), "store")
		seedMachines(b, sim, pools, machinesPerPool)
		declarePools(b, dir, pools, 0, "")
		var last ran
		over := func() figures {
			last = reconcile(b, sim, "--store", "directory:"+dir)
			last.took["pages"] = float64(pools * machinesPerPool / 100)
			return last.took
		}
		// The first run writes journals, and the second what of them the history has by now.
		over()
		over()
		paging := compare(b, run{"paging", func() figures { return pagePlainly(b, sim) }}, run{"idle", over})
		short := pools / 10
		for n := range short {
			_, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: pool(n).Name})
			check(b, err)
		}
		report(b, "a-tenth-short", over(), paging)
		if last.Calls["RunInstances"] != short {
			b.Fatalf("%d pools were short, and calls were %v", short, last.Calls)
		}
		fmt.Printf("%d short of %d, by action: %v\n", short, pools, last.Calls)
	})
}

// startCVM starts a local CVM with Tencent Cloud's rate limits.
func startCVM(b *testing.B) *cvmsimtest.Sim {
	b.Helper()
	sim := cvmsimtest.Start(b, func(o *cvmsim.Options) { o.EnforceRates, o.LaunchDelay = true, 50*time.Millisecond })
	for _, zone := range []string{zone, otherZone} {
		check(b, sim.Server.SetStock(cvmsim.StockRequest{
			AvailabilityZone: zone, InstanceType: gpuType, Stock: new(int64(1_000_000)), VCPUQuota: new(int64(100_000_000)),
		}))
	}
	return sim
}

func against(sim *cvmsimtest.Sim) []string {
	return append(os.Environ(), "GPUPOOL_ENDPOINT="+sim.URL, "TENCENTCLOUD_REGION="+region,
		"TENCENTCLOUD_SECRET_ID="+cvmsim.DemoSecretID, "TENCENTCLOUD_SECRET_KEY="+cvmsim.DemoSecretKey)
}

// ran is the figures and the report of a run.
type ran struct {
	took       figures
	Decisions  []json.RawMessage
	Budgets    []json.RawMessage
	StockPools []struct{ Phase string } `json:"stock_pools"`
	Calls      map[string]int           // of Tencent Cloud by action, of the cluster by verb and resource
}

// reconcile runs gpupool reconcile, and counts its calls.
func reconcile(b *testing.B, sim *cvmsimtest.Sim, flags ...string) ran {
	b.Helper()
	cmd := exec.CommandContext(b.Context(), program(b, "GPUPOOL_BIN"), append([]string{"reconcile", "-o", "json"}, flags...)...)
	if sim != nil {
		sim.Server.ResetCalls()
		cmd.Env = against(sim)
	}
	took, out := must(b, cmd)
	r := ran{took: took}
	check(b, json.Unmarshal(out, &r))
	for what, n := range r.Calls {
		verb, _, ofCluster := strings.Cut(what, " ")
		if ofCluster {
			took["cluster-calls"] += float64(n)
		}
		if ofCluster && !reads(verb) {
			took["cluster-writes"] += float64(n)
		}
	}
	if sim != nil {
		took["calls"] = float64(len(sim.Server.Calls()))
	}
	return r
}

func reads(verb string) bool { return verb == "get" || verb == "list" || verb == "watch" }

// pagePlainly lists the same instances with only the SDK, at the adapter's rate.
func pagePlainly(b *testing.B, sim *cvmsimtest.Sim) figures {
	b.Helper()
	const describesASecond = 36 // of 40 allowed
	p := profile.NewClientProfile()
	p.HttpProfile.Scheme = "HTTP"
	p.HttpProfile.Endpoint = strings.TrimPrefix(sim.URL, "http://")
	client, err := cvmapi.NewClient(common.NewCredential(cvmsim.DemoSecretID, cvmsim.DemoSecretKey), region, p)
	check(b, err)
	limit := rate.NewLimiter(describesASecond, 1)
	started := time.Now()
	for offset, total := int64(0), int64(1); offset < total; offset += 100 {
		check(b, limit.Wait(b.Context()))
		request := cvmapi.NewDescribeInstancesRequest()
		request.Limit, request.Offset = common.Int64Ptr(100), common.Int64Ptr(offset)
		request.Filters = []*cvmapi.Filter{{Name: common.StringPtr("tag-key"), Values: common.StringPtrs([]string{"gpupool/uid"})}}
		response, err := client.DescribeInstancesWithContext(b.Context(), request)
		check(b, err)
		total = *response.Response.TotalCount
	}
	return figures{"s": time.Since(started).Seconds()}
}
