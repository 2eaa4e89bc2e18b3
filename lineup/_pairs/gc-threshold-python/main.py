"""Builds a catalogue of products from feeds."""
import gc
import sys


class Product:
    def __init__(self, number):
        self.name = f"product-{number}"
        self.prices = [number % 97, number % 89]
        self.links = {"shop": number % 13, "similar": []}


def parse_feed(feed, size):
    products = []
    for i in range(size):
        product = Product(feed * size + i)
        if products:
            product.links["similar"].append(products[-1])
        products.append(product)
    return products


def rank_feed(products):
    return sum(p.prices[0] * 3 + p.links["shop"] for p in products)


def main():
    feeds, threshold = int(sys.argv[1]), int(sys.argv[2])
    gc.set_threshold(threshold, 10, 10)
    catalogue, total = [], 0
    for feed in range(feeds):
        products = parse_feed(feed, 2500)
        total += rank_feed(products)
        catalogue.append(products)
    print(total, len(catalogue))


main()
