"""Makes accounts, and lets people in by their passwords."""
from django.conf import settings

settings.configure(PASSWORD_HASHERS=["django.contrib.auth.hashers.PBKDF2PasswordHasher"])

from django.contrib.auth.hashers import check_password, make_password  # noqa: E402
from django.core.validators import validate_email  # noqa: E402
from django.utils.html import escape  # noqa: E402
from django.utils.text import slugify  # noqa: E402

accounts = {}
for i in range(9000):
    name = f"Customer No. {i} & Sons"
    validate_email(f"customer{i}@example.org")
    accounts[slugify(name)] = [escape(name), None]
for name in list(accounts)[:2]:
    accounts[name][1] = make_password(f"secret of {name}")
let_in = sum(check_password(f"secret of {name}", encoded) for name, (_, encoded) in accounts.items() if encoded)
print(len(accounts), let_in)
