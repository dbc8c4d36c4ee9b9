package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// budgetActs give a team's pods a budget, let them use it up, and show what
// becomes of the pods and of a pool that names the budget.
var budgetActs = []act{
	{
		"What the cluster needs, once: a namespace for the store, roles, and a policy for freezes",
		"No operator is installed: nothing of gpupool runs between two runs.",
		prepareCluster,
	},
	{
		"terraform apply: a budget of 0.065 GPU-hours for the pods of team a, and a pool that names it",
		"The pool waits for the first run: until then, nobody knows what the budget's pods have used.",
		func(ctx context.Context, s *stage) error {
			if err := s.terraformQuietly(ctx, "init", "-input=false"); err != nil {
				return err
			}
			return s.terraform(ctx, "apply", "-auto-approve", "-input=false", "-compact-warnings")
		},
	},
	{
		"Two pods of team a come, with four GPUs each",
		"The first run finds them, judges the budget, and lets the pool launch.",
		func(ctx context.Context, s *stage) error {
			if err := s.deploy(ctx); err != nil {
				return err
			}
			if err := s.gpupool(ctx, "reconcile", "--wait"); err != nil {
				return err
			}
			return s.expectInstances(ctx, 2)
		},
	},
	{
		"One of the pods is deleted, and its GPU-hours stay",
		"The run replays what happened since the last one: the pod's end is known to the second.",
		deletePod,
	},
	{
		"gpupool reconcile, as cron runs it, until the budget is used up",
		"Each threshold is told of once, as an Event in the pods' namespace too.",
		func(ctx context.Context, s *stage) error {
			err := until(ctx, "the budget to be exceeded", func(ctx context.Context) (bool, error) {
				if err := s.gpupool(ctx, "reconcile"); err != nil {
					return false, err
				}
				exceeded, err := s.exceeded(ctx)
				if !exceeded {
					pause(ctx, 5*time.Second)
				}
				return exceeded, err
			})
			pause(ctx, 2*time.Second) // in which the grace ends
			return err
		},
	},
	{
		"gpupool reconcile --dry-run: what enforcement would do now",
		"The grace of one second is over. The default of a budget is to tell, and to touch nobody.",
		func(ctx context.Context, s *stage) error {
			output, err := s.keep(s.command(ctx, s.gpupoolAt, "reconcile", "--dry-run"))
			if err == nil && !strings.Contains(output, "would evict") {
				err = errors.New("the dry run plans no eviction")
			}
			return err
		},
	},
	{
		"gpupool reconcile: the pods are evicted, and do not come back",
		"First new GPU pods are kept out, then the eviction API is asked. The Deployment stays as it is.",
		func(ctx context.Context, s *stage) error {
			if err := s.gpupool(ctx, "reconcile"); err != nil {
				return err
			}
			err := until(ctx, "the pods to be gone", func(ctx context.Context) (bool, error) {
				n, err := s.pods(ctx, "")
				return n == 0, err
			})
			if err != nil {
				return err
			}
			pause(ctx, 3*time.Second) // in which the Deployment's controller tries to bring them back
			return s.expectPods(ctx, 0)
		},
	},
	{
		"The cloud takes an instance of the pool back, and the budget holds the pool",
		"The plan reads the budget's status in the store. It looks at no pod, and says why nothing is launched.",
		func(ctx context.Context, s *stage) error {
			if err := s.control(ctx, "reclaim", `{"pool":"serve","count":1}`); err != nil {
				return err
			}
			if err := s.terraform(ctx, "plan", "-input=false"); err != nil {
				return err
			}
			return s.expectInstances(ctx, 1)
		},
	},
	{
		"terraform apply with a higher limit: freeze lifted, pods back, pool healed",
		"What was used stays used: only the limit has changed.",
		func(ctx context.Context, s *stage) error {
			if err := s.terraform(ctx, "apply", "-auto-approve", "-input=false", "-compact-warnings", "-var", "gpu_hours=1"); err != nil {
				return err
			}
			if err := s.gpupool(ctx, "reconcile", "--wait"); err != nil {
				return err
			}
			// The controller of refused pods tries again later and later; a change
			// of its Deployment has it try at once.
			fmt.Fprintf(s.out, "\n   $ kubectl annotate deployment -n %s train try=again\n", podsNamespace)
			again := []byte(`{"metadata":{"annotations":{"try":"again"}}}`)
			if _, err := s.cluster.client.AppsV1().Deployments(podsNamespace).Patch(ctx, "train", types.MergePatchType, again,
				metav1.PatchOptions{}); err != nil {
				return err
			}
			err := until(ctx, "the pods to be back", func(ctx context.Context) (bool, error) {
				n, err := s.pods(ctx, running)
				return n == 2, err
			})
			return errors.Join(err, s.expectPods(ctx, 2), s.expectInstances(ctx, 2))
		},
	},
	{
		"terraform destroy: the budget and the pool go",
		"Only what carries their own uid is touched.",
		func(ctx context.Context, s *stage) error {
			if err := s.terraform(ctx, "destroy", "-auto-approve", "-input=false"); err != nil {
				return err
			}
			return s.expectInstances(ctx, 0)
		},
	},
	played,
}

