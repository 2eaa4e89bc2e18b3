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
	// Time is the column that says when, "" for what is kept for good; a row is needed until Lasts
	// seconds after it.
	Time  string
	Lasts int64
	// Order are columns that rows are found by.
	Order []string
}

// Day is what rows and files are thrown away by, week what stacks are written anew in, in seconds.
const (
	Day  = 24 * 60 * 60
	week = 7 * Day
)

// Tables are the same on every engine. No table has a column for the tenant: each tenant has a
// store of its own, so no question can forget to ask for it. Attempt numbers what was written at
// once to a shard: an engine without transactions names those that it gave up in the table aborted,
// and questions leave them out. All rows of a host lie on one shard, with the stacks that they
// refer to.
var Tables = []Definition{
	{Name: "windows", Columns: []Column{{"number", Int}, {"attempt", Int}, {"content", Text}, {"host", Text},
		{"kind", Text}, {"start_s", Int}, {"length_ns", Int}, {"received_s", Int}, {"bytes", Int}, {"cost_ns", Int},
		{"cost_bytes", Int}, {"boot", Text}, {"sequence", Int}, {"dropped", Int}, {"kernel", Text}, {"why", Text}},
		Time: "start_s", Order: []string{"host", "start_s"}},
	// One row for each service of a window. Requests and latency are −1 where they were not seen;
	// stacks is how many rows samples has of it.
	{Name: "services", Columns: []Column{{"number", Int}, {"attempt", Int}, {"host", Text}, {"service", Text},
		{"version", Text}, {"labels", Text}, {"cgroup", Text}, {"start_s", Int}, {"length_ns", Int}, {"cpu_ns", Int},
		{"requests", Int}, {"latency_ns", Int}, {"process", Text}, {"started_s", Int}, {"samples", Int},
		{"stacks", Int}}, Time: "start_s", Order: []string{"service", "host", "start_s"}},
	{Name: "metrics", Columns: []Column{{"attempt", Int}, {"host", Text}, {"service", Text}, {"start_s", Int},
		{"name", Text}, {"value", Real}}, Time: "start_s", Order: []string{"service", "name", "host", "start_s"}},
	{Name: "samples", Columns: []Column{{"attempt", Int}, {"host", Text}, {"service", Text}, {"version", Text},
		{"start_s", Int}, {"signal", Text}, {"stack", Int}, {"value_ns", Int}, {"count", Int}},
		Time: "start_s", Order: []string{"service", "signal", "start_s"}},
	// Each function of a stack once; leaf is 1 for the one that ran. Both tables are written anew
	// each week, so that what no sample refers to any more goes with its week.
	{Name: "stack_frames", Columns: []Column{{"week_s", Int}, {"stack", Int}, {"frame", Int}, {"leaf", Int}},
		Time: "week_s", Lasts: week, Order: []string{"stack", "frame"}},
	{Name: "frames", Columns: []Column{{"week_s", Int}, {"id", Int}, {"name", Text}, {"kind", Text}, {"module", Text}},
		Time: "week_s", Lasts: week, Order: []string{"id"}},
	// A fact is written when it changed, and kept as long as its host has windows.
	{Name: "facts", Columns: []Column{{"attempt", Int}, {"host", Text}, {"name", Text}, {"value", Text},
		{"source", Text}, {"since_s", Int}}, Order: []string{"name", "host", "since_s"}},
	{Name: "aborted", Columns: []Column{{"attempt", Int}}, Order: []string{"attempt"}},
}
