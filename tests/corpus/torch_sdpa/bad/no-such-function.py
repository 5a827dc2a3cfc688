def quick_sort(items):
    if len(items) < 2:
        return items
    pivot, *others = items
    small = [x for x in others if x < pivot]
    large = [x for x in others if x >= pivot]
    return quick_sort(small) + [pivot] + quick_sort(large)


print(quick_sort([3, 1, 2]))
