package providertest

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// ClusterUID is the uid of the cluster's namespace kube-system.
func (w *World) ClusterUID() string {
	w.tb.Helper()
	namespace, err := w.Cluster.Client().CoreV1().Namespaces().Get(w.tb.Context(), "kube-system", metav1.GetOptions{})
	if err != nil {
		w.tb.Fatal(err)
	}
	return string(namespace.UID)
}

// Rewrite changes a budget's record without anyone knowing.
func (w *World) Rewrite(name string, change func(*declaration.Budget)) {
	w.tb.Helper()
	s := w.Store()
	doc, err := s.Read(w.tb.Context(), store.Key{Kind: store.Budgets, Name: name})
	if err != nil {
		w.tb.Fatal(err)
	}
	record, err := declaration.Decode[declaration.Budget](name, doc.Data)
	if err != nil {
		w.tb.Fatal(err)
	}
	change(&record)
	write(w, doc, record)
}

// Hold writes what a run of gpupool reconcile writes about workloads that it paused.
func (w *World) Hold(p declaration.Pauses) {
	w.tb.Helper()
	write(w, store.Document{Key: store.Key{Kind: store.Pauses, Name: p.BudgetUID}}, p)
}

// Forget removes a budget's record without anyone knowing.
func (w *World) Forget(name string) {
	w.tb.Helper()
	s := w.Store()
	doc, err := s.Read(w.tb.Context(), store.Key{Kind: store.Budgets, Name: name})
	if err == nil {
		err = s.Delete(w.tb.Context(), doc.Key, doc.Revision)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
}

// Judge writes a budget's status as a run of gpupool reconcile would, with a change
// to it.
func (w *World) Judge(name string, change func(*budget.Status)) {
	w.tb.Helper()
	d, err := w.Process().Budgets().Find(w.tb.Context(), name)
	if err != nil {
		w.tb.Fatal(err)
	}
	limit, err := d.Limit()
	if err != nil {
		w.tb.Fatal(err)
	}
	now := time.Now().UTC().Truncate(time.Second)
	window, err := d.WindowAt(now, time.LoadLocation)
	if err != nil {
		w.tb.Fatal(err)
	}
	status := budget.Status{
		Name: d.Name, UID: d.UID, Generation: d.Generation, ClusterUID: d.ClusterUID, RunID: "run", At: now, Terms: d.Terms(),
		Usage: budget.Usage{WindowStart: window.Start, WindowEnd: window.End, Limit: limit, Coverage: 1000},
	}
	change(&status)
	doc, err := w.Store().Read(w.tb.Context(), store.Key{Kind: store.Statuses, Name: "budgets/" + name})
	if err != nil {
		doc = store.Document{Key: store.Key{Kind: store.Statuses, Name: "budgets/" + name}}
	}
	write(w, doc, status)
}

func write[T declaration.Body](w *World, doc store.Document, body T) {
	w.tb.Helper()
	data, err := declaration.Encode(body)
	if err == nil {
		_, err = w.Store().Write(w.tb.Context(), doc.Key, data, doc.Revision)
	}
	if err != nil {
		w.tb.Fatal(err)
	}
}
