package history

import (
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Row is an event as a row of a Parquet file. Columns have the names of the JSON fields; times are
// milliseconds in UTC. A missing number or group is null, any other missing value is empty.
type Row struct {
	ID          string        `parquet:"id"`
	At          int64         `parquet:"at,timestamp"`
	Kind        string        `parquet:"kind,dict"`
	Object      string        `parquet:"object,dict"`
	ObjectUID   string        `parquet:"object_uid,dict"`
	ClusterUID  string        `parquet:"cluster_uid,dict"`
	RunID       string        `parquet:"run_id,dict"`
	Actor       string        `parquet:"actor,dict"`
	Reasons     []string      `parquet:"reasons,list" parquet-element:",dict"`
	Outcome     string        `parquet:"outcome,dict"`
	Count       *int32        `parquet:"count,optional"`
	Offering    *offeringRow  `parquet:"offering,optional"`
	ChargeType  string        `parquet:"charge_type,dict"`
	Price       string        `parquet:"price,dict"`
	InstanceIDs []string      `parquet:"instance_ids,list" parquet-element:",dict"`
	Pods        []identityRow `parquet:"pods,list"`
	Workloads   []identityRow `parquet:"workloads,list"`
	Threshold   *int32        `parquet:"threshold,optional"`
	Error       *errorRow     `parquet:"error,optional"`
	Until       *int64        `parquet:"until,optional,timestamp"`
	Node        string        `parquet:"node,dict"`
	Currency    string        `parquet:"currency,dict,optional"` // documents from before it lack it
	Details     string        `parquet:"details,dict,optional"`  // the codes and arguments of the reasons; as above
}

type offeringRow struct {
	AvailabilityZone string `parquet:"availability_zone,dict"`
	InstanceType     string `parquet:"instance_type,dict"`
	SubnetID         string `parquet:"subnet_id,dict"`
}

type identityRow struct {
	Namespace string `parquet:"namespace,dict"`
	Name      string `parquet:"name,dict"`
	UID       string `parquet:"uid,dict"`
}

type errorRow struct {
	Class     string `parquet:"class,dict"`
	Code      string `parquet:"code,dict"`
	Message   string `parquet:"message,dict"`
	RequestID string `parquet:"request_id,dict"`
	Remedy    string `parquet:"remedy,dict"`
}

// The columns in the order of the schema.
const (
	idColumn = iota
	atColumn
	kindColumn
	objectColumn
	objectUIDColumn
	clusterUIDColumn
	runIDColumn
	actorColumn
	reasonsColumn
	outcomeColumn
	countColumn
	zoneColumn
	typeColumn
	subnetColumn
	chargeTypeColumn
	priceColumn
	instanceIDsColumn
	podsColumn      // and two more
	workloadsColumn = podsColumn + 3
	thresholdColumn = workloadsColumn + 3
	errorColumn     = thresholdColumn + 1 // and four more
	untilColumn     = errorColumn + 5
	nodeColumn      = untilColumn + 1
	currencyColumn  = nodeColumn + 1
	detailsColumn   = currencyColumn + 1
)

// Row returns the event as a row.
func (e *Event) Row() Row {
	r := Row{
		ID: e.ID, At: e.At.UnixMilli(), Kind: string(e.Kind), Object: e.Object, ObjectUID: e.ObjectUID, ClusterUID: e.ClusterUID,
		RunID: e.RunID, Actor: e.Actor, Reasons: e.Reasons.Texts(), Outcome: e.Outcome, Count: number(e.Count), ChargeType: e.ChargeType,
		Price: e.Price, InstanceIDs: e.InstanceIDs, Pods: identities(e.Pods), Workloads: identities(e.Workloads), Threshold: number(e.Threshold), Node: e.Node,
		Currency: e.Currency, Details: e.Reasons.Compact(),
	}
	if e.Offering != nil {
		r.Offering = (*offeringRow)(e.Offering)
	}
	if e.Error != nil {
		r.Error = (*errorRow)(e.Error)
	}
	if !e.Until.IsZero() {
		until := e.Until.UnixMilli()
		r.Until = &until
	}
	return r
}

// number returns a pointer to a number, or nil for zero.
func number(n int) *int32 {
	if n == 0 {
		return nil
	}
	kept := int32(n)
	return &kept
}

func identities(list []Identity) []identityRow {
	rows := make([]identityRow, len(list))
	for n, i := range list {
		rows[n] = identityRow(i)
	}
	return rows
}

// Event returns the event of a row. It is for files of the caller: stored documents are read with
// more checks.
func (r *Row) Event() Event {
	e := Event{
		ID: r.ID, At: time.UnixMilli(r.At).UTC(), Kind: Kind(r.Kind), Object: r.Object, ObjectUID: r.ObjectUID, ClusterUID: r.ClusterUID,
		RunID: r.RunID, Actor: r.Actor, Reasons: reason.Read(r.Details, r.Reasons), Outcome: r.Outcome, ChargeType: r.ChargeType, Price: r.Price,
		InstanceIDs: r.InstanceIDs, Offering: (*Offering)(r.Offering), Error: (*Error)(r.Error), Node: r.Node, Currency: r.Currency,
	}
	for _, p := range r.Pods {
		e.Pods = append(e.Pods, Identity(p))
	}
	for _, w := range r.Workloads {
		e.Workloads = append(e.Workloads, Identity(w))
	}
	if r.Count != nil {
		e.Count = int(*r.Count)
	}
	if r.Threshold != nil {
		e.Threshold = int(*r.Threshold)
	}
	if r.Until != nil {
		e.Until = time.UnixMilli(*r.Until).UTC()
	}
	return e
}

func encode(events []Event, text string) ([]byte, error) {
	rows := make([]Row, len(events))
	for n := range events {
		rows[n] = events[n].Row()
	}
	return columns.Encode(rows, form.Magic, text)
}

// reader reads the events of a decoded document.
type reader struct {
	*columns.Table
	// wanted says of each text of the columns of kinds and objects whether it matches.
	kinds, objects []bool
	// offerings are those of the document, by the codes of their columns: events share them.
	offerings map[[3]uint32]*Offering
	// said are the reasons of the document, by their stored form.
	said map[string]reason.Reasons
}

// events returns the matching events, in the order of their time.
func (r *reader) events(q Query) ([]Event, error) {
	r.kinds, r.objects = r.kinds[:0], r.objects[:0]
	for _, kind := range r.Columns[kindColumn].Dict {
		r.kinds = append(r.kinds, q.wants(Kind(kind)))
	}
	for _, object := range r.Columns[objectColumn].Dict {
		r.objects = append(r.objects, q.fits(object))
	}
	r.offerings, r.said = map[[3]uint32]*Offering{}, map[string]reason.Reasons{}
	var events []Event
	for n := range r.Rows {
		for c := range r.Columns {
			r.Columns[c].Next()
		}
		at := r.Columns[atColumn].Number()
		if !possible(at) {
			return nil, columns.ErrForm
		}
		if !r.kinds[r.Columns[kindColumn].Codes()[0]] || !r.objects[r.Columns[objectColumn].Codes()[0]] || !q.spans(time.UnixMilli(at)) {
			continue
		}
		e, err := r.event(n)
		if err != nil {
			return nil, err
		}
		events = append(events, e)
	}
	order(events) // as they were written
	return events, nil
}

func (r *reader) event(n int) (Event, error) {
	text := func(column int) string { return r.Columns[column].Text(0) }
	e := Event{
		ID: string(r.Columns[idColumn].Plain(n)), At: time.UnixMilli(r.Columns[atColumn].Number()).UTC(), Kind: Kind(text(kindColumn)),
		Object: text(objectColumn), ObjectUID: text(objectUIDColumn), ClusterUID: text(clusterUIDColumn), RunID: text(runIDColumn),
		Actor: text(actorColumn), Reasons: r.reasons(), Outcome: text(outcomeColumn), Count: int(r.Columns[countColumn].Number()),
		ChargeType: text(chargeTypeColumn), Price: text(priceColumn), InstanceIDs: r.texts(instanceIDsColumn),
		Threshold: int(r.Columns[thresholdColumn].Number()), Node: text(nodeColumn), Currency: text(currencyColumn),
	}
	if r.Columns[zoneColumn].There() {
		if !r.Columns[typeColumn].There() || !r.Columns[subnetColumn].There() {
			return Event{}, columns.ErrForm
		}
		codes := [3]uint32{r.Columns[zoneColumn].Codes()[0], r.Columns[typeColumn].Codes()[0], r.Columns[subnetColumn].Codes()[0]}
		if e.Offering = r.offerings[codes]; e.Offering == nil {
			e.Offering = &Offering{text(zoneColumn), text(typeColumn), text(subnetColumn)}
			r.offerings[codes] = e.Offering
		}
	}
	if r.Columns[errorColumn].There() {
		e.Error = &Error{text(errorColumn), text(errorColumn + 1), text(errorColumn + 2), text(errorColumn + 3), text(errorColumn + 4)}
	}
	if c := &r.Columns[untilColumn]; c.There() {
		e.Until = time.UnixMilli(c.Number()).UTC()
	}
	e.Pods, e.Workloads = r.identities(podsColumn), r.identities(workloadsColumn)
	if e.normalize() != nil {
		return Event{}, columns.ErrForm
	}
	return e, nil
}

func (r *reader) texts(column int) []string {
	c := &r.Columns[column]
	if !c.There() {
		return nil
	}
	list := make([]string, c.Length())
	for n := range list {
		list[n] = c.Text(n)
	}
	return list
}

// reasons returns the reasons of the next event. Events share them: many say the same.
func (r *reader) reasons() reason.Reasons {
	texts, details := r.texts(reasonsColumn), r.Columns[detailsColumn].Text(0)
	if len(texts) == 0 {
		return nil
	}
	key := details + "\x00" + strings.Join(texts, "\x00")
	list, known := r.said[key]
	if !known {
		list = reason.Read(details, texts)
		r.said[key] = list
	}
	return list
}

func (r *reader) identities(column int) []Identity {
	c := r.Columns[column : column+3]
	if !c[0].There() {
		return nil
	}
	list := make([]Identity, c[0].Length())
	for n := range list {
		list[n] = Identity{c[0].Text(n), c[1].Text(n), c[2].Text(n)}
	}
	return list
}
