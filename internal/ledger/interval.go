package ledger

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// interval is a record as a row of a Parquet document. Columns have the names of the usage JSON if
// it has them. Times are milliseconds in UTC, fractions are exact, such as 1/7, and missing values
// are null.
type interval struct {
	UID             string            `parquet:"uid"`
	Namespace       string            `parquet:"namespace,dict"`
	Name            string            `parquet:"name"`
	Labels          map[string]string `parquet:"labels" parquet-key:",dict" parquet-value:",dict"`
	NamespaceLabels map[string]string `parquet:"namespace_labels" parquet-key:",dict" parquet-value:",dict"`
	Owner           *ownerColumns     `parquet:"owner,optional"`
	GPUs            string            `parquet:"gpus,dict"` // all that is held, by its own weights; never read
	Held            []shareColumns    `parquet:"held,list"`
	Shown           int32             `parquet:"shown"`
	Capped          bool              `parquet:"capped"`
	HeldSeen        *Time             `parquet:"held_seen,optional,timestamp"` // null means first_seen
	Node            string            `parquet:"node,dict"`
	Model           string            `parquet:"model,dict"`
	InstanceType    string            `parquet:"instance_type,dict"`
	InstanceID      string            `parquet:"instance_id,dict"`
	SpotPool        string            `parquet:"spot_pool,dict"`
	PlaceSeen       *Time             `parquet:"place_seen,optional,timestamp"` // null means first_seen
	Start           Time              `parquet:"start,timestamp"`
	StartSource     string            `parquet:"start_source,dict"`
	Running         *Time             `parquet:"running,optional,timestamp"`
	RunningSource   *Source           `parquet:"running_source,optional,dict"`
	EndEarliest     *Time             `parquet:"end_earliest,optional,timestamp"` // null if End is exact
	End             *Time             `parquet:"end,optional,timestamp"`
	EndSource       *Source           `parquet:"end_source,optional,dict"`
	Deletion        *Time             `parquet:"deletion,optional,timestamp"`
	FirstSeen       Time              `parquet:"first_seen,timestamp"`
}

type ownerColumns struct {
	APIVersion string `parquet:"api_version,dict"`
	Kind       string `parquet:"kind,dict"`
	Name       string `parquet:"name,dict"`
	UID        string `parquet:"uid,dict"`
}

type shareColumns struct {
	Resource string `parquet:"resource,dict"`
	Units    string `parquet:"units,dict"`
	Weight   string `parquet:"weight,dict"`
	Claim    string `parquet:"claim,dict"`
	Whole    string `parquet:"whole,dict"`
	Earlier  string `parquet:"earlier,dict"` // "true" for what counts before held_seen only, else ""
}

// The columns in the order of the schema.
const (
	uidColumn = iota
	namespaceColumn
	nameColumn
	labelKeyColumn
	labelValueColumn
	namespaceLabelKeyColumn
	namespaceLabelValueColumn
	ownerAPIVersionColumn
	ownerKindColumn
	ownerNameColumn
	ownerUIDColumn
	gpusColumn
	resourceColumn
	unitsColumn
	weightColumn
	claimColumn
	wholeColumn
	earlierColumn
	shownColumn
	cappedColumn
	heldSeenColumn
	nodeColumn
	modelColumn
	instanceTypeColumn
	instanceIDColumn
	spotPoolColumn
	placeSeenColumn
	startColumn
	startSourceColumn
	runningColumn
	runningSourceColumn
	endEarliestColumn
	endColumn
	endSourceColumn
	deletionColumn
	firstSeenColumn
)

// encoder converts records to rows. Many records share labels and allocations.
type encoder struct {
	labels map[*Label]map[string]string // by the first of each list
	held   map[*Allocation]heldColumns
}

type heldColumns struct {
	gpus   string
	shares []shareColumns
}

