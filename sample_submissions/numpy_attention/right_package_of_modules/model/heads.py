def split_heads(x, h):
    batch, length, width = x.shape
    if width % h:
        raise ValueError(f"cannot split {width} features into {h} heads")
    return x.reshape(batch, length, h, width // h).transpose(0, 2, 1, 3)


def merge_heads(x):
    batch, h, length, width = x.shape
    return x.transpose(0, 2, 1, 3).reshape(batch, length, h * width)
