package export

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// interval is a row of the exported ledger: one pod, and the time that it held GPUs. Parquet and
// CSV have the same columns.
type interval struct {
	// The pod's UID.
	UID string `json:"uid" parquet:"uid"`
	// When the pod was bound to its node.
	Start stamp `json:"start" parquet:"start,timestamp"`
	// The earliest possible end. Null if the end is exact.
	EndEarliest *stamp `json:"end_earliest" parquet:"end_earliest,optional,timestamp"`
	// The end, or the latest possible one. Null while the pod holds GPUs.
	End *stamp `json:"end" parquet:"end,optional,timestamp"`
	// The number of GPUs.
	GPUs billionths `json:"gpus" parquet:"gpus,decimal(9:18)"`
	// Whether other pods may hold the same GPUs.
	Shared bool `json:"shared" parquet:"shared"`
	// Whether only the pod itself shows the GPUs, and its node does not.
	Estimated bool `json:"estimated" parquet:"estimated"`
	// The UID of the cluster.
	ClusterUID string `json:"cluster_uid" parquet:"cluster_uid,dict"`
	// The pod's namespace.
	Namespace string `json:"namespace" parquet:"namespace,dict"`
	// The pod's name.
	Name string `json:"name" parquet:"name"`
	// The pod's labels, as first observed.
	Labels map[string]string `json:"labels" parquet:"labels" parquet-key:",dict" parquet-value:",dict"`
	// The kind of its controller.
	OwnerKind string `json:"owner_kind" parquet:"owner_kind,dict"`
	// The name of its controller.
	OwnerName string `json:"owner_name" parquet:"owner_name,dict"`
	// The name of its node.
	Node string `json:"node" parquet:"node,dict"`
	// The GPU model.
	Model string `json:"model" parquet:"model,dict"`
	// The instance type of its node.
	InstanceType string `json:"instance_type" parquet:"instance_type,dict"`
	// The instance of its node.
	InstanceID string `json:"instance_id" parquet:"instance_id,dict"`
	// The spot pool of its node.
	SpotPool string `json:"spot_pool" parquet:"spot_pool,dict"`
	// How the start is known: one of the [sources](codes.md#sources-of-starts-and-ends).
	StartSource string `json:"start_source" parquet:"start_source,dict"`
	// How the end is known: one of the [sources](codes.md#sources-of-starts-and-ends).
	EndSource string `json:"end_source" parquet:"end_source,dict"`
	// The first run that observed the pod.
	FirstSeen stamp `json:"first_seen" parquet:"first_seen,timestamp"`
}

var intervalTable = table[interval, interval]{
	called: "interval",
	titles: []string{
		"uid", "start", "end_earliest", "end", "gpus", "shared", "estimated", "cluster_uid", "namespace", "name", "labels", "owner_kind", "owner_name",
		"node", "model", "instance_type", "instance_id", "spot_pool", "start_source", "end_source", "first_seen",
	},
	cells:     (*interval).cells,
	place:     func(i *interval) place { return place{int64(i.Start), 0, i.UID} },
	toParquet: func(i *interval) interval { return *i },
	parquet:   func(i *interval) interval { return *i },
	metadata:  [2]string{"gpupool-export", "1"},
	rank:      func([]string) int { return 0 },
	part:      func(i *interval) part { return part{i.ClusterUID, i.Start.time().Format(time.DateOnly)} },
}

func (i *interval) cells() []string {
	labels := ""
	if len(i.Labels) > 0 {
		data, err := json.Marshal(i.Labels)
		if err == nil { // of texts nothing else can be
			labels = string(data)
		}
	}
	return []string{
		i.UID, i.Start.String(), i.EndEarliest.String(), i.End.String(), i.GPUs.String(), strconv.FormatBool(i.Shared), strconv.FormatBool(i.Estimated),
		i.ClusterUID, i.Namespace, i.Name, labels, i.OwnerKind, i.OwnerName, i.Node, i.Model, i.InstanceType, i.InstanceID, i.SpotPool,
		i.StartSource, i.EndSource, i.FirstSeen.String(),
	}
}

