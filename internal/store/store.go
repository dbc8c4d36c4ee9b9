// Package store keeps the documents that outlive a run: declarations, journals, statuses,
// tombstones and locks. A document is bytes with a name and a revision; package declaration defines
// the content.
//
// The backends are store/directory and store/kubernetes. Both keep every kind of document, and
// every write is a compare-and-swap.
//
// Most of its more than 40 names are the kinds of documents and the errors that both backends
// return (store.go). The others are a store's location (location.go), its layout (layout.go), and
// the mark of a moved store (mark.go).
package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Kind is a kind of document.
type Kind string

// The kinds of documents. Those that contain user data are secret: a backend makes them readable by
// their owner only.
const (
	SpotPools     Kind = "spot_pools"     // records; secret
	Journals      Kind = "journals"       // spot pools' journals; secret
	Budgets       Kind = "budgets"        // records; secret, like all declarations
	StockPools    Kind = "stock_pools"    // records; secret, as environments are
	StockJournals Kind = "stock_journals" // stock pools' journals, by the pool's uid
	Ledger        Kind = "ledger"         // intervals of pods, by cluster: header and shards
	History       Kind = "history"        // events, by day: heads and segments
	Pauses        Kind = "pauses"         // workloads that budgets paused, by the budget's uid
	Grants        Kind = "grants"         // hours added to budgets by operators, by the budget's uid
	Holds         Kind = "holds"          // of pools, by operators, by the pool's uid
	Statuses      Kind = "statuses"       // what the last run observed
	Tombstones    Kind = "tombstones"     // of destroyed objects, by uid
	States        Kind = "states"         // Terraform states seen, by lineage
	Jobs          Kind = "jobs"           // requests and their results, by ID; secret, as environments are
	Notifications Kind = "notifications"  // records; secret, as addresses of receivers are
	Deliveries    Kind = "deliveries"     // notifications' journals, by the notification's uid
)

// Kinds returns all kinds of documents.
func Kinds() []Kind {
	return []Kind{SpotPools, Journals, Budgets, StockPools, StockJournals, Ledger, History, Pauses, Grants, Holds, Statuses, Tombstones, States, Jobs,
		Notifications, Deliveries}
}

// Secret reports whether documents of this kind may contain secrets.
func (k Kind) Secret() bool {
	return k == SpotPools || k == Journals || k == Budgets || k == StockPools || k == Jobs || k == Notifications
}

// Key names a document: a kind, and a name such as "ap-singapore/train".
type Key struct {
	Kind Kind
	Name string
}

// String writes the key as "kind/name".
func (k Key) String() string { return string(k.Kind) + "/" + k.Name }

// Revision changes with every write of a document. It is empty for a document that does not exist.
type Revision string

// Document is the data of one key, with its revision.
type Document struct {
	Key      Key
	Revision Revision
	Data     []byte
}

// The errors of a store.
var (
	// ErrNotFound says that the key has no document.
	ErrNotFound = errors.New("not found in the store")
	// ErrConflict says that the document changed since its revision was read.
	ErrConflict = errors.New("changed in the store by another process")
	// ErrTooLarge says that a document exceeds the size limit of the store.
	ErrTooLarge = errors.New("too large for the store")
	// ErrNoStore says that there is no store where one was expected.
	ErrNoStore = errors.New("no store found")
	// ErrUndescribed says that there are documents of a store, but not its description. Such a
	// place must not be taken for an empty one.
	ErrUndescribed = errors.New("no store found")
	// ErrNewerStore says that a newer gpupool laid the store out.
	ErrNewerStore = errors.New("laid out by a newer gpupool")
	// ErrDamagedStore says that the description of the store cannot be read.
	ErrDamagedStore = errors.New("damaged store")
)

// LockedError says that another process holds a lock.
type LockedError struct {
	Name   string
	Holder string // its holder, if the lock names it
}

// Because names the lock and its holder.
func (e *LockedError) Because() reason.Reason {
	return reason.LockHeld(reason.Word(strconv.Quote(e.Name)), reason.NewForeign(e.Holder))
}

// Error is Because as text.
func (e *LockedError) Error() string { return e.Because().String() }

// Holder is the process that holds a lock.
type Holder struct {
	// The command.
	Command string `json:"command"`
	// The process ID.
	PID int `json:"pid"`
	// The host name.
	Host string `json:"host"`
	// Since when it has the lock.
	Since time.Time `json:"since"`
	// When it last renewed the lock. Absent for a directory.
	Heard time.Time `json:"heard,omitzero"`
	// When the lock expires without a renewal. Absent for a directory.
	Until time.Time `json:"until,omitzero"`
	// Gone says that it was killed without releasing the lock, which is now free.
	Gone bool `json:"-"`
}

// String returns the holder's command and process, and since when it has the lock.
func (h Holder) String() string {
	return fmt.Sprintf("%s (process %d on %s, since %s)", h.Command, h.PID, h.Host, h.Since.UTC().Format(time.RFC3339))
}

// Lock is a lock that was taken.
type Lock interface {
	// Release releases the lock. Releasing it twice is harmless.
	Release() error
	// Lost is closed when the lock was lost before it was released.
	Lost() <-chan struct{}
}

// Store is a backend.
type Store interface {
	Documents
	Locks
	// Location returns the location of the store.
	Location() Location
	// String returns the name of the store in the form of the flag --store: "directory:.gpupool".
	String() string
}

// Documents reads and writes documents.
type Documents interface {
	// Read returns the document of a key, or ErrNotFound.
	Read(ctx context.Context, key Key) (Document, error)
	// List returns every document of a kind, sorted by name. A document that is damaged or cannot
	// be read does not fail the list: it is listed without Data, and Read returns the reason.
	List(ctx context.Context, kind Kind) ([]Document, error)
	// Write replaces the document of a key if its revision is still the given one, and returns the
	// new revision; else ErrConflict. With an empty revision the document must not exist yet.
	Write(ctx context.Context, key Key, data []byte, revision Revision) (Revision, error)
	// Delete removes the document if its revision is still the given one; else it returns
	// ErrConflict. If the document does not exist it returns ErrNotFound.
	Delete(ctx context.Context, key Key, revision Revision) error
}

// Locks are locks by name.
type Locks interface {
	// Lock takes the named lock. It waits at most as long as wait (zero: not at all), and until the
	// context ends. If another process has the lock, the error is *LockedError.
	Lock(ctx context.Context, name string, wait time.Duration) (Lock, error)
	// Holder returns the process that has the named lock, or was killed with it, from the lock's
	// record. It never tries the lock. It is nil if no process has it, and if that is unknown.
	Holder(ctx context.Context, name string) (*Holder, error)
}

// Probed is a store that can report, without a document, why it cannot be written.
type Probed interface {
	// Unwritable returns nil unless it knows that documents cannot be written.
	Unwritable() error
}

// Remains is the documents of a store that lost its description. It cannot write or remove any of
// them.
type Remains interface {
	// List returns every document of a kind, as Store does.
	List(ctx context.Context, kind Kind) ([]Document, error)
	// Strange returns whatever no store of this gpupool has: it is foreign, or of a newer gpupool.
	Strange(ctx context.Context) ([]string, error)
	// Describe makes the place a store again. If another process described it in between, Describe
	// checks the description as on opening, and does not change it.
	Describe(ctx context.Context) error
	// String names the place as the flag --store does.
	String() string
}
