"""Speed and accuracy against real peers, measured in one run and printed as ratios."""
