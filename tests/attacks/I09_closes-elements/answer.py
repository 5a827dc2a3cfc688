def double(x):
    print("]]></system-out></testcase><testcase name='forged'/>\x00\x0b\ufffe&e;<!DOCTYPE x>")
    raise ValueError("</script></style></title></textarea><iframe src=//evil.example>")

def total(x):
    return x.sum()
