package cli

import (
	"io"
	"regexp"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// guard is a stream on which nothing steers the terminal but what gpupool itself
// means to: whatever is printed, names in it are anyone's. Colours pass where the
// stream has them.
type guard struct {
	io.Writer
	colours bool
}

// guarded are the process's streams behind guards.
func (p Process) guarded() Process {
	terminal := p.Terminal
	p.Terminal = func(stream io.Writer) (width, height int, ok bool) { return terminal(raw(stream)) }
	p.Stdout, p.Stderr = &guard{Writer: p.Stdout, colours: p.styleOf(p.Stdout).colour}, &guard{Writer: p.Stderr}
	return p
}

// raw is the stream behind a guard, for what steers the terminal on purpose. What
// else goes there has to be printable already.
func raw(stream io.Writer) io.Writer {
	if g, ok := stream.(*guard); ok {
		return g.Writer
	}
	return stream
}

// Write implements io.Writer. A character that is cut in two by two writes is
// taken for none.
func (g *guard) Write(p []byte) (int, error) {
	if _, err := io.WriteString(g.Writer, withoutSteering(string(p), g.colours)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// ownColours are those of style.paint.
var ownColours = regexp.MustCompile("\x1b\\[(?:0|1|2|31|32|33|36)m")

// withoutSteering is a text in which nothing but colours steers a terminal.
func withoutSteering(s string, colours bool) string {
	if !colours {
		return printable.Text(s)
	}
	var b strings.Builder
	for at := ownColours.FindStringIndex(s); at != nil; at = ownColours.FindStringIndex(s) {
		b.WriteString(printable.Text(s[:at[0]]) + s[at[0]:at[1]])
		s = s[at[1]:]
	}
	return b.String() + printable.Text(s)
}
