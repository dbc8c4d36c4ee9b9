package spotpools_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// slow has no machine join, so that tokens stay.
func (w *world) slow() {
	w.Joining(0)
	w.Cluster.JoinNone(true)
}

// onlyToken is the one token that the cluster has.
func (w *world) onlyToken() node.BootstrapToken {
	w.t.Helper()
	list := w.Cluster.Tokens()
	if len(list) != 1 {
		w.t.Fatalf("the cluster has the tokens %v, not one", list)
	}
	return list[0]
}

func (w *world) journal(d spotpool.Declaration) string {
	w.t.Helper()
	doc, err := w.Store().Read(context.Background(), store.Key{Kind: store.Journals, Name: d.Key() + "/" + d.UID})
	if err != nil {
		w.t.Fatal(err)
	}
	return string(doc.Data)
}

// expiresAbout reports whether a token expires at that time, or as much later as a test takes.
func expiresAbout(token node.BootstrapToken, at time.Time) bool {
	return token.ExpiresAt.Sub(at).Abs() < time.Hour
}

// TestATokenIsThereBeforeItsLaunch: the journal records the Secret, then it is created. Then
// the launch is recorded with the complete user data, and then requested.
func TestATokenIsThereBeforeItsLaunch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slow()
	process := faults.Killed("Launch", false)
	_, _ = w.Pools(process).Create(context.Background(), reconciletest.JoiningPool(2, 3), reconciletest.LongWait)
	at := len(process.Trace()) - 1
	if want := []string{"Write journals", "UID", "CreateToken", "Write journals", "Launch"}; at < 4 || !within(process.Trace(), want) {
		t.Errorf("the effects are %q, want %q in this order", process.Trace(), want)
	}
	made := w.onlyToken()
	if want := "system:bootstrappers:kubeadm:default-node-token"; !slices.Equal(made.Groups, []string{want}) ||
		!expiresAbout(made, w.Cluster.Now().Add(24*time.Hour)) || made.Pool != "ap-singapore/train" {
		t.Errorf("the token is %+v of the groups %q until %s", made, made.Groups, made.ExpiresAt)
	}
	found, err := w.Pools(nil).Find(context.Background(), reconciletest.Region, "train")
	if err != nil {
		t.Fatal(err)
	}
	if open := w.journal(found); !strings.Contains(open, "kubeadm join --token "+made.ID+"."+made.Secret) {
		t.Errorf("the open intent has not the finished user data: %s", open)
	}
	state, err := w.Pools(nil).Create(context.Background(), reconciletest.JoiningPool(2, 3), reconciletest.LongWait)
	if err != nil {
		t.Fatal(err)
	}
	if closed, until := w.journal(state.Declaration), w.onlyToken().ExpiresAt.Format(time.RFC3339); !strings.Contains(closed, until) {
		t.Errorf("the token is valid until %s, and noted is %s", until, closed)
	}
	if closed := w.journal(state.Declaration); strings.Contains(closed, made.Secret) || !strings.Contains(closed, made.ID) {
		t.Errorf("the journal with the intent closed: %s", closed)
	}
	for _, i := range w.Own() {
		if got, want := w.UserData(i.InstanceID), "kubeadm join --token "+made.ID+"."+made.Secret+"\n"; got != want {
			t.Errorf("%s finds the user data %q, want %q", i.InstanceID, got, want)
		}
	}
}

// within reports whether all of these are in the list, in their order.
func within(list, wanted []string) bool {
	for _, name := range list {
		if len(wanted) > 0 && name == wanted[0] {
			wanted = wanted[1:]
		}
	}
	return len(wanted) == 0
}

// TestARepeatedLaunchHasTheSameTokenForLonger: its Secret stays while it is valid for more than
// half its ttl. Else it is deleted and created again, with another expiration and the same
// secret.
func TestARepeatedLaunchHasTheSameTokenForLonger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slow()
	for range 2 {
		_, _ = w.Pools(faults.Killed("Launch", false)).Create(context.Background(), reconciletest.JoiningPool(2, 3), reconciletest.LongWait)
	}
	first := w.onlyToken()
	create, remove := "CreateToken "+first.ID, "DeleteToken "+first.ID
	if want := []string{create}; !slices.Equal(w.Cluster.Acts, want) {
		t.Errorf("before half its ttl it was done %q, want %q", w.Cluster.Acts, want)
	}
	w.Cluster.Step(13 * time.Hour)
	if _, err := w.Pools(nil).Create(context.Background(), reconciletest.JoiningPool(2, 3), reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	again := w.onlyToken()
	if again.ID != first.ID || again.Secret != first.Secret || !expiresAbout(again, first.ExpiresAt.Add(13*time.Hour)) {
		t.Errorf("the repeat has the token %s until %s, the same secret %t; the first was %s until %s", again.ID, again.ExpiresAt, again.Secret == first.Secret,
			first.ID, first.ExpiresAt)
	}
	if want := []string{create, remove, create}; !slices.Equal(w.Cluster.Acts, want) {
		t.Errorf("it was done %q, want %q", w.Cluster.Acts, want)
	}
	w.Verify(2)
}

