"""`python -m tresse` is the command `tresse`."""

import sys

from tresse._command import main

sys.exit(main())
