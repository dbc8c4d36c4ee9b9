package nodes

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// withNotice: the instance's agent gets an interruption notice. A service with long intervals
// launches a replacement at once and drains the node, and its pods have moved when it goes. The agent
// deletes what no eviction reaches. The pool terminates nothing.
func withNotice(r *rig) {
	r.create(2, 3)
	r.deploy(2)
	before, pods := r.own(), r.runs(2)
	taken, kept := before[0], before[1]
	unevictable := r.unevictable(taken)
	remove := "DELETE namespaces/" + unevictable[0].Namespace + "/pods/"
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
	for _, pod := range unevictable {
		r.gone(*pod)
	}
	now := r.runs(2)
	if _, moved := now[fresh]; !moved || now[kept].UID != pods[kept].UID {
		r.t.Errorf("the pods run on %v, and should on %s, which was launched, and on %s, as before", slices.Collect(maps.Keys(now)), fresh, kept)
	}
	stopService()
	stopAgent()
	r.reconcile()
	r.audit.Wants(r.t, "on the notice",
		"PATCH nodes/"+nodeOf(taken)+"/status", "taint "+nodeOf(taken),
		"RunInstances "+fresh+" ok", "cordon "+nodeOf(taken), "evict "+pods[taken].Name, "mark "+nodeOf(fresh),
		remove+"bare", remove+"kept", remove+"protected", "PATCH nodes/"+nodeOf(taken)+"/status")
	r.says(r.gpupool("status", "--machines"), "Tencent Cloud reclaims it at", "pods deleted by ")
	r.says(r.gpupool("history"), "notice spot_pool/train "+taken+", node "+nodeOf(taken)+": Tencent Cloud reclaims it at",
		"drain spot_pool/train "+taken, "drained spot_pool/train "+taken)
	if i := r.instance(taken); i == nil || i.State != "RUNNING" {
		r.t.Errorf("the machine is gone before its time: %v", i)
	}

	r.pass(2 * time.Minute)
	r.silent(taken)
	r.says(r.reconcile(), taken+" (GN7.2XLARGE32 in ap-singapore-2) is gone: reclaimed by Tencent Cloud")
	if told := strings.Join(strings.Fields(r.gpupool("history")), " "); !reached.MatchString(told) {
		r.t.Errorf("the history does not say how many pods were deleted:\n%s", told)
	}
	r.pass(61 * time.Second)
	r.reconcile()
	r.audit.Wants(r.t, "afterwards", "delete "+nodeOf(taken))
	r.runs(2)
	r.left(fresh, kept)
}

// reached is of all pods, with or without the one that an eviction ended at once.
var reached = regexp.MustCompile(`reclaim spot_pool/train ins-\S+ GN7.2XLARGE32 in ap-singapore-2; pods deleted by \S+: (3 of 3|4 of 4)`)

// unevictable runs pods on an instance that no run evicts: a bare one, a protected one, and one that a disruption
// budget keeps.
func (r *rig) unevictable(id string) []*corev1.Pod {
	r.t.Helper()
	namespace, kept := r.server.Namespace(r.t), map[string]string{"app": "kept"}
	kubetest.Create(r.t, r.server, kubetest.PodDisruptionBudget(namespace, "kept", 1, kept))
	var pods []*corev1.Pod
	for name, option := range map[string]kubetest.PodOption{
		"bare": kubetest.Labels(nil), "protected": kubetest.Annotation("gpupool/protected", "true"), "kept": kubetest.Labels(kept),
	} {
		pod := kubetest.Create(r.t, r.server, kubetest.Pod(namespace, name, option, kubetest.BoundTo(nodeOf(id)), kubetest.OnFleet(r.namespace)))
		pods = append(pods, r.server.WaitRunning(r.t, pod))
	}
	return pods
}

func (r *rig) instance(id string) *cvmsim.Instance {
	for _, i := range r.sim.Server.Instances() {
		if i.InstanceID == id {
			return &i
		}
	}
	return nil
}
