package tail

import (
	"culprit/internal/cause"
	"culprit/recording"
)

// Schema names the JSON document of culprit tail.
const Schema = "culprit.tail/1"

// Result is what was found of the slow requests of a recording.
type Result struct {
	Schema   string           `json:"schema"`
	Target   recording.Target `json:"target"`
	Seconds  float64          `json:"seconds"`
	Requests []Slow           `json:"requests"`
	// Extra is what the slow requests took more than ordinary ones of their kind, in seconds:
	// shares are of it.
	Extra    float64         `json:"extra"`
	Suspects []cause.Suspect `json:"suspects"`
	// Stalls are by suspect, in their order: how many waits apart in time made up its share.
	Stalls []int `json:"stalls"`
	// Why there is no suspect; "" where there is one.
	Why          string         `json:"why,omitempty"`
	Same         []SameClass    `json:"same"`
	Slowest      []Line         `json:"slowest"`
	Unseen       Unseen         `json:"unseen"`
	RecorderCost recording.Cost `json:"recording_cost"`
	// Restarts of the service within the recording: what is slow soon after one may be so because
	// it is cold.
	Restarts []recording.Restart `json:"restarts,omitempty"`
	// Cold are the slow requests that were kept and began within ColdFor after one.
	Cold       int      `json:"cold,omitempty"`
	BlindSpots []string `json:"blind_spots"`
}

// Slow is one kind of requests and what is slow of it.
type Slow struct {
	Kind
	Slow SlowCount `json:"slow"`
}

// SlowCount is how many requests took as long as Over seconds.
type SlowCount struct {
	Over  float64 `json:"over"`
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"` // of those kept in full, in seconds
	Usual float64 `json:"usual"`
	Kept  int     `json:"kept"` // of Count those that were kept in full
}

// SameClass is a class of which slow requests have no more than ordinary ones, in seconds per
// request.
type SameClass struct {
	Class string  `json:"class"`
	Usual float64 `json:"usual"`
	Slow  float64 `json:"slow"`
}

// Unseen is what could not be followed.
type Unseen struct {
	Requests int64    `json:"requests"`
	Why      []string `json:"why"`
}

// Line is one slow request as a line of time.
type Line struct {
	Kind    string    `json:"kind"`
	Service string    `json:"service"`
	Started float64   `json:"started"` // seconds since the recording began
	Seconds float64   `json:"seconds"`
	Status  int32     `json:"status,omitempty"`
	Parts   []Stretch `json:"parts"`
}

// Stretch is one part of it.
type Stretch struct {
	Class   string  `json:"class"`
	At      float64 `json:"at"` // seconds since the request began
	Seconds float64 `json:"seconds"`
	Before  bool    `json:"before,omitempty"` // before it was read
	Where   string  `json:"where,omitempty"`
	HeldBy  string  `json:"held_by,omitempty"`
	// Stack is where the request's thread was, HolderStack where the one was that held it;
	// recording.NoStack where that is not known.
	Stack       int32 `json:"-"`
	HolderStack int32 `json:"-"`
}
