package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// completeActs raise machines that are nodes, a warm stock of pods on them and a budget of
// both, and show what becomes of the pods while people, the cloud and the budget
// interfere.
var completeActs = []act{
	{
		"What the cluster needs, once: what cluster.sh prints",
		"The store, roles and policies; and a CronJob and an agent on each node, which the demo plays itself.",
		func(ctx context.Context, s *stage) error {
			script := s.command(ctx, "./cluster.sh", "--image", "gpupool")
			script.Env = append(script.Env, "PATH="+filepath.Dir(s.gpupoolAt)+string(os.PathListSeparator)+os.Getenv("PATH"))
			manifests, err := script.Output()
			if err != nil {
				return err
			}
			if err := s.apply(ctx, strings.Join(script.Args, " ")+" | kubectl apply -f -", string(manifests)); err != nil {
				return err
			}
			return s.createPodsNamespace(ctx)
		},
	},
	{
		"terraform apply: a pool of machines, a warm stock of pods on them, and a budget of both",
		"Both wait for the first run: until then, nobody knows what the budget's pods have used.",
		func(ctx context.Context, s *stage) error {
			if err := s.terraformQuietly(ctx, "init", "-input=false"); err != nil {
				return err
			}
			return s.applyComplete(ctx)
		},
	},
	{
		"gpupool reconcile: budget, machines and stock in one run",
		"The machines become nodes of the cluster, and the pods come to them.",
		func(ctx context.Context, s *stage) error {
			if err := s.gpupool(ctx, "reconcile", "--wait"); err != nil {
				return err
			}
			if err := s.podsRun(ctx, 2); err != nil {
				return err
			}
			if err := errors.Join(s.expectPods(ctx, 2), s.expectInstances(ctx, 2)); err != nil {
				return err
			}
			if err := s.gpupool(ctx, "reconcile"); err != nil {
				return err
			}
			return s.gpupool(ctx, "status", "--machines")
		},
	},
	{
		"Somebody scales the Deployment, and gpupool reconcile mends it",
		"It says what was changed, and by what. A Deployment that gpupool did not make is never touched.",
		scaleByHand,
	},
	{
		"The cloud gives notice that it takes a machine back in two minutes",
		"It says so inside the instance alone. gpupool notice-watch hears it there, and has the node say it.",
		giveNotice,
	},
	{
		"gpupool reconcile: first another machine is launched, then the node is drained",
		"With --every, a run begins by itself within seconds of the notice.",
		func(ctx context.Context, s *stage) error {
			if err := s.gpupool(ctx, "reconcile"); err != nil {
				return err
			}
			if err := s.podsOffNode(ctx, nodeOf(s.taken)); err != nil {
				return err
			}
			if err := s.expectPods(ctx, 2); err != nil {
				return err
			}
			return errors.Join(s.gpupool(ctx, "reconcile"), s.expectInstances(ctx, 3))
		},
	},
	{
		"The cloud takes the machine, which nothing runs on any more",
		"After two looks a minute apart, gpupool deletes its Node. The demo lets the cloud's clock leap.",
		func(ctx context.Context, s *stage) error {
			if err := s.leap(ctx, 2*time.Minute); err != nil {
				return err
			}
			for n := range 2 {
				if n > 0 {
					if err := s.leap(ctx, 61*time.Second); err != nil {
						return err
					}
				}
				if err := s.gpupool(ctx, "reconcile"); err != nil {
					return err
				}
			}
			return s.expectInstances(ctx, 2)
		},
	},
	{
		"The budget is used up: the stock is scaled to zero, and comes back with the next hours",
		"Usage is counted from the pods. The stock pool keeps to each budget that covers it, in the same run.",
		func(ctx context.Context, s *stage) error {
			if err := s.applyComplete(ctx, "gpu_hours=0.001", "grace_period=1s"); err != nil {
				return err
			}
			if err := s.reconcileUntilPods(ctx, 0); err != nil {
				return err
			}
			if err := errors.Join(s.expectPods(ctx, 0), s.gpupool(ctx, "status")); err != nil {
				return err
			}
			if err := s.applyComplete(ctx); err != nil {
				return err
			}
			return errors.Join(s.reconcileUntilPods(ctx, 2), s.expectPods(ctx, 2))
		},
	},
	{
		"terraform apply of a smaller pool: the node is drained before its instance ends",
		"Evictions heed disruption budgets. One pod of the stock waits now, and status says for what.",
		func(ctx context.Context, s *stage) error {
			if err := s.applyComplete(ctx, "machines=1"); err != nil {
				return err
			}
			if err := errors.Join(s.expectPods(ctx, 2), s.expectInstances(ctx, 1)); err != nil {
				return err
			}
			return errors.Join(s.gpupool(ctx, "reconcile"), s.gpupool(ctx, "status"))
		},
	},
	{
		"terraform destroy: drained as well, and no pod and no Node is left behind",
		"It ends once it has seen for certain that the instances are gone.",
		destroyComplete,
	},
	{
		"gpupool history: what happened to machines, stock and budget",
		"Each event once, whoever did it.",
		func(ctx context.Context, s *stage) error {
			now, err := s.cloudTime(ctx)
			if err != nil {
				return err
			}
			return s.gpupool(ctx, "history", "--until", now.Format(time.RFC3339)) // its clock has leapt
		},
	},
}

// applyComplete applies the configuration with these variables.
func (s *stage) applyComplete(ctx context.Context, variables ...string) error {
	args := []string{"apply", "-auto-approve", "-input=false", "-compact-warnings"}
	for _, v := range variables {
		args = append(args, "-var", v)
	}
	return s.terraform(ctx, args...)
}

