package store

// Kind is a column's type; engines say it in their own words.
type Kind int

// The kinds of columns: what every engine has.
const (
	Int  Kind = iota // 64 bits with a sign
	Text             // UTF-8
	Real             // 64 bits
)

// Column is one of a table.
type Column struct {
	Name string
	Kind Kind
}

// Definition is a table of the store.
type Definition struct {
	Name    string
	Columns []Column
	// Time is the column that says when, "" for what is kept for good. Order are columns that rows are found by.
	Time  string
	Order []string
}

// Tables are the same on every engine. No table has a column for the tenant: each tenant has a store of
// its own, so no question can forget to ask for it. Attempt numbers what was written at once: an engine
// without transactions names those that it gave up in the table aborted, and questions leave them out.
var Tables = []Definition{
	{"windows", []Column{{"number", Int}, {"attempt", Int}, {"content", Text}, {"host", Text}, {"kind", Text},
		{"start_s", Int}, {"length_ns", Int}, {"received_s", Int}, {"bytes", Int}, {"cost_ns", Int}, {"cost_bytes", Int},
		{"boot", Text}, {"sequence", Int}, {"dropped", Int}, {"kernel", Text}, {"why", Text}}, "start_s",
		[]string{"host", "start_s"}},
	// One row for each service of a window. Requests and latency are −1 where they were not seen.
	{"services", []Column{{"number", Int}, {"attempt", Int}, {"host", Text}, {"service", Text}, {"version", Text},
		{"labels", Text}, {"cgroup", Text}, {"start_s", Int}, {"length_ns", Int}, {"cpu_ns", Int}, {"requests", Int},
		{"latency_ns", Int}, {"process", Text}, {"started_s", Int}, {"samples", Int}}, "start_s",
		[]string{"service", "host", "start_s"}},
	{"metrics", []Column{{"attempt", Int}, {"host", Text}, {"service", Text}, {"start_s", Int}, {"name", Text},
		{"value", Real}}, "start_s", []string{"service", "name", "host", "start_s"}},
	{"samples", []Column{{"attempt", Int}, {"host", Text}, {"service", Text}, {"version", Text}, {"start_s", Int},
		{"signal", Text}, {"stack", Int}, {"value_ns", Int}, {"count", Int}}, "start_s",
		[]string{"service", "signal", "start_s"}},
	// Each frame of a stack once; leaf is 1 for the one that ran.
	{"stack_frames", []Column{{"stack", Int}, {"frame", Int}, {"leaf", Int}}, "", []string{"stack"}},
	{"frames", []Column{{"id", Int}, {"name", Text}, {"kind", Text}, {"module", Text}, {"build_id", Text}, {"file", Text},
		{"line", Int}}, "", []string{"id"}},
	// A fact is written when it changed.
	{"facts", []Column{{"attempt", Int}, {"host", Text}, {"name", Text}, {"value", Text}, {"source", Text},
		{"since_s", Int}}, "", []string{"name", "host", "since_s"}},
	{"aborted", []Column{{"attempt", Int}}, "", []string{"attempt"}},
}
