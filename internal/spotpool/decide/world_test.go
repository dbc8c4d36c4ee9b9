package decide_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// world is a small cloud with one pool in it, and whatever is not the pool's.
// It keeps what no observer sees: when tags arrive, and which launches fail.
type world struct {
	now          time.Time
	d            spotpool.Declaration
	journal      journal.Journal // as the store has it
	gate         spotpool.Gate
	hold         *spotpool.Hold
	budget       excess
	surplusSince time.Time // of plans; zero if the last had none
	lost         bool      // the observation at hand: its run is killed before it writes anything
	cluster      *cluster  // nil where the pool has no nodes
	machines     []*machine
	markets      map[spotpool.Market]*market
	tokens       map[string][]string // what each ClientToken launched
	bodies       map[string]spotpool.Request
	blind        bool // prices and stock are unknown
	journals     int  // how many there were: a lost one is replaced
	// quota is how many spot vCPUs the account may have, by zone; a zone that is
	// not in it has no limit.
	quota map[string]int
	// refuses are the machines whose end is refused whatever their state.
	refuses map[string]bool

	// stockFirst says that a retried launch is refused if stock or price do not allow it now,
	// although it took effect before.
	stockFirst bool

	tagsAfter, listedAfter, runsAfter time.Duration
	callTakes                         time.Duration // from a launch's asking to its effect
	failing                           int           // so many of the next machines fail to launch
	last                              int           // the last machine's number
}

type machine struct {
	spotpool.Instance
	tags     spotpool.Instance // what it is tagged with once tags have arrived
	made     time.Time
	listed   time.Duration
	tagged   time.Duration
	running  time.Duration
	fails    bool
	endsAt   time.Time // when it vanishes; zero: not
	launched bool      // by the pool
}

type market struct {
	price spotpool.Price
	stock int
}

func newWorld(d spotpool.Declaration) *world {
	w := &world{
		now: noon, d: d, markets: map[spotpool.Market]*market{}, tokens: map[string][]string{}, bodies: map[string]spotpool.Request{},
		quota: map[string]int{}, refuses: map[string]bool{},
		tagsAfter: time.Second, runsAfter: 30 * time.Second,
	}
	for n, zone := range []string{zone2, zone3, zone4} {
		for k, instanceType := range []string{t4, a10} {
			price := yuan("2") + spotpool.Price(n)*yuan("1") + spotpool.Price(k)*yuan("0.5")
			w.markets[spotpool.Market{AvailabilityZone: zone, InstanceType: instanceType, ChargeType: spotpool.Spot}] = &market{price, 1000}
			w.markets[spotpool.Market{AvailabilityZone: zone, InstanceType: instanceType, ChargeType: spotpool.OnDemand}] = &market{5 * price, 1000}
		}
	}
	return w
}

// pass lets time pass.
func (w *world) pass(d time.Duration) {
	w.now = w.now.Add(d)
	for _, m := range w.machines {
		age := w.now.Sub(m.made)
		if m.State == spotpool.StatePending && m.launched && age >= m.running {
			if m.State = spotpool.StateRunning; m.fails {
				m.State, m.OperationError = spotpool.StateLaunchFailed, "no disk"
				m.endsAt = w.now.Add(5 * time.Minute)
			}
		}
		if m.launched && age >= m.tagged && m.tags.PoolUID != "" {
			m.PoolUID, m.PoolName, m.SeqTag, m.ConfigurationTag = m.tags.PoolUID, m.tags.PoolName, m.tags.SeqTag, m.tags.ConfigurationTag
		}
	}
	w.machines = slices.DeleteFunc(w.machines, func(m *machine) bool { return !m.endsAt.IsZero() && !w.now.Before(m.endsAt) })
}

// held counts the pool's machines that are there, shown or not.
func (w *world) held() int {
	n := 0
	for _, m := range w.machines {
		if m.launched && m.State != spotpool.StateTerminating && m.State != spotpool.StateLaunchFailed {
			n++
		}
	}
	return n
}

// observe shows what an observer sees: everything tagged with the uid wherever
// it is, some that is not the pool's, and recorded machines without tags.
func (w *world) observe() spotpool.Observation {
	o := spotpool.Observation{At: w.now, Region: w.d.Region, AccountID: w.d.AccountID}
	recorded := recorded(w.journal)
	if w.cluster != nil { // a machine has its address before it is a node
		w.cluster.see(w)
	}
	for _, m := range w.machines {
		shown := !m.launched || w.now.Sub(m.made) >= m.listed
		if shown && (m.PoolUID != "" || !m.launched || slices.Contains(recorded, m.ID)) {
			o.Instances = append(o.Instances, m.Instance)
		}
	}
	o.Cluster = w.cluster.observe(w)
	for _, past := range w.journal.Past {
		if !slices.ContainsFunc(w.machines, func(m *machine) bool { return m.ID == past.InstanceID }) {
			o.Absent = append(o.Absent, past.InstanceID)
		}
	}
	if !w.blind {
		o.Offers = w.offers()
		for zone := range w.quota {
			if o.SpotVCPUs == nil {
				o.SpotVCPUs = map[string]int{}
			}
			o.SpotVCPUs[zone] = w.vCPUsLeft(zone)
		}
	}
	return o
}

