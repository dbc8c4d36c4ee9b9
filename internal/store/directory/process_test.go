package directory_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// The test binary starts itself with these set, to be one of several processes.
const (
	roleVariable = "DIRECTORY_TEST_ROLE"
	pathVariable = "DIRECTORY_TEST_PATH"
)

const (
	processes = 4
	rounds    = 25
)

var roles = map[string]func(context.Context, store.Store) error{
	"increment": incrementOften,
	"guarded":   incrementUnderLock,
	"hold":      holdUntilKilled,
	"scribble":  scribbleUntilKilled,
}

var atEnd []func()

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		code := m.Run()
		for _, remove := range atEnd {
			remove()
		}
		os.Exit(code)
	}
	s, err := directory.Open(os.Getenv(pathVariable), directory.Options{Create: true, Command: "gpupool " + role})
	if err == nil {
		err = roles[role](context.Background(), s)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func start(t *testing.T, role, path string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role, pathVariable+"="+path, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out)
}

func runAll(t *testing.T, role, path string) {
	t.Helper()
	var all []*exec.Cmd
	for range processes {
		cmd, _ := start(t, role, path)
		all = append(all, cmd)
	}
	for _, cmd := range all {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
}

func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.Success() {
		t.Fatalf("the process was not killed: %v", err)
	}
}

func incrementOften(ctx context.Context, s store.Store) error {
	for range rounds {
		for {
			d, err := s.Read(ctx, train)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			n, err := strconv.Atoi("0" + string(d.Data))
			if err != nil {
				return err
			}
			_, err = s.Write(ctx, train, []byte(strconv.Itoa(n+1)), d.Revision)
			if err == nil {
				break
			}
			if !errors.Is(err, store.ErrConflict) {
				return err
			}
		}
	}
	return nil
}

func TestProcessesLoseNoWrite(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store") // which they create, too
	runAll(t, "increment", path)
	d, err := create(t, path).Read(t.Context(), train)
	if err != nil || string(d.Data) != strconv.Itoa(processes*rounds) {
		t.Errorf("%d increments gave %s (%v)", processes*rounds, d.Data, err)
	}
}

// incrementUnderLock relies on the lock only: its file is not a document.
func incrementUnderLock(ctx context.Context, s store.Store) error {
	file := filepath.Join(os.Getenv(pathVariable), "number")
	for range rounds {
		l, err := s.Lock(ctx, "spot_pool/ap-singapore/train", time.Minute)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		n, err := strconv.Atoi("0" + string(data))
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
			return err
		}
		if err := l.Release(); err != nil {
			return err
		}
	}
	return nil
}

func TestALockExcludesProcesses(t *testing.T) {
	t.Parallel()
	path := private(t)
	create(t, path)
	runAll(t, "guarded", path)
	data, err := os.ReadFile(filepath.Join(path, "number"))
	if err != nil || string(data) != strconv.Itoa(processes*rounds) {
		t.Errorf("%d increments gave %s (%v)", processes*rounds, data, err)
	}
}

func holdUntilKilled(ctx context.Context, s store.Store) error {
	if _, err := s.Lock(ctx, "run", 0); err != nil {
		return err
	}
	fmt.Println("held")
	time.Sleep(time.Hour)
	return errors.New("no process killed it")
}

