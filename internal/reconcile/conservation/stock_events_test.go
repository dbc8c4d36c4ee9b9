package conservation_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

func (w *world) markPod(key string, n int, label, value string) {
	pods := w.cluster.StockPods(key)
	if len(pods) == 0 {
		return
	}
	of := &pods[n%len(pods)]
	labels := maps.Clone(of.Labels)
	labels[label] = value
	of.Labels = labels
	if p := w.cluster.Pods[of.UID]; p != nil {
		p.Labels = maps.Clone(labels)
		w.cluster.Changed(*p, false)
	}
	w.logf("the pod %s is labeled %s", of.Name, label)
}

func (w *world) markStock(which, how int, label string) {
	if s, ok := pick(w.stock, which); ok {
		w.markPod(s.now().Key(), how, label, "true")
	}
}

// relabel has a tenant move a stock pool's Deployment to another team; its pods are made
// again.
func (w *world) relabel(which, how int) {
	s, ok := pick(w.stock, which)
	if !ok || w.cluster.Deployment(s.now().Key()) == nil {
		return
	}
	key := s.now().Key()
	of := w.cluster.Deployment(key).DeepCopy()
	of.Spec.Template.Labels["team"] = []string{"b", "a"}[how%2]
	pods := slices.Clone(w.cluster.StockPods(key))
	for n := range pods {
		w.cluster.made++
		pods[n].UID, pods[n].Name = fmt.Sprintf("relabeled-%d", w.cluster.made), fmt.Sprintf("%s-%d", of.Name, w.cluster.made)
		pods[n].Labels = maps.Clone(of.Spec.Template.Labels)
	}
	w.cluster.LeaveStockPods(key, pods...)
	w.cluster.Put(key, of)
	w.cluster.syncStock(key)
	w.cluster.account("the tenant's labels")
}

// orphan deletes a stock pool's Deployment, and leaves its pods.
func (w *world) orphan(which, _ int) {
	s, ok := pick(w.stock, which)
	if !ok || w.cluster.Deployment(s.now().Key()) == nil {
		return
	}
	key := s.now().Key()
	pods := slices.Clone(w.cluster.StockPods(key))
	w.cluster.Put(key, nil)
	w.cluster.LeaveStockPods(key, pods...)
	w.logf("a person deletes the Deployment %s, and leaves its %d pods", key, len(pods))
}

func (w *world) scaleStock(which, how int) {
	s, ok := pick(w.stock, which)
	if !ok || w.cluster.Deployment(s.now().Key()) == nil {
		return
	}
	key := s.now().Key()
	of := w.cluster.Deployment(key).DeepCopy()
	*of.Spec.Replicas = int32(how % 5) //nolint:gosec // few
	w.cluster.Put(key, of)
	w.cluster.syncStock(key)
	w.cluster.account("the tenant's scaling of " + key)
	w.logf("the tenant scales %s to %d", key, how%5)
}

func (w *world) replicas(which, how int) {
	s, ok := pick(w.stock, which)
	if !ok || s.deleting {
		return
	}
	d := s.now()
	d.Replicas = 1 + how%4
	state, err := w.process(w.store).StockPools().Update(context.Background(), d, 0)
	w.logf("apply of %s with %d replicas: %v", d.Key(), d.Replicas, err)
	if err == nil {
		s.states = append(s.states, state.Declaration)
	}
}

func (w *world) destroyStock(which, _ int) {
	if s, ok := pick(w.stock, which); ok {
		_, err := w.process(w.store).StockPools().Delete(context.Background(), s.now(), 5*time.Second)
		s.deleting = s.deleting || err == nil
		w.logf("destroy of %s: %v", s.now().Key(), err)
	}
}
