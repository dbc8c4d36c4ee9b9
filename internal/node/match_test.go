package node_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestParseProviderID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]node.ProviderID{
		"":                                  {},
		"qcloud:///300002/ins-abc123":       {Cloud: "qcloud", InstanceID: "ins-abc123"},
		"qcloud:///ap-singapore-2/ins-abc1": {Cloud: "qcloud", InstanceID: "ins-abc1"},
		"qcloud:///ins-abc1":                {Cloud: "qcloud", InstanceID: "ins-abc1"},
		"qcloud:///300002/":                 {Cloud: "qcloud"},
		"qcloud:///300002/i-abc":            {Cloud: "qcloud"},
		"qcloud:///300002/ins-ABC":          {Cloud: "qcloud"},
		"qcloud://ins-abc":                  {Cloud: "qcloud"},
		"aws:///us-east-1a/ins-abc":         {Cloud: "aws"},
		"kind://docker/kind/kind-worker":    {Cloud: "kind"},
		"ins-abc":                           {Cloud: "?"},
		"://ins-abc":                        {Cloud: "?"},
	} {
		if got := node.ParseProviderID(text); got != want {
			t.Errorf("%q is %+v, not %+v", text, got, want)
		}
	}
}

func FuzzParseProviderID(f *testing.F) {
	f.Add("qcloud:///300002/ins-abc123")
	f.Add("aws:///x/i-1")
	f.Fuzz(func(t *testing.T, text string) {
		id := node.ParseProviderID(text)
		if id.InstanceID != "" && (id.Cloud != node.Cloud || !strings.HasSuffix(text, "/"+id.InstanceID)) {
			t.Errorf("%q names %+v", text, id)
		}
		if (id.Cloud == "") != (text == "") {
			t.Errorf("%q has the cloud %q", text, id.Cloud)
		}
	})
}

func instance(id, address string) node.Instance {
	return node.Instance{ID: id, PrivateIP: address, LaunchedAt: noon}
}

func cluster(nodes ...node.Node) node.Observation {
	return node.Observation{ClusterUID: "c1", At: noon, Nodes: nodes}
}

func TestANodeIsMatched(t *testing.T) {
	t.Parallel()
	two := []node.Instance{instance("ins-a", "10.0.0.1"), instance("ins-b", "10.0.0.2")}
	by := func(name, providerID, address string) node.Node {
		return node.Node{Name: name, UID: "u-" + name, ProviderID: providerID, Addresses: []string{address}, CreatedAt: noon.Add(time.Minute)}
	}
	old := by("old", "", "10.0.0.1")
	old.CreatedAt = noon.Add(-time.Hour)
	both := by("both", "", "10.0.0.1")
	both.Addresses = []string{"10.0.0.1", "10.0.0.2"}
	surplus := by("n", "qcloud:///1/ins-b", "10.0.0.2")
	surplus.Addresses = []string{"10.0.0.1", "10.0.0.2", "10.0.0.3"}
	other := by("n", "qcloud:///1/ins-c", "10.0.0.3")
	other.Addresses = []string{"10.0.0.1", "10.0.0.3"}
	elsewhere := cluster(other)
	elsewhere.Elsewhere = []node.Instance{instance("ins-c", "10.0.0.3")}
	liar := cluster(by("n", "qcloud:///1/ins-c", "10.0.0.1"))
	liar.Elsewhere = elsewhere.Elsewhere
	for name, c := range map[string]struct {
		in        node.Observation
		byAddress bool
		want      string // of ins-a
		remark    string
	}{
		"by its provider id": {in: cluster(by("n", "qcloud:///1/ins-a", "10.9.9.9")), want: "n"},
		"whatever its address is": {
			in: cluster(by("n", "qcloud:///1/ins-a", "10.0.0.2")), byAddress: true, want: "n",
			remark: "node n has the address of ins-b and the provider ID of ins-a",
		},
		"not by address unless asked":  {in: cluster(by("n", "", "10.0.0.1")), want: "contested", remark: "nodes.match_address"},
		"by address":                   {in: cluster(by("n", "", "10.0.0.1")), byAddress: true, want: "n"},
		"the address of an older node": {in: cluster(old), byAddress: true, want: "contested", remark: "older than the instance"},
		"and a node of its own":        {in: cluster(old, by("n", "", "10.0.0.1")), byAddress: true, want: "n"},
		"the ID of another cloud":      {in: cluster(by("n", "aws:///z/i-1", "10.0.0.1")), byAddress: true, want: "contested", remark: "aws:///z/i-1"},
		"another cloud's, and one of its own": {
			in: cluster(by("n", "aws:///z/i-1", "10.0.0.1"), by("m", "qcloud:///1/ins-a", "")), want: "m", remark: "aws:///z/i-1",
		},
		"the ID that k3s makes by default": {in: cluster(by("n", "k3s://vm-0", "10.0.0.1")), want: "contested", remark: "k3s://vm-0"},
		"the same, by address": {
			in: cluster(by("n", "k3s://vm-0", "10.0.0.1")), byAddress: true, want: "contested", remark: "--provider-id=qcloud:///ZONE/ins-a",
		},
		"an ID with two slashes": {
			in: cluster(by("n", "qcloud://ap-singapore-2/ins-a", "10.0.0.1")), want: "contested", remark: "qcloud://ap-singapore-2/ins-a",
		},
		"no scheme at all": {in: cluster(by("n", "ins-a", "10.0.0.1")), want: "contested", remark: `"ins-a"`},
		"the ID of an instance that is gone": {
			in: cluster(by("n", "qcloud:///1/ins-zzz", "10.0.0.1")), byAddress: true, want: "contested", remark: "the provider ID of ins-zzz",
		},
		"a gone one's, and one of its own":   {in: cluster(by("n", "qcloud:///1/ins-zzz", "10.0.0.1"), by("m", "qcloud:///1/ins-a", "10.0.0.1")), want: "m"},
		"the ID of another one of the pool":  {in: cluster(by("n", "qcloud:///1/ins-b", "10.0.0.1")), want: "contested", remark: "the provider ID of ins-b"},
		"surplus addresses":                  {in: cluster(surplus), want: "absent", remark: "node n is ins-b by provider ID and address"},
		"of another pool, surplus addresses": {in: elsewhere, byAddress: true, want: "absent", remark: "reports the addresses of ins-a"},
		"of another pool, without its own":   {in: liar, want: "contested", remark: "the provider ID of ins-c"},
		"surplus addresses, of an unknown":   {in: cluster(other), want: "contested", remark: "the provider ID of ins-c"},
		"an unreadable ID elsewhere":         {in: cluster(by("n", "k3s://vm-0", "10.9.9.9")), want: "absent"},
		"two nodes for one instance": {
			in: cluster(by("n", "qcloud:///1/ins-a", ""), by("m", "qcloud:///2/ins-a", "")), want: "contested", remark: "m and n",
		},
		"an id and an address for one": {
			in: cluster(by("n", "qcloud:///1/ins-a", ""), by("m", "", "10.0.0.1")), byAddress: true, want: "contested", remark: "m and n",
		},
		"one node for two instances":  {in: cluster(both), byAddress: true, want: "contested", remark: "ins-a and ins-b"},
		"an empty cluster":            {in: cluster(), want: "absent"},
		"a cluster that was not seen": {in: node.Observation{}, want: "unseen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := node.MatchNodes(two, c.in, c.byAddress)
			if got := told(m.Of("ins-a")); got != c.want {
				t.Errorf("ins-a is %s, not %s", got, c.want)
			}
			if got := strings.Join(m.Remarks.Texts(), "\n"); !strings.Contains(got, c.remark) || (c.remark == "") != (got == "") {
				t.Errorf("remarks: %q, not of %q", got, c.remark)
			}
		})
	}
}

