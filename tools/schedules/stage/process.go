//go:build unix

package stage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// process is one run of a program that is under way.
type process struct {
	world *World
	name  string // "3 terraform apply"
	cmd   *exec.Cmd
	door  *door
	out   *os.File
	done  chan struct{} // closed once it ended

	mu     sync.Mutex
	killed string // what it was killed in; empty where it was not
}

// start starts a program in the world, in a process group of its own.
func (w *World) start(ctx context.Context, kill *schedule.Kill, program string, args ...string) (*process, error) {
	w.counting.Lock()
	w.runs++
	p := &process{world: w, name: fmt.Sprintf("%d %s %s", w.runs, filepath.Base(program), strings.Join(args, " ")), done: make(chan struct{})}
	output := filepath.Join(w.outputs(), strconv.Itoa(w.runs)+".txt")
	w.counting.Unlock()
	var err error
	if p.door, err = openDoor(ctx, w.server, w.watch); err != nil {
		return nil, err
	}
	if p.out, err = os.Create(output); err != nil {
		p.door.close()
		return nil, err
	}
	p.mu.Lock() // nobody kills what has not started
	defer p.mu.Unlock()
	p.door.hear(p.killIn(kill))
	p.cmd = exec.CommandContext(ctx, program, args...)
	p.cmd.Dir, p.cmd.Env = w.work(), w.environment(p.door.url)
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Cancel = func() error { return p.signal(schedule.Both) }
	w.log.say("start %s", p.name)
	if err := p.cmd.Start(); err != nil {
		p.door.close()
		return nil, errors.Join(err, p.out.Close())
	}
	go func() {
		_ = p.cmd.Wait() // its state is looked at
		close(p.done)
	}()
	if kill != nil && kill.Action == "" {
		time.AfterFunc(kill.After, func() { p.kill(kill.Victim) })
	}
	return p, nil
}

// environment is all that a process gets to know of its surroundings.
func (w *World) environment(endpoint string) []string {
	return []string{
		"HOME=" + w.dir, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"TF_CLI_CONFIG_FILE=" + w.rc, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1",
		"GPUPOOL_STORE=directory:" + w.storePath(), "GPUPOOL_ENDPOINT=" + endpoint,
		"TENCENTCLOUD_SECRET_ID=" + cvmsim.DemoSecretID, "TENCENTCLOUD_SECRET_KEY=" + cvmsim.DemoSecretKey, "TENCENTCLOUD_REGION=" + region,
	}
}

// killIn kills the process in the middle of a call, as soon as it began.
func (p *process) killIn(kill *schedule.Kill) func(action string, nth int) {
	if kill == nil || kill.Action == "" {
		return nil
	}
	return func(action string, nth int) {
		if action == kill.Action && nth == kill.Nth {
			time.AfterFunc(kill.After, func() { p.kill(kill.Victim) })
		}
	}
}

// kill kills the process, unless it ended before, and counts it.
func (p *process) kill(victim schedule.Victim) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over() || p.killed != "" {
		return
	}
	at := time.Now()
	if err := p.signal(victim); err != nil {
		return // it ended by itself
	}
	call := p.door.inCall(at)
	p.killed = "between calls"
	if call != "" {
		p.killed = "in " + call
	}
	p.world.log.say("SIGKILL of %s (%s), %s", p.name, victim, p.killed)
	p.world.count(func(c *schedule.Counts) {
		c.Kills++
		if call != "" {
			c.KillsInCalls++
		}
	})
}

// signal sends the SIGKILL.
func (p *process) signal(victim schedule.Victim) error {
	pid := p.cmd.Process.Pid
	switch victim {
	case schedule.Core:
		return syscall.Kill(pid, syscall.SIGKILL)
	case schedule.Provider:
		child := childOf(pid)
		if child == 0 {
			return errors.New("there is no provider at the moment")
		}
		return syscall.Kill(child, syscall.SIGKILL)
	}
	return syscall.Kill(-pid, syscall.SIGKILL)
}

// childOf finds a child of a process; 0 where it has none.
func childOf(pid int) int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "pgrep", "-P", strconv.Itoa(pid)).Output()
	if err != nil {
		return 0
	}
	child, _ := strconv.Atoi(strings.TrimSpace(strings.SplitN(string(out), "\n", 2)[0]))
	return child
}

func (p *process) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// ending is how a process ended.
type ending struct {
	code   int    // -1 where it was killed
	text   string // what it printed
	output string // the same without the line breaks that wrap it
	killed bool
	look   time.Time // when its last look at machines began
	ended  time.Time
}

// wait waits for the process to end, and kills it where it takes longer than
// patience.
func (p *process) wait(patience time.Duration) ending {
	select {
	case <-p.done:
	case <-time.After(patience):
		p.world.log.say("%s takes longer than %s", p.name, patience)
		p.kill(schedule.Both)
		<-p.done
	}
	o := ending{code: p.cmd.ProcessState.ExitCode(), ended: time.Now(), look: p.door.lastLook()}
	p.mu.Lock()
	o.killed = p.killed != ""
	p.mu.Unlock()
	text, _ := os.ReadFile(p.out.Name())
	o.text, o.output = string(text), strings.Join(strings.Fields(string(text)), " ")
	p.world.log.say("end of %s: exit code %d\n%s", p.name, o.code, tail(string(text), 12))
	return o
}

// finish ends what may go on of the process's group, and its door.
func (p *process) finish() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.killed != "" {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) // there may be none
	}
	p.door.close()
	_ = p.out.Close()
}

// tail is the last lines of a text.
func tail(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}
