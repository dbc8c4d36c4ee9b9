package nodes

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// withNotice: the instance's agent gets an interruption notice. A service with long intervals
// launches a replacement at once and drains the node, and its pods have moved when it goes. The
// pool terminates nothing.
func withNotice(r *rig) {
	r.create(2, 3)
	r.deploy(2)
	before, pods := r.own(), r.runs(2)
	taken, kept := before[0], before[1]
	stopAgent := r.serves("notice-watch", "--node", nodeOf(taken), "--metadata-endpoint", r.sim.URL+"?instance_id="+taken, "--interval", "1s")
	stopService := r.serves("reconcile", "--every", "1h")
	if _, err := r.sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: []string{taken}, Notice: cvmsim.Duration(2 * time.Minute)}); err != nil {
		r.t.Fatal(err)
	}
	given := time.Now()
	kubetest.WaitFor(r.t, "a launch", func(context.Context) error {
		if len(r.own()) == 2 {
			return errors.New("there is none")
		}
		return nil
	})
	if after := time.Since(given); after > 15*time.Second {
		r.t.Errorf("something is launched only %s after the notice", after)
	}
	fresh := r.launched(before)
	r.fleet.ready(r.t, 3)
	r.gone(pods[taken])
	now := r.runs(2)
	if _, moved := now[fresh]; !moved || now[kept].UID != pods[kept].UID {
		r.t.Errorf("the pods run on %v, and should on %s, which was launched, and on %s, as before", slices.Collect(maps.Keys(now)), fresh, kept)
	}
	stopService()
	stopAgent()
	r.reconcile()
	r.audit.Wants(r.t, "on the notice",
		"PATCH nodes/"+nodeOf(taken)+"/status", "taint "+nodeOf(taken),
		"RunInstances "+fresh+" ok", "cordon "+nodeOf(taken), "evict "+pods[taken].Name, "mark "+nodeOf(fresh))
	r.says(r.gpupool("status", "--machines"), "Tencent Cloud reclaims it at")
	r.says(r.gpupool("history"), "notice spot_pool/train "+taken+", node "+nodeOf(taken)+": Tencent Cloud reclaims it at",
		"drain spot_pool/train "+taken, "drained spot_pool/train "+taken)
	if i := r.instance(taken); i == nil || i.State != "RUNNING" {
		r.t.Errorf("the machine is gone before its time: %v", i)
	}

	r.pass(2 * time.Minute)
	r.silent(taken)
	r.says(r.reconcile(), taken+" (GN7.2XLARGE32 in ap-singapore-2) is gone: reclaimed by Tencent Cloud")
	r.pass(61 * time.Second)
	r.reconcile()
	r.audit.Wants(r.t, "afterwards", "delete "+nodeOf(taken))
	r.runs(2)
	r.left(fresh, kept)
}

func (r *rig) instance(id string) *cvmsim.Instance {
	for _, i := range r.sim.Server.Instances() {
		if i.InstanceID == id {
			return &i
		}
	}
	return nil
}
