"""What everyone may use; imports nothing else of burnish."""
