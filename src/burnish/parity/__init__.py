"""Do two runs mean the same?"""

from __future__ import annotations
