package stat

import (
	"errors"
	"fmt"
	"math"
)

// ScalingLaw is the Universal Scalability Law (Gunther 1993; "Guerrilla Capacity Planning", 2007):
// with n workers the throughput is One·n / (1 + Contention·(n−1) + Coherence·n·(n−1)).
type ScalingLaw struct {
	One        float64 `json:"one"`        // throughput of one worker
	Contention float64 `json:"contention"` // σ: the part of the work that is done one after the other
	Coherence  float64 `json:"coherence"`  // κ: what each worker pays for each other one
}

// At is the throughput with n workers.
func (l ScalingLaw) At(n float64) float64 {
	return l.One * n / (1 + l.Contention*(n-1) + l.Coherence*n*(n-1))
}

// Peak is the number of workers with the highest throughput; +Inf when more always help.
func (l ScalingLaw) Peak() float64 {
	if l.Coherence <= 0 {
		return math.Inf(1)
	}
	return math.Sqrt(max(0, 1-l.Contention) / l.Coherence)
}

// FitScaling fits the law to the throughput measured with different numbers of workers, by least
// squares of the relative errors; neither term becomes negative. It needs three different numbers
// of workers, 1 or more each, and positive throughputs.
func FitScaling(workers, throughput []float64) (ScalingLaw, error) {
	if err := checkScaling(workers, throughput, 3); err != nil {
		return ScalingLaw{}, err
	}
	// Where the best fit has a negative term, one without it is the best allowed.
	return fitBest(workers, throughput, [][]int{{0, 1, 2}, {0, 1}, {0, 2}, {0}})
}

// FitContention fits the law without coherence (Amdahl 1967), for which two numbers of workers are
// enough: contention is then all that keeps the larger number from doing as much more, coherence
// with it.
func FitContention(workers, throughput []float64) (ScalingLaw, error) {
	if err := checkScaling(workers, throughput, 2); err != nil {
		return ScalingLaw{}, err
	}
	return fitBest(workers, throughput, [][]int{{0, 1}, {0}})
}

// checkScaling refuses what no law can be fitted to, of which least is the different numbers of
// workers it needs.
func checkScaling(workers, throughput []float64, least int) error {
	if len(workers) != len(throughput) {
		return fmt.Errorf("fit scaling: %d numbers of workers for %d throughputs", len(workers), len(throughput))
	}
	different := map[float64]bool{}
	for i, n := range workers {
		if !(n >= 1) || !(throughput[i] > 0) || math.IsInf(n, 0) || math.IsInf(throughput[i], 0) {
			return fmt.Errorf("fit scaling: throughput %g with %g workers makes no sense", throughput[i], n)
		}
		different[n] = true
	}
	if len(different) < least {
		return fmt.Errorf("fit scaling: %d different numbers of workers; the law has %d unknowns", len(different), least)
	}
	return nil
}

// fitBest is the best fit of those with the given terms: n/X is linear in 1, n−1 and n(n−1).
func fitBest(workers, throughput []float64, frees [][]int) (ScalingLaw, error) {
	best, least := ScalingLaw{}, math.Inf(1)
	for _, free := range frees {
		law, err := fitTerms(workers, throughput, free)
		if err != nil {
			continue
		}
		if wrong := relativeError(law, workers, throughput); wrong < least*(1-1e-12) {
			best, least = law, wrong
		}
	}
	if math.IsInf(least, 1) {
		return ScalingLaw{}, errors.New("fit scaling: no law with terms of zero and more fits")
	}
	return best, nil
}

func relativeError(law ScalingLaw, workers, throughput []float64) float64 {
	sum := 0.0
	for i, n := range workers {
		relative := law.At(n)/throughput[i] - 1
		sum += relative * relative
	}
	return sum
}

// fitTerms solves the normal equations for the terms in free; the other ones are 0.
func fitTerms(workers, throughput []float64, free []int) (ScalingLaw, error) {
	var matrix [3][4]float64
	for i, n := range workers {
		terms := [3]float64{1, n - 1, n * (n - 1)}
		weight := throughput[i] / n // n/X is 1 after it: relative errors
		for row, a := range free {
			for column, b := range free {
				matrix[row][column] += terms[a] * terms[b] * weight * weight
			}
			matrix[row][3] += terms[a] * weight
		}
	}
	solved, ok := solve(matrix, len(free))
	if !ok {
		return ScalingLaw{}, errors.New("the terms cannot be told apart")
	}
	var values [3]float64
	for row, term := range free {
		values[term] = solved[row]
	}
	if values[0] <= 0 || values[1] < 0 || values[2] < 0 {
		return ScalingLaw{}, errors.New("a term is negative")
	}
	return ScalingLaw{One: 1 / values[0], Contention: values[1] / values[0], Coherence: values[2] / values[0]}, nil
}

// solve is Gaussian elimination with pivots of the first size rows; column 3 holds the right side.
func solve(matrix [3][4]float64, size int) (solution [3]float64, ok bool) {
	for column := range size {
		pivot := column
		for row := column + 1; row < size; row++ {
			if math.Abs(matrix[row][column]) > math.Abs(matrix[pivot][column]) {
				pivot = row
			}
		}
		matrix[column], matrix[pivot] = matrix[pivot], matrix[column]
		if math.Abs(matrix[column][column]) < 1e-12 {
			return solution, false
		}
		for row := range size {
			if row == column {
				continue
			}
			factor := matrix[row][column] / matrix[column][column]
			for k := column; k < 4; k++ {
				matrix[row][k] -= factor * matrix[column][k]
			}
		}
	}
	for row := range size {
		solution[row] = matrix[row][3] / matrix[row][row]
	}
	return solution, true
}
