"""How fast is it, and can we believe it?"""