// TestARepeatMakesASecretThatIsGone, and it lasts no longer than is noted.
func TestARepeatMakesASecretThatIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slow()
	_, _ = w.Pools(faults.Killed("Launch", false)).Create(context.Background(), reconciletest.JoiningPool(2, 3), reconciletest.LongWait)
	first := w.onlyToken()
	if err := w.Cluster.DeleteToken(context.Background(), first.ID); err != nil {
		t.Fatal(err)
	}
	w.Cluster.Step(time.Hour)
	if _, err := w.Pools(nil).Create(context.Background(), reconciletest.JoiningPool(2, 3), reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	if again := w.onlyToken(); again.Secret != first.Secret || !again.ExpiresAt.Equal(first.ExpiresAt) {
		t.Errorf("the token is valid until %s, the same secret %t; the first was until %s", again.ExpiresAt, again.Secret == first.Secret, first.ExpiresAt)
	}
	w.Verify(2)
}

// TestSomebodyElsesTokenStays: if a foreign Secret has the ID of a launch's token, the launch
// uses another ID. That Secret is neither deleted nor replaced.
func TestSomebodyElsesTokenStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slow()
	d := w.MustCreateAs(reconciletest.JoiningPool(0, 3))
	salt := regexp.MustCompile(`"salt": ?"([^"]+)"`).FindStringSubmatch(w.journal(d))
	if len(salt) != 2 {
		t.Fatalf("the journal has no salt: %s", w.journal(d))
	}
	theirs := node.BootstrapToken{ID: launches.BootstrapTokenID(d.UID, salt[1], 1, 0), Secret: "fedcba9876543210", ExpiresAt: w.Cluster.Now().Add(time.Hour)}
	if err := w.Cluster.CreateToken(context.Background(), theirs); err != nil {
		t.Fatal(err)
	}
	d.Minimum = 2
	state, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait)
	if err != nil {
		t.Fatal(err)
	}
	d = state.Declaration
	w.Verify(2)
	own := launches.BootstrapTokenID(d.UID, salt[1], 1, 1)
	if want := []string{"CreateToken " + theirs.ID, "CreateToken " + own}; !slices.Equal(w.Cluster.Acts, want) {
		t.Errorf("it was done %q, want %q", w.Cluster.Acts, want)
	}
	if noted := w.journal(d); strings.Contains(noted, theirs.ID) || !strings.Contains(noted, own) {
		t.Errorf("noted is %s, of which %s is somebody else's", noted, theirs.ID)
	}
	if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	if left := w.onlyToken(); left.Secret != theirs.Secret {
		t.Errorf("left is %+v", left)
	}
}

// TestSomebodyElsesTokenStaysWhateverIsKilled: also where a run is killed in between, the
// next one does not take it for the pool's own.
func TestSomebodyElsesTokenStaysWhateverIsKilled(t *testing.T) {
	t.Parallel()
	for _, after := range []bool{false, true} {
		t.Run(fmt.Sprintf("after the call %t", after), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.slow()
			d := w.MustCreateAs(reconciletest.JoiningPool(0, 3))
			salt := regexp.MustCompile(`"salt": ?"([^"]+)"`).FindStringSubmatch(w.journal(d))[1]
			theirs := node.BootstrapToken{
				ID: launches.BootstrapTokenID(d.UID, salt, 1, 0), Secret: "fedcba9876543210", ExpiresAt: w.Cluster.Now().Add(time.Hour),
			}
			if err := w.Cluster.CreateToken(context.Background(), theirs); err != nil {
				t.Fatal(err)
			}
			d.Minimum = 2
			process := faults.Killed("CreateToken", after)
			_, _ = w.Pools(process).Update(context.Background(), d, reconciletest.LongWait)
			if !process.Dead() {
				t.Fatal("the update never came to its token")
			}
			w.CleanRuns()
			w.Verify(2)
			if i := slices.IndexFunc(w.Cluster.Tokens(), func(t node.BootstrapToken) bool { return t.ID == theirs.ID }); i < 0 ||
				w.Cluster.Tokens()[i].Secret != theirs.Secret {
				t.Errorf("somebody else's token is gone: %q", w.Cluster.Acts)
			}
		})
	}
}

