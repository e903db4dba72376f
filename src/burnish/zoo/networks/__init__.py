"""Networks written here from their papers, because no installed library has them."""
