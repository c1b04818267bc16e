# Install rules: the program, the run-time policy library with its header, and the package files.