// vCPUsLeft is what is left of a zone's spot quota. What ends gives its part back
// at once.
func (w *world) vCPUsLeft(zone string) int {
	left := w.quota[zone]
	for _, m := range w.machines {
		if m.launched && m.AvailabilityZone == zone && m.ChargeType == spotpool.Spot && m.State != spotpool.StateTerminating &&
			m.State != spotpool.StateLaunchFailed {
			left -= vCPUs
		}
	}
	return max(0, left)
}

// vCPUs are those of each machine.
const vCPUs = 8

// offers lists every market, those of zone 4 first.
func (w *world) offers() []spotpool.Offer {
	list := []spotpool.Offer{}
	for _, zone := range []string{zone4, zone3, zone2} {
		for _, instanceType := range []string{a10, t4} {
			for _, charge := range []spotpool.ChargeType{spotpool.Spot, spotpool.OnDemand} {
				key := spotpool.Market{AvailabilityZone: zone, InstanceType: instanceType, ChargeType: charge}
				offer := spotpool.Offer{Market: key, Price: w.markets[key].price, Stock: spotpool.StockEnough, VCPUs: vCPUs}
				if w.markets[key].stock == 0 {
					offer.Stock = spotpool.StockNone
				}
				list = append(list, offer)
			}
		}
	}
	return list
}

func (w *world) situation(run decide.SoFar) decide.Situation {
	return decide.Situation{Declaration: w.d, Observation: w.observe(), Journal: w.journal, Now: w.now, SoFar: run, Gate: w.gate, Hold: w.hold}
}

// launch is RunInstances: all or nothing, and the same again for a token.
func (w *world) launch(r spotpool.Request) ([]string, *spotpool.CloudError) {
	ids, known := w.tokens[r.Token]
	if known && !w.stockFirst {
		return ids, nil
	}
	if !known {
		w.pass(w.callTakes)
	}
	m := w.markets[spotpool.Market{AvailabilityZone: r.Offering.AvailabilityZone, InstanceType: r.Offering.InstanceType, ChargeType: r.ChargeType}]
	_, limited := w.quota[r.Offering.AvailabilityZone]
	refusal := &spotpool.CloudError{Scope: spotpool.ScopeOffering, NothingLaunched: true, Action: "RunInstances"}
	switch {
	case m.stock < r.Count:
		refusal.Class, refusal.Code = errorclass.Capacity, "ResourcesSoldOut.SpecifiedInstanceType"
		return nil, refusal
	case r.ChargeType == spotpool.Spot && r.Offering.SpotMaxPrice > 0 && r.Offering.SpotMaxPrice < m.price:
		refusal.Class, refusal.Code = errorclass.Price, "InvalidParameterValue.InsufficientPrice"
		return nil, refusal
	case known:
		return ids, nil
	case limited && r.ChargeType == spotpool.Spot && w.vCPUsLeft(r.Offering.AvailabilityZone) < r.Count*vCPUs:
		refusal.Class, refusal.Scope, refusal.Code = errorclass.Quota, spotpool.ScopeZone, "LimitExceeded.UserSpotQuota"
		return nil, refusal
	}
	m.stock -= r.Count
	for range r.Count {
		w.last++
		id := fmt.Sprintf("ins-%08d", w.last)
		made := &machine{
			made: w.now, listed: w.listedAfter, tagged: w.tagsAfter, running: w.runsAfter, launched: true, fails: w.failing > 0,
			tags: spotpool.Instance{PoolUID: r.UID, PoolName: r.Pool, SeqTag: r.SeqTag, ConfigurationTag: r.ConfigurationTag},
			Instance: spotpool.Instance{
				ID: id, Region: r.Region, AccountID: w.d.AccountID,
				AvailabilityZone: r.Offering.AvailabilityZone, InstanceType: r.Offering.InstanceType, SubnetID: r.Offering.SubnetID,
				ChargeType: r.ChargeType, State: spotpool.StatePending, LaunchedAt: w.now,
			},
		}
		w.failing = max(0, w.failing-1)
		w.machines = append(w.machines, made)
		ids = append(ids, id)
	}
	w.tokens[r.Token] = ids
	w.pass(0)
	return ids, nil
}

// terminate terminates machines as the adapter does: if Tencent Cloud refuses one, the others
// still terminate.
func (w *world) terminate(ids []string) (refused []string, err error) {
	for _, m := range w.machines {
		if !slices.Contains(ids, m.ID) {
			continue
		}
		switch m.State {
		case spotpool.StatePending, spotpool.StateLaunchFailed, spotpool.StateStarting, spotpool.StateStopping, spotpool.StateRebooting:
			return nil, fmt.Errorf("UnsupportedOperation.InstanceState: %s is %s", m.ID, m.State)
		}
		if m.Protected || m.APIProtected {
			return nil, fmt.Errorf("UnsupportedOperation.InstancesProtected: %s", m.ID)
		}
		if !m.launched || m.PoolUID != w.d.UID {
			return nil, fmt.Errorf("%s is not the pool's", m.ID)
		}
		if w.refuses[m.ID] {
			refused = append(refused, m.ID)
			continue
		}
		m.State, m.endsAt = spotpool.StateTerminating, w.now.Add(20*time.Second)
	}
	return refused, nil
}