func TestKilledProcessReleasesItsLock(t *testing.T) {
	t.Parallel()
	path := private(t)
	s := create(t, path)
	cmd, out := start(t, "hold", path)
	if line, err := out.ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("%q %v", line, err)
	}
	_, err := s.Lock(t.Context(), "run", 0)
	var locked *store.LockedError
	if !errors.As(err, &locked) || !strings.Contains(err.Error(), fmt.Sprintf("gpupool hold (process %d on ", cmd.Process.Pid)) {
		t.Errorf("got %v, want a LockedError that tells the holder", err)
	}
	for _, gone := range []bool{false, true} {
		if gone {
			kill(t, cmd)
		}
		if h, err := s.Holder(t.Context(), "run"); err != nil || h == nil || h.PID != cmd.Process.Pid || h.Command != "gpupool hold" || h.Gone != gone {
			t.Errorf("killed %v: the lock is held by %+v (%v)", gone, h, err)
		}
	}
	l, err := s.Lock(t.Context(), "run", 0)
	if err != nil {
		t.Fatalf("the lock is still held: %v", err)
	}
	_, err = s.Lock(t.Context(), "run", 0)
	if !errors.As(err, &locked) || !strings.Contains(err.Error(), "gpupool test") {
		t.Errorf("got %v, want a LockedError that tells the new holder", err)
	}
	if err := l.Release(); err != nil {
		t.Error(err)
	}
	if h, err := s.Holder(t.Context(), "run"); err != nil || h != nil {
		t.Errorf("a lock that was given back is held by %v (%v)", h, err)
	}
}

// A record proves nothing of a process on another machine, of one that has the number
// of an earlier one, or where it is damaged.
func TestAHolderThatCanNotBeTold(t *testing.T) {
	t.Parallel()
	path := private(t)
	s := create(t, path)
	l, err := s.Lock(t.Context(), "run", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Release() }()
	record := filepath.Join(path, "locks", "run.json")
	own, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"another machine":   strings.Replace(string(own), strconv.Quote(host), `"elsewhere"`, 1),
		"no process":        `{"command":"gpupool","pid":0,"host":` + strconv.Quote(host) + `}`,
		"damaged":           "{",
		"an earlier number": fmt.Sprintf(`{"command":"gpupool","pid":%d,"host":%q,"since":"2020-01-01T00:00:00Z"}`, os.Getpid(), host),
	} {
		if name == "an earlier number" && runtime.GOOS != "linux" {
			continue // where nothing tells when a process began
		}
		if err := os.WriteFile(record, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if h, _ := s.Holder(t.Context(), "run"); h != nil && !h.Gone {
			t.Errorf("%s: held by %v", name, h)
		}
	}
}

// scribbleUntilKilled writes documents of one letter repeated, so that a torn
// one can be told.
func scribbleUntilKilled(ctx context.Context, s store.Store) error {
	for n := 0; ; n++ {
		key := store.Key{Kind: store.Journals, Name: fmt.Sprintf("ap-singapore/p%d", n%3)}
		d, err := s.Read(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		data := strings.Repeat(string(rune('a'+n%26)), 1+n*7919%60_000)
		if _, err := s.Write(ctx, key, []byte(data), d.Revision); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func TestAKilledWriterLeavesWholeDocuments(t *testing.T) {
	t.Parallel()
	path := private(t)
	s := create(t, path)
	for round := range 6 {
		cmd, out := start(t, "scribble", path)
		for range 1 + 3*round {
			if _, err := out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
		}
		kill(t, cmd)
		list, err := s.List(t.Context(), store.Journals)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list {
			if text := string(d.Data); text == "" || strings.Trim(text, text[:1]) != "" {
				t.Errorf("%s is torn", d.Key)
			}
			write(t, s, d.Key, "z", d.Revision)
		}
	}
}

// TestLeftoversOfAKilledWriterAreRemoved kills writers under every write lock: the next writer under the
// same lock removes their files.
func TestLeftoversOfAKilledWriterAreRemoved(t *testing.T) {
	t.Parallel()
	path := private(t)
	s := create(t, path)
	writes := filepath.Join(path, "locks", ".writes")
	for n := range 64 {
		put(t, filepath.Join(writes, fmt.Sprintf("%02x-LEFT.tmp", n)), "half a docu")
	}
	var revision store.Revision
	for range 2 {
		revision = write(t, s, train, "a", revision)
		if left, err := filepath.Glob(filepath.Join(writes, "*.tmp")); err != nil || len(left) != 63 {
			t.Errorf("%d are left (%v), want all but this document's", len(left), err)
		}
	}
	if list, err := s.List(t.Context(), train.Kind); err != nil || len(list) != 1 {
		t.Errorf("listed %v (%v)", list, err)
	}
}