// TestATokenThatCanNotBeEndedHoldsNothingUp: it is a warning, the pool goes on, and the
// next run tries again; a destroy insists until it has expired.
func TestATokenThatCanNotBeEndedHoldsNothingUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Joining(0)
	w.Cluster.Failing["DeleteToken"] = errors.New("no right to") // also while it is created, if its nodes join at once
	d := w.MustCreateAs(reconciletest.JoiningPool(2, 3))
	w.allJoin()
	made := w.onlyToken()
	p := w.mustRun(reconcile.RunOptions{}).SpotPools[0]
	if p.Outcome != outcome.Done || !strings.Contains(strings.Join(p.Warnings.Texts(), "\n"), made.ID+" of launch 1 could not be deleted") {
		t.Errorf("the run says %s (%+v), and warns of %q", p.Outcome, p.Error, p.Warnings)
	}
	d.Minimum = 3
	state, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait)
	if err != nil || strings.Count(strings.Join(state.AllWarnings().Texts(), "\n"), made.ID) != 1 {
		t.Errorf("the update says %v, and warns of %q", err, state.Warnings)
	}
	w.Verify(3)
	w.allJoin()
	clear(w.Cluster.Failing)
	w.mustRun(reconcile.RunOptions{})
	if left := w.Cluster.Tokens(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}

	w.Cluster.JoinNone(true)
	d.Minimum, d.Maximum, d.Generation = 4, 4, d.Generation+1
	if state, err = w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	d, made = state.Declaration, w.onlyToken()
	w.Cluster.Failing["DeleteToken"] = errors.New("no right to")
	if err := reconciletest.Until("no right to", w.destroy(d)); err == nil || !strings.Contains(err.Error(), made.ID) {
		t.Fatalf("the destroy says %v", err)
	}
	w.Cluster.Step(24 * time.Hour)
	if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
		t.Fatalf("once the token has expired, the destroy says %v", err)
	}
	w.gone(d)
}

// TestATokenWithoutALaunch: killed before the pending launch, the next run creates the Secret
// again. If it launches nothing, it deletes it.
func TestATokenWithoutALaunch(t *testing.T) {
	t.Parallel()
	for _, launches := range []bool{true, false} {
		t.Run(fmt.Sprintf("launches %t", launches), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.slow()
			d := w.MustCreateAs(reconciletest.JoiningPool(0, 3))
			d.Minimum = 2
			_, _ = w.Pools(faults.Killed("CreateToken", true)).Update(context.Background(), d, reconciletest.LongWait)
			left := w.onlyToken()
			if !launches {
				updateAgain(size(0, 3))(w, d)
				if made := w.Cluster.Tokens(); len(made) > 0 || w.Launched() > 0 {
					t.Errorf("%v is left, and %d were launched", made, w.Launched())
				}
				return
			}
			w.CleanRuns()
			if made := w.onlyToken(); made.ID != left.ID || made.Secret == left.Secret {
				t.Errorf("the token is %s, with another secret %t", made.ID, made.Secret != left.Secret)
			}
			w.Verify(2)
		})
	}
}

// TestARefusedLaunchTakesItsTokenAlong leaves no Secret behind of what launched nothing.
func TestARefusedLaunchTakesItsTokenAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slow()
	d := w.MustCreateAs(reconciletest.JoiningPool(0, 3))
	w.fail(cvmsim.Fault{Kind: cvmsim.FaultSoldOut, Action: "RunInstances", Count: 1000})
	d.Minimum = 2
	if _, err := w.Pools(nil).Update(context.Background(), d, 0); err != nil {
		t.Fatal(err)
	}
	if made := w.Cluster.Tokens(); len(made) > 0 {
		t.Errorf("%v is left", made)
	}
	if acts := strings.Join(w.Cluster.Acts, " "); w.Launched() > 0 || strings.Count(acts, "CreateToken") < 2 ||
		strings.Count(acts, "DeleteToken") != strings.Count(acts, "CreateToken") {
		t.Errorf("%d were launched, and it was done %q", w.Launched(), w.Cluster.Acts)
	}
	if journal := w.journal(d); strings.Contains(journal, `"bootstrap_tokens"`) {
		t.Errorf("the journal has tokens still: %s", journal)
	}
}

