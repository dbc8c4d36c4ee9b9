package decide_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// life is how the guide draws the life of a launch: what becomes of it by event and
// state, and what each state counts as.
type life struct {
	becomes map[string]map[launches.State]launches.State
	held    map[launches.State]string
	again   map[launches.State]bool
}

func drawn(t *testing.T) life {
	t.Helper()
	text, err := os.ReadFile("../../../docs/internals/spot-pool-states.md")
	if err != nil {
		t.Fatal(err)
	}
	l := life{
		becomes: map[string]map[launches.State]launches.State{}, held: map[launches.State]string{}, again: map[launches.State]bool{},
	}
	for _, row := range tableAfter(t, string(text), "| what happens | written | asked | unknown | seen |") {
		l.becomes[row[0]] = map[launches.State]launches.State{}
		for n, from := range openStates {
			if row[n+1] != "" {
				l.becomes[row[0]][from] = launches.State(row[n+1])
			}
		}
	}
	for _, row := range tableAfter(t, string(text), "| state | what is known | in the total | asked for again |") {
		l.held[launches.State(row[0])], l.again[launches.State(row[0])] = row[2], row[3] == "yes"
	}
	if len(l.becomes) != 7 || len(l.held) != 7 {
		t.Fatalf("the guide draws %d events and %d states, want 7 and 7", len(l.becomes), len(l.held))
	}
	return l
}

// tableAfter reads the rows of a Markdown table by its head.
func tableAfter(t *testing.T, text, head string) [][]string {
	t.Helper()
	_, after, found := strings.Cut(text, head+"\n")
	if !found {
		t.Fatalf("the guide has no table %q", head)
	}
	var rows [][]string
	for _, line := range strings.Split(after, "\n")[1:] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for n := range cells {
			cells[n] = strings.TrimSpace(cells[n])
		}
		rows = append(rows, cells)
	}
	return rows
}

var openStates = []launches.State{launches.Written, launches.Asked, launches.Unknown, launches.Seen}

// lived is one launch of two instances, and what really happened to it.
type lived struct {
	s           decide.Situation
	state       launches.State
	asked, lost time.Time // the last call, and the one before it, had its answer been lost
	shown       int
}

func written() *lived {
	s := seen(pool(size(2, 4)))
	d := s.Declaration
	s.Journal = s.Journal.Salted(salt).Open(launches.Launch{Request: spotpool.Request{
		Region: d.Region, Pool: d.Name, UID: d.UID, Sequence: 7, SeqTag: 7, Token: launches.Token(d.UID, salt, 7),
		Offering: d.Offerings[0], ChargeType: spotpool.Spot, Count: 2, Configuration: d.Configuration,
	}, WrittenAt: noon})
	return &lived{s: s, state: launches.Written, asked: noon}
}

// happen has an event happen to the launch, if it can by what happened before. Then
// the launch must be where the guide says.
func (l *lived) happen(t rapid.TB, guide life, event string) (possible bool) {
	t.Helper()
	definite := &spotpool.CloudError{Class: errorclass.Capacity, Scope: spotpool.ScopeOffering, NothingLaunched: true, Code: "SoldOut"}
	next, moved := guide.becomes[event][l.state]
	switch event {
	case "asked again":
		l.s.Now = l.s.Now.Add(time.Minute)
		l.s.Journal = l.s.Journal.Retry(7, l.s.Now)
		if moved {
			l.asked, l.lost = l.s.Now, l.asked
		}
	case "ids":
		l.s.Journal = l.s.Journal.Accept(7, nil, l.s.Now) // an answer without ids is none
		l.shouldBe(t, guide, l.state)
		l.s.Journal = l.s.Journal.Accept(7, []string{"ins-1", "ins-2"}, l.s.Now)
		if ids := recorded(l.s.Journal); !slices.Equal(ids, []string{"ins-1", "ins-2"}) {
			t.Fatalf("accepted, and recorded are %q", ids)
		}
	case "refused":
		if over := l.lost.Add(spotpool.TagLag + time.Second); !l.lost.IsZero() && l.s.Now.Before(over) {
			l.s.Now = over
		}
		l.refuse(t, definite, next)
	case "refused, though an earlier call may have launched":
		if l.lost.IsZero() || l.s.Now.Sub(l.lost) > spotpool.TagLag {
			return false
		}
		l.refuse(t, definite, next)
		if moved {
			l.asked, l.lost = l.lost, time.Time{}
		}
	case "some found":
		if l.s.Now.Sub(l.asked) > spotpool.TagLag {
			return false
		}
		l.shown = 1
		l.observe()
	case "all found":
		l.shown = 2
		l.observe()
	case "ten minutes after the last call":
		l.s.Now = l.asked.Add(spotpool.TagLag + time.Second)
		l.observe()
	default:
		t.Fatalf("the guide has the event %q, which never happens", event)
	}
	if moved {
		l.state = next
	}
	l.shouldBe(t, guide, l.state)
	return true
}

