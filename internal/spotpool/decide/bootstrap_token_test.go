package decide_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

const kubeadmGroup = "system:bootstrappers:kubeadm:default-node-token"

// joining gives the pool's instances a token to join by.
func joining(d *spotpool.Declaration) {
	d.UserData = "#!/bin/sh\nkubeadm join --token {{GPUPOOL_BOOTSTRAP_TOKEN}} 10.0.0.2:6443\n"
	d.BootstrapToken = &spotpool.BootstrapToken{Groups: []string{kubeadmGroup}}
	withNodes(d)
}

func TestProblemsOfBootstrapTokens(t *testing.T) {
	t.Parallel()
	groups := func(list ...string) func(*spotpool.Declaration) {
		return func(d *spotpool.Declaration) { d.BootstrapToken.Groups = list }
	}
	ttl := func(ttl time.Duration) func(*spotpool.Declaration) {
		return func(d *spotpool.Declaration) { d.BootstrapToken.TTL = spotpool.Duration(ttl) }
	}
	const long = "bootstrap_token.ttl: %s is out of range: it must be between 5m and 1d"
	for name, c := range map[string]struct {
		change func(*spotpool.Declaration)
		want   string // attribute: summary; empty where it is valid
	}{
		"valid":            {func(*spotpool.Declaration) {}, ""},
		"two groups":       {groups(kubeadmGroup, "system:bootstrappers:a"), ""},
		"the shortest ttl": {ttl(5 * time.Minute), ""},
		"the longest ttl":  {ttl(24 * time.Hour), ""},
		"a placeholder and no token": {
			func(d *spotpool.Declaration) { d.BootstrapToken = nil }, "bootstrap_token: user_data_raw has the placeholder {{GPUPOOL_BOOTSTRAP_TOKEN}}, and " +
				"there is no bootstrap_token",
		},
		"no placeholder": {
			func(d *spotpool.Declaration) { d.UserData = "kubeadm join --token {{TOKEN}}" },
			"user_data_raw: user data has no placeholder for the bootstrap token, so no instance would get one",
		},
		"no nodes": {
			func(d *spotpool.Declaration) { d.Nodes = nil }, "nodes: the pool has a bootstrap_token, and no nodes",
		},
		"no group":  {groups(), "bootstrap_token.groups: the bootstrap token has no group, and gives no rights"},
		"any group": {groups("system:masters"), `bootstrap_token.groups[0]: invalid bootstrap token group "system:masters"`},
		"a group in capitals": {
			groups(kubeadmGroup, "system:bootstrappers:A"), `bootstrap_token.groups[1]: invalid bootstrap token group "system:bootstrappers:A"`,
		},
		"a group and another": {
			groups("system:bootstrappers:a,system:masters"),
			`bootstrap_token.groups[0]: invalid bootstrap token group "system:bootstrappers:a,system:masters"`,
		},
		"a group with an end of line": {
			groups("system:bootstrappers:a\n"), `bootstrap_token.groups[0]: invalid bootstrap token group "system:bootstrappers:a\n"`,
		},
		"a group without a name": {groups("system:bootstrappers:"), `bootstrap_token.groups[0]: invalid bootstrap token group "system:bootstrappers:"`},
		"a short ttl":            {ttl(4 * time.Minute), strings.Replace(long, "%s", "4m", 1)},
		"a long ttl":             {ttl(25 * time.Hour), strings.Replace(long, "%s", "25h", 1)},
		"as much as fits once it is filled in": {func(d *spotpool.Declaration) {
			d.UserData = spotpool.BootstrapTokenPlaceholder + strings.Repeat("x", 12288-23)
		}, ""},
		"too much once it is filled in": {func(d *spotpool.Declaration) {
			d.UserData = spotpool.BootstrapTokenPlaceholder + strings.Repeat("x", 12288-22)
		}, "user_data_raw: user data of 12289 bytes is too long: it has 16388 bytes as base64, and RunInstances takes 16384 (that is 12288 bytes before)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got, want []string
			for _, p := range pool(joining, c.change).Validate() {
				got = append(got, p.Attribute+": "+reason.Renderer{}.Text(p.Reason))
				if remedy := (reason.Renderer{}).Remedy(p.Reason); !strings.HasSuffix(remedy, ".") {
					t.Errorf("the remedy %q is no sentence", remedy)
				}
			}
			if c.want != "" {
				want = []string{c.want}
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestATokenMakesNothingOutdated: the hash of a launch covers the placeholder, and none
// of what the token may do or how long it lasts.
func TestATokenMakesNothingOutdated(t *testing.T) {
	t.Parallel()
	d := pool(joining)
	s := seen(d)
	request := *decide.Decide(s).Decisions[0].Request
	if strings.Count(request.UserData, spotpool.BootstrapTokenPlaceholder) != 1 {
		t.Fatalf("the request that is decided has the user data %q", request.UserData)
	}
	filled := request.Joining("abcdef", "0123456789abcdef")
	if want := strings.Replace(d.UserData, spotpool.BootstrapTokenPlaceholder, "abcdef.0123456789abcdef", 1); filled.UserData != want {
		t.Errorf("the user data is %q, want %q", filled.UserData, want)
	}
	d.BootstrapToken = &spotpool.BootstrapToken{Groups: []string{"system:bootstrappers:other"}, TTL: spotpool.Duration(time.Hour)}
	if tag := spotpool.ConfigurationTag(d.Configuration, d.Offerings[0], spotpool.Spot); tag != filled.ConfigurationTag {
		t.Errorf("with another group and ttl the tag is %s, and it was %s", tag, filled.ConfigurationTag)
	}
}

func TestTokenIDIsUniquePerLaunch(t *testing.T) {
	t.Parallel()
	form, all := regexp.MustCompile(`^[a-z0-9]{6}$`), map[string]bool{}
	for _, uid := range []string{"1", "2"} {
		for _, salt := range []string{"a", "b"} {
			for sequence := range int64(50) {
				for n := range 2 {
					id := launches.BootstrapTokenID(uid, salt, sequence, n)
					if !form.MatchString(id) || all[id] || id != launches.BootstrapTokenID(uid, salt, sequence, n) {
						t.Fatalf("token %d of launch %d of %s has the id %q", n, sequence, uid+salt, id)
					}
					all[id] = true
				}
			}
		}
	}
}

// launchedWith is the situation after a launch of two with a token, made at noon.
func launchedWith(changes ...func(*spotpool.Declaration)) decide.Situation {
	s := inCluster(seen(pool(append([]func(*spotpool.Declaration){joining}, changes...)...)))
	d := decide.Decide(s).Decisions[0]
	s.Journal.Tokens = s.Journal.Tokens.With(launches.JoinToken{ID: "abcdef", Sequence: d.Sequence, ExpiresAt: noon.Add(30 * time.Minute)})
	s.Journal = s.Journal.Open(launches.Launch{Request: d.Request.Joining("abcdef", "0123456789abcdef"), WrittenAt: noon})
	return s
}

// came is the situation once both instances of the launch are there.
func came(s decide.Situation, after time.Duration) decide.Situation {
	s.Journal = s.Journal.Accept(s.Journal.LastSequence, []string{"ins-1", "ins-2"}, noon)
	s.Observation.Instances = []spotpool.Instance{instance("ins-1", launched(noon)), instance("ins-2", launched(noon))}
	return at(s, after)
}

func at(s decide.Situation, after time.Duration) decide.Situation {
	s.Now = noon.Add(after)
	s.Observation.At, s.Observation.Cluster.At = s.Now, s.Now
	return s
}

func TestUnneededTokensAreDeleted(t *testing.T) {
	t.Parallel()
	const end, again = "delete the bootstrap token abcdef of launch 1", "retry launch 1: 2 spot GN7.2XLARGE32 in ap-singapore-2"
	with := func(s decide.Situation, change func(*decide.Situation)) decide.Situation {
		change(&s)
		return s
	}
	both, away := []node.Node{nodeOf("ins-1"), nodeOf("ins-2")}, func(s *decide.Situation) { s.Observation.Cluster = node.Observation{} }
	without := func(s *decide.Situation) {
		s.Declaration.BootstrapToken, s.Declaration.UserData = nil, ""
	}
	fell := came(launchedWith(), time.Minute)
	fell.Journal = decide.Decide(inCluster(fell, both...)).Journal
	shouldDecideEach(t, map[string]decisionCase{
		"none joined":               {situation: came(launchedWith(), time.Minute)},
		"one joined":                {situation: inCluster(came(launchedWith(), time.Minute), nodeOf("ins-1"), nodeOf("ins-2", notReady(time.Minute)))},
		"both joined":               {situation: inCluster(came(launchedWith(), time.Minute), both...), want: []string{end}},
		"both did, and one is away": {situation: inCluster(at(fell, 2*time.Minute), nodeOf("ins-1")), want: []string{end}},
		"the cluster is away":       {situation: with(at(fell, 2*time.Minute), away)},
		"another cluster is seen": {situation: with(at(fell, 2*time.Minute),
			func(s *decide.Situation) { s.Observation.Cluster.ClusterUID = "another" })},
		"it was tried already": {situation: with(inCluster(fell, both...), func(s *decide.Situation) { s.SoFar.TokensEnded = []string{"abcdef"} })},
		"on hold": {
			situation: with(inCluster(fell, both...), func(s *decide.Situation) { s.Hold = &spotpool.Hold{} }), want: []string{end},
		},
		"it expired":              {situation: at(came(launchedWith(), 0), 30*time.Minute), want: []string{end}},
		"the launch is open":      {situation: at(launchedWith(), time.Minute), want: []string{again}},
		"it is open, and expired": {situation: at(launchedWith(), time.Hour), want: []string{again}},
		"it is open, and held": {
			situation: with(at(launchedWith(), time.Hour), func(s *decide.Situation) { s.Hold = &spotpool.Hold{} }), want: []string{end},
		},
		"no token any more":             {situation: with(came(launchedWith(), time.Minute), without), want: []string{end}},
		"none any more, and it is open": {situation: with(at(launchedWith(), time.Minute), without), want: []string{again, end}},
		"it was never launched": {situation: with(launchedWith(), func(s *decide.Situation) {
			s.Journal.Pending, s.Declaration.Minimum = nil, 0
		}), want: []string{end}},
	})
}

// TestTokensGoByTheClocksOfTheirClusters: a token has not expired while its cluster's clock
// says so, whatever Tencent Cloud's clock says.
func TestTokensGoByTheClocksOfTheirClusters(t *testing.T) {
	t.Parallel()
	s := at(came(launchedWith(), 0), 29*time.Minute)
	s.Now, s.Observation.At = noon.Add(time.Hour), noon.Add(time.Hour)
	shouldDecide(t, decide.Decide(s))
	s.Observation.Cluster.At = noon.Add(30 * time.Minute)
	shouldDecide(t, decide.Decide(s), "delete the bootstrap token abcdef of launch 1")
}

// TestTokensThatCanNotBeEndedAreForgotten a day after they expired, once it was tried; that
// of a launch which may be repeated is not. What has expired keeps no destroy waiting.
func TestTokensThatCanNotBeEndedAreForgotten(t *testing.T) {
	t.Parallel()
	over, away := 30*time.Minute+24*time.Hour, func(s *decide.Situation) { s.Observation.Cluster = node.Observation{} }
	tried := func(s *decide.Situation) { s.SoFar.TokensEnded = []string{"abcdef"} }
	for name, c := range map[string]struct {
		situation decide.Situation
		change    func(*decide.Situation)
		noted     int
	}{
		"it is not tried yet":         {at(came(launchedWith(), 0), over), func(*decide.Situation) {}, 1},
		"it was tried":                {at(came(launchedWith(), 0), over), tried, 0},
		"the cluster is away":         {at(came(launchedWith(), 0), over), away, 0},
		"it was tried, a bit earlier": {at(came(launchedWith(), 0), over-time.Second), tried, 1},
		"the launch is open":          {at(launchedWith(), over), tried, 1},
	} {
		c.change(&c.situation)
		p := decide.Decide(c.situation)
		if len(p.Journal.Tokens) != c.noted || len(p.TokensLeft) > 0 {
			t.Errorf("%s: noted is %+v, and %v keeps a destroy waiting", name, p.Journal.Tokens, p.TokensLeft)
		}
	}
}

// TestTokensOfAClusterThatWasGivenUp are forgotten once they expired; until then a run goes
// on trying.
func TestTokensOfAClusterThatWasGivenUp(t *testing.T) {
	t.Parallel()
	s := came(launchedWith(), time.Minute)
	s.Declaration.Nodes, s.Declaration.BootstrapToken, s.Declaration.UserData = nil, nil, ""
	s.Observation.Cluster = node.Observation{}
	if !s.Journal.NeedsCluster(s.Declaration) {
		t.Error("no further observation of the cluster, and a token is valid there")
	}
	p := decide.Decide(s)
	shouldDecide(t, p)
	if len(p.Journal.Tokens) != 1 || len(p.TokensLeft) > 0 {
		t.Errorf("before it expired: %+v, and %v keeps a destroy waiting", p.Journal.Tokens, p.TokensLeft)
	}
	if p = decide.Decide(at(s, 30*time.Minute)); len(p.Journal.Tokens) > 0 {
		t.Errorf("after it expired: %+v", p.Journal.Tokens)
	}
}
