package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify/notifytest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
)

// TestMain puts gpupool on PATH, as a copy of the test's own binary, and next to
// it a build that is no release.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"gpupool": func() {
			code := cli.Run(cli.ThisProcess(cli.Build{Version: "1.2.3", Commit: "0123456789ab"}))
			tellPeak()
			os.Exit(code)
		},
		"curl": curl,
		"unreleased": func() { // a build between two releases
			os.Exit(cli.Run(cli.ThisProcess(cli.Build{Version: "1.2.3-7-g0123456"})))
		},
	})
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		WorkdirRoot:         workRoot(t),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       clitest.Updating(),
		Setup: func(env *testscript.Env) error {
			w := newWorld(env.T().(testing.TB), env.WorkDir)
			env.Values[worldKey{}] = w
			startReceivers(env)
			env.Vars = append(env.Vars, w.environment()...)
			examples, err := filepath.Abs("../../examples")
			env.Setenv("EXAMPLES", examples)
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":  cmdExits,
			"pool":   cmdPool,
			"sim":    cmdSim,
			"state":  cmdState,
			"hold":   cmdHold,
			"strict": cmdStrict,

			"proxy":   cmdProxy,
			"proxied": cmdProxied,

			"remember": cmdRemember,
			"screen":   cmdScreen,

			"instance": cmdInstance,
			"success":  cmdSuccess,

			"notification": cmdNotification,
			"responds":     cmdResponds,
			"received":     cmdReceived,
		},
	})
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

// exits CODE COMMAND ARG... runs a command that must end with that exit code and
// must not give a secret away.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with exit code %d, not %d", strings.Join(args[1:], " "), got, want)
	}
	for _, stream := range []string{"stdout", "stderr"} {
		if secret := secretIn(ts.ReadFile(stream)); secret != "" && args[2] != "simulate" {
			ts.Fatalf("%s gives the %s away", stream, secret)
		}
	}
}

func secretIn(text string) string {
	switch {
	case strings.Contains(text, cvmsim.DemoSecretKey):
		return "secret key"
	case strings.Contains(text, "user-data-is-secret"):
		return "user data"
	case strings.Contains(text, "TC3-HMAC-SHA256"):
		return "signature"
	case strings.Contains(text, notifytest.Key):
		return "address of a receiver"
	}
	return ""
}

// pool NAME MINIMUM MAXIMUM creates a pool.
func cmdPool(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: pool NAME MINIMUM MAXIMUM")
	}
	minimum, err := strconv.Atoi(args[1])
	ts.Check(err)
	maximum, err := strconv.Atoi(args[2])
	ts.Check(err)
	worldOf(ts).create(args[0], minimum, maximum)
}

// sim PATH [BODY] asks the control surface of the local CVM.
func cmdSim(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: sim PATH [BODY]")
	}
	method, body := http.MethodGet, ""
	if len(args) == 2 {
		method, body = http.MethodPost, args[1]
	}
	answer, err := worldOf(ts).control(method, args[0], body)
	ts.Check(err)
	_, err = ts.Stdout().Write(answer)
	ts.Check(err)
}

// instance NAME FILE puts the first instance id of a file into a variable.
func cmdInstance(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: instance NAME FILE")
	}
	ts.Setenv(args[0], regexp.MustCompile(`ins-\w+`).FindString(ts.ReadFile(args[1])))
}

// success FILE VALUE sets the time of the last success in a file of metrics;
// with the word same it must be that time.
func cmdSuccess(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: success FILE TIME|same")
	}
	line := regexp.MustCompile(`(?m)^gpupool_last_success_timestamp_seconds .*$`)
	text := ts.ReadFile(args[0])
	if args[1] == "same" {
		if got := line.FindString(text); got != "gpupool_last_success_timestamp_seconds 1" {
			ts.Fatalf("the last success was changed: %s", got)
		}
		return
	}
	text = line.ReplaceAllString(text, "gpupool_last_success_timestamp_seconds "+args[1])
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

// state show|pull POOL FILE [KEY=VALUE...] writes what Terraform prints of the
// state that holds the pool; KEY is an attribute, or serial.
func cmdState(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: state show|pull POOL FILE [KEY=VALUE...]")
	}
	record, found, err := worldOf(ts).process().SpotPools().Recorded(context.Background(), region, args[1])
	ts.Check(err)
	if !found {
		ts.Fatalf("there is no pool %s", args[1])
	}
	attributes := map[string]any{}
	ts.Check(json.Unmarshal(mustJSON(record.Declaration), &attributes))
	serial := 7
	for _, assignment := range args[3:] {
		key, text, _ := strings.Cut(assignment, "=")
		var value any = text
		if n, err := strconv.Atoi(text); err == nil && key != "account_id" {
			value = n
		}
		if key == "serial" {
			serial = value.(int)
			continue
		}
		attributes[key] = value
	}
	document := pulled(args[1], attributes, serial)
	if args[0] == "show" {
		document = shown(args[1], attributes)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), mustJSON(document), 0o600))
}

func shown(name string, attributes map[string]any) map[string]any {
	return map[string]any{
		"format_version": "1.0", "terraform_version": "1.11.4",
		"values": map[string]any{"root_module": map[string]any{"resources": []any{map[string]any{
			"address": "gpupool_spot_pool." + name, "mode": "managed", "type": "gpupool_spot_pool", "name": name,
			"provider_name": "registry.terraform.io/gpupool/gpupool", "schema_version": 0, "values": attributes,
		}}}},
	}
}

