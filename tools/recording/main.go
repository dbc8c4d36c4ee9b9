// Recording runs a command on a terminal of 80 by 24 characters, and prints an asciicast
// v2 of its steps at reading speed:
//
//	recording COMMAND...
//
// A step begins with a bold heading, as tools/demo prints it, and clears the screen. What
// the command prints before the first step is left out. Everything else is as it was
// printed; only the times differ.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/creack/pty"
)

const width, height = 80, 24

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: recording COMMAND...")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

func run(name string, args []string, out io.Writer) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: width, Rows: height})
	if err != nil {
		return err
	}
	defer terminal.Close()
	lines, err := read(terminal, time.Now)
	if err := errors.Join(err, cmd.Wait()); err != nil {
		return fmt.Errorf("%w\n%s", err, text(lines))
	}
	return write(out, retime(lines))
}

// line is a line that the command printed, and when it began.
type line struct {
	at   time.Time
	text string // with its end
}

// read reads lines until the command closes the terminal, which Linux reports as EIO.
func read(terminal io.Reader, now func() time.Time) (lines []line, err error) {
	for r := bufio.NewReader(terminal); ; {
		_, err := r.Peek(1)
		began := now()
		rest := ""
		if err == nil {
			rest, err = r.ReadString('\n')
		}
		if rest != "" {
			lines = append(lines, line{began, rest})
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, syscall.EIO):
			return lines, nil
		case err != nil:
			return lines, err
		}
	}
}

func text(lines []line) string {
	var all strings.Builder
	for _, l := range lines {
		all.WriteString(l.text)
	}
	return all.String()
}
