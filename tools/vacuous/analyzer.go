package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

var analyzer = &analysis.Analyzer{
	Name:     "vacuous",
	Doc:      "report tests whose failures are all inside loops over what the code under test returned",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

// run judges each test, and each function that a test passes to t.Run, rapid.Check or alike. The
// code may return nothing for most inputs of a fuzz test, which is left out.
func run(pass *analysis.Pass) (any, error) {
	root := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector).Root()
	c := &checker{Pass: pass, values: map[types.Object][]value{}, functions: map[types.Object]inspector.Cursor{}, following: map[any]bool{}}
	c.collect(root)
	reported := map[token.Pos]bool{}
	for f := range root.Preorder((*ast.FuncDecl)(nil)) {
		name := f.Node().(*ast.FuncDecl).Name.Name
		if !strings.HasPrefix(name, "Test") || !c.inTestFile(f.Node()) {
			continue
		}
		for test := range f.Preorder((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
			if literal, ok := test.Node().(*ast.FuncLit); ok && !c.takesT(literal) {
				continue
			}
			if loop := c.onlyLoop(test); loop != nil && !reported[loop.Pos()] {
				reported[loop.Pos()] = true
				pass.Reportf(loop.Pos(), "%s passes if this loop has no turn: check what it ranges over, or count the turns", name)
			}
		}
	}
	return nil, nil
}

func (c *checker) inTestFile(n ast.Node) bool {
	return strings.HasSuffix(c.Fset.File(n.Pos()).Name(), "_test.go")
}

// onlyLoop returns a loop over a result if a test has failures, and all are in such loops.
func (c *checker) onlyLoop(test inspector.Cursor) (only ast.Node) {
	for call := range test.Preorder((*ast.CallExpr)(nil)) {
		loop := c.resultLoop(call, test)
		switch {
		case c.kindOfCall(call) != check || loop == nil && c.onError(call, test):
		case loop == nil || c.countsOutside(loop, test.Node()):
			return nil
		case only == nil:
			only = loop
		}
	}
	return only
}

// kind is what a function does with t.
type kind int

const (
	nothing kind = iota
	setup        // fails after an error, or in a loop over a result
	check        // fails for another reason
)

// kindOf judges a function by its calls.
func (c *checker) kindOf(f inspector.Cursor) (most kind) {
	if c.following[f] {
		return setup
	}
	c.following[f] = true
	defer delete(c.following, f)
	for call := range f.Preorder((*ast.CallExpr)(nil)) {
		of := c.kindOfCall(call)
		if of == check && (c.onError(call, f) || c.resultLoop(call, f) != nil) {
			of = setup
		}
		most = max(most, of)
	}
	return most
}

// resultLoop returns the innermost loop over a result that contains n and is inside f.
func (c *checker) resultLoop(n, f inspector.Cursor) ast.Node {
	for loop := range n.Enclosing((*ast.RangeStmt)(nil)) {
		if !f.Contains(loop) {
			return nil
		}
		if s := loop.Node().(*ast.RangeStmt); inside(n, s.Body) && c.originOf(s.X) == result {
			return s
		}
	}
	return nil
}

func inside(n inspector.Cursor, body ast.Node) bool {
	return body.Pos() <= n.Node().Pos() && n.Node().End() <= body.End()
}

// countsOutside reports whether a loop changes a variable that is declared outside of the test,
// such as the counter of a property.
func (c *checker) countsOutside(loop, test ast.Node) bool {
	found := false
	outside := func(e ast.Expr) {
		if index, ok := e.(*ast.IndexExpr); ok {
			e = index.X
		}
		if name, ok := e.(*ast.Ident); ok {
			v := c.TypesInfo.Uses[name]
			found = found || v != nil && (v.Pos() < test.Pos() || test.End() < v.Pos())
		}
	}
	ast.Inspect(loop, func(n ast.Node) bool {
		switch s := n.(type) {
		case *ast.IncDecStmt:
			outside(s.X)
		case *ast.AssignStmt:
			for _, left := range s.Lhs {
				outside(left)
			}
		}
		return true
	})
	return found
}

var failing = regexp.MustCompile(`^(Error|Errorf|Fail|FailNow|Fatal|Fatalf)$`)

// kindOfCall judges a call of t.Error or alike, and of a function that is given t. A function
// whose result is used makes a fixture. One that is given a function with a t of its own, as
// t.Run is, is judged by what that does.
func (c *checker) kindOfCall(cursor inspector.Cursor) kind {
	call := cursor.Node().(*ast.CallExpr)
	s, isMethod := call.Fun.(*ast.SelectorExpr)
	switch {
	case isMethod && isT(c.TypesInfo.TypeOf(s.X)):
		if failing.MatchString(s.Sel.Name) {
			return check
		}
		return nothing
	case cursor.ParentEdgeKind() != edge.ExprStmt_X || !c.passesT(call):
		return nothing
	}
	if f, ok := c.functions[typeutil.Callee(c.TypesInfo, call)]; ok {
		if of := c.kindOf(f); of != nothing {
			return of
		}
	}
	return check // in another package, or by methods of something that contains t
}

// passesT reports whether a call passes t, and no function that has a t of its own.
func (c *checker) passesT(call *ast.CallExpr) (passes bool) {
	for _, argument := range call.Args {
		if literal, ok := argument.(*ast.FuncLit); ok && c.takesT(literal) {
			return false
		}
		passes = passes || isT(c.TypesInfo.TypeOf(argument))
	}
	return passes
}

func (c *checker) takesT(f *ast.FuncLit) bool {
	parameters := f.Type.Params.List
	return len(parameters) > 0 && isT(c.TypesInfo.TypeOf(parameters[0].Type))
}

// isT reports whether a type is testing.T, testing.TB, rapid.T or alike.
func isT(t types.Type) bool {
	for _, method := range []string{"Helper", "Fatalf"} {
		if t == nil {
			return false
		}
		if f, _, _ := types.LookupFieldOrMethod(t, true, nil, method); f == nil {
			return false
		}
	}
	return true
}

// onError reports whether n only runs after an error.
func (c *checker) onError(n, f inspector.Cursor) bool {
	for s := range n.Enclosing((*ast.IfStmt)(nil)) {
		if s := s.Node().(*ast.IfStmt); f.Node().Pos() < s.Pos() && inside(n, s.Body) && c.isError(s.Cond) {
			return true
		}
	}
	return false
}

// isError reports whether a condition needs an error: err != nil.
func (c *checker) isError(condition ast.Expr) bool {
	b, ok := condition.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	switch b.Op {
	case token.LOR:
		return c.isError(b.X) && c.isError(b.Y)
	case token.LAND:
		return c.isError(b.X) || c.isError(b.Y)
	case token.NEQ:
		return c.TypesInfo.Types[b.Y].IsNil() && types.Identical(c.TypesInfo.TypeOf(b.X), types.Universe.Lookup("error").Type())
	}
	return false
}
