package days

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// The pools, each with room for one or two machines above its minimum.
var (
	poolNames = []string{"train", "serve", "batch"}
	poolSizes = [][2]int{{4, 6}, {3, 4}, {2, 3}}
)

// attempts is how often a failing call is made.
const attempts = 2

// stage is a cloud, a cluster and a store on which a day is played.
type stage struct {
	t       testing.TB
	day     day
	begins  time.Time
	now     time.Duration // since then
	world   *reconciletest.World
	client  *tencent.Client
	cluster *reconciletest.Cluster
	store   store.Store
	pools   []*pool
	markets *spotpool.Markets // as they were asked for since they moved; nil: not yet
	closed  map[string]int    // how often each zone is sold out
	strange []string          // ids of foreign machines
	counts  map[string]int    // of what was played
}

type pool struct {
	spotpool.Declaration
	machines map[string]*machine
	launched int      // machines, ever
	given    int      // jobs, ever
	latest   struct { // launches
		at    time.Duration
		count int
	}
	queue   []*job // that wait to go on
	figures figures
	// suspended is since when replacing is, as machines never joined; zero while it is not.
	suspended time.Time
}

type machine struct {
	cvmsim.Instance
	n       int       // of the pool's machines
	runs    time.Time // since when; zero: not yet
	seen    time.Time // when a run first observed it running
	joins   time.Duration
	ever    bool // it joins
	node    string
	unready time.Time     // since when its node is not Ready; zero while it is
	until   time.Duration // when a failing node recovers
	taken   bool          // it got an interruption notice
	job     *job
}

// newStage is the beginning of a day: each pool is at its minimum, and works.
func newStage(t testing.TB, d day, nodes bool) *stage {
	begins := time.Now().UTC().Truncate(time.Second)
	delays := func(o *cvmsim.Options) {
		o.LaunchDelay, o.TerminateDelay, o.ListingDelay, o.TagDelay = time.Minute, 30*time.Second, 10*time.Second, 20*time.Second
	}
	s := &stage{
		t: t, day: d, begins: begins, world: reconciletest.NewStillWorld(t, begins, delays), cluster: reconciletest.NewCluster(),
		store: draft.Empty(store.Location{Backend: store.Directory, Path: "days"}), closed: map[string]int{}, counts: map[string]int{},
	}
	s.client = s.world.Client(30*time.Second, attempts)
	s.cluster.Step(begins.Sub(s.cluster.Now()))
	for _, zone := range []string{reconciletest.ZoneA, reconciletest.ZoneB} {
		s.stock(zone, 0)
	}
	for n, name := range poolNames {
		s.pools = append(s.pools, s.newPool(n, name, nodes))
	}
	s.strangers()
	s.look()
	return s
}

func (s *stage) newPool(n int, name string, nodes bool) *pool {
	d := reconciletest.Pool(poolSizes[n][0], poolSizes[n][1])
	d.Name, d.UID, d.AccountID, d.Generation = name, strings.Repeat(string(rune('a'+n)), 32), cvmsim.DemoAccountID, 1
	d.Cooldown = spotpool.DefaultCooldown
	d.Offerings[0].SpotMaxPrice = 3_500_000 // 3.50 CNY
	d.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshRolling, MaxSurge: 1}
	if nodes {
		d.Nodes, d.ClusterUID = &spotpool.Nodes{}, s.cluster.ClusterUID
	}
	p := &pool{Declaration: d.WithDefaults(), machines: map[string]*machine{}}
	s.write(p)
	for k := range p.Minimum {
		o := p.Offerings[k%len(p.Offerings)]
		ids, err := s.world.Sim.Server.Seed(cvmsim.SeedRequest{
			Pool: name, UID: d.UID, Seq: "1", AvailabilityZone: o.AvailabilityZone, InstanceType: o.InstanceType, Age: cvmsim.Duration(time.Hour),
			Config: spotpool.ConfigurationTag(d.Configuration, o, spotpool.Spot), VpcID: d.VPCID, SubnetID: o.SubnetID, ImageID: d.ImageID,
		})
		s.must(err)
		p.launched++
		m := &machine{n: p.launched, Instance: cvmsim.Instance{InstanceID: ids[0]}, runs: s.begins.Add(-time.Hour), ever: true}
		p.machines[ids[0]] = m
		m.node = s.cluster.Join(ids[0])
	}
	return p
}

