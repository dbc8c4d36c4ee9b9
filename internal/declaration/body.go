package declaration

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// Body is the body of a document. Each has its row in bodies.
type Body interface {
	SpotPool | Journal | Budget | StockPool | StockJournal | BudgetStatus | BudgetUsage | PoolStatuses |
		Pauses | Grants | Holds | RunSummary | LastDay | Tombstone | State | Job |
		Notification | NotificationJournal
}

// bodies are the bodies of all documents. In each folder, the most frequent one comes first.
var bodies = []row{
	body[SpotPool]{spotPoolKind, "spot_pools", func(b SpotPool) error {
		return cmp.Or(b.Phase.validate(), identified(b.Declaration))
	}},
	body[Journal]{journalKind, "journals", validateJournal},
	body[Budget]{budgetKind, "budgets", func(b Budget) error {
		return cmp.Or(b.Phase.validate(), identifiedBudget(b.Declaration))
	}},
	body[StockPool]{"stock_pool", "stock_pools", func(b StockPool) error {
		return cmp.Or(b.Phase.validate(), identifiedStock(b.Declaration))
	}},
	body[StockJournal]{stockJournalKind, "stock_journals", func(b StockJournal) error { return present("pool_uid", b.PoolUID, "object", b.Object) }},
	body[BudgetStatus]{statusKind, "statuses", func(b BudgetStatus) error {
		return present("uid", b.UID, "name", b.Name, "cluster_uid", b.ClusterUID)
	}},
	body[BudgetUsage]{usageKind, "statuses", validateBudgetUsage},
	body[PoolStatuses]{poolStatusesKind, "statuses", validatePoolStatuses},
	body[RunSummary]{runSummaryKind, "statuses", func(b RunSummary) error { return present("run_id", b.RunID) }},
	body[LastDay]{lastDayKind, "statuses", validateLastDay},
	body[Pauses]{pausesKind, "pauses", func(b Pauses) error {
		return cmp.Or(present("budget_uid", b.BudgetUID, "budget", b.Budget, "cluster_uid", b.ClusterUID), validatePauses(b))
	}},
	body[Grants]{grantsKind, "grants", func(b Grants) error {
		return cmp.Or(present("budget_uid", b.BudgetUID, "budget", b.Budget), b.Validate())
	}},
	body[Holds]{holdsKind, "holds", func(b Holds) error {
		return cmp.Or(present("pool_uid", b.PoolUID, "pool", b.Pool), b.Validate())
	}},
	body[Tombstone]{tombstoneKind, "tombstones", validateTombstone},
	body[Job]{jobKind, "jobs", validateJob},
	body[Notification]{notificationKind, "notifications", func(b Notification) error {
		return cmp.Or(b.Phase.validate(), present("uid", b.Declaration.UID, "name", b.Declaration.Name, "type", string(b.Declaration.Type)))
	}},
	body[NotificationJournal]{deliveriesKind, "deliveries", validateDeliveries},
	body[State]{"state", "states", func(b State) error { return present("lineage", b.Lineage) }},
}

// The kinds with their own remedy.
const (
	spotPoolKind     = "spot_pool"
	journalKind      = "journal"
	budgetKind       = "budget"
	stockJournalKind = "stock_journal"
	statusKind       = "budget_status"
	usageKind        = "budget_usage"
	poolStatusesKind = "pool_statuses"
	runSummaryKind   = "run_summary"
	lastDayKind      = "last_day"
	pausesKind       = "pauses"
	grantsKind       = "grants"
	holdsKind        = "holds"
	tombstoneKind    = "tombstone"
	jobKind          = "job"
	notificationKind = "notification"
	deliveriesKind   = "notification_journal"
)

type body[T Body] struct {
	kind   string // in an envelope
	folder string // in a store
	// validate returns an error if a body lacks values that each reader needs.
	validate func(T) error
}

type row interface {
	isIn(folder string) bool
	check(what string, data []byte) error
}

func (b body[T]) isIn(folder string) bool { return b.folder == folder }

func (b body[T]) check(what string, data []byte) error {
	_, err := Decode[T](what, data)
	return err
}

func bodyOf[T Body]() (body[T], error) {
	for _, r := range bodies {
		if b, ok := r.(body[T]); ok {
			return b, nil
		}
	}
	var none T
	return body[T]{}, fmt.Errorf("no document can hold a %T: it has no row in declaration.bodies", none)
}

// Check checks a document in a folder of a store, such as "spot_pools". Errors call the
// document what.
func Check(folder, what string, data []byte) error {
	var first error
	for _, r := range bodies {
		if !r.isIn(folder) {
			continue
		}
		err := r.check(what, data)
		if err == nil {
			return nil
		}
		first = cmp.Or(first, err)
	}
	if first == nil {
		return fmt.Errorf("%s is of an unknown kind", what)
	}
	return first
}

func validateBudgetUsage(b BudgetUsage) error {
	for uid, m := range b.Budgets {
		if err := present("uid", uid, "of", m.Of); err != nil {
			return fmt.Errorf("a measurement: %w", err)
		}
	}
	return nil
}

func validatePoolStatuses(b PoolStatuses) error {
	for uid, s := range b.Pools {
		if err := present("uid", uid, "pool", s.Pool); err != nil {
			return fmt.Errorf("a status: %w", err)
		}
	}
	return nil
}

// validateTombstone checks that a tombstone has its object's place, which depends on the kind.
func validateTombstone(t Tombstone) error {
	err := present("uid", t.UID, "object", t.Object)
	switch kind, _, _ := strings.Cut(t.Object, "/"); kind {
	case "spot_pool":
		err = cmp.Or(err, present("account_id", t.AccountID))
	case "budget", "stock_pool":
		err = cmp.Or(err, present("cluster_uid", t.ClusterUID))
	}
	return err
}

// validateJob checks that a job has an identity, and the request of its type.
func validateJob(j Job) error {
	err := present("id", j.ID, "object", j.Object, "requested_by", j.RequestedBy, "request_hash", j.Hash)
	switch {
	case err != nil:
		return err
	case j.Type == "" || j.Request.Type() != j.Type:
		return errors.New("its request is not of its type")
	case !slices.Contains(request.States(), j.State):
		return errors.New("its state is unknown")
	case j.RequestedAt.IsZero() || j.State == request.Running && j.EffectID == "":
		return errors.New("it has no time, or no effect")
	}
	return nil
}

// validateDeliveries checks that a message under way consists of pending events.
func validateDeliveries(j NotificationJournal) error {
	if err := present("uid", j.UID, "notification", j.Notification); err != nil {
		return err
	}
	if j.Since.IsZero() {
		return errors.New("it does not say since when events are reported")
	}
	for _, l := range j.Pending {
		if err := present("id", l.ID, "kind", string(l.Kind), "object", l.Object); err != nil {
			return fmt.Errorf("an event: %w", err)
		}
	}
	if j.Sending == nil {
		return nil
	}
	pending := func(id string) bool {
		return slices.ContainsFunc(j.Pending, func(l notification.Line) bool { return l.ID == id })
	}
	if j.Sending.ID == "" || len(j.Sending.Lines) == 0 || !slices.ContainsFunc(j.Sending.Lines, pending) {
		return errors.New("the message under way has no events")
	}
	return nil
}
