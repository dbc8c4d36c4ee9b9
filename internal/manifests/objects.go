package manifests

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// Names of the objects. Those of the whole cluster carry the namespace's name
// too, so that two stores in one cluster don't share rights.
const (
	ReconcileAccount = "gpupool-reconcile"
	TerraformAccount = "gpupool-terraform"
	NoticeAccount    = "gpupool-notice-watch"
	storeRole        = "gpupool-store"
)

// user is the image's own (tools/release/image).
const user = 65532

// Object is one object, and what it is for.
type Object struct {
	Why    string
	Object runtime.Object
}

// Objects are what the cluster needs, in the order in which they can be applied.
func Objects(o Options) ([]Object, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	layout := kubernetes.LayoutObject(o.Namespace)
	layout.TypeMeta = kindOf("v1", "ConfigMap")
	all := []Object{
		{"The namespace is the store: declarations, status, ledger and locks. No account or pod belongs here: whoever may write the store's Secrets could " +
			"get the account's token.", namespace(o.Namespace)},
		{"It makes the namespace a store, empty at first.", layout},
		{
			"The namespace of the run: the accounts, the " + o.runner() + ", and the cloud's credentials, which no role lets anyone read.",
			namespace(o.runNamespace()),
		},
		{"It runs the " + o.runner() + ".", o.account(ReconcileAccount)},
		{"It is for terraform apply, which declares budgets and pools, and lifts what a destroyed budget enforced.", o.account(TerraformAccount)},
	}
	// No right is there before the policies that limit it.
	all = append(all, o.limits()...)
	all = append(all, o.nodeLimits()...)
	all = append(all, o.stockLimits()...)
	all = append(all, o.tokenLimits()...)
	all = append(all, o.store()...)
	all = append(all, o.granted("declare", "To tell which cluster this is.", DeclareRules(), TerraformAccount)...)
	all = append(all, o.granted("observe", "To count GPU-hours.", ObserveRules(), ReconcileAccount)...)
	all = append(all, o.granted("lift", "To see what budgets have brought about, and to lift it.", LiftRules(o), ReconcileAccount, TerraformAccount)...)
	all = append(all, o.granted("enforce", "To carry enforcement out, up to "+string(o.Enforcement)+".", EnforceRules(o), ReconcileAccount)...)
	if rules := NodeRules(o); len(rules) > 0 {
		all = append(all, o.granted("nodes", "To mark, cordon and delete nodes of pools, which the policies above limit.", rules, ReconcileAccount,
			TerraformAccount)...)
	}
	if rules := DrainRules(o); len(rules) > 0 {
		all = append(all, o.granted("drain", "To look at nodes and their pods, and to drain: terraform apply ends instances, and destroy all of them.", rules,
			TerraformAccount)...)
	}
	all = append(all, o.stockPools()...)
	all = append(all, o.tokens()...)
	if o.NoticeWatch {
		all = append(all, o.noticeWatch()...)
	}
	all = append(all, Object{
		"It keeps new GPU pods out where a slot says so. None does until a budget with enforcement is exceeded.", kubecluster.FreezePolicy(),
	})
	why := slotsUse
	for _, slot := range kubecluster.FreezeSlots() {
		all = append(all, Object{why, slot})
		why = ""
	}
	if o.Mode == Deployment {
		return append(all,
			Object{
				"The runs. Where this was a CronJob before, delete that: kubectl -n " + o.runNamespace() + " delete cronjob " + ReconcileAccount + ".",
				o.deployment(),
			}), nil
	}
	return append(all, Object{"The run. A run that finds another one under way ends well.", o.cronJob()}), nil
}

// runner is the kind of what runs gpupool reconcile.
func (o Options) runner() string {
	if o.Mode == Deployment {
		return "Deployment"
	}
	return "CronJob"
}

const slotsUse = "The slots of freezes. Each binds to nothing until a run takes it. What a run then writes is not in here: kubectl apply leaves it as it " +
	"is, by client or by --server-side, and kubectl replace would lift freezes until the next run."

func kindOf(version, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: kind}
}

// appName is in the label of all objects, by which policies know the namespaces of gpupool.
const appName = "gpupool"

func labels() map[string]string { return map[string]string{"app.kubernetes.io/name": appName} }

// in is the metadata of an object of a namespace.
func in(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels()}
}

func namespace(name string) *corev1.Namespace {
	n := &corev1.Namespace{TypeMeta: kindOf("v1", "Namespace"), ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels()}}
	n.Labels["pod-security.kubernetes.io/enforce"] = "restricted"
	return n
}

func (o Options) account(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{
		TypeMeta: kindOf("v1", "ServiceAccount"), ObjectMeta: in(o.runNamespace(), name),
		AutomountServiceAccountToken: new(false), // the CronJob's pods ask for it
	}
}

// store lets both accounts use the store.
func (o Options) store() []Object {
	return o.grantedAs(in(o.Namespace, storeRole), "To use the store. Secrets: declarations may hold user data.", StoreRules(), ReconcileAccount,
		TerraformAccount)
}

