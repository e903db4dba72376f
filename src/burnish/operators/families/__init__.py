"""One file per kind of operator; each ends with the table of its records."""
