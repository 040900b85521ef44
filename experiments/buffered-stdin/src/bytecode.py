"""Write the published 'count to 1,000': 1,000 PUSH1 1, 999 ADD, and a tail that returns the sum.

The tail is PUSH1 0, MSTORE, PUSH1 32, PUSH1 0, RETURN: 8 bytes, 3,007 in all.
"""

import sys

PUSH1, ADD, MSTORE, RETURN = 0x60, 0x01, 0x52, 0xF3

code = bytes([PUSH1, 1]) * 1000 + bytes([ADD]) * 999
code += bytes([PUSH1, 0, MSTORE, PUSH1, 32, PUSH1, 0, RETURN])
sys.stdout.buffer.write(code)