// granted gives accounts rights in the whole cluster: budgets select pods of
// any namespace.
func (o Options) granted(name, why string, rules []rbacv1.PolicyRule, accounts ...string) []Object {
	about := metav1.ObjectMeta{Name: o.Namespace + "-" + name, Labels: labels()}
	return []Object{
		{why, &rbacv1.ClusterRole{TypeMeta: kindOf(rbac, "ClusterRole"), ObjectMeta: about, Rules: rules}},
		{"", &rbacv1.ClusterRoleBinding{
			TypeMeta: kindOf(rbac, "ClusterRoleBinding"), ObjectMeta: about,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: about.Name},
			Subjects: o.subjects(accounts),
		}},
	}
}

// grantedIn gives accounts rights in one namespace, which has to be there.
func (o Options) grantedIn(namespace, name, why string, rules []rbacv1.PolicyRule, accounts ...string) []Object {
	return o.grantedAs(in(namespace, o.Namespace+"-"+name), why, rules, accounts...)
}

func (o Options) grantedAs(about metav1.ObjectMeta, why string, rules []rbacv1.PolicyRule, accounts ...string) []Object {
	return []Object{
		{why, &rbacv1.Role{TypeMeta: kindOf(rbac, "Role"), ObjectMeta: about, Rules: rules}},
		{"", &rbacv1.RoleBinding{
			TypeMeta: kindOf(rbac, "RoleBinding"), ObjectMeta: about,
			RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: about.Name},
			Subjects: o.subjects(accounts),
		}},
	}
}

const rbac = "rbac.authorization.k8s.io/v1"

func (o Options) subjects(accounts []string) []rbacv1.Subject {
	subjects := make([]rbacv1.Subject, len(accounts))
	for n, account := range accounts {
		subjects[n] = rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: account, Namespace: o.runNamespace()}
	}
	return subjects
}

func (o Options) cronJob() *batchv1.CronJob {
	return &batchv1.CronJob{
		TypeMeta: kindOf("batch/v1", "CronJob"), ObjectMeta: in(o.runNamespace(), ReconcileAccount),
		Spec: batchv1.CronJobSpec{
			Schedule: o.Schedule,
			// Cron's own guard against two at once is best effort; the run lock is
			// what holds.
			ConcurrencyPolicy:          batchv1.ForbidConcurrent,
			StartingDeadlineSeconds:    new(int64(120)),
			SuccessfulJobsHistoryLimit: new(int32(1)),
			FailedJobsHistoryLimit:     new(int32(3)),
			JobTemplate: batchv1.JobTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels()},
				Spec:       o.job(),
			},
		},
	}
}

// grace is how long a run that is told to stop may finish what is under way.
const grace = time.Minute

// job is one run. It is not repeated when it fails: the next one is due in a
// moment, and makes it good. A node that is drained is nobody's failure.
func (o Options) job() batchv1.JobSpec {
	return batchv1.JobSpec{
		BackoffLimit:          new(int32(0)),
		ActiveDeadlineSeconds: new(int64((o.Timeout + grace) / time.Second)),
		PodFailurePolicy: &batchv1.PodFailurePolicy{Rules: []batchv1.PodFailurePolicyRule{{
			Action: batchv1.PodFailurePolicyActionIgnore,
			OnPodConditions: []batchv1.PodFailurePolicyOnPodConditionsPattern{
				{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue},
			},
		}}},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels()},
			// A Job has no exit code beside 0 that counts as success, so the run says 0
			// where it finds another one under way.
			Spec: o.pod(o.container("--conflict-exit-code=0", "--timeout="+o.Timeout.String())),
		},
	}
}

// pod is that of runs.
func (o Options) pod(container corev1.Container) corev1.PodSpec {
	return corev1.PodSpec{
		ServiceAccountName:            ReconcileAccount,
		AutomountServiceAccountToken:  new(true),
		RestartPolicy:                 corev1.RestartPolicyNever,
		TerminationGracePeriodSeconds: new(int64(grace / time.Second)),
		SecurityContext:               podSecurity(),
		Containers:                    []corev1.Container{container},
	}
}

// container runs gpupool reconcile. Its logs are for programs alone.
func (o Options) container(flags ...string) corev1.Container {
	place := store.Location{Backend: store.Kubernetes, Namespace: o.Namespace}
	return corev1.Container{
		Name:  "gpupool",
		Image: o.Image,
		Args:  slices.Concat([]string{"reconcile"}, flags, []string{"--log-format=json", "--output=none"}, o.Arguments),
		Env:   []corev1.EnvVar{{Name: store.EnvironmentVariable, Value: place.String()}},
		EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: o.CredentialsSecret}, Optional: new(true),
		}}},
		Resources: corev1.ResourceRequirements{
			Requests: quantities("50m", "64Mi"),
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
		},
		SecurityContext: containerSecurity(),
	}
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