// TestWithoutTheClusterNothingIsLaunchedThatCouldNotJoin: the launch fails and says what
// to do, an open one stays open and held, and other pools go on.
func TestWithoutTheClusterNothingIsLaunchedThatCouldNotJoin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slow()
	d := w.MustCreateAs(reconciletest.JoiningPool(1, 4))
	other := reconciletest.Pool(0, 2)
	other.Name = "plain"
	state, err := w.Pools(nil).Create(context.Background(), other, reconciletest.LongWait)
	if err != nil {
		t.Fatal(err)
	}
	d.Minimum = 2
	_, _ = w.Pools(faults.Killed("Launch", false)).Update(context.Background(), d, reconciletest.LongWait)
	w.away()
	other = state.Declaration
	other.Minimum = 1
	_, _ = w.Pools(faults.Killed("Launch", false)).Update(context.Background(), other, reconciletest.LongWait)
	report := w.mustRun(reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
	for _, p := range report.SpotPools {
		switch {
		case p.Name == "plain" && (p.Outcome != outcome.Done || p.Capacity != 1):
			t.Errorf("the other pool: %+v", p)
		case p.Name == "train" && (p.Outcome != outcome.Failed || p.Total != 2 || !strings.Contains(p.Error.Message, "connection refused")):
			t.Errorf("the pool: %+v (%+v)", p, p.Error)
		}
	}
	before := w.Launched()
	d.Minimum, d.Generation = 3, d.Generation+1
	_, err = w.Pools(nil).Update(context.Background(), d, 0)
	if w.Launched() != before {
		t.Errorf("%d were launched without the cluster (%v)", w.Launched()-before, err)
	}
	clear(w.Cluster.Failing)
	w.CleanRuns()
	w.Verify(3)

	w.Cluster.Failing["CreateToken"] = errors.New("no right to")
	d.Minimum, d.Generation = 4, d.Generation+1
	_, err = w.Pools(nil).Update(context.Background(), d, 0)
	if err == nil || !strings.Contains(err.Error(), "without which its instances could not join") ||
		!strings.Contains(err.Error(), "gpupool manifests --bootstrap-groups") {
		t.Errorf("the update says %v", err)
	}
	w.Verify(3)
}

// TestADryRunMakesNoToken nor ends one.
func TestADryRunMakesNoToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.mustJoinByToken(1, 3)
	acts := len(w.Cluster.Acts)
	d.Minimum = 2
	_, _ = w.Pools(faults.Killed("CreateToken", false)).Update(context.Background(), d, reconciletest.LongWait)
	report := w.mustRun(reconcile.RunOptions{DryRun: true})
	kinds := ""
	for _, r := range report.Decisions {
		kinds += " " + string(r.Decision.(spotpool.Decision).Kind) + " " + string(r.Outcome)
	}
	if !strings.Contains(kinds, "launch planned") || !strings.Contains(kinds, "end_token planned") || strings.Contains(kinds, "done") ||
		len(w.Cluster.Acts) != acts {
		t.Errorf("the dry run plans %q, and did %v", kinds, w.Cluster.Acts[acts:])
	}
}

// TestASecretThatCanNotBeDrawn launches nothing.
func TestASecretThatCanNotBeDrawn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slow()
	flow := w.Pools(nil)
	flow.Random = iotest.ErrReader(errors.New("no entropy"))
	if _, err := flow.Create(context.Background(), reconciletest.JoiningPool(1, 2), reconciletest.LongWait); err == nil ||
		!strings.Contains(err.Error(), "no entropy") {
		t.Errorf("the creation says %v", err)
	}
	if w.Launched() > 0 || len(w.Cluster.Tokens()) > 0 {
		t.Errorf("%d were launched, with %v", w.Launched(), w.Cluster.Tokens())
	}
}

