// Package regress is linear regression as the questions over a fleet need it: least squares with
// standard errors that hold where the spread of the groups differs (HC2; MacKinnon and White 1985),
// one row for each host.
//
//	fit, err := regress.Fit(design, values) // design: rows of columns, the first of ones
//	estimate, half := fit.Coefficient[1], fit.Student(1, 0.95)
//
// It refuses designs with fewer rows than columns and two, and columns that are sums of others.
package regress

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// ErrDependent says that a column of the design is a sum of others, or that there are too few rows.
var ErrDependent = errors.New("too few values for what is to be told apart")

// Result is a fit by least squares.
type Result struct {
	Coefficient []float64
	Error       []float64 // HC2 standard error of each coefficient
	Residual    []float64
	Freedom     float64
}

// Fit solves least squares. Each row of the design has the same number of columns.
func Fit(design [][]float64, values []float64) (*Result, error) {
	rows := len(design)
	if rows == 0 || rows != len(values) {
		return nil, fmt.Errorf("fit: %d rows for %d values", rows, len(values))
	}
	columns := len(design[0])
	if rows < columns+2 {
		return nil, fmt.Errorf("fit %d columns to %d rows: %w", columns, rows, ErrDependent)
	}
	// Columns of one length: the condition then tells dependence, and not units.
	scale := make([]float64, columns)
	flat := make([]float64, 0, rows*columns)
	for j := range columns {
		for _, row := range design {
			scale[j] += row[j] * row[j]
		}
		if scale[j] = math.Sqrt(scale[j]); !(scale[j] > 0) || math.IsInf(scale[j], 0) {
			return nil, fmt.Errorf("fit: column %d is empty or not finite: %w", j, ErrDependent)
		}
	}
	for _, row := range design {
		for j, x := range row {
			flat = append(flat, x/scale[j])
		}
	}
	x := mat.NewDense(rows, columns, flat)
	var cross mat.SymDense
	cross.SymOuterK(1, x.T())
	var chol mat.Cholesky
	if !chol.Factorize(&cross) || chol.Cond() > 1e12 {
		return nil, fmt.Errorf("fit: columns depend on each other: %w", ErrDependent)
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		return nil, fmt.Errorf("fit: %w: %w", err, ErrDependent)
	}
	return solve(x, &inverse, values, scale), nil
}

func solve(x *mat.Dense, inverse *mat.SymDense, values, scale []float64) *Result {
	rows, columns := x.Dims()
	y := mat.NewVecDense(rows, values)
	var right, beta, fitted mat.VecDense
	right.MulVec(x.T(), y)
	beta.MulVec(inverse, &right)
	fitted.MulVec(x, &beta)
	result := &Result{Coefficient: make([]float64, columns), Error: make([]float64, columns),
		Residual: make([]float64, rows), Freedom: float64(rows - columns)}
	variance := make([]float64, columns)
	var influence mat.VecDense
	for i := range rows {
		result.Residual[i] = values[i] - fitted.AtVec(i)
		row := x.RowView(i)
		influence.MulVec(inverse, row)
		leverage := mat.Dot(row, &influence)
		// Leverage of 1: the row is fitted exactly and says nothing of the spread.
		weight := result.Residual[i] * result.Residual[i] / max(1-leverage, 0.05)
		for j := range variance {
			variance[j] += influence.AtVec(j) * influence.AtVec(j) * weight
		}
	}
	for j := range columns {
		result.Coefficient[j] = beta.AtVec(j) / scale[j]
		result.Error[j] = math.Sqrt(variance[j]) / scale[j]
	}
	return result
}

// Half is half of the width of a coefficient's interval by Student's t.
func (r *Result) Half(coefficient int, confidence float64) float64 {
	student := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: r.Freedom}
	return r.Error[coefficient] * student.Quantile((1+confidence)/2)
}

// P is the two-sided p-value that a coefficient is zero.
func (r *Result) P(coefficient int) float64 {
	if r.Error[coefficient] == 0 {
		if r.Coefficient[coefficient] == 0 {
			return 1
		}
		return 0
	}
	t := math.Abs(r.Coefficient[coefficient] / r.Error[coefficient])
	return min(1, 2*distuv.StudentsT{Mu: 0, Sigma: 1, Nu: r.Freedom}.Survival(t))
}

// Smooth fits y by a line and a square of x and returns the fitted values.
func Smooth(x, y []float64) ([]float64, error) {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	design := make([][]float64, len(x))
	for i, v := range x {
		design[i] = []float64{1, v - mean, (v - mean) * (v - mean)}
	}
	fit, err := Fit(design, y)
	if err != nil {
		return nil, err
	}
	fitted := make([]float64, len(y))
	for i := range y {
		fitted[i] = y[i] - fit.Residual[i]
	}
	return fitted, nil
}
