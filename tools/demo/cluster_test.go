package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
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

// TestDemoLeavesAClusterAsItWas plays the part of budgets in a user's own cluster, which has
// pods with GPUs of the team that the demo calls a.
func TestDemoLeavesAClusterAsItWas(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	own := c.Namespace(t)
	kubetest.Create(t, c, kubetest.Deployment(own, "serve", 2, kubetest.Labels(map[string]string{"team": "a"}), kubetest.GPUs(4)))
	pods := func(ctx context.Context) error {
		list, err := c.Client().CoreV1().Pods(own).List(ctx, metav1.ListOptions{FieldSelector: "status.phase=Running"})
		if err == nil && len(list.Items) != 2 {
			err = fmt.Errorf("%d of 2 run", len(list.Items))
		}
		return err
	}
	kubetest.WaitFor(t, "the cluster's own pods", pods)
	before := everything(t, c)

	// One after the other, as both have the same names for what they create.
	for _, tt := range []struct {
		name, hours string
		stopAt      string // as by Ctrl-C, once it is printed
	}{
		{"played", "0.04", ""},
		{"stopped on the way", "0.003", "blocking new GPU pods"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			out := &transcript{wrote: func(all string) {
				if tt.stopAt != "" && strings.Contains(all, tt.stopAt) {
					cancel()
				}
			}}
			s := rehearsal(t, out)
			s.env = append(s.env, "TF_VAR_gpu_hours="+tt.hours) // used up a little sooner
			s.kubeconfig = c.Kubeconfig()
			err := s.play(ctx, "stories/budget.txt", "../../examples")
			if stopped := tt.stopAt != ""; stopped != (err != nil) || stopped && !errors.Is(ctx.Err(), context.Canceled) {
				t.Error(err, ctx.Err())
			}
			if err := s.close(); err != nil {
				t.Error(err)
			}
			if strings.Contains(out.String(), own) {
				t.Errorf("the demo prints %s", own)
			}
			if diff := cmp.Diff(before, everything(t, c)); diff != "" {
				t.Errorf("objects of the cluster before (-) and after (+):\n%s", diff)
			}
		})
	}

	t.Run("refused", func(t *testing.T) {
		kubetest.Create(t, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: podsNamespace}})
		kubetest.WaitFor(t, "what controllers create in a namespace", func(ctx context.Context) error {
			_, account := c.Client().CoreV1().ServiceAccounts(podsNamespace).Get(ctx, "default", metav1.GetOptions{})
			_, certificate := c.Client().CoreV1().ConfigMaps(podsNamespace).Get(ctx, "kube-root-ca.crt", metav1.GetOptions{})
			return errors.Join(account, certificate)
		})
		before := everything(t, c)
		s := rehearsal(t, &transcript{})
		s.kubeconfig = c.Kubeconfig()
		err := s.play(t.Context(), "stories/budget.txt", "../../examples")
		if err == nil || !strings.Contains(err.Error(), "the cluster has namespace/gpupool-demo already") {
			t.Errorf("the demo plays in it: %v", err)
		}
		if err := s.close(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(before, everything(t, c)); diff != "" {
			t.Errorf("objects of the cluster before (-) and after (+):\n%s", diff)
		}
	})
}
