"""What is measured of matching, each section a file that can be run alone."""
