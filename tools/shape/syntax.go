package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
)

// add counts a file of the package, and returns its lines of code.
func (r *room) add(path string, text []byte) (lines int, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, text, parser.SkipObjectResolution)
	if err != nil {
		return 0, err
	}
	lines = codeLines(path, text)
	r.code += lines
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			r.function(d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				r.spec(s)
			}
		}
	}
	return lines, nil
}

func (r *room) function(d *ast.FuncDecl) {
	if d.Recv == nil {
		r.export(d.Name)
		return
	}
	of := d.Recv.List[0].Type
	for {
		switch t := of.(type) {
		case *ast.StarExpr:
			of = t.X
		case *ast.IndexExpr:
			of = t.X
		case *ast.IndexListExpr:
			of = t.X
		case *ast.Ident:
			r.methods[t.Name]++
			return
		default:
			return
		}
	}
}

func (r *room) spec(s ast.Spec) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		r.export(s.Names...)
	case *ast.TypeSpec:
		r.export(s.Name)
		if i, is := s.Type.(*ast.InterfaceType); is {
			r.interfaces[s.Name.Name] = i.Methods.NumFields()
		}
	}
}

func (r *room) export(names ...*ast.Ident) {
	for _, n := range names {
		if n.IsExported() {
			r.exported++
		}
	}
}

// codeLines are the lines that a token is on, comments aside. Every line of a raw string
// counts.
func codeLines(path string, text []byte) int {
	files := token.NewFileSet()
	file := files.AddFile(path, files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, 0)
	on := map[int]bool{}
	for {
		at, tok, literal := s.Scan()
		if tok == token.EOF {
			return len(on)
		}
		if tok == token.SEMICOLON && literal == "\n" {
			continue
		}
		first := file.Line(at)
		last := file.Line(at + token.Pos(max(len(literal)-1, 0)))
		for line := first; line <= last; line++ {
			on[line] = true
		}
	}
}
