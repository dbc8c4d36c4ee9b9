package manifests

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// noticeWatch is the agent of each node, with an account of its own.
func noticeWatch(o Options) []Object {
	all := []Object{{"The account of the agents, which mark their node with an interruption notice.", account(o, NoticeAccount)}}
	all = append(all, limits{o}.noticeWatch()...)
	all = append(all, grants{o}.everywhere("notice-watch", "To mark a node with an interruption notice, and to delete its pods before the reclaim. "+
		"The policies above limit each agent to its own node.",
		NoticeRules(), NoticeAccount)...)
	return append(all, Object{"The agents. Each asks the metadata service for an interruption notice of its instance.", workload{o}.daemonSet()})
}

// daemonSet runs on every node despite taints, and through a drain. It does not use the host's
// network. The metadata service identifies an instance by address, which works from pods too,
// and pod security would reject hostNetwork. It uses the node's resolver, which works without
// the cluster's.
func (w workload) daemonSet() *appsv1.DaemonSet {
	marks := labels()
	marks["app.kubernetes.io/component"] = NoticeAccount
	return &appsv1.DaemonSet{
		TypeMeta: kindOf("apps/v1", "DaemonSet"), ObjectMeta: in(w.runNamespace(), NoticeAccount),
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: marks},
			UpdateStrategy: appsv1.DaemonSetUpdateStrategy{
				Type:          appsv1.RollingUpdateDaemonSetStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: new(intstr.FromString("10%"))},
			},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: marks},
				Spec: corev1.PodSpec{
					ServiceAccountName:           NoticeAccount,
					AutomountServiceAccountToken: new(true),
					DNSPolicy:                    corev1.DNSDefault,
					NodeSelector:                 w.NoticeWatchOn,
					Tolerations:                  []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
					SecurityContext:              podSecurity(),
					Containers:                   []corev1.Container{w.noticeContainer()},
				},
			},
		},
	}
}

func (w workload) noticeContainer() corev1.Container {
	return corev1.Container{
		Name:  "gpupool",
		Image: w.Image,
		Args:  []string{"notice-watch", "--log-format=json"},
		Env: []corev1.EnvVar{{Name: "NODE_NAME", ValueFrom: &corev1.EnvVarSource{
			FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"},
		}}},
		Resources: corev1.ResourceRequirements{
			Requests: quantities("10m", "32Mi"),
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("128Mi")},
		},
		SecurityContext: containerSecurity(),
	}
}
