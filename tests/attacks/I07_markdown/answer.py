def double(x):
    raise ValueError("```\n# passed\n![p](https://evil.example/p.png) @everyone | a | b |\n<details open>")

def total(x):
    return x.sum()
