"""The right answers that specs compare with, in float64."""