func (w *world) runs(id string) bool {
	return slices.ContainsFunc(w.machines, func(m *machine) bool { return m.ID == id && m.State == spotpool.StateRunning })
}

// loseJournal removes the journal of the pool.
func (w *world) loseJournal() {
	w.journal = journal.Journal{}
	if w.cluster != nil {
		clear(w.cluster.interrupted) // a new journal has seen no notice yet
	}
}

// fault is what happens to one run, at its nth step.
type fault struct {
	step int
	kind faultKind
}

type faultKind int

const (
	noFault           faultKind = iota
	killedBefore                // before the intent, or the note of an end
	killedAfterIntent           // before the call
	killedAfterCall             // before its outcome is recorded
	lostAfterEffect             // the answer is lost, and it took effect
	lostBeforeEffect            // the answer is lost, and nothing happened
)

// run is one run of an executor that follows the protocol: decide, do the first
// thing, observe what that left, and so on. check sees each plan.
func (w *world) run(f fault, check func(decide.Situation, decide.Plan)) (decided int, err error) {
	run := decide.SoFar{}
	if w.journals == 0 { // the pool's first
		w.journals++
		w.journal = w.journal.Salted(salt)
	}
	for step := 0; ; step++ {
		if step > 500 {
			return decided, errors.New("a run never ends")
		}
		s := w.situation(run)
		p := decide.Decide(s)
		kind := noFault
		if step == f.step {
			kind = f.kind
		}
		w.lost = kind == killedBefore
		check(s, p)
		if kind == killedBefore {
			return decided, nil
		}
		if w.journal = p.Journal; w.journal.Salt == "" {
			w.journals++
			w.journal = w.journal.Salted(fmt.Sprintf("%s%d", salt, w.journals))
		}
		if len(p.Decisions) == 0 {
			if w.cluster != nil {
				w.cluster.mark(p.Unmarked, w.d.UID)
			}
			return decided, nil
		}
		decided++
		d := p.Decisions[0]
		run.Replaced += len(p.Replacing)
		if d.Node != nil {
			if goesOn, err := w.node(d, kind, &run); !goesOn {
				return decided, err
			}
			continue
		}
		run.Refreshed = run.Refreshed || d.Refresh
		if d.Kind == spotpool.KindTerminate {
			if d.InstanceIDs = w.emptied(d.InstanceIDs); len(d.InstanceIDs) == 0 {
				continue
			}
			w.journal = w.journal.Terminate(d.InstanceIDs, w.now)
			if kind == killedAfterIntent || kind == lostBeforeEffect {
				return decided, nil
			}
			if err := w.lostWork(d.InstanceIDs); err != nil {
				return decided, err
			}
			refused, err := w.terminate(d.InstanceIDs)
			if err != nil {
				return decided, err
			}
			run.Refused = append(run.Refused, refused...)
			w.journal.Fleet = w.journal.Keep(slices.DeleteFunc(slices.Clone(refused), func(id string) bool { return !w.runs(id) }), w.now)
			if len(refused) == len(d.InstanceIDs) {
				decided-- // each run asks once, for ever
				run.Refreshed = run.Refreshed && !d.Refresh
			}
			if kind != noFault {
				return decided, nil
			}
			continue
		}
		if d.Resume {
			w.journal = w.journal.Retry(d.Sequence, w.now)
		} else {
			w.journal = w.journal.Open(launches.Launch{Request: *d.Request, WrittenAt: w.now})
		}
		if kind == killedAfterIntent || kind == lostBeforeEffect {
			return decided, nil
		}
		if err := w.sameBody(*d.Request); err != nil {
			return decided, err
		}
		ids, refusal := w.launch(*d.Request)
		if kind != noFault {
			return decided, nil
		}
		if refusal != nil {
			var state launches.State
			if w.journal, state = w.journal.Refuse(d.Sequence, refusal, w.d.Cooldown, w.now); state != launches.Refused {
				return decided, nil
			}
			continue
		}
		if !d.Resume {
			run.Launched += d.Count
		}
		w.journal = w.journal.Accept(d.Sequence, ids, w.now)
	}
}

// sameBody checks that a token is only ever sent with one body.
func (w *world) sameBody(r spotpool.Request) error {
	body, known := w.bodies[r.Token]
	if !known {
		w.bodies[r.Token] = r
		return nil
	}
	if fmt.Sprintf("%+v", body) != fmt.Sprintf("%+v", r) {
		return fmt.Errorf("the token of launch %d was sent with two bodies", r.Sequence)
	}
	return nil
}
