package endtoend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/endtoend/processtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// gated is a rig with a local CVM, and a pool of two instances there that names
// the rig's budget.
type gated struct {
	*rig
	sim *cvmsimtest.Sim
}

// newGated creates the pool once a run has judged the budget, which nothing has
// used yet.
func newGated(t *testing.T, changes ...func(*budget.Declaration)) *gated {
	t.Helper()
	g := &gated{rig: newRig(t, changes...), sim: cvmsimtest.Start(t)}
	g.gpupool(0, "reconcile")
	p := g.process()
	client, err := tencent.New(t.Context(), tencent.Config{
		Region: "ap-singapore", Endpoint: g.sim.URL, SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	p.Cloud = client
	_, err = p.SpotPools().Create(t.Context(), spotpool.Declaration{
		Name: "train", Region: "ap-singapore", Minimum: 2, Maximum: 4, Budget: g.budget.Name,
		Offerings:     []spotpool.Offering{{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", SubnetID: "subnet-a1b2c3d4"}},
		Configuration: spotpool.Configuration{VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4"},
	}.WithDefaults(), 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// gpupool runs the command line, which must end with the exit code, and returns
// what it prints.
func (g *gated) gpupool(code int, args ...string) string {
	g.t.Helper()
	env := map[string]string{
		"GPUPOOL_STORE": "directory:" + g.dir, "KUBECONFIG": g.server.Kubeconfig(), "GPUPOOL_ENDPOINT": g.sim.URL,
		"TENCENTCLOUD_REGION": "ap-singapore", "TENCENTCLOUD_SECRET_ID": cvmsim.DemoSecretID, "TENCENTCLOUD_SECRET_KEY": cvmsim.DemoSecretKey,
	}
	var stdout, stderr bytes.Buffer
	got := cli.Run(processtest.Command(env, &stdout, &stderr, args...))
	if got != code {
		g.t.Fatalf("gpupool %s ended with %d, not %d\n%s%s", strings.Join(args, " "), got, code, stdout.Bytes(), stderr.Bytes())
	}
	return stdout.String()
}

func (g *gated) instances() []string {
	var ids []string
	for _, i := range g.sim.Server.Instances() {
		ids = append(ids, i.InstanceID)
	}
	return ids
}

func (g *gated) launches() int {
	n := 0
	for _, c := range g.sim.Server.Calls() {
		if c.Action == "RunInstances" {
			n++
		}
	}
	return n
}

// useUp runs until the budget is exceeded.
func (g *gated) useUp() {
	g.t.Helper()
	kubetest.WaitFor(g.t, "the budget to be exceeded", func(context.Context) error {
		var report reconcile.Report
		if err := json.Unmarshal([]byte(g.gpupool(0, "reconcile", "-o", "json")), &report); err != nil {
			g.t.Fatal(err)
		}
		if b := report.Budgets[0]; !*b.Exceeded {
			return fmt.Errorf("%s of %s GPU-hours are used", b.ConsumedGPUHours, *b.LimitGPUHours)
		}
		return nil
	})
}

// held runs until the budget is exceeded, and interrupts an instance. It checks that run, dry
// run and status leave the pool as it is, and why. It returns the remaining instance.
func (g *gated) held() string {
	g.t.Helper()
	g.useUp()
	if _, err := g.sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "train"}); err != nil {
		g.t.Fatal(err)
	}
	left, launches := g.instances(), g.launches()
	if len(left) != 1 {
		g.t.Fatalf("%v are left of two instances", left)
	}
	const why = "budget/team-a is used up: "
	for _, args := range [][]string{{"reconcile", "--dry-run"}, {"reconcile"}, {"status"}} {
		if text := g.gpupool(0, args...); !strings.Contains(text, "short: "+why) ||
			!strings.Contains(text, "Launches resume once usage is below the limit") {
			g.t.Errorf("gpupool %v does not say why the pool stays short:\n%s", args, text)
		}
	}
	var status reconcile.StatusReport
	if err := json.Unmarshal([]byte(g.gpupool(0, "status", "-o", "json")), &status); err != nil {
		g.t.Fatal(err)
	}
	if p := status.SpotPools[0]; p.Gate == nil || !p.Gate.Closed || p.Shortfall != 1 || len(p.Decisions) > 0 || len(p.Short) != 1 ||
		!strings.HasPrefix(p.Short[0], why) {
		g.t.Errorf("the status has %d instances missing, decisions %v, short %q, the gate %+v", p.Shortfall, p.Decisions, p.Short, p.Gate)
	}
	if now := g.instances(); !slices.Equal(now, left) || g.launches() != launches {
		g.t.Errorf("there are %v, and %d launches were asked for", now, g.launches()-launches)
	}
	return left[0]
}

// healed fails unless the pool has two instances again, the one that was left
// among them, by one launch.
func (g *gated) healed(left string) {
	g.t.Helper()
	if now := g.instances(); len(now) != 2 || !slices.Contains(now, left) || g.launches() != 2 {
		g.t.Errorf("there are %v, %s was left, and %d launches were asked for", now, left, g.launches())
	}
	if text := g.gpupool(0, "status"); strings.Contains(text, "short") {
		g.t.Errorf("the status:\n%s", text)
	}
}

// TestARaisedLimitOpensTheGate raises the limit of a budget that holds a pool:
// the pool launches once a run has judged the budget by it.
func TestARaisedLimitOpensTheGate(t *testing.T) {
	t.Parallel()
	g := newGated(t)
	g.start("runs", kubetest.GPUs(8))
	left := g.held()
	raised := g.budget
	raised.GPUHours = "1000"
	if _, err := g.process().Budgets().Update(t.Context(), raised); err != nil {
		t.Fatal(err)
	}
	if text := g.gpupool(0, "status"); !strings.Contains(text, "no run has judged it since") {
		t.Errorf("the status does not show the gate:\n%s", text)
	}
	g.gpupool(0, "reconcile", "--wait")
	g.healed(left)
}

// TestASlidingWindowOpensTheGate lets usage slide out of the window: the pool launches on its
// own. The budget's action is only to alert.
func TestASlidingWindowOpensTheGate(t *testing.T) {
	t.Parallel()
	g := newGated(t, func(d *budget.Declaration) { d.Window, d.GPUHours = "1m", "0.005" })
	pod := g.start("runs", kubetest.GPUs(8))
	g.useUp()
	if err := g.server.Client().CoreV1().Pods(g.namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	left := g.held()
	kubetest.WaitFor(t, "the pool to be topped up", func(context.Context) error {
		g.gpupool(0, "reconcile", "--wait")
		if now := g.instances(); len(now) != 2 {
			time.Sleep(500 * time.Millisecond)
			return errors.New("the budget still holds it")
		}
		return nil
	})
	g.healed(left)
}
