package stock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// escalated: what a tenant's patch grants the pods is reverted, or reported as drift by
// runs, status, explain and plans.
func escalated(r *rig) {
	r.apply(r.pool(attributes{"pod_security_level": `"restricted"`}))
	r.ready(2)
	r.reconcile().is(r.t, decide.Ready)
	const pod, main = "/spec/template/spec", "/spec/template/spec/containers/0"
	type operation = map[string]any
	add := func(path string, value any) operation { return operation{"op": "add", "path": path, "value": value} }
	patch, err := json.Marshal([]operation{
		add(main+"/securityContext/runAsUser", 0), add(main+"/securityContext/runAsNonRoot", false),
		add(main+"/securityContext/seccompProfile", operation{"type": "Unconfined"}), add(main+"/command", []string{"theirs"}),
		add(pod+"/serviceAccountName", "theirs"), add(main+"/resources/limits/nvidia.com~1mig-3g.40gb", "1"),
		add(main+"/resources/requests/nvidia.com~1mig-3g.40gb", "1"),
		add(pod+"/volumes", []any{operation{"name": "token", "projected": operation{"sources": []any{operation{
			"serviceAccountToken": operation{"path": "token"},
		}}}}}),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	r.somebody(types.JSONPatchType, "theirs", string(patch))
	told := r.reconcile()
	r.says(told, "securityContext.runAsNonRoot was false instead of nothing", "securityContext.runAsUser was 0 instead of nothing",
		"spec.template.spec.serviceAccountName was theirs instead of nothing", "containers[0].command was another instead of nothing")
	spec := r.deployment().Spec.Template.Spec
	if s := spec.Containers[0].SecurityContext; s.RunAsUser != nil || s.RunAsNonRoot != nil || s.SeccompProfile != nil ||
		spec.ServiceAccountName != "" || len(spec.Containers[0].Command) > 0 {
		r.t.Errorf("its pods are made from %+v", spec)
	}
	told = r.reconcile()
	if len(told.Decisions) > 0 {
		r.t.Errorf("the next run decides %s", told.decided())
	}
	if of := told.StockPools[0].Of(decide.Synced); of.Status != "False" || of.Reason != "Drifted" {
		r.t.Errorf("what is left is %+v", of)
	}
	for _, command := range [][]string{
		{"gpupool", "reconcile", "--kubeconfig", r.run}, {"gpupool", "status", "--kubeconfig", r.run},
		{"gpupool", "explain", "stock_pool/" + r.namespace + "/" + poolName, "--kubeconfig", r.run}, {"terraform", "plan", "-input=false", "-no-color"},
	} {
		done := r.work.Must(command[0], command[1:]...)
		text := words(done.Stdout + done.Stderr)
		for _, want := range []string{"has undeclared fields", "theirs", "limits.nvidia.com/mig-3g.40gb = 1", "volumes[token]"} {
			if !strings.Contains(text, want) {
				r.t.Errorf("%s does not say %q:\n%s", strings.Join(command, " "), want, text)
			}
		}
	}
	r.apply()
	r.nothingLeft()
}

// forged: pods of a tenant's ReplicaSet with the name and labels of the pool's count as no
// stock while its own have no node.
func forged(r *rig) {
	r.apply(r.pool(attributes{"node_selector": `{ none = "such" }`, "wait_for_rollout": "false"}))
	set := kubetest.Create(r.t, r.server, kubetest.ForgedReplicaSet(r.namespace, poolName, 2, map[string]string{
		stockpool.LabelPool: poolName, "gpupool/spec-name": "g1.1", "team": "a",
	}))
	kubetest.WaitFor(r.t, "the tenant's pods to be ready", func(ctx context.Context) error {
		list, err := r.server.Client().CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{LabelSelector: "forged"})
		if err != nil {
			return err
		}
		ready := 0
		for _, p := range list.Items {
			if isReady(p) {
				ready++
			}
		}
		if ready != 2 {
			return fmt.Errorf("%d are ready", ready)
		}
		return nil
	})
	kubetest.WaitFor(r.t, "the pool's own pods", func(ctx context.Context) error {
		if of := r.deployment(); of.Status.Replicas != 2 || of.Status.ReadyReplicas != 0 {
			return errors.New("they are not there")
		}
		return nil
	})
	told := r.reconcile()
	told.is(r.t, decide.Pending)
	if p := told.StockPools[0]; p.Available != 0 || p.Replicas != 2 || p.Waiting != 2 {
		r.t.Errorf("with forged pods it is %+v", p.Status)
	}
	if err := r.server.Client().AppsV1().ReplicaSets(r.namespace).Delete(r.t.Context(), set.Name, metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationForeground),
	}); err != nil {
		r.t.Fatal(err)
	}
	r.apply()
	r.nothingLeft()
}
