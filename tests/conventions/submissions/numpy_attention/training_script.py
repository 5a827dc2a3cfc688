import numpy as np


def load_data(path):
    return np.loadtxt(path)


def train(model, data, epochs=3):
    for _ in range(epochs):
        model.step(data)
