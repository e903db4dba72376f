"""What each operator is: one record per operator, one file per family; needs no framework."""
