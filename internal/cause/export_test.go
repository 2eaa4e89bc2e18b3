package cause

// HoldToModel lets the tests of the corpus hold a judgement to the model.
var HoldToModel = holdToModel
