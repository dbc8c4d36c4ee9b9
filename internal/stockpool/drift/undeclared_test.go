package drift_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// defaulted is what the API server makes of a Deployment: it fills in what is left out.
func defaulted(of *appsv1.Deployment) *appsv1.Deployment {
	of = of.DeepCopy()
	spec := &of.Spec.Template.Spec
	spec.RestartPolicy, spec.DNSPolicy, spec.SchedulerName = corev1.RestartPolicyAlways, corev1.DNSClusterFirst, corev1.DefaultSchedulerName
	spec.TerminationGracePeriodSeconds, spec.DeprecatedServiceAccount = new(int64(30)), spec.ServiceAccountName
	if spec.SecurityContext == nil {
		spec.SecurityContext = &corev1.PodSecurityContext{}
	}
	main := &spec.Containers[0]
	main.ImagePullPolicy, main.TerminationMessagePath = corev1.PullIfNotPresent, "/dev/termination-log"
	main.TerminationMessagePolicy = corev1.TerminationMessageReadFile
	of.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	return of
}

func main(s *corev1.PodSpec) *corev1.SecurityContext {
	if s.Containers[0].SecurityContext == nil {
		s.Containers[0].SecurityContext = &corev1.SecurityContext{}
	}
	return s.Containers[0].SecurityContext
}

// additions are what a tenant adds to a pod template, by the fields of it that are drift;
// an application reverts what names no field.
func additions() map[string]func(*corev1.PodSpec) {
	volume := func(name string, source corev1.VolumeSource) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: source}
	}
	secret := corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "a"}}
	exec := corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"hunter2"}}}
	return map[string]func(*corev1.PodSpec){
		"hostNetwork = true; hostPID = true": func(s *corev1.PodSpec) { s.HostNetwork, s.HostPID = true, true },
		"hostUsers = true":                   func(s *corev1.PodSpec) { s.HostUsers = new(true) },
		"nodeName = node-1; priorityClassName = high; schedulerName = theirs": func(s *corev1.PodSpec) {
			s.NodeName, s.PriorityClassName, s.SchedulerName = "node-1", "high", "theirs"
		},
		"securityContext.fsGroup = 5; securityContext.runAsUser = 1000": func(s *corev1.PodSpec) {
			s.SecurityContext.FSGroup, s.SecurityContext.RunAsUser = new(int64(5)), new(int64(1000))
		},
		"containers[runtime].securityContext.appArmorProfile.type = Unconfined": func(s *corev1.PodSpec) {
			main(s).AppArmorProfile = &corev1.AppArmorProfile{Type: corev1.AppArmorProfileTypeUnconfined}
		},
		"containers[runtime].resources.limits.nvidia.com/mig-3g.40gb = 1": func(s *corev1.PodSpec) {
			s.Containers[0].Resources.Limits["nvidia.com/mig-3g.40gb"] = resource.MustParse("1")
		},
		"containers[runtime].resources.claims[gpu]; resourceClaims[gpu]": func(s *corev1.PodSpec) {
			s.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("shared")}}
			s.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
		},
		"containers[miner]; containers[miner].resources.limits.nvidia.com/gpu = 1; " +
			"containers[miner].securityContext.privileged = true": func(s *corev1.PodSpec) {
			s.Containers = append(s.Containers, corev1.Container{
				Name: "miner", SecurityContext: &corev1.SecurityContext{Privileged: new(true)}, Command: []string{"hunter2"},
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{stockpool.DefaultGPUResource: resource.MustParse("1")}},
			})
		},
		"terminationGracePeriodSeconds = 315360000": func(s *corev1.PodSpec) { s.TerminationGracePeriodSeconds = new(int64(315360000)) },
		"initContainers[setup]":                     func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{{Name: "setup"}} },
		"volumes[root]; volumes[secret]": func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{volume("root", corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}), volume("secret", secret)}
		},
		"containers[runtime].volumeDevices[disk]":  func(s *corev1.PodSpec) { s.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "disk"}} },
		"containers[runtime].envFrom":              func(s *corev1.PodSpec) { s.Containers[0].EnvFrom = []corev1.EnvFromSource{{Prefix: "A_"}} },
		"containers[runtime].workingDir = /theirs": func(s *corev1.PodSpec) { s.Containers[0].WorkingDir = "/theirs" },
		"containers[runtime].lifecycle.postStart.exec.command; containers[runtime].livenessProbe.exec.command": func(s *corev1.PodSpec) {
			s.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: exec.Exec}}
			s.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: exec}
		},
		"containers[runtime].env[KEY]": func(s *corev1.PodSpec) {
			s.Containers[0].Env = []corev1.EnvVar{
				{Name: "KEY", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{Key: "hunter2"}}},
				{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
			}
		},
		"": func(s *corev1.PodSpec) { // harmless
			s.TerminationGracePeriodSeconds, s.HostUsers, main(s).Privileged = new(int64(5)), new(false), new(false)
			s.Volumes = []corev1.Volume{volume("shm", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}})}
			s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "shm", MountPath: "/dev/shm"}}
			s.Containers[0].ReadinessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/"}}}
			s.Containers[0].Resources.Limits[corev1.ResourceEphemeralStorage] = resource.MustParse("1Gi")
		},
		" ": func(s *corev1.PodSpec) { // reverted
			s.ServiceAccountName, s.DeprecatedServiceAccount, s.RuntimeClassName = "theirs", "theirs", new("kata")
			s.Containers[0].Command, s.Containers[0].Args = []string{"hunter2"}, []string{"hunter2"}
			s.Resources, s.OS = &corev1.ResourceRequirements{}, &corev1.PodOS{Name: corev1.Windows}
		},
	}
}

