package stockpool_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

func TestAGoodDeclarationHasNoProblem(t *testing.T) {
	t.Parallel()
	for _, image := range []string{"nginx:1.27", "nginx", "registry.example.com:5000/a/b-c_d.e:v1@sha256:" + strings.Repeat("0a", 32), "localhost/x"} {
		d := declared(func(d *stockpool.Declaration) {
			d.Image, d.CPU, d.Env = image, "500m", map[string]string{"A": "b"}
			d.Ports = []stockpool.Port{{Port: 8888, Name: "http"}, {Port: 8888, Protocol: "UDP"}}
			d.Tolerations = []stockpool.Toleration{{Operator: "Exists"}, {Key: "gpu", Value: "true", Effect: "NoSchedule"}}
			d.PodDisruptionBudget = &stockpool.PodDisruptionBudget{MinAvailable: 1}
		})
		if list := d.Validate(); len(list) > 0 {
			t.Errorf("%s: %v", image, list)
		}
		if list := d.Warnings(); len(list) > 0 {
			t.Errorf("%s: %v", image, list)
		}
	}
}

func TestEachProblemIsNamedWhereItStands(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*stockpool.Declaration)
		at     string
	}{
		"no name":              {func(d *stockpool.Declaration) { d.Name = "Pool" }, "name"},
		"no namespace":         {func(d *stockpool.Declaration) { d.Namespace = "a/b" }, "namespace"},
		"no flavor":            {func(d *stockpool.Declaration) { d.SpecName = "" }, "spec_name"},
		"no image":             {func(d *stockpool.Declaration) { d.Image = "Nginx latest" }, "image"},
		"no quantity":          {func(d *stockpool.Declaration) { d.Memory = "lots" }, "memory"},
		"less than nothing":    {func(d *stockpool.Declaration) { d.Memory = "-1Gi" }, "memory"},
		"no cpu":               {func(d *stockpool.Declaration) { d.CPU = "0" }, "cpu"},
		"fewer than no GPUs":   {func(d *stockpool.Declaration) { d.GPU = -1 }, "gpu"},
		"no device":            {func(d *stockpool.Declaration) { d.GPUResource = "gpu" }, "gpu_resource"},
		"fewer than no pods":   {func(d *stockpool.Declaration) { d.Replicas = -1 }, "replicas"},
		"another keep":         {func(d *stockpool.Declaration) { d.ReplicasPolicy = "some" }, "replicas_policy"},
		"no maximum":           {func(d *stockpool.Declaration) { d.ReplicasPolicy = stockpool.ReplicasAvailable }, "maximum"},
		"a maximum too low":    {func(d *stockpool.Declaration) { d.ReplicasPolicy, d.Maximum = stockpool.ReplicasAvailable, 1 }, "maximum"},
		"a maximum for itself": {func(d *stockpool.Declaration) { d.Maximum = 3 }, "maximum"},
		"nothing in use": {func(d *stockpool.Declaration) {
			d.ReplicasPolicy, d.Maximum, d.AllocatedSelector = stockpool.ReplicasAvailable, 3, ""
		}, "allocated_selector"},
		"all in use":          {func(d *stockpool.Declaration) { d.AllocatedSelector = "team=a" }, "allocated_selector"},
		"no selector":         {func(d *stockpool.Declaration) { d.AllocatedSelector = "a==b==c" }, "allocated_selector"},
		"no variable":         {func(d *stockpool.Declaration) { d.Env = map[string]string{"1 a": ""} }, `env["1 a"]`},
		"no port":             {func(d *stockpool.Declaration) { d.Ports = []stockpool.Port{{Port: 0}} }, "ports[0].port"},
		"a port twice":        {func(d *stockpool.Declaration) { d.Ports = []stockpool.Port{{Port: 1}, {Port: 1}} }, "ports[1]"},
		"gpupool's own label": {func(d *stockpool.Declaration) { d.Labels[stockpool.LabelPool] = "x" }, `labels["gpupool/stock-pool"]`},
		"no value of a label": {func(d *stockpool.Declaration) { d.Labels["a"] = "b c" }, `labels["a"]`},
		"no node selector":    {func(d *stockpool.Declaration) { d.NodeSelector = map[string]string{"/": ""} }, `node_selector["/"]`},
		"no toleration":       {func(d *stockpool.Declaration) { d.Tolerations = []stockpool.Toleration{{}} }, "tolerations[0].key"},
		"no effect":           {func(d *stockpool.Declaration) { d.Tolerations = []stockpool.Toleration{{Key: "a", Effect: "No"}} }, "tolerations[0].effect"},
		"no secret":           {func(d *stockpool.Declaration) { d.ImagePullSecrets = []string{""} }, "image_pull_secrets[0]"},
		"a secret twice":      {func(d *stockpool.Declaration) { d.ImagePullSecrets = []string{"a", "b", "a"} }, "image_pull_secrets[2]"},
		"no account":          {func(d *stockpool.Declaration) { d.ServiceAccountName = "A" }, "service_account_name"},
		"no level":            {func(d *stockpool.Declaration) { d.PodSecurityLevel = "privileged" }, "pod_security_level"},
		"no end":              {func(d *stockpool.Declaration) { d.OnDestroy = "keep" }, "on_destroy"},
		"more than there are": {
			func(d *stockpool.Declaration) {
				d.PodDisruptionBudget = &stockpool.PodDisruptionBudget{MinAvailable: 3}
			}, "pod_disruption_budget.min_available",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := declared(c.change).Validate()
			if len(list) != 1 || list[0].Attribute != c.at || !strings.HasSuffix(list[0].String(), ".") {
				t.Errorf("the problems are %v, want one at %s", list, c.at)
			}
		})
	}
	if list := declared(func(d *stockpool.Declaration) {
		d.PodDisruptionBudget = &stockpool.PodDisruptionBudget{MinAvailable: 2}
	}).Warnings(); len(list) != 1 {
		t.Errorf("that no pod may ever be evicted is warned of so: %v", list)
	}
}
