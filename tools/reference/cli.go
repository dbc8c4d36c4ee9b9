package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// commands writes the page about commands: the help of each.
func commands(root *cobra.Command) (string, error) {
	p := &commandPage{}
	root.SetOut(&p.help)
	p.command("##", root)
	groups := root.Groups()
	for _, g := range groups {
		p.text.WriteString("## " + g.Title + "\n\n")
		p.commandsOf(root, g.ID)
	}
	if len(groups) > 0 {
		p.text.WriteString("## Other commands\n\n")
	}
	p.commandsOf(root, "")
	return p.text.String(), p.err
}

type commandPage struct {
	text, help strings.Builder
	err        error
}

// commandsOf writes the commands of a group, and those below them.
func (p *commandPage) commandsOf(parent *cobra.Command, group string) {
	for _, c := range parent.Commands() {
		if !c.IsAvailableCommand() || c.GroupID != group {
			continue
		}
		p.command("###", c)
		p.commandsOf(c, "")
	}
}

// command writes one command.
func (p *commandPage) command(mark string, c *cobra.Command) {
	p.help.Reset()
	if err := c.Help(); err != nil {
		p.err = err
	}
	p.text.WriteString(mark + " " + c.CommandPath() + "\n\n" + c.Short + ".\n\n```text\n" + strings.TrimSpace(p.help.String()) + "\n```\n\n")
}