// encodeIntervals encodes records. The same records always give the same bytes.
func encodeIntervals(name, clusterUID string, records []Record) (document.Document, error) {
	slices.SortFunc(records, func(a, b Record) int {
		return cmp.Or(cmp.Compare(a.Start.At, b.Start.At), strings.Compare(a.UID, b.UID))
	})
	line, err := document.SealLine(name, clusterUID)
	if err != nil {
		return document.Document{}, err
	}
	data, err := encode(line, records)
	if err != nil {
		return document.Document{}, fmt.Errorf("encoding the ledger's document %s: %w", name, err)
	}
	return document.Seal(name, clusterUID, data, len(records)), nil
}

func encode(seal string, records []Record) ([]byte, error) {
	e := encoder{labels: map[*Label]map[string]string{}, held: map[*Allocation]heldColumns{}}
	lines := make([]interval, len(records))
	for n := range records {
		lines[n] = e.line(&records[n])
	}
	return columns.Encode(lines, document.Magic, seal)
}

func (e *encoder) line(r *Record) interval {
	held := e.heldBy(r.Allocation)
	i := interval{
		UID: r.UID, Namespace: r.Set.Namespace, Name: r.Name,
		Labels: e.labelsOf(r.Set.Labels), NamespaceLabels: e.labelsOf(r.Set.NamespaceLabels),
		GPUs: held.gpus, Held: held.shares, Shown: int32(r.Allocation.Shown), Capped: r.Allocation.Capped, HeldSeen: unless(&r.AllocationSeen, r.Seen),
		Node: r.Place.Node, Model: r.Place.Model, InstanceType: r.Place.InstanceType, InstanceID: r.Place.InstanceID,
		SpotPool: r.Place.SpotPool, PlaceSeen: unless(&r.PlaceSeen, r.Seen),
		Start: r.Start.At, StartSource: string(r.Start.Source), Running: unless(&r.Runs.At, 0), RunningSource: unless(&r.Runs.Source, ""),
		EndEarliest: unless(&r.End.Earliest, r.End.At), End: unless(&r.End.At, 0), EndSource: unless(&r.End.Source, ""),
		Deletion: unless(&r.Deletion, 0), FirstSeen: r.Seen,
	}
	if r.Owner != nil {
		i.Owner = &ownerColumns{APIVersion: r.Owner.APIVersion, Kind: r.Owner.Kind, Name: r.Owner.Name, UID: r.Owner.UID}
	}
	return i
}

// unless returns a value, or nil if it equals the usual one.
func unless[T comparable](value *T, usual T) *T {
	if *value == usual {
		return nil
	}
	return value
}

func (e *encoder) labelsOf(l Labels) map[string]string {
	if len(l) == 0 {
		return nil
	}
	if _, there := e.labels[&l[0]]; !there {
		e.labels[&l[0]] = l.toMap()
	}
	return e.labels[&l[0]]
}

func (e *encoder) heldBy(a *Allocation) heldColumns {
	held, there := e.held[a]
	if there {
		return held
	}
	held.gpus = a.GPUs().RatString()
	held.add(a.Shares, "")
	held.add(a.Earlier, "true")
	e.held[a] = held
	return held
}

func (h *heldColumns) add(shares []Share, earlier string) {
	for n := range shares {
		share := &shares[n]
		h.shares = append(h.shares, shareColumns{
			Resource: share.Resource, Units: share.Units.RatString(), Weight: share.Weight.RatString(), Claim: share.Claim, Whole: share.whole(),
			Earlier: earlier,
		})
	}
}

// rational parses the output of RatString for numbers from 0, and returns nil for anything else.
// big.Rat itself also accepts exponents, which could fill the memory.
func rational(s string) *big.Rat {
	const maxDigits = 80 // of maxBits
	numerator, denominator, divided := strings.Cut(s, "/")
	if !divided {
		denominator = "1"
	}
	var parts [2]*big.Int
	for n, digits := range [...]string{numerator, denominator} {
		if digits == "" || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" {
			return nil
		}
		parts[n], _ = new(big.Int).SetString(digits, 10)
	}
	if parts[1].Sign() == 0 {
		return nil
	}
	return new(big.Rat).SetFrac(parts[0], parts[1])
}