// TestUnappliedFieldsAreDrift: what others add is reported or reverted, without a
// value that may be secret, and what the API server fills in is neither.
func TestUnappliedFieldsAreDrift(t *testing.T) {
	t.Parallel()
	d := declared()
	d.PodSecurityLevel = stockpool.Baseline
	d.Ports, d.ServiceAccountName = []stockpool.Port{{Port: 80, Name: "web", Protocol: "TCP"}}, ""
	for want, add := range additions() {
		wanted := d.Deployment("", 2)
		live := defaulted(wanted)
		if got := drift.Undeclared(live, wanted); len(got) > 0 {
			t.Fatalf("untouched, there is %v", got)
		}
		add(&live.Spec.Template.Spec)
		if got := fields(drift.Undeclared(live, wanted)); got != strings.TrimSpace(want) || strings.Contains(got, "hunter2") {
			t.Errorf("of %q it reports %q", want, got)
		}
		if extras := drift.Extras(live, wanted); (len(extras) > 0) != (want == " ") {
			t.Errorf("of %q it reverts %v", want, extras)
		}
	}
}

func fields(list []stockpool.Change) string {
	var texts []string
	for _, c := range list {
		text := strings.TrimPrefix(c.Field, "spec.template.spec.")
		if c.Was != "" {
			text += " = " + c.Was
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// TestFieldsOfTheDeploymentThatAreDrift: the rollout strategy, and annotations, which runtimes
// respect.
func TestFieldsOfTheDeploymentThatAreDrift(t *testing.T) {
	t.Parallel()
	wanted := declared().Deployment("", 2)
	live := defaulted(wanted)
	live.Spec.Strategy.Type = appsv1.RecreateDeploymentStrategyType
	live.Spec.MinReadySeconds, live.Spec.RevisionHistoryLimit = 5, new(int32(2))
	live.Spec.Template.Annotations = map[string]string{
		"kubectl.kubernetes.io/restartedAt": "now", "container.apparmor.security.beta.kubernetes.io/runtime": "unconfined",
	}
	live.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80, Protocol: corev1.ProtocolTCP}}
	const want = "spec.strategy.type = Recreate; spec.template.metadata.annotations.container.apparmor.security.beta.kubernetes.io/runtime"
	if got := fields(drift.Undeclared(live, wanted)); got != want {
		t.Errorf("it reports %q", got)
	}
	d := declared()
	d.Ports = []stockpool.Port{{Port: 80, Protocol: "TCP"}}
	if got := fields(drift.Undeclared(live, d.Deployment("", 2))); !strings.Contains(got, "containers[runtime].ports[80/TCP].hostPort = 80") {
		t.Errorf("of a port of the node it reports %q", got)
	}
}

// TestRestrictedIsReverted: nothing undoes pod_security_level = "restricted".
func TestRestrictedIsReverted(t *testing.T) {
	t.Parallel()
	d := declared()
	if d.PodSecurityLevel != stockpool.Restricted {
		t.Fatalf("by default, it is %s", d.PodSecurityLevel)
	}
	wanted := d.Deployment("", 2)
	live := defaulted(wanted)
	live.Spec.Template.Spec.SecurityContext.RunAsUser = new(int64(0))
	s := main(&live.Spec.Template.Spec)
	s.RunAsUser, s.RunAsNonRoot, s.Privileged = new(int64(0)), new(false), new(true)
	s.SeccompProfile, s.ProcMount = &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeUnconfined}, new(corev1.UnmaskedProcMount)
	s.Capabilities.Add = []corev1.Capability{"SYS_ADMIN"}
	extras := drift.Extras(live, wanted)
	rest := drift.Without(live, extras)
	if diff := drift.Changes(rest, defaulted(wanted)); len(extras) != 7 || len(diff) > 0 {
		t.Errorf("it reverts %v, and leaves %v", extras, diff)
	}
	if got := drift.Undeclared(live, wanted); len(got) > 0 {
		t.Errorf("it also reports %v", got)
	}
}
