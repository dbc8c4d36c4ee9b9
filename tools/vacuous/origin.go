package main

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// checker knows the variables and functions of one package.
type checker struct {
	*analysis.Pass
	values    map[types.Object][]value          // what is assigned to each variable
	functions map[types.Object]inspector.Cursor // the functions of test files
	following map[any]bool                      // variables and functions, against cycles
}

// A value is assigned to a variable, or to an element of it.
type value struct {
	of   ast.Expr
	at   inspector.Cursor
	part bool
}

// origin is where a value comes from.
type origin int

const (
	unknown origin = iota
	table          // written in the test, and not empty
	result         // returned by the code under test, so that it can be empty
)

// transforms are packages whose results come from their arguments.
var transforms = map[string]bool{
	"bytes": true, "fmt": true, "maps": true, "path": true, "reflect": true, "slices": true, "sort": true, "strconv": true, "strings": true,
	"testing": true, "pgregory.net/rapid": true,
}

// collect notes what each variable is assigned, and the functions of test files.
func (c *checker) collect(root inspector.Cursor) {
	note := func(variable, of ast.Expr, at inspector.Cursor) {
		index, part := variable.(*ast.IndexExpr)
		if part {
			variable = index.X
		}
		if name, ok := variable.(*ast.Ident); ok {
			v := c.TypesInfo.ObjectOf(name)
			c.values[v] = append(c.values[v], value{of, at, part || addsElement(of)})
		}
	}
	for n := range root.Preorder((*ast.FuncDecl)(nil), (*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.RangeStmt)(nil), (*ast.CallExpr)(nil)) {
		switch s := n.Node().(type) {
		case *ast.FuncDecl:
			if c.inTestFile(s) && s.Body != nil {
				c.functions[c.TypesInfo.Defs[s.Name]] = n
			}
		case *ast.AssignStmt:
			for k, left := range s.Lhs {
				note(left, s.Rhs[min(k, len(s.Rhs)-1)], n)
			}
		case *ast.ValueSpec:
			for k, name := range s.Names {
				if len(s.Values) > 0 {
					note(name, s.Values[min(k, len(s.Values)-1)], n)
				}
			}
		case *ast.RangeStmt:
			note(s.Key, s.X, n)
			note(s.Value, s.X, n)
		case *ast.CallExpr: // json.Unmarshal(data, &v)
			for _, argument := range s.Args {
				if pointer, ok := argument.(*ast.UnaryExpr); ok && pointer.Op == token.AND {
					note(pointer.X, s, n)
				}
			}
		}
	}
}

// addsElement reports whether an expression appends elements that are listed.
func addsElement(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || call.Ellipsis.IsValid() {
		return false
	}
	name, ok := call.Fun.(*ast.Ident)
	return ok && name.Name == "append"
}

// originOf returns where the value of an expression comes from.
func (c *checker) originOf(e ast.Expr) origin {
	if v := c.TypesInfo.Types[e].Value; v != nil {
		if text := v.ExactString(); text == `""` || text == "0" {
			return unknown
		}
		return table
	}
	switch e := e.(type) {
	case *ast.CompositeLit:
		if len(e.Elts) == 0 {
			return unknown
		}
		return table
	case *ast.FuncLit:
		return table
	case *ast.Ident:
		return c.originOfVariable(c.TypesInfo.ObjectOf(e))
	case *ast.CallExpr:
		return c.originOfCall(e)
	case *ast.BinaryExpr:
		return max(c.originOf(e.X), c.originOf(e.Y))
	case *ast.SelectorExpr:
		if c.TypesInfo.Selections[e] == nil {
			return table // a variable of another package
		}
	}
	for n := range ast.Preorder(e) { // x.f, x[n], *x and alike: that of x
		if x, ok := n.(ast.Expr); ok && x != e {
			return c.originOf(x)
		}
	}
	return unknown
}

// originOfVariable is that of all that is assigned to it. One element that the test wrote is
// enough: then it is not empty. Elements that are added in a loop over a result are not.
func (c *checker) originOfVariable(v types.Object) (all origin) {
	if c.following[v] {
		return unknown
	}
	c.following[v] = true
	defer delete(c.following, v)
	for _, value := range c.values[v] {
		o := c.originOf(value.of)
		if loops := c.originOfLoops(value.at); value.part || loops == result {
			o = loops
		}
		if o == table {
			return table
		}
		all = max(all, o)
	}
	return all
}

// originOfLoops returns the origin of what a statement adds: that depends on the loops around it.
func (c *checker) originOfLoops(at inspector.Cursor) origin {
	all := table
	for loop := range at.Enclosing((*ast.RangeStmt)(nil)) {
		if o := c.originOf(loop.Node().(*ast.RangeStmt).X); o != table && all != result {
			all = o
		}
	}
	return all
}

func (c *checker) originOfCall(call *ast.CallExpr) origin {
	if c.TypesInfo.Types[call.Fun].IsType() {
		return c.originOf(call.Args[0])
	}
	switch callee := typeutil.Callee(c.TypesInfo, call).(type) {
	case *types.Builtin:
		return c.originOfArguments(call)
	case *types.Func:
		if f, ok := c.functions[callee]; ok {
			if c.passesT(call) && c.kindOf(f) == check {
				return table // It fails the test if there is nothing to return.
			}
			return c.returned(call, f)
		}
		if callee.Pkg() == nil || transforms[callee.Pkg().Path()] {
			return c.originOfArguments(call)
		}
		return result
	}
	return unknown
}

// originOfArguments returns the origin of what is computed from the arguments and the receiver.
func (c *checker) originOfArguments(call *ast.CallExpr) origin {
	values := call.Args
	if s, ok := call.Fun.(*ast.SelectorExpr); ok && c.TypesInfo.Selections[s] != nil {
		values = append(values, s.X)
	}
	all := table
	for _, v := range values {
		switch c.originOf(v) {
		case result:
			return result
		case unknown:
			all = unknown
		}
	}
	return all
}

// returned returns the origin of the first result of a function of the test: that of its return
// statements, or else of its arguments.
func (c *checker) returned(call *ast.CallExpr, f inspector.Cursor) (all origin) {
	if c.following[f] {
		return unknown
	}
	c.following[f] = true
	defer delete(c.following, f)
	for r := range f.Preorder((*ast.ReturnStmt)(nil)) {
		if results := r.Node().(*ast.ReturnStmt).Results; len(results) > 0 && functionOf(r) == f {
			all = max(all, c.originOf(results[0]))
		}
	}
	if all == unknown {
		return c.originOfArguments(call)
	}
	return all
}

// functionOf returns the function that a statement is in.
func functionOf(s inspector.Cursor) inspector.Cursor {
	for f := range s.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		return f
	}
	return s
}
