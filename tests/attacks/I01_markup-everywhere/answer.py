"""<script>alert(1)</script> ::error::x [link=x] =cmd|x"""


def double(x):
    print("\x1b[2J\u202e<img src=x onerror=alert(1)>]]>")
    raise type("<script>", (Exception,), {})("::set-output name=a::b\n=1+1")


def total(x):
    return x.sum()
