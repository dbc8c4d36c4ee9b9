package declaration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// SpotPoolSchemaVersion is the schema version of the resource gpupool_spot_pool. The provider
// writes it into state, and it is the newest that is read.
const SpotPoolSchemaVersion = 0

// BudgetSchemaVersion is that of the resource gpupool_budget.
const BudgetSchemaVersion = 0

// StockPoolSchemaVersion is that of the resource gpupool_stock_pool.
const StockPoolSchemaVersion = 0

// NotificationSchemaVersion is that of the resource gpupool_notification.
const NotificationSchemaVersion = 0

// The forms in which Terraform prints its state.
const (
	FormShow = "terraform show -json"
	FormPull = "terraform state pull"
)

// maxStateSize bounds what is read into memory, in bytes.
const maxStateSize = 512 << 20

// TerraformState has this provider's objects in a Terraform state.
type TerraformState struct {
	Form             string // FormShow or FormPull
	Serial           *int64 // nil where the form has none
	Lineage          string // empty where the form has none
	TerraformVersion string
	Pools            []StatePool // in the order of the state
	Budgets          []StateBudget
	StockPools       []StateStockPool
	Notifications    []StateNotification // without their write-only values
	Warnings         reason.Reasons      // what was left out, and why
}

// StateResource is one declared thing as a state has it.
type StateResource[D any] struct {
	Address     string // "module.gpu.gpupool_spot_pool.train[0]"
	Declaration D
	// Store last had its record; empty of FormShow, which has no private state.
	Store RememberedStore
	// Tainted reports that the next apply replaces it.
	Tainted bool
	// Unread is why the attributes are unreadable; the declaration then only has its identity.
	Unread error
}

// StatePool is a spot pool as a state has it.
type StatePool = StateResource[spotpool.Declaration]

// StateBudget is a budget as a state has it.
type StateBudget = StateResource[budget.Declaration]

// StateStockPool is a stock pool as a state has it.
type StateStockPool = StateResource[stockpool.Declaration]

// StateNotification is a notification as a state has it. No run can take it over, since no state has
// its address and secret.
type StateNotification = StateResource[notification.Declaration]

// FromState reads the output of "terraform show -json" or "terraform state pull", which differ
// in their fields. An object with unreadable attributes is Unread, and the others are read. An
// object without an identity is an error, and so are two with the same. Errors never quote
// values, since a state has sensitive ones in clear text.
func FromState(r io.Reader) (*TerraformState, error) {
	data, err := readState(r, maxStateSize)
	if err != nil {
		return nil, err
	}
	var t topLevel
	if err := json.Unmarshal(data, &t); err != nil {
		return nil, unusable("%w", withoutValues(err))
	}
	state, objects, err := t.objects(data)
	if err != nil {
		return nil, err
	}
	if err := state.collect(objects); err != nil {
		return nil, err
	}
	return state, nil
}

// unusable is the error of input that is no state, or that can't be read.
func unusable(format string, args ...any) error {
	return fmt.Errorf("the Terraform state cannot be used: %w", fmt.Errorf(format, args...))
}

func readState(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("cannot read the Terraform state: %w", err)
	case int64(len(data)) > limit:
		return nil, unusable("it is larger than %d MiB", limit>>20)
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, unusable("it is in UTF-16, as PowerShell's > writes it; write it in UTF-8, or pipe it in with --from-state -")
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, unusable("it is empty: either terraform failed (see its own message), or there is no state yet")
	}
	return data, nil
}

// topLevel is the top of either form. Its other keys tell what is often mistaken for
// a state.
type topLevel struct {
	TerraformVersion string `json:"terraform_version"`

	// terraform show -json
	FormatVersion string `json:"format_version"`
	Values        *struct {
		RootModule shownModule `json:"root_module"`
	} `json:"values"`

	// terraform state pull
	Version   *int64           `json:"version"`
	Serial    *int64           `json:"serial"`
	Lineage   string           `json:"lineage"`
	Resources []pulledResource `json:"resources"`

	PlannedValues   presence `json:"planned_values"`
	ResourceChanges presence `json:"resource_changes"`
	EncryptedData   presence `json:"encrypted_data"`
}

// presence notes that a key is there, and nothing of its value.
type presence bool

func (p *presence) UnmarshalJSON([]byte) error {
	*p = true
	return nil
}

// objects picks the form, and returns the provider's objects in it.
func (t *topLevel) objects(data []byte) (*TerraformState, []object, error) {
	switch {
	case bool(t.EncryptedData):
		return nil, nil, unusable("it is encrypted: give what tofu show -json or tofu state pull print")
	case bool(t.PlannedValues) || bool(t.ResourceChanges):
		return nil, nil, unusable("it is a plan, not a state: apply it, and pass what %s prints without a plan file", FormShow)
	case t.FormatVersion != "":
		return t.shown(data)
	case t.Version != nil:
		return t.pulled()
	}
	return nil, nil, unusable("it is JSON, but no state: give what %s or %s print", FormShow, FormPull)
}

func (t *topLevel) shown(data []byte) (*TerraformState, []object, error) {
	major, _, _ := strings.Cut(t.FormatVersion, ".")
	if major != "1" {
		return nil, nil, unusable("its format_version is %.20q, and this gpupool reads 1.x: use Terraform 1.0 or newer, and a gpupool that knows its format",
			t.FormatVersion)
	}
	state := &TerraformState{Form: FormShow, TerraformVersion: t.TerraformVersion}
	if t.Values == nil {
		// Other commands' output has a format_version as well, and must not be
		// taken for a state without resources.
		return state, nil, onlyKeys(data, "format_version", "terraform_version", "values", "checks")
	}
	return state, t.Values.RootModule.objects(nil), nil
}

