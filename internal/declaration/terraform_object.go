package declaration

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

const (
	typePrefix = "gpupool_"
	// provider is the provider's address without its host, since registries mirror
	// each other.
	provider = "gpupool/gpupool"
)

// object is one object of a state, in either form, with this provider's type prefix. Its names
// are made printable, since anyone can write a state.
type object struct {
	address       string
	kind          string
	provider      string // "registry.terraform.io/gpupool/gpupool"
	schemaVersion uint64
	tainted       bool
	deposed       string // the key of an object that awaits its destruction
	attributes    json.RawMessage
	store         RememberedStore
}

// leftOut returns why the object is not a declaration; empty if it is one.
func (o object) leftOut() string {
	switch {
	case !isProvider(o.provider):
		return fmt.Sprintf("it belongs to the provider %s, not to %s", o.provider, provider)
	case o.deposed != "":
		return fmt.Sprintf("its object %s is deposed, and the next terraform apply destroys it", o.deposed)
	case resourceTypes[o.kind] == nil:
		return fmt.Sprintf("this gpupool does not know the type %s; a newer one may", o.kind)
	case o.tainted && o.neverCreated():
		return "its creation failed before it had a uid, and the next terraform apply replaces it"
	}
	return ""
}

// isProvider takes "host/namespace/type".
func isProvider(address string) bool {
	host, rest, found := strings.Cut(address, "/")
	return found && host != "" && rest == provider
}

// neverCreated reports whether the object never got an identity, as after a failed creation.
func (o object) neverCreated() bool {
	var text struct {
		UID *string `json:"uid"`
	}
	if len(o.attributes) == 0 {
		return true
	}
	return json.Unmarshal(o.attributes, &text) == nil && (text.UID == nil || *text.UID == "")
}

// into reads a declaration out of the attributes, which have the names of the
// declaration's own JSON. Other attributes are observed values.
func (o object) into(declaration any, newest uint64) error {
	if o.schemaVersion > newest {
		return &NewerError{What: o.address + " in the Terraform state", Version: int64(min(o.schemaVersion, 1<<62))}
	}
	if len(o.attributes) == 0 || string(o.attributes) == "null" {
		return unusable("%s has no attributes", o.address)
	}
	if err := json.Unmarshal(o.attributes, declaration); err != nil {
		return &unreadError{unusable("%s: %w", o.address, o.firstInvalid(declaration, err))}
	}
	return nil
}

// unreadError reports that an object's own attributes are unreadable; the rest of the state may
// be readable.
type unreadError struct{ error }

func (e *unreadError) Unwrap() error { return e.error }

// firstInvalid names the first invalid attribute: the error of a value that decodes itself has no
// name.
func (o object) firstInvalid(declaration any, err error) error {
	var kind *json.UnmarshalTypeError
	var all map[string]json.RawMessage
	if errors.As(err, &kind) && kind.Field != "" || json.Unmarshal(o.attributes, &all) != nil {
		return withoutValues(err)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one, err := json.Marshal(map[string]json.RawMessage{name: all[name]})
		if err == nil && json.Unmarshal(one, reflect.New(reflect.TypeOf(declaration).Elem()).Interface()) != nil {
			return fmt.Errorf("its field %q is not of the right form", printable.Line(name))
		}
	}
	return withoutValues(err)
}

// identity identifies an object, as far as it can be read.
type identity struct{ Name, Region, Namespace, UID string }

func (o object) identity() (i identity) {
	if json.Unmarshal(o.attributes, &i) != nil {
		return identity{}
	}
	return i
}

// shownModule is a module as "terraform show -json" writes it.
type shownModule struct {
	Resources    []shownResource `json:"resources"`
	ChildModules []shownModule   `json:"child_modules"`
}

func (m shownModule) objects(list []object) []object {
	for _, r := range m.Resources {
		if r.ours {
			list = append(list, r.object)
		}
	}
	for _, child := range m.ChildModules {
		list = child.objects(list)
	}
	return list
}