// strangers are machines and nodes that no pool may touch.
func (s *stage) strangers() {
	for _, pool := range []string{"", "other"} {
		seed := cvmsim.SeedRequest{AvailabilityZone: reconciletest.ZoneA, InstanceType: reconciletest.GPUType}
		if pool != "" {
			seed.Pool, seed.UID, seed.Seq = pool, "0123456789abcdef0123456789abcdef", "1"
		}
		ids, err := s.world.Sim.Server.Seed(seed)
		s.must(err)
		s.strange = append(s.strange, ids...)
	}
	work := []node.Pod{{Namespace: "web", Name: "strange", UID: "uid-strange", Controller: "ReplicaSet"}}
	s.cluster.Join(s.strange[0], func(m *reconciletest.Machine) { m.Name, m.Pods = "strange-1", work })
	s.cluster.Join("", func(m *reconciletest.Machine) { m.Name, m.ProviderID, m.Pods = "strange-2", "aws:///eu-1/i-1", work })
	s.cluster.Join("", func(m *reconciletest.Machine) { m.Name, m.ProviderID, m.Ready = "strange-3", "", node.ReadyFalse })
}

func (s *stage) must(err error) {
	if err != nil {
		s.t.Helper()
		s.t.Fatal(err)
	}
}

func (s *stage) clock() time.Time { return s.begins.Add(s.now) }

// stock opens or closes a zone's market.
func (s *stage) stock(zone string, more int) {
	s.closed[zone] += more
	s.markets = nil
	stock := int64(100)
	if s.closed[zone] > 0 {
		stock = 0
	}
	s.must(s.world.Sim.Server.SetStock(cvmsim.StockRequest{
		AvailabilityZone: zone, InstanceType: reconciletest.GPUType, Stock: &stock, VCPUQuota: new(int64(1000)),
	}))
}

func (s *stage) declare(p *pool, change func(*spotpool.Declaration)) {
	change(&p.Declaration)
	p.Generation++
	s.write(p)
}

func (s *stage) write(p *pool) {
	ctx, key := context.Background(), store.Key{Kind: store.SpotPools, Name: p.Key()}
	var was store.Revision
	if doc, err := s.store.Read(ctx, key); err == nil {
		was = doc.Revision
	}
	data, err := declaration.Encode(declaration.SpotPool{
		Phase: declaration.Active, Declaration: p.Declaration, UpdatedAt: s.clock(), UpdatedBy: "terraform apply",
	})
	s.must(err)
	_, err = s.store.Write(ctx, key, data, was)
	s.must(err)
}

func (p *pool) some(zone string, which float64, fits func(*machine) bool) *machine {
	var list []*machine
	for _, m := range p.sorted() {
		if !m.runs.IsZero() && (zone == "" || m.AvailabilityZone == zone) && fits(m) {
			list = append(list, m)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return list[int(which*float64(len(list)))]
}

// sorted are the pool's machines, the oldest first.
func (p *pool) sorted() []*machine {
	var list []*machine
	for _, m := range p.machines {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *machine) int { return cmp.Compare(a.n, b.n) })
	return list
}

func (s *stage) reclaim(p *pool, zone string, which float64, told bool) {
	m := p.some(zone, which, func(m *machine) bool { return !m.taken && m.State == "RUNNING" })
	if m == nil {
		s.counts["reclaims that find no machine"]++
		return
	}
	m.taken = true
	request := cvmsim.ReclaimRequest{InstanceIDs: []string{m.InstanceID}}
	if told {
		request.Notice = cvmsim.Duration(noticeAhead)
		s.counts["reclaims with notice"]++
		if m.node != "" && s.cluster.Machine(m.node) != nil {
			s.cluster.Change(m.node, func(n *reconciletest.Machine) { n.TakenAt = s.clock().Add(noticeAhead) })
		}
	} else {
		s.counts["reclaims without"]++
	}
	_, err := s.world.Sim.Server.Reclaim(request)
	s.must(err)
}

func (s *stage) failNode(p *pool, which float64, until time.Duration) {
	m := p.some("", which, func(m *machine) bool { return m.node != "" && m.unready.IsZero() && !m.taken })
	if m == nil {
		return
	}
	s.counts["failing nodes"]++
	m.until, m.unready = until, s.clock()
	s.cluster.Change(m.node, func(n *reconciletest.Machine) { n.Ready, n.ReadySince = node.ReadyUnknown, s.clock() })
}

// log prints an event, if logs are requested.
func (s *stage) log(format string, a ...any) {
	if *verbose {
		s.t.Logf("%s "+format, append([]any{s.now}, a...)...)
	}
}
