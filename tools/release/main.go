// Release builds all that a release is, from the commit that is checked out: an
// archive for each platform, with its licences and its bill of materials, their
// sums, and an image. It signs and publishes nothing.
//
//	release build -version 0.1.0 -to dist          everything, into a new folder
//	release licences                               what may not be shipped, as an error
//	release size                                   what the binary is made of
//	release push dist/image NAME:TAG…              the image, to a registry
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/image"
	"github.com/gpupool/terraform-provider-gpupool/tools/release/source"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("release "+command, flag.ContinueOnError)
	dir := flags.String("dir", ".", "the repository")
	version := flags.String("version", "", "what is released, without a v")
	to := flags.String("to", "dist", "the folder to write, which must not exist")
	only := flags.String("only", "", "platforms alone, such as linux/amd64,linux/arm64")
	if err := flags.Parse(args); err != nil {
		return err
	}
	platforms, err := chosen(*only)
	if err != nil {
		return err
	}
	switch {
	case command == "build" && flags.NArg() == 0:
		s, err := source.Open(ctx, *dir, *version)
		if err != nil {
			return err
		}
		return build(ctx, s, platforms, *to)
	case command == "licences" && flags.NArg() == 0:
		return licences(ctx, *dir, platforms)
	case command == "size" && flags.NArg() == 0:
		return sizes(ctx, *dir)
	case command == "push" && flags.NArg() > 1:
		index, err := image.Read(flags.Arg(0))
		if err != nil {
			return err
		}
		digest, err := image.Push(ctx, index, flags.Args()[1:]...)
		if err == nil {
			fmt.Println(digest)
		}
		return err
	}
	return fmt.Errorf("tell it to build, licences, size or push DIR NAME:TAG…, not %q", command)
}

// chosen are the platforms of a list; all of them where it is empty.
func chosen(list string) ([]source.Platform, error) {
	if list == "" {
		return source.Platforms, nil
	}
	var platforms []source.Platform
	for _, text := range strings.Split(list, ",") {
		found := false
		for _, p := range source.Platforms {
			if p.String() == text {
				platforms, found = append(platforms, p), true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s is none of the platforms of a release: %v", text, source.Platforms)
		}
	}
	return platforms, nil
}
