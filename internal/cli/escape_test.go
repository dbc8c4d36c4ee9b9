package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
)

// evil is a name that retitles a terminal and clears it, by C0 and by C1.
const evil = "train\x1b]0;owned\x07\x1b[2J\u009b2J"

// Whatever a state contains as a name, an address or a type, the terminal shows
// it and does not obey it.
func TestNamesOfAStateAreEscaped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	record, _, err := w.process().SpotPools().Recorded(context.Background(), region, "train")
	if err != nil {
		t.Fatal(err)
	}
	attributes := func(changes map[string]any) map[string]any {
		all := map[string]any{}
		if err := json.Unmarshal(mustJSON(record.Declaration), &all); err != nil {
			t.Fatal(err)
		}
		for name, value := range changes {
			all[name] = value
		}
		return all
	}
	resource := func(document map[string]any) map[string]any {
		return document["values"].(map[string]any)["root_module"].(map[string]any)["resources"].([]any)[0].(map[string]any)
	}
	other := shown("train", attributes(nil))
	resource(other)["type"] = "gpupool_" + evil
	foreign := shown("train", attributes(nil))
	resource(foreign)["provider_name"] = evil
	twice := pulled(evil, attributes(nil), 3)
	twice["resources"] = append(twice["resources"].([]any), pulled("b\x1b[2J", attributes(nil), 3)["resources"].([]any)...)
	indexed := pulled("train", attributes(map[string]any{"uid": ""}), 3)
	indexed["resources"].([]any)[0].(map[string]any)["instances"].([]any)[0].(map[string]any)["index_key"] = evil
	for name, document := range map[string]map[string]any{
		"a name":         shown("train", attributes(map[string]any{"name": evil})),
		"a name, pulled": pulled("train", attributes(map[string]any{"name": evil}), 9),
		"a region":       shown("train", attributes(map[string]any{"region": evil})),
		"a budget":       shown("train", attributes(map[string]any{"budget": evil, "generation": 9})),
		"an account":     shown("train", attributes(map[string]any{"account_id": evil, "uid": "0123456789abcdef0123456789abcde0", "name": "other"})),
		"a uid":          shown("train", attributes(map[string]any{"uid": evil})),
		"a zone": shown("train", attributes(map[string]any{
			"generation": 9, "offerings": []any{map[string]any{"availability_zone": evil, "instance_type": evil, "subnet_id": evil}},
		})),
		"an address":        shown(evil, attributes(map[string]any{"generation": 0})),
		"an address, taken": pulled(evil, attributes(map[string]any{"uid": ""}), 3),
		"a type":            other,
		"a provider":        foreign,
		"two addresses":     twice,
		"an index":          indexed,
		"a version":         {"format_version": evil, "values": map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "state.json")
			if err := os.WriteFile(file, mustJSON(document), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, options := range [][]string{nil, {"-o", "json"}, {"--log-format", "text", "-v"}, {"--log-format", "json"}} {
				args := append([]string{"reconcile", "--dry-run", "--from-state", file}, options...)
				plain := w.atTerminal(0, 0, nil, args...)
				plain.exitCode(t)
				said := plain.stdout.String() + plain.stderr.String()
				if strings.ContainsAny(said, "\x1b\x07\u009b") {
					t.Errorf("%q prints %q", options, said)
				}
				shown := w.atTerminal(120, 40, nil, args...)
				shown.exitCode(t)
				said = shown.stdout.String() + shown.stderr.String()
				for _, steering := range []string{"\x1b]", "\x07", "\x1b[2J", "\u009b"} {
					if strings.Contains(said, steering) {
						t.Errorf("%q shows %q on a terminal: %q", options, steering, said)
					}
				}
			}
		})
	}
}

// So it is with what a store's records and API responses say.
func TestNamesOfRecordsAreEscaped(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	w.create("train", 1, 2)
	w.fault(cvmsim.Fault{Kind: cvmsim.FaultError, Action: "DescribeInstances", Code: "UnauthorizedOperation", Message: evil, Count: -1})
	for _, args := range [][]string{
		{"status"}, {"status", evil}, {"reconcile"}, {"reconcile", "-o", "json"}, {"offers", "--zone", evil}, {"adopt", evil, evil}, {"help", evil}, {evil},
		{"usage", "--pods", evil},
	} {
		term := w.atTerminal(0, 0, nil, args...)
		term.exitCode(t)
		if said := term.stdout.String() + term.stderr.String(); strings.ContainsAny(said, "\x1b\x07\u009b") {
			t.Errorf("%q prints %q", args, said)
		}
	}
}
