// Package report is the command gpupool report.
package report

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
)

const reportHelp = `Write the page of "gpupool serve" as one HTML file. It lists all pools, budgets and
stock pools, those with trouble first. It shows what a run decides about them, why,
and who used the GPU-hours. Nothing is changed or locked.

The file needs no server and no network, and has at most 2 MB. Of many objects, all
are listed, and the worst are described. It has names of pods and owners: send it to
those who may read them.`

const reportExamples = `  # Write a file, and open it in a browser
  gpupool report --html report.html

  # Send the state of a night by mail
  gpupool report --html - |
    mail -a "Content-Type: text/html" -s gpupool team@example.com`

type options struct {
	session *process.Session
	cloud   connect.CloudFlags
	store   connect.StoreFlags
	words   page.Words
	file    string
}

// New is the command. The words are those of the page.
func New(s *process.Session, words page.Words) *cobra.Command {
	o := &options{session: s, words: words}
	cmd := &cobra.Command{
		Use:     "report --html FILE",
		Short:   "Write the state of everything as an HTML file",
		Long:    reportHelp,
		Example: reportExamples,
		Args:    process.NoArguments,
		RunE:    s.Command(o.run),
	}
	cmd.Flags().StringVar(&o.file, "html", "", "`FILE` of the page, or - for standard output. Required.")
	o.store.Register(cmd, s)
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	return cmd
}

func (o *options) run(ctx context.Context, _ []string) error {
	if o.file == "" {
		return process.Usagef("--html is missing: use a file, or - for standard output")
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	progress := o.session.StartProgress()
	text, err := serve.Report(ctx, o.store.World(place, o.cloud.Lazy(), o.store.Cluster()), o.words, o.session.Build.Version)
	progress.Stop()
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	if o.file == "-" {
		return o.session.Put(string(text))
	}
	if err := write(o.file, text); err != nil {
		return fmt.Errorf("cannot write %s: %w", o.file, cause(err))
	}
	return o.session.Put(fmt.Sprintf("wrote %s (%d kB)\n", o.file, (len(text)+999)/1000))
}

// cause is an error without the name of the temporary file.
func cause(err error) error {
	if of := new(fs.PathError); errors.As(err, &of) {
		return of.Err
	}
	return err
}

// write replaces a file as a whole. Only its owner can read it, as it has names of pods.
func write(file string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if closed := temporary.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temporary.Name()) // the first error is the cause
	}
	return err
}
