package spotpool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/shortcut"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

// privateKey is the key of privateState in Terraform's private state.
const privateKey = "observation"

const privateStateVersion = 1

// privateState is the input of a plan: everything that Decide needs, as Create, Read and Update
// left it in Terraform's private state. A plan uses nothing else, since Terraform plans again
// during apply and refuses a different plan.
type privateState struct {
	Version   int             `json:"version"`
	Recorded  bool            `json:"recorded"` // the store had a record of the pool
	State     stateValues     `json:"state"`    // the state's own values, for a refresh
	At        time.Time       `json:"at"`
	Currency  core.Currency   `json:"currency,omitempty"` // of all prices
	Gate      core.Gate       `json:"gate,omitzero"`
	Hold      *core.Hold      `json:"hold,omitempty"`
	Instances []core.Instance `json:"instances,omitempty"`
	Offers    []core.Offer    `json:"offers"` // null: unknown
	SpotVCPUs map[string]int  `json:"spot_vcpus,omitempty"`
	Journal   journal.Journal `json:"journal"`
	// Cluster is the observation of the pool's nodes, and OtherNodes the health of others;
	// empty if the pool has none.
	Cluster    node.Observation `json:"cluster,omitzero"`
	OtherNodes node.Count       `json:"other_nodes,omitzero"`
}

// stateValues are the values of the state that a refresh needs.
type stateValues struct {
	Region     string `json:"region"`
	Name       string `json:"name"`
	UID        string `json:"uid"`
	AccountID  string `json:"account_id"`
	Generation int64  `json:"generation"`
	Capacity   int64  `json:"capacity"`
	Planned    bool   `json:"planned,omitempty"` // planned_actions is not empty
	// Currency is that of the record.
	Currency core.Currency `json:"record_currency,omitempty"`
}

func valuesOf(m model) stateValues {
	return stateValues{
		Region: m.Region.ValueString(), Name: m.Name.ValueString(), UID: m.UID.ValueString(), AccountID: m.AccountID.ValueString(),
		Generation: m.Generation.ValueInt64(), Capacity: m.Capacity.ValueInt64(), Planned: !m.PlannedActions.Equal(noActions),
		Currency: core.Currency(m.Currency.ValueString()),
	}
}

// newPrivateState returns only what decisions depend on, since state files have one for each
// pool.
func newPrivateState(pool spotpools.State, values stateValues) privateState {
	o := pool.Observation
	s := privateState{
		Version: privateStateVersion, Recorded: pool.Recorded, State: values, At: o.At, Currency: o.Currency, Gate: pool.Gate, Hold: pool.Hold,
		SpotVCPUs: o.SpotVCPUs, Journal: slimJournal(pool.Journal),
	}
	s.Cluster, s.OtherNodes = o.Cluster, pool.OtherNodes
	byAddress := false // provider IDs identify all of the pool's nodes that have one
	s.Cluster.Nodes = slices.Clone(o.Cluster.Nodes)
	for n := range s.Cluster.Nodes {
		if s.Cluster.Nodes[n].ProviderID == "" {
			byAddress = true
		} else {
			s.Cluster.Nodes[n].Addresses = nil
		}
	}
	for _, i := range o.Instances {
		if !byAddress {
			i.PrivateIP = ""
		}
		i.PublicIP, i.SubnetID, i.VPCID, i.PoolName = "", "", "", ""
		if i.Region == o.Region {
			i.Region = ""
		}
		if i.AccountID == o.AccountID {
			i.AccountID = ""
		}
		s.Instances = append(s.Instances, i)
	}
	if o.Offers != nil {
		s.Offers = make([]core.Offer, 0, len(o.Offers))
	}
	for _, offer := range o.Offers {
		offer.Currency, offer.MemoryGB, offer.GPUs, offer.GPUType = "", 0, "", ""
		s.Offers = append(s.Offers, offer)
	}
	return s
}

// slimJournal removes events, and what only a launch needs of pending launches, such as user
// data.
func slimJournal(j journal.Journal) journal.Journal {
	j.Pending = slices.Clone(j.Pending)
	j.Unreported, j.LeftOut = nil, 0
	for n := range j.Pending {
		j.Pending[n].Request.Configuration, j.Pending[n].Reasons = core.Configuration{}, nil
		j.Pending[n].Request.BootstrapToken = ""
	}
	return j
}

func (s privateState) encode() ([]byte, error) { return json.Marshal(s) }

// privateKeys returns the entries of a pool in the private state: its observation, and whether a
// plan of it is empty. If the pool was not observed, the earlier observation stays.
func privateKeys(pool spotpools.State, values stateValues) (map[string][]byte, error) {
	if !observed(pool) {
		return map[string][]byte{shortcut.IdleKey: []byte("false")}, nil
	}
	s := newPrivateState(pool, values)
	data, err := s.encode()
	if err != nil {
		return nil, fmt.Errorf("encode the observation of %s: %w", pool.Declaration.Object(), err)
	}
	next := previewUpdate(pool.Declaration, pool.Declaration, &s)
	idle := len(next.actions)+len(next.warnings) == 0 && next.short.IsZero() && !pool.Deleting
	return map[string][]byte{privateKey: data, shortcut.IdleKey: []byte(strconv.FormatBool(idle))}, nil
}

// decodePrivateState decodes what encode returns; nil if there is nothing.
func decodePrivateState(data []byte) (*privateState, error) {
	if len(data) == 0 {
		return nil, nil
	}
	var s privateState
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("the observation in the state is damaged (%w): run terraform apply -refresh-only, which replaces it", err)
	}
	if s.Version != privateStateVersion {
		return nil, fmt.Errorf("the observation in the state has version %d, and this provider needs version %d: run terraform apply -refresh-only, "+
			"which replaces it", s.Version, privateStateVersion)
	}
	return &s, nil
}

// observation restores what newPrivateState left out.
func (s *privateState) observation(region, accountID string) core.Observation {
	o := core.Observation{
		At: s.At, Region: region, AccountID: accountID, Currency: s.Currency, Offers: s.Offers, SpotVCPUs: s.SpotVCPUs, Cluster: s.Cluster,
		Instances: make([]core.Instance, len(s.Instances)),
	}
	for n, i := range s.Instances {
		if i.Region == "" {
			i.Region = region
		}
		if i.AccountID == "" {
			i.AccountID = accountID
		}
		o.Instances[n] = i
	}
	return o
}
