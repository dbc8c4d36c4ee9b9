package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// everything lists the objects of a cluster by their kinds, names and uids. Events
// come and go by themselves.
func everything(t *testing.T, c *kubetest.Cluster) []string {
	t.Helper()
	kinds, err := c.Client().Discovery().ServerPreferredResources()
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(c.Config())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, group := range kinds {
		version, err := schema.ParseGroupVersion(group.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range group.APIResources {
			if kind.Name == "events" || !slices.Contains(kind.Verbs, "list") {
				continue
			}
			list, err := client.Resource(version.WithResource(kind.Name)).List(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatalf("listing %s: %v", kind.Name, err)
			}
			for _, o := range list.Items {
				all = append(all, fmt.Sprintf("%s %s/%s %s", kind.Name, o.GetNamespace(), o.GetName(), o.GetUID()))
			}
		}
	}
	slices.Sort(all)
	return all
}

// TestDemoLeavesAClusterAsItWas plays the part of budgets in a cluster that is
// somebody's own, and has pods with GPUs of the team that the demo calls a.
func TestDemoLeavesAClusterAsItWas(t *testing.T) {
	t.Parallel()
	gpupool, terraform := programs(t)
	c := kubetest.Start(t)
	own := c.Namespace(t)
	kubetest.Create(t, c, kubetest.Deployment(own, "serve", 2, kubetest.Labels(map[string]string{"team": "a"}), kubetest.GPUs(4)))
	pods := func(ctx context.Context) error {
		list, err := c.Client().CoreV1().Pods(own).List(ctx, metav1.ListOptions{FieldSelector: running})
		if err == nil && len(list.Items) != 2 {
			err = fmt.Errorf("%d of 2 run", len(list.Items))
		}
		return err
	}
	kubetest.WaitFor(t, "the cluster's own pods", pods)
	before := everything(t, c)

	for _, tt := range []struct {
		name, hours string
		play        func(context.Context, *stage) error
		tells       []string
	}{
		// One after the other, as both have the same names for what they create.
		{"played", "0.04", func(ctx context.Context, s *stage) error { return s.play(ctx, 1, budgetActs) }, []string{
			"alerted that ", "% is reached in gpupool-demo", "would evict ", "froze: no new GPU pods",
			"evicted ", "its budget team-a is used up", "lifted the freeze",
		}},
		{"stopped on the way", "0.003", stopAfterFreeze, []string{"froze: no new GPU pods"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
			defer cancel()
			var out bytes.Buffer
			s, err := newStage(ctx, &out, gpupool, terraform, "../../examples/demo-budget")
			if err != nil {
				t.Fatal(err)
			}
			s.env = append(s.env, "TF_VAR_gpu_hours="+tt.hours) // used up a little sooner
			err = s.enterCluster(ctx, "", c.Kubeconfig())
			if err == nil {
				err = tt.play(ctx, s)
			}
			if closing := s.close(); err != nil || closing != nil {
				t.Fatalf("%v, %v\n%s", err, closing, out.Bytes())
			}
			for _, told := range tt.tells {
				if !strings.Contains(out.String(), told) {
					t.Errorf("the demo does not show %q", told)
				}
			}
			if strings.Contains(out.String(), own) {
				t.Errorf("the demo tells of %s", own)
			}
			if diff := cmp.Diff(before, everything(t, c)); diff != "" {
				t.Errorf("objects of the cluster before (-) and after (+):\n%s", diff)
			}
			if t.Failed() {
				t.Logf("%s", out.Bytes())
			}
		})
	}
}

// stopAfterFreeze goes as far as the freeze, and is then stopped as by Ctrl-C,
// which ends the local CVM, too.
func stopAfterFreeze(ctx context.Context, s *stage) error {
	for _, act := range budgetActs[:2] {
		if err := act.do(ctx, s); err != nil {
			return err
		}
	}
	if err := s.deploy(ctx); err != nil {
		return err
	}
	err := until(ctx, "the freeze", func(ctx context.Context) (bool, error) {
		output, err := s.keep(s.command(ctx, s.gpupoolAt, "reconcile"))
		return strings.Contains(output, "froze"), err
	})
	s.cvm.Stop()
	return err
}
