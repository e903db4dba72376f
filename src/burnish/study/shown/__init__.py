"""What people are shown of each command's record: tables and lines, in the order to read them."""
