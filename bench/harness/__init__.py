"""What the sections of a benchmark share: clocks, figures, sizes, and the index under test."""