// refuse has a call refused, after one whose outcome the refusal does not show.
func (l *lived) refuse(t rapid.TB, definite *spotpool.CloudError, next launches.State) {
	t.Helper()
	unclear := *definite
	unclear.NothingLaunched = false
	before := l.s.Journal
	if after, state := before.Refuse(7, &unclear, 0, l.s.Now); len(after.Pending) != 1 || after.Pending[0].State() != l.state || state != l.state {
		t.Fatalf("%s: a refusal that may have launched something moves it: %+v", l.state, after.Pending)
	}
	var state launches.State
	if l.s.Journal, state = before.Refuse(7, definite, l.s.Declaration.Cooldown,
		l.s.Now); (state == launches.Refused) != (next == launches.Refused) {
		t.Fatalf("%s: after the refusal its state is %s", l.state, state)
	}
	if cools := len(l.s.Journal.Cooldowns) > 0; cools != (next == launches.Refused) {
		t.Fatalf("%s: after the refusal, the offering cools down: %t", l.state, cools)
	}
}

func (l *lived) observe() {
	l.s.Observation.Instances = nil
	for n := range l.shown {
		l.s.Observation.Instances = append(l.s.Observation.Instances,
			instance(fmt.Sprintf("ins-%d", n+1), func(i *spotpool.Instance) { i.SeqTag, i.LaunchedAt = 7, noon }))
	}
	l.s.Journal = decide.Decide(l.s).Journal
}

// shouldBe fails unless the launch is in a state, and counts as the guide says.
func (l *lived) shouldBe(t rapid.TB, guide life, want launches.State) {
	t.Helper()
	held, open := guide.held[want], slices.Contains(openStates, want)
	if open != (len(l.s.Journal.Pending) == 1) || open != (held != "no") {
		t.Fatalf("%s, held %q, and open are %+v", want, held, l.s.Journal.Pending)
	}
	if !open {
		return
	}
	i := l.s.Journal.Pending[0]
	if i.State() != want {
		t.Fatalf("the launch is %s, want %s: %+v", i.State(), want, i)
	}
	missing := 2 - len(i.Seen)
	if got := l.s.Journal.Missing(); got != missing || (held == "yes") != (missing == 2) {
		t.Fatalf("%s: %d count toward the total, and %d of 2 have not shown; the guide says %q", want, got, missing, held)
	}
	p := decide.Decide(l.s)
	if len(p.Journal.Pending) == 0 {
		return // time has passed, or more has shown: that is an event of its own
	}
	again := slices.ContainsFunc(p.Decisions, func(d spotpool.Decision) bool { return d.Resume })
	if again != guide.again[want] {
		t.Fatalf("%s: asked for again: %t, and the guide says %t", want, again, guide.again[want])
	}
}

// TestLaunchStateMachine has each event of the guide happen in each state.
func TestLaunchStateMachine(t *testing.T) {
	t.Parallel()
	guide := drawn(t)
	ways := map[launches.State][]string{
		launches.Written: nil,
		launches.Asked:   {"asked again"},
		launches.Unknown: {"asked again", "refused, though an earlier call may have launched"},
		launches.Seen:    {"some found"},
	}
	for event, becomes := range guide.becomes {
		for _, from := range openStates {
			l := written()
			for _, step := range ways[from] {
				l.happen(t, guide, step)
			}
			if l.state != from {
				t.Fatalf("the way to %s leads to %s", from, l.state)
			}
			if !l.happen(t, guide, event) && becomes[from] != "" {
				t.Errorf("%s: the guide says what %q does, and it can't happen", from, event)
			}
		}
	}
}

// TestOnlyTheseEventsCloseALaunch lets anything happen to a launch, in any order. It is
// closed by ids, by a refusal after which no call may have launched anything, and by
// instances that showed.
func TestOnlyTheseEventsCloseALaunch(t *testing.T) {
	t.Parallel()
	guide := drawn(t)
	var events []string
	for event := range guide.becomes {
		events = append(events, event)
	}
	slices.Sort(events)
	rapid.Check(t, func(t *rapid.T) {
		l := written()
		for range 30 {
			event := rapid.SampledFrom(events).Draw(t, "event")
			unanswered := slices.Contains([]launches.State{launches.Asked, launches.Unknown}, l.state)
			if !l.happen(t, guide, event) || slices.Contains(openStates, l.state) {
				continue
			}
			switch {
			case event == "ids":
			case event == "refused" && (!unanswered || l.s.Now.Sub(l.lost) > spotpool.TagLag):
			case event == "all found":
			case event == "ten minutes after the last call" && l.shown > 0:
			default:
				t.Fatalf("closed by %q", event)
			}
			return
		}
	})
}
