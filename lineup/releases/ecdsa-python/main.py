"""Signs messages by an elliptic curve."""
import hashlib

import ecdsa

key = ecdsa.SigningKey.from_secret_exponent(12345678901234567890, curve=ecdsa.NIST256p)
size = 0
for i in range(60):
    size += len(key.sign_deterministic(b"message %d" % i, hashfunc=hashlib.sha256))
print(size)
