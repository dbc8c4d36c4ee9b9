package decide

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// warnAdded warns of what others added to the pool's Deployment that contradicts what is
// declared: how many GPUs a pod holds, and what it may do. An application takes nothing
// away that others wrote.
func warnAdded(v View, t Tally) (_ Tally, r Result) {
	of := v.Observation.Deployment
	added := v.added(of.Spec.Template.Spec)
	if len(added) == 0 {
		return t, r
	}
	by := ""
	if names := drift.ChangedBy(of, []stockpool.Change{{Field: "spec.template.spec"}}); len(names) > 0 {
		by = ", last written by " + strings.Join(names, ", ")
	}
	r.warnf("its Deployment has what its declaration does not allow%s: %s. What others wrote no apply takes away: kubectl edit deployment/%s -n %s, or "+
		"delete it and the next run makes it anew",
		by, strings.Join(added, "; "), of.Name, of.Namespace)
	return t, r
}

// added are the parts of a pod that contradict the declaration. What may not be is the
// baseline of the pod security standards of Kubernetes, as far as it concerns containers
// that get more than their own.
func (v View) added(spec corev1.PodSpec) (list []string) {
	for _, host := range []struct {
		shared bool
		field  string
	}{{spec.HostNetwork, "hostNetwork"}, {spec.HostPID, "hostPID"}, {spec.HostIPC, "hostIPC"}} {
		if host.shared {
			list = append(list, host.field)
		}
	}
	for _, volume := range spec.Volumes {
		if volume.HostPath != nil {
			list = append(list, fmt.Sprintf("the volume %s is a path of the node", volume.Name))
		}
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		gpus := c.Resources.Limits[corev1.ResourceName(v.Declaration.GPUResource)]
		if c.Name != v.Journal.Container && !gpus.IsZero() {
			list = append(list, fmt.Sprintf("the container %s holds %s %s beside the %d that are declared", c.Name, gpus.String(), v.Declaration.GPUResource,
				v.Declaration.GPU))
		}
		s := c.SecurityContext
		switch {
		case s == nil:
		case s.Privileged != nil && *s.Privileged:
			list = append(list, fmt.Sprintf("the container %s is privileged", c.Name))
		case s.Capabilities != nil && slices.ContainsFunc(s.Capabilities.Add, v.forbidden):
			list = append(list, fmt.Sprintf("the container %s adds capabilities", c.Name))
		}
	}
	return list
}

// forbidden says whether a capability is one that the declared level lets nobody add.
func (v View) forbidden(c corev1.Capability) bool {
	if v.Declaration.Security == stockpool.Restricted {
		return c != "NET_BIND_SERVICE"
	}
	return !slices.Contains(baseline, c)
}

// baseline are the capabilities that the baseline of the pod security standards allows.
var baseline = []corev1.Capability{
	"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
}
