"""takehome: an automated grader for attention written by hand."""