// stockDeployment is what the stock pool becomes.
const stockDeployment = "runtime"

// scaleByHand scales the stock pool's Deployment as kubectl would, and has a run mend it.
func scaleByHand(ctx context.Context, s *stage) error {
	fmt.Fprintf(s.out, "\n   $ kubectl scale deployment -n %s %s --replicas 4\n", podsNamespace, stockDeployment)
	deployments := s.cluster.client.AppsV1().Deployments(podsNamespace)
	_, err := deployments.Patch(ctx, stockDeployment, types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{FieldManager: "kubectl"},
		"scale")
	if err != nil {
		return err
	}
	err = until(ctx, "four pods to be there", func(ctx context.Context) (bool, error) {
		n, err := s.pods(ctx, "")
		return n == 4, err
	})
	if err != nil {
		return err
	}
	return errors.Join(s.reconcileUntilPods(ctx, 2), s.expectPods(ctx, 2))
}

// podsRun waits until so many pods run.
func (s *stage) podsRun(ctx context.Context, want int) error {
	return until(ctx, fmt.Sprintf("%d pods to run", want), func(ctx context.Context) (bool, error) {
		n, err := s.pods(ctx, running)
		return n == want, err
	})
}

// reconcileUntilPods lets runs follow each other until so many pods run and no others are
// there.
func (s *stage) reconcileUntilPods(ctx context.Context, want int) error {
	return until(ctx, fmt.Sprintf("the stock to have %d pods", want), func(ctx context.Context) (bool, error) {
		if err := s.gpupool(ctx, "reconcile"); err != nil {
			return false, err
		}
		for range 20 {
			all, err := s.pods(ctx, "")
			if err != nil {
				return false, err
			}
			run, err := s.pods(ctx, running)
			if err != nil || all == want && run == want {
				return err == nil, err
			}
			pause(ctx, 250*time.Millisecond)
		}
		return false, nil
	})
}

// giveNotice has the cloud announce that it takes the oldest machine, and the agent on it
// mark its node.
func giveNotice(ctx context.Context, s *stage) error {
	instances, err := s.instances(ctx)
	if err != nil || len(instances) == 0 {
		return errors.Join(err, errors.New("there is no instance to take back"))
	}
	s.taken = instances[0].ID
	if err := s.control(ctx, "reclaim", fmt.Sprintf(`{"instance_ids":[%q],"notice":"2m"}`, s.taken)); err != nil {
		return err
	}
	node := nodeOf(s.taken)
	agent := s.command(ctx, s.gpupoolAt, "notice-watch", "--node", node, "--metadata-endpoint", s.cvm.Endpoint+"?instance_id="+s.taken)
	fmt.Fprintf(s.out, "\n   $ gpupool %s    (on the machine, by a DaemonSet)\n", strings.Join(agent.Args[1:], " "))
	if err := agent.Start(); err != nil {
		return err
	}
	err = until(ctx, "the node "+node+" to bear the notice", func(ctx context.Context) (bool, error) {
		n, err := s.cluster.client.CoreV1().Nodes().Get(ctx, node, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		for _, c := range n.Status.Conditions {
			if c.Type == "GpupoolReclaim" && c.Status == corev1.ConditionTrue {
				fmt.Fprintf(s.out, "   %s: condition %s: %s\n", node, c.Type, c.Message)
				return true, nil
			}
		}
		return false, nil
	})
	_ = agent.Process.Signal(os.Interrupt)
	_ = agent.Wait() // it was told to end
	return err
}

// podsOffNode waits until all pods run, and none of them on a node.
func (s *stage) podsOffNode(ctx context.Context, node string) error {
	return until(ctx, "the pods to leave the node "+node, func(ctx context.Context) (bool, error) {
		list, err := s.cluster.client.CoreV1().Pods(podsNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		for _, p := range list.Items {
			if p.Status.Phase != corev1.PodRunning || p.Spec.NodeName == node {
				return false, nil
			}
		}
		return true, nil
	})
}

// leap steps the cloud's clock.
func (s *stage) leap(ctx context.Context, by time.Duration) error {
	return s.control(ctx, "clock", fmt.Sprintf(`{"step":%q}`, by))
}

// destroyComplete destroys all of it. The minute after which instances are certainly gone is
// stepped over.
func destroyComplete(ctx context.Context, s *stage) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	leapt := make(chan error, 1)
	go func() {
		err := until(watching, "the instances to be gone", func(ctx context.Context) (bool, error) {
			instances, err := s.instances(ctx)
			return len(instances) == 0, err
		})
		if pause(watching, 3*time.Second); err == nil && watching.Err() == nil { // in which they are missed
			err = s.post(watching, "clock", `{"step":"61s"}`)
		}
		leapt <- err
	}()
	err := s.terraform(ctx, "destroy", "-auto-approve", "-input=false", "-var", "machines=1")
	if err != nil {
		return err
	}
	if err := <-leapt; err != nil {
		return err
	}
	list, err := s.cluster.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: "pool=train"})
	if err != nil {
		return err
	}
	if fmt.Fprintf(s.out, "\n   Nodes of the pool: %d\n", len(list.Items)); len(list.Items) > 0 {
		return fmt.Errorf("the node %s is left", list.Items[0].Name)
	}
	return errors.Join(s.expectPods(ctx, 0), s.expectInstances(ctx, 0))
}
