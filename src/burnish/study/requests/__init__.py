"""What each command may be asked: one frozen record per command, whose fields are its options."""