func told(m node.Match) string {
	return map[node.Standing]string{node.Unseen: "unseen", node.Contested: "contested", node.Absent: "absent", node.Present: m.Node.Name}[m.Standing]
}

// TestNoNodeIsTwoInstances: whatever nodes say of themselves, and in whichever order.
func TestNoNodeIsTwoInstances(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		some := rapid.IntRange(0, 4)
		address := func(n int) string { return fmt.Sprintf("10.0.0.%d", n) }
		var instances []node.Instance
		for n := range rapid.IntRange(0, 5).Draw(t, "instances") {
			instances = append(instances, instance(fmt.Sprintf("ins-%d", n), address(some.Draw(t, "address"))))
		}
		var nodes []node.Node
		for n := range rapid.IntRange(0, 6).Draw(t, "nodes") {
			of := node.Node{Name: fmt.Sprintf("n%d", n), CreatedAt: noon.Add(time.Duration(rapid.IntRange(-1, 1).Draw(t, "age")) * time.Hour)}
			of.ProviderID = rapid.SampledFrom([]string{"", "aws:///z/i-1", fmt.Sprintf("qcloud:///1/ins-%d", some.Draw(t, "of"))}).Draw(t, "provider id")
			for range rapid.IntRange(0, 2).Draw(t, "addresses") {
				of.Addresses = append(of.Addresses, address(some.Draw(t, "address")))
			}
			nodes = append(nodes, of)
		}
		byAddress := rapid.Bool().Draw(t, "by address")
		m := node.MatchNodes(instances, cluster(nodes...), byAddress)
		taken := map[string]string{}
		for _, i := range instances {
			match := m.Of(i.ID)
			if match.Standing != node.Present {
				continue
			}
			if other, twice := taken[match.Node.Name]; twice {
				t.Fatalf("%s is both %s and %s", match.Node.Name, other, i.ID)
			}
			taken[match.Node.Name] = i.ID
			id := node.ParseProviderID(match.Node.ProviderID)
			if id.InstanceID != i.ID && (id.Cloud != "" || !byAddress) {
				t.Fatalf("%s with %q is %s", match.Node.Name, match.Node.ProviderID, i.ID)
			}
		}
		turned := append([]node.Node(nil), nodes...)
		for a, b := 0, len(turned)-1; a < b; a, b = a+1, b-1 {
			turned[a], turned[b] = turned[b], turned[a]
		}
		again := node.MatchNodes(instances, cluster(turned...), byAddress)
		for _, i := range instances {
			if a, b := told(m.Of(i.ID)), told(again.Of(i.ID)); a != b {
				t.Fatalf("%s is %s, and %s in another order", i.ID, a, b)
			}
		}
	})
}
