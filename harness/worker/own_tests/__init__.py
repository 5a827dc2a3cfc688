"""PID 1 of an image for a candidate's own tests: runs them with pytest against given programs."""