func (t *topLevel) pulled() (*TerraformState, []object, error) {
	const known = 4
	switch {
	case *t.Version > known:
		return nil, nil, unusable("its version is %d, and this gpupool reads %d: upgrade gpupool", *t.Version, known)
	case *t.Version < known:
		return nil, nil, unusable("its version is %d, and this gpupool reads %d: run terraform apply with Terraform 1.0 or newer", *t.Version,
			known)
	case t.Serial == nil || *t.Serial < 0 || t.Lineage == "":
		return nil, nil, unusable("it lacks its serial or its lineage: give what %s or %s print", FormShow, FormPull)
	}
	state := &TerraformState{Form: FormPull, Serial: t.Serial, Lineage: t.Lineage, TerraformVersion: t.TerraformVersion}
	var list []object
	for _, r := range t.Resources {
		list = append(list, r.objects()...)
	}
	return state, list, nil
}

func onlyKeys(data []byte, known ...string) error {
	var all map[string]presence
	if err := json.Unmarshal(data, &all); err != nil {
		return unusable("%w", withoutValues(err))
	}
	for _, k := range known {
		delete(all, k)
	}
	if len(all) > 0 {
		return unusable("it is JSON of another command: give what %s or %s print", FormShow, FormPull)
	}
	return nil
}

func (s *TerraformState) collect(objects []object) error {
	keys, uids := map[string]string{}, map[string]string{}
	for _, o := range objects {
		if why := o.leftOut(); why != "" {
			s.Warnings = append(s.Warnings, reason.LeftOut(reason.NewForeign(o.address), reason.NewForeign(why)))
			continue
		}
		what, uid, err := resourceTypes[o.kind](s, o)
		if err != nil {
			return err
		}
		if err := errors.Join(unique(keys, what, what, o.address), unique(uids, "the uid "+printable.Line(uid), uid, o.address)); err != nil {
			return err
		}
	}
	return nil
}

// resourceTypes are the types of resources that are declarations, and how each takes
// an object of its type into the state.
var resourceTypes = map[string]func(*TerraformState, object) (what, uid string, err error){
	"gpupool_spot_pool": func(s *TerraformState, o object) (what, uid string, err error) {
		return take(o, &s.Pools, resourceType[spotpool.Declaration]{
			newest: SpotPoolSchemaVersion, noun: "pool", identified: identified,
			unread: func(i identity) (spotpool.Declaration, bool) {
				return spotpool.Declaration{Name: i.Name, Region: i.Region, UID: i.UID}, i.Name != "" && i.Region != "" && i.UID != ""
			},
		})
	},
	"gpupool_budget": func(s *TerraformState, o object) (what, uid string, err error) {
		return take(o, &s.Budgets, resourceType[budget.Declaration]{
			newest: BudgetSchemaVersion, noun: "budget", identified: identifiedBudget,
			unread: func(i identity) (budget.Declaration, bool) {
				return budget.Declaration{Name: i.Name, UID: i.UID}, i.Name != "" && i.UID != ""
			},
		})
	},
	"gpupool_stock_pool": func(s *TerraformState, o object) (what, uid string, err error) {
		return take(o, &s.StockPools, resourceType[stockpool.Declaration]{
			newest: StockPoolSchemaVersion, noun: "stock pool", identified: identifiedStock,
			unread: func(i identity) (stockpool.Declaration, bool) {
				return stockpool.Declaration{Name: i.Name, Namespace: i.Namespace, UID: i.UID}, i.Name != "" && i.Namespace != "" && i.UID != ""
			},
		})
	},
	"gpupool_notification": func(s *TerraformState, o object) (what, uid string, err error) {
		return take(o, &s.Notifications, resourceType[notification.Declaration]{
			newest: NotificationSchemaVersion, noun: "notification", identified: identifiedNotification,
			unread: func(i identity) (notification.Declaration, bool) {
				return notification.Declaration{Name: i.Name, UID: i.UID}, i.Name != "" && i.UID != ""
			},
		})
	},
}

type resourceType[D any] struct {
	newest     uint64 // the newest version of its schema that is read
	noun       string
	identified func(D) error
	// unread returns the declaration of an object with unreadable attributes, with only its
	// identity; false if it has none.
	unread func(identity) (D, bool)
}

type declared interface {
	Key() string
	Identity() (uid string, generation int64)
}

func take[D declared](o object, list *[]StateResource[D], t resourceType[D]) (what, uid string, err error) {
	var d D
	err = o.into(&d, t.newest)
	if err == nil {
		if err = t.identified(d); err != nil {
			err = unusable("%s: %w; run terraform apply -refresh-only, or import the %s again", o.address, err, t.noun)
		}
	}
	var broken *unreadError
	unread := err
	if errors.As(err, &broken) {
		if alone, ok := t.unread(o.identity()); ok {
			d, err = alone, nil
		}
	}
	if err != nil {
		return "", "", err
	}
	*list = append(*list, StateResource[D]{Address: o.address, Declaration: d, Store: o.store, Tainted: o.tainted, Unread: unread})
	uid, _ = d.Identity()
	return "the " + t.noun + " " + printable.Line(d.Key()), uid, nil
}

func unique(seen map[string]string, what, key, address string) error {
	if other, found := seen[key]; found {
		return unusable("%s and %s both declare %s: remove one of them from the state with terraform state rm", other, address, what)
	}
	seen[key] = address
	return nil
}