// shownResource is an object as "terraform show -json" writes it.
type shownResource struct {
	object
	ours bool
}

// UnmarshalJSON reads only the attributes of this provider's objects, so that values of other
// providers, which are often secret, are not copied.
func (r *shownResource) UnmarshalJSON(data []byte) error {
	var head struct {
		Address       string `json:"address"`
		Mode          string `json:"mode"`
		Type          string `json:"type"`
		ProviderName  string `json:"provider_name"`
		SchemaVersion uint64 `json:"schema_version"`
		Tainted       bool   `json:"tainted"`
		DeposedKey    string `json:"deposed_key"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	if !isOurs(head.Mode, head.Type) {
		return nil
	}
	var body struct {
		Values json.RawMessage `json:"values"`
	}
	if err := json.Unmarshal(data, &body); err != nil {
		return err
	}
	*r = shownResource{ours: true, object: object{
		address: printable.Line(head.Address), kind: printable.Line(head.Type), provider: printable.Line(head.ProviderName), schemaVersion: head.SchemaVersion,
		tainted: head.Tainted, deposed: printable.Line(head.DeposedKey), attributes: body.Values,
	}}
	return nil
}

// pulledResource is a resource, with all of its objects, as "terraform state
// pull" writes it.
type pulledResource struct {
	Module    string           `json:"module"`
	Mode      string           `json:"mode"`
	Type      string           `json:"type"`
	Name      string           `json:"name"`
	Provider  string           `json:"provider"`
	Instances []pulledInstance `json:"-"`
}

type pulledInstance struct {
	IndexKey      any             `json:"index_key"` // a number or a string
	Status        string          `json:"status"`
	Deposed       string          `json:"deposed"`
	Provider      string          `json:"provider"` // OpenTofu's, of providers with for_each
	SchemaVersion uint64          `json:"schema_version"`
	Attributes    json.RawMessage `json:"attributes"`
	Private       string          `json:"private"`
}

// UnmarshalJSON reads only the objects of this provider's resources.
func (r *pulledResource) UnmarshalJSON(data []byte) error {
	type head pulledResource // without this method
	if err := json.Unmarshal(data, (*head)(r)); err != nil {
		return err
	}
	if !isOurs(r.Mode, r.Type) {
		return nil
	}
	var body struct {
		Instances []pulledInstance `json:"instances"`
	}
	err := json.Unmarshal(data, &body)
	r.Instances = body.Instances
	return err
}

func (r pulledResource) objects() []object {
	list := make([]object, len(r.Instances))
	for n, i := range r.Instances {
		list[n] = object{
			address: printable.Line(r.address(i.IndexKey)), kind: printable.Line(r.Type), schemaVersion: i.SchemaVersion,
			provider: printable.Line(providerOf(r.Provider + i.Provider)), // one of the two is empty
			tainted:  i.Status == "tainted", deposed: printable.Line(i.Deposed), attributes: i.Attributes, store: storeOf(i.Private),
		}
	}
	return list
}

func (r pulledResource) address(index any) string {
	address := r.Type + "." + r.Name
	if r.Module != "" {
		address = r.Module + "." + address
	}
	switch i := index.(type) {
	case float64:
		address += "[" + strconv.FormatFloat(i, 'f', -1, 64) + "]"
	case string:
		quoted := strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(i))
		address += "[" + quoted + "]"
	}
	return address
}

// providerForm is `module.a.provider["host/namespace/type"].alias["key"]`.
var providerForm = regexp.MustCompile(`(?:^|\.)provider\["([^"]*)"\](?:\.[-\w]+)?(?:\[.*\])?$`)

func providerOf(configuration string) string {
	match := providerForm.FindStringSubmatch(configuration)
	if match == nil {
		return configuration
	}
	return match[1]
}

func isOurs(mode, kind string) bool {
	return mode == "managed" && strings.HasPrefix(kind, typePrefix)
}