// TestATokenIsNowhereToBeRead: what is logged, told, reported and refused has no secret,
// nor has the store, but for the journal while its launch is open.
func TestATokenIsNowhereToBeRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slow()
	var out lockedBuffer
	process := func(m *faults.Process) reconcile.World {
		p := w.Process(m)
		p.Log = slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
		p.Progress = func(o outcome.Event) { fmt.Fprintf(&out, "%+v\n", o) }
		return p
	}
	show := func(v any, err error) {
		text, bad := json.Marshal(v)
		fmt.Fprintf(&out, "%s %v %v\n%+v\n", text, bad, err, v)
	}
	d := w.MustCreateAs(reconciletest.JoiningPool(1, 4))
	d.Minimum = 2
	state, err := process(&faults.Process{Fault: faults.Fault{On: "Launch", Times: 1000}}).SpotPools().Update(context.Background(), d, 0)
	show(state.Plan.Decisions, err)
	show(state.AllWarnings().Texts(), nil)
	if list := w.Cluster.Tokens(); len(list) != 2 {
		t.Fatalf("the tokens are %v, and one launch is open", list)
	}
	secrets := []string{w.Cluster.Tokens()[0].Secret, w.Cluster.Tokens()[1].Secret}
	show(w.Cluster.Tokens()[0], nil)
	report, err := process(&faults.Process{Fault: faults.Fault{On: "DeleteToken", Times: 1}}).Runner().Run(context.Background(), reconcile.RunOptions{})
	show(report, err)
	report, err = process(nil).Runner().Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
	show(report, err)
	status, err := process(nil).Runner().Status(context.Background())
	show(status, err)
	w.Verify(2)
	printed := out.String()
	for _, want := range []string{"launch", w.Cluster.Tokens()[0].ID} {
		if !strings.Contains(printed, want) {
			t.Errorf("nothing says %q: what is searched is not what was printed", want)
		}
	}
	err = filepath.WalkDir(w.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		printed += string(text)
		return err
	})
	for _, secret := range secrets {
		if strings.Contains(printed, secret) {
			t.Errorf("a secret is there to be read (%v)", err)
		}
	}
}

// lockedBuffer is a log for concurrent writers.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestADestroyThatCanNotEndATokenCanGoOn: the destroy of a pool says which token is left,
// and where its cluster is gone for good, comes to its end without.
func TestADestroyThatCanNotEndATokenCanGoOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slow()
	d := w.MustCreateAs(reconciletest.JoiningPool(1, 2))
	made := w.onlyToken()
	w.Cluster.Failing["DeleteToken"] = errors.New("no right to")
	if err := reconciletest.Until("no right to", w.destroy(d)); err == nil || !strings.Contains(err.Error(), made.ID) ||
		!strings.Contains(err.Error(), "no right to") {
		t.Fatalf("the destroy says %v", err)
	}
	w.away()
	if err := reconciletest.Until("remove nodes", w.destroy(d)); err == nil || !strings.Contains(err.Error(), "remove nodes") {
		t.Fatalf("the destroy without the cluster says %v", err)
	}
	d.Nodes, d.BootstrapToken, d.UserData = nil, nil, ""
	state, err := w.Pools(nil).Update(context.Background(), d, reconciletest.LongWait)
	if err != nil || !strings.Contains(strings.Join(state.AllWarnings().Texts(), "\n"), "was begun and not finished") {
		t.Fatalf("the update without nodes says %v, and warns of %q", err, state.Warnings)
	}
	if _, err := w.Pools(nil).Delete(context.Background(), state.Declaration, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	w.gone(d)
}

// TestAPoolMovesOnceItsTokensAreOver: a pool whose nodes were removed while a token was valid
// can get nodes of another cluster once the token has expired.
func TestAPoolMovesOnceItsTokensAreOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.slow()
	d := w.MustCreateAs(reconciletest.JoiningPool(1, 2))
	own, another := w.Cluster.ClusterUID, "99999999-2222-3333-4444-555555555555"
	w.away()
	without := d
	without.Nodes, without.BootstrapToken, without.UserData = nil, nil, ""
	state, err := w.Pools(nil).Update(context.Background(), without, reconciletest.LongWait)
	if err != nil || state.Declaration.ClusterUID != own {
		t.Fatalf("the update without nodes says %v, and the cluster is %q", err, state.Declaration.ClusterUID)
	}
	clear(w.Cluster.Failing)
	w.Cluster.ClusterUID = another
	again := d
	again.UID, again.Generation, again.ClusterUID = state.Declaration.UID, state.Declaration.Generation, ""
	if _, err := w.Pools(nil).Update(context.Background(), again, reconciletest.LongWait); err == nil || !strings.Contains(err.Error(), own) {
		t.Fatalf("with a valid token the update with nodes of another cluster says %v", err)
	}
	later := w.Pools(nil)
	later.Clock = func() time.Time { return time.Now().Add(25 * time.Hour) }
	if state, err = later.Update(context.Background(), again, reconciletest.LongWait); err != nil || state.Declaration.ClusterUID != another {
		t.Fatalf("once it is over the update says %v, and the cluster is %q", err, state.Declaration.ClusterUID)
	}
}