// intervals are those of all ledgers in the store.
func (o *options) intervals(ctx context.Context, place store.Store) ([]interval, error) {
	documents, err := place.List(ctx, store.Ledger)
	if err != nil {
		return nil, err
	}
	clusters := connect.Ledgers(documents)
	var rows []interval
	for _, uid := range slices.Sorted(maps.Keys(clusters)) {
		l, problems, err := ledger.Load(uid, clusters[uid], ledger.Time(o.session.Now().UnixMilli()))
		if err != nil {
			return nil, fmt.Errorf("the ledger of the cluster %s in the store %s: %w", uid, place, err)
		}
		for _, p := range l.Unaccepted(problems) {
			o.lost = append(o.lost, p.Error())
		}
		for r := range l.All() {
			rows = append(rows, intervalOf(uid, r))
		}
	}
	o.warn(o.lost)
	return rows, nil
}

func intervalOf(cluster string, r *ledger.Record) interval {
	i := interval{
		UID: r.UID, Start: stamp(r.Start.At), GPUs: billionthsOf(r.Allocation.GPUs()), Shared: r.Allocation.Shared(), Estimated: r.Allocation.Shown == 0,
		ClusterUID: cluster, Namespace: r.Set.Namespace, Name: r.Name, Node: r.Place.Node, Model: r.Place.Model, InstanceType: r.Place.InstanceType,
		InstanceID: r.Place.InstanceID, SpotPool: r.Place.SpotPool, StartSource: string(r.Start.Source), EndSource: string(r.End.Source),
		FirstSeen: stamp(r.Seen),
	}
	if len(r.Set.Labels) > 0 {
		i.Labels = make(map[string]string, len(r.Set.Labels))
		for _, label := range r.Set.Labels {
			i.Labels[label.Key] = label.Value
		}
	}
	if r.Owner != nil {
		i.OwnerKind, i.OwnerName = r.Owner.Kind, r.Owner.Name
	}
	if !r.Open() {
		end := stamp(r.End.At)
		i.End = &end
	}
	if r.End.Estimated() {
		earliest := stamp(r.End.Earliest)
		i.EndEarliest = &earliest
	}
	return i
}

// stamp is a moment in milliseconds since 1970.
type stamp int64

func (s stamp) time() time.Time { return time.UnixMilli(int64(s)).UTC() }

// String is empty for no moment.
func (s *stamp) String() string {
	if s == nil {
		return ""
	}
	return s.time().Format("2006-01-02T15:04:05.000Z")
}

// MarshalJSON writes it in UTC.
func (s stamp) MarshalJSON() ([]byte, error) { return json.Marshal(s.time()) }

// UnmarshalJSON reads it.
func (s *stamp) UnmarshalJSON(data []byte) error {
	var at time.Time
	err := json.Unmarshal(data, &at)
	*s = stamp(at.UnixMilli())
	return err
}

// billionths is a number of GPUs, to nine decimals.
type billionths int64

const billion = 1_000_000_000

func billionthsOf(n *big.Rat) billionths {
	scaled := new(big.Rat).Mul(n, big.NewRat(2*billion, 1))
	rounded := new(big.Int).Add(new(big.Int).Quo(scaled.Num(), scaled.Denom()), big.NewInt(1))
	return billionths(rounded.Rsh(rounded, 1).Int64())
}

// String writes it without zeros at its end.
func (b billionths) String() string {
	whole := fmt.Sprintf("%d.%09d", b/billion, b%billion)
	return strings.TrimRight(strings.TrimRight(whole, "0"), ".")
}

// MarshalJSON writes it as a number.
func (b billionths) MarshalJSON() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalJSON reads what MarshalJSON writes.
func (b *billionths) UnmarshalJSON(data []byte) error {
	n, ok := new(big.Rat).SetString(string(data))
	if !ok || n.Sign() < 0 || n.Cmp(big.NewRat(billion, 1)) > 0 {
		return fmt.Errorf("invalid number of GPUs %.40q", data)
	}
	*b = billionthsOf(n)
	return nil
}
