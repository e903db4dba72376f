"""Do two runs mean the same?"""
