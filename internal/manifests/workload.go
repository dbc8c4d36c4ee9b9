package manifests

import (
	"fmt"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

type workload struct{ Options }

func (w workload) kind() string {
	if w.Mode == Deployment || w.Mode == Serve {
		return "Deployment"
	}
	return "CronJob"
}

// objects returns what runs gpupool, what reaches it, and the alerts.
func (w workload) objects() []Object {
	var all []Object
	if w.Budgets != "" {
		all = append(all, Object{"The budgets that a pod declares before it starts.", w.budgets()})
	}
	switch w.Mode {
	case Deployment:
		all = append(all, Object{
			"The runs. If a CronJob ran them before, delete it: kubectl -n " + w.runNamespace() + " delete cronjob " + ReconcileAccount + ".",
			w.deployment(),
		})
	case Serve:
		all = append(all, w.server()...)
	default:
		all = append(all, Object{"The run. It exits with 0 if another run is under way.", w.cronJob()})
	}
	if w.PrometheusRule {
		all = append(all, Object{"The alerts. The Prometheus operator reads them.", w.prometheusRule()})
	}
	return all
}

func (w workload) cronJob() *batchv1.CronJob {
	return &batchv1.CronJob{
		TypeMeta: kindOf("batch/v1", "CronJob"), ObjectMeta: in(w.runNamespace(), ReconcileAccount),
		Spec: batchv1.CronJobSpec{
			Schedule: w.Schedule,
			// The CronJob's own protection against concurrent runs is best effort; the run lock is
			// reliable.
			ConcurrencyPolicy:          batchv1.ForbidConcurrent,
			StartingDeadlineSeconds:    new(int64(120)),
			SuccessfulJobsHistoryLimit: new(int32(1)),
			FailedJobsHistoryLimit:     new(int32(3)),
			JobTemplate: batchv1.JobTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels()},
				Spec:       w.job(),
			},
		},
	}
}

// every is the interval between the starts of a Deployment's runs. The replay of the pod watch
// reaches back at least 75 seconds.
const every = 40 * time.Second

// deployment is one process that runs repeatedly, and watches for interruption notices between
// runs. The next version starts after this one has ended.
func (w workload) deployment() *appsv1.Deployment {
	marks := labels()
	marks["app.kubernetes.io/component"] = ReconcileAccount
	pod := w.pod(w.reconciler("--every="+every.String(), w.timeout()))
	pod.RestartPolicy = corev1.RestartPolicyAlways
	return &appsv1.Deployment{
		TypeMeta: kindOf("apps/v1", "Deployment"), ObjectMeta: in(w.runNamespace(), ReconcileAccount),
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(1)),
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Selector: &metav1.LabelSelector{MatchLabels: marks},
			Template: w.declares(corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: marks}, Spec: pod}),
		},
	}
}

// grace is how long a stopped run may take to finish.
const grace = time.Minute

// job is one run. It is not retried: the next one is due soon and recovers. The drain of its node
// does not count as a failure.
func (w workload) job() batchv1.JobSpec {
	return batchv1.JobSpec{
		BackoffLimit:          new(int32(0)),
		ActiveDeadlineSeconds: new(int64((w.Timeout + grace) / time.Second)),
		PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
			},
		}}},
		Template: w.declares(corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels()},
			// A Job has no successful exit code except 0, so a run exits with 0 if another one has
			// the run lock.
			Spec: w.pod(w.reconciler("--conflict-exit-code=0", w.timeout())),
		}),
	}
}

func (w workload) pod(container corev1.Container) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:            ReconcileAccount,
		AutomountServiceAccountToken:  new(true),
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: new(int64(grace / time.Second)),
		SecurityContext:               podSecurity(),
		Containers:                    []corev1.Container{container},
	}
}

// timeout is the flag with the longest duration of a run.
func (w workload) timeout() string { return fmt.Sprintf("--timeout=%ds", int64(w.Timeout/time.Second)) }

// reconciler runs gpupool reconcile, with logs for programs only.
func (w workload) reconciler(flags ...string) corev1.Container {
	return w.withCloud(w.container(slices.Concat([]string{"reconcile"}, flags, []string{"--log-format=json", "--output=none"}, w.Arguments)...))
}

func (w workload) container(arguments ...string) corev1.Container {
	place := store.Location{Backend: store.Kubernetes, Namespace: w.Namespace}
	return corev1.Container{
		Name:  "gpupool",
		Image: w.Image,
		Args:  arguments,
		Env:   []corev1.EnvVar{{Name: store.EnvironmentVariable, Value: place.String()}},
		Resources: corev1.ResourceRequirements{
			Requests: quantities("50m", "64Mi"),
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
		},
		SecurityContext: containerSecurity(),
	}
}

// withCloud adds the account's credentials and the currency of its prices.
func (w workload) withCloud(c corev1.Container) corev1.Container {
	if w.Currency != "" {
		c.Env = append(c.Env, corev1.EnvVar{Name: spotpool.CurrencyVariable, Value: w.Currency})
	}
	c.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: w.CredentialsSecret}, Optional: new(true),
	}}}
	return c
}

func podSecurity() *corev1.PodSecurityContext {
	return &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), RunAsUser: new(int64(user)), RunAsGroup: new(int64(user)),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
}

func containerSecurity() *corev1.SecurityContext {
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

func quantities(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}
