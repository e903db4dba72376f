"""How fast is it, and can we believe it?"""

from __future__ import annotations
