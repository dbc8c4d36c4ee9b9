package kubernetes_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

var status = store.Key{Kind: store.Statuses, Name: "budgets/team-a"}

// throughProxy is a store that is reached through a proxy, and the same one
// reached as others do.
func throughProxy(t *testing.T, o kubernetes.Options) (s, others *kubernetes.Store, p *proxy) {
	t.Helper()
	cluster := kubetest.Start(t)
	namespace := cluster.Namespace(t)
	p = newProxy(t, cluster)
	s = p.open(t, namespace, o)
	return s, open(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, namespace, o), p
}

func TestLostAnswers(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]fault{"the call is lost": cutBefore, "the answer is lost": cutAfter, "the answer breaks off": cutWithin} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, others, p := throughProxy(t, kubernetes.Options{})
			for _, key := range []store.Key{train, status} {
				p.set(first("POST", f))
				created := write(t, s, key, "a", "")
				expect(t, others, key, "a", created)
				p.set(first("PUT", f))
				changed := write(t, s, key, "b", created)
				expect(t, others, key, "b", changed)
				p.set(first("GET", f))
				expect(t, s, key, "b", changed)
				p.set(first("DELETE", f))
				if err := s.Delete(t.Context(), key, changed); err != nil {
					t.Errorf("delete: %v", err)
				}
				if _, err := others.Read(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
					t.Errorf("the deleted document: %v", err)
				}
			}
		})
	}
}

// TestALostAnswerIsNeverTakenForSuccess has two writers write the same bytes over
// the same revision, and the answer to the one that loses is lost.
func TestALostAnswerIsNeverTakenForSuccess(t *testing.T) {
	t.Parallel()
	s, others, p := throughProxy(t, kubernetes.Options{})
	for _, revision := range []store.Revision{"", write(t, others, status, "before", "")} {
		key := train
		if revision != "" {
			key = status
		}
		won := write(t, others, key, "the same", revision)
		p.set(first("P", cutAfter))
		if _, err := s.Write(t.Context(), key, []byte("the same"), revision); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: got %v, want a conflict: another one wrote these bytes", key, err)
		}
		expect(t, others, key, "the same", won)
	}
}

func TestWriteWithUnknownResult(t *testing.T) {
	t.Parallel()
	s, others, p := throughProxy(t, kubernetes.Options{})
	p.set(every("POST", cutBefore))
	_, err := s.Write(t.Context(), train, []byte("a"), "")
	if err == nil || errors.Is(err, store.ErrConflict) || !strings.Contains(err.Error(), "not known whether it was written") ||
		!strings.Contains(err.Error(), train.String()) {
		t.Errorf("got %v, want an error that says what is not known", err)
	}
	if _, err := others.Read(t.Context(), train); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("read: %v", err)
	}
}

func TestAnEndedContextEndsAWriteThatHangs(t *testing.T) {
	t.Parallel()
	s, others, p := throughProxy(t, kubernetes.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.set(every("POST", unanswered))
	answer := make(chan error)
	go func() {
		_, err := s.Write(ctx, train, []byte("a"), "")
		answer <- err
	}()
	kubetest.WaitFor(t, "the write to take effect", func(ctx context.Context) error {
		_, err := others.Read(ctx, train)
		return err
	})
	cancel()
	if err := <-answer; !errors.Is(err, context.Canceled) || errors.Is(err, store.ErrConflict) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	p.set(nil)
	// The next process reads before it writes.
	d, err := others.Read(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, train, "b", d.Revision)
}