func prepareCluster(ctx context.Context, s *stage) error {
	for _, name := range []string{storeNamespace, storeNamespace + "-run", podsNamespace} {
		_, err := s.cluster.client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			return fmt.Errorf("the cluster has a namespace %s already, and what is in it is not the demo's: remove it first", name)
		}
		if !apierrors.IsNotFound(err) {
			return err
		}
	}
	args := []string{"manifests", "--namespace", storeNamespace, "--image", "gpupool"}
	manifests, err := s.command(ctx, s.gpupoolAt, args...).Output()
	if err != nil {
		return err
	}
	if err := s.apply(ctx, "gpupool "+strings.Join(args, " ")+" | kubectl apply -f -", string(manifests)); err != nil {
		return err
	}
	return s.createPodsNamespace(ctx)
}

// createPodsNamespace creates the namespace of the demo's pods.
func (s *stage) createPodsNamespace(ctx context.Context) error {
	return s.cluster.create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": podsNamespace},
	}})
}

const deployment = `{
  "apiVersion": "apps/v1", "kind": "Deployment",
  "metadata": {"name": "train", "namespace": "gpupool-demo"},
  "spec": {
    "replicas": 2,
    "selector": {"matchLabels": {"app": "train"}},
    "template": {
      "metadata": {"labels": {"app": "train", "team": "a"}},
      "spec": {
        "terminationGracePeriodSeconds": 2,
        "containers": [{
          "name": "train", "image": "registry.k8s.io/pause:3.10",
          "resources": {"limits": {"nvidia.com/gpu": "4"}}
        }]
      }
    }
  }
}`

// deploy creates the Deployment, and waits for its pods.
func (s *stage) deploy(ctx context.Context) error {
	var o unstructured.Unstructured
	if err := json.Unmarshal([]byte(deployment), &o); err != nil {
		return err
	}
	if err := s.cluster.create(ctx, &o); err != nil {
		return err
	}
	err := until(ctx, "the two pods, which ask for four GPUs each, to run", func(ctx context.Context) (bool, error) {
		n, err := s.pods(ctx, running)
		return n == 2, err
	})
	return errors.Join(err, s.expectPods(ctx, 2))
}

// running selects the pods that run.
const running = "status.phase=Running"

// pods counts the pods of a field selector.
func (s *stage) pods(ctx context.Context, selector string) (int, error) {
	list, err := s.cluster.client.CoreV1().Pods(podsNamespace).List(ctx, metav1.ListOptions{FieldSelector: selector})
	if err != nil {
		return 0, err
	}
	return len(list.Items), nil
}

// pause waits, or until the demo is stopped.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func deletePod(ctx context.Context, s *stage) error {
	list, err := s.cluster.client.CoreV1().Pods(podsNamespace).List(ctx, metav1.ListOptions{})
	if err != nil || len(list.Items) == 0 {
		return errors.Join(err, errors.New("there is no pod to delete"))
	}
	name := list.Items[0].Name
	fmt.Fprintf(s.out, "\n   $ kubectl delete pod -n %s %s\n", podsNamespace, name)
	pods := s.cluster.client.CoreV1().Pods(podsNamespace)
	if err := pods.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	err = until(ctx, "the pod to be gone", func(ctx context.Context) (bool, error) {
		list, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
		return err == nil && len(list.Items) == 0, err
	})
	if err != nil {
		return err
	}
	output, err := s.keep(s.command(ctx, s.gpupoolAt, "usage", "team-a"))
	if err == nil && !strings.Contains(output, name) {
		err = fmt.Errorf("the pod %s that was deleted is not in the usage", name)
	}
	return err
}

// exceeded asks gpupool status.
func (s *stage) exceeded(ctx context.Context) (bool, error) {
	output, err := s.command(ctx, s.gpupoolAt, "status", "-o", "json").Output()
	if err != nil {
		return false, err
	}
	var status struct {
		Budgets []struct {
			Name     string `json:"name"`
			Exceeded bool   `json:"exceeded"`
		} `json:"budgets"`
	}
	if err := json.Unmarshal(output, &status); err != nil {
		return false, err
	}
	if len(status.Budgets) != 1 {
		return false, fmt.Errorf("status tells of %d budgets, and one was declared", len(status.Budgets))
	}
	return status.Budgets[0].Exceeded, nil
}