func pulled(name string, attributes map[string]any, serial int) map[string]any {
	return map[string]any{
		"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "3f1a1a3e-1111-2222-3333-444444444444",
		"outputs": map[string]any{},
		"resources": []any{map[string]any{
			"mode": "managed", "type": "gpupool_spot_pool", "name": name,
			"provider":  `provider["registry.terraform.io/gpupool/gpupool"]`,
			"instances": []any{map[string]any{"schema_version": 0, "attributes": attributes}},
		}},
	}
}

func mustJSON(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return data
}

// hold LOCK keeps a lock until the script ends.
func cmdHold(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hold LOCK")
	}
	lock, err := worldOf(ts).process().Store.Lock(context.Background(), args[0], 0)
	ts.Check(err)
	ts.Defer(func() { ts.Check(lock.Release()) })
}

// firstScreen is what begins in the first 24 rows of 80 columns. It has no line breaks inside of
// sentences: their places depend on the length of names and times.
func firstScreen(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		text := strings.TrimLeft(line, " ")
		word, _, _ := strings.Cut(text, " ")
		switch {
		case i == 0:
		case text != line && utf8.RuneCountInString(lines[i-1]+" "+word) >= 80: // the last column stays empty
			line = " " + text
		case i >= 24:
			return b.String() + "\n"
		default:
			line = "\n" + line
		}
		b.WriteString(line)
	}
	return b.String() + "\n"
}

// workRoot returns a folder for the scripts whose path is as long everywhere, and longer than a line: lines
// with it break alike.
func workRoot(t *testing.T) string {
	t.Helper()
	const length = 100
	made, err := os.MkdirTemp("", "scripts") //nolint:usetesting // t.TempDir has the test's name
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(made) })
	root := filepath.Join(made, strings.Repeat("x", max(1, length-len(made)-1)))
	if err := os.Mkdir(root, 0o700); err != nil || len(root) != length {
		t.Fatalf("%s: %v; temporary files need a folder with a path of at most %d bytes: set TMPDIR", root, err, length-20)
	}
	return root
}

// screen FILE CODE ARG... runs gpupool on a terminal of 80 columns and 24 rows, and expects
// an exit code. It writes the first screen to a file with X for times, ids and addresses. No
// line may be wider than the terminal.
func cmdScreen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: screen FILE CODE ARG...")
	}
	env := map[string]string{"NO_COLOR": "1"}
	for _, name := range []string{"TENCENTCLOUD_SECRET_ID", "TENCENTCLOUD_SECRET_KEY"} {
		env[name] = ts.Getenv(name)
	}
	term := worldOf(ts).atTerminal(80, 24, env, args[2:]...)
	if code := <-term.code; strconv.Itoa(code) != args[1] {
		ts.Fatalf("exit code %d\n%s\n%s", code, term.stdout.String(), term.stderr.String())
	}
	lines := strings.Split(strings.TrimRight(term.stdout.String(), "\n"), "\n")
	for _, line := range lines {
		if utf8.RuneCountInString(line) > 80 {
			ts.Fatalf("wider than the terminal: %s", line)
		}
	}
	shown := firstScreen(lines)
	for _, changing := range []string{
		`\d+[smhd] ago`, `(?:\d{4}-\d\d-\d\d )?\b\d\d:\d\d\b(?: UTC)?`, `in \d+[smhd]\b`, `ins-\w{8}`, `[0-9a-f]{8}-[-0-9a-f]{27}`, `127\.0\.0\.1:\d+`,
		`process \d+ on \S+`, `directory:\S* \S*`, // longer than a line

	} {
		shown = regexp.MustCompile(changing).ReplaceAllString(shown, "X")
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(shown), 0o600))
}

// remember FILE adds events to the history, one a line in JSON, as they were added when
// the last of them happened.
func cmdRemember(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: remember FILE")
	}
	var events []history.Event
	for decoder := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0]))); decoder.More(); {
		var e history.Event
		ts.Check(decoder.Decode(&e))
		events = append(events, e)
	}
	kept := eventlog.Log{Store: worldOf(ts).process().Store, Now: func() time.Time { return events[len(events)-1].At }}
	if added := kept.Add(context.Background(), events...); added.Events != len(events) || len(added.Warnings) > 0 {
		ts.Fatalf("%d events of %d were added: %q", added.Events, len(events), added.Warnings)
	}
}

// strict reconcile|status FILE checks that JSON has all fields of the report and no others.
// Empty lists must not be null.
func cmdStrict(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: strict reconcile|status FILE")
	}
	var report any = &reconcile.Report{}
	lists := []string{"decisions", "spot_pools", "budgets", "stock_pools", "warnings"}
	if args[0] == "status" {
		report = &reconcile.StatusReport{}
		lists = lists[1:]
	}
	data := []byte(ts.ReadFile(args[1]))
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	ts.Check(decoder.Decode(report))
	if decoder.More() {
		ts.Fatalf("something follows the JSON")
	}
	fields := map[string]json.RawMessage{}
	ts.Check(json.Unmarshal(data, &fields))
	for _, name := range lists {
		if !bytes.HasPrefix(fields[name], []byte("[")) {
			ts.Fatalf("%s is %s, not a list", name, fields[name])
		}
	}
}
